"""`lqr`: the gain of a linear quadratic regulator for a plant of a diagram."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from spart_blocks.analysis.place_names import as_names
from spart_blocks.analysis.point import Trim
from spart_blocks.base.errors import InputError
from spart_blocks.block_support.plants.lqr_design import LqrDesign, period
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.network.flatten import FlatDiagram, flatten
from spart_blocks.program.tracing.gains import LQRGain, gain_of
from spart_blocks.program.tracing.plant_names import at_rest, find_plants
from spart_blocks.results import FinalState, Results


def lqr(
    diagram: Diagram | str | Path | Any,
    plant: Sequence[str] | str,
    Q: Any,
    R: Any,
    *,
    N: Any = None,
    T: float | None = None,
    at: Any = None,
    inputs: Sequence[str] | str = (),
) -> LQRGain:
    """The gain u = u_point - K x that minimises the integral of x'Qx + u'Ru + 2 x'Nu.

    diagram: a path of a YAML file, a loaded diagram, or a bdsim BlockDiagram. plant: the block
    whose state is fed back, or several. inputs: the inputs of blocks that K moves, ('tau0', 'taum')
    of the plant or 'motor.0'; by default a robot's joint torques, or all inputs of another plant.
    The loop is open there; other effects on the plant, such as gravity, remain. Q, R: a number for
    all entries, a list for the diagonal, or a matrix; or the largest acceptable values by name,
    {'qm': 0.1, 'um': 1}: each has the weight 1/largest^2, entries not named have zero (Bryson's
    rule). N (n, m). T [s]: the period of a sampled controller; the sum over its ticks is minimised.
    at: the equilibrium of the plant: entries like a plant's `initial`, a state vector, either by
    block; or, with a robot's rates at zero, a FinalState, Results, the file of a run, or a
    Trim; by default the plant's initial state.

    A robot's state is [qm, um], also for a floating robot whose joints alone are controlled; with
    tau0 among the inputs it is [attitude, r0, qm, u0, um], attitude in base axes.

    Raises InputError for unknown names, weights of the wrong shape or sign, a point that is not an
    equilibrium, and uncontrollable modes that do not decay. Source: Anderson and Moore, "Optimal
    Control: Linear Quadratic Methods" (1990).
    """
    ready = as_diagram(diagram)
    wiring = flatten(ready.bd, ready.places, ready.run)
    plants = tuple(as_names(plant, "plants"))
    design = LqrDesign(
        plants,
        Q,
        R,
        N,
        period(T, "T"),
        _point(at, wiring, plants),
        tuple(as_names(inputs, "inputs")),
    )
    return gain_of(wiring, design)


def _point(at: Any, wiring: FlatDiagram, plants: Sequence[str]) -> Any:
    """The states of the plants, if `at` is a point of a whole diagram; otherwise `at` unchanged."""
    if isinstance(at, (str, Path)):
        at = Results.load(at)
    if isinstance(at, Results):
        at = at.final_state
    states: Mapping[str, Any]
    if isinstance(at, FinalState):
        states = at.continuous
    elif isinstance(at, Trim):
        states = at.states
    else:
        return at
    missing = [name for name in plants if name not in states]
    if missing:
        raise InputError(f"at has no state of {', '.join(missing)}")
    return {node.name: at_rest(node, states[node.name]) for node in find_plants(wiring, plants)}

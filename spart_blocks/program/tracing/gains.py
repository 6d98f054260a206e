"""Computes the gains that a diagram leaves open, from its linearised plant.

`with_gains` comes before tracing and returns a diagram with all gains; `wired` is used wherever a
diagram is flattened. For a gain, the part of the diagram that affects the plant is traced with the
loop opened at the plant's control inputs, and differentiated.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, warn
from spart_blocks.block_support.plants.lqr_design import LqrDesign
from spart_blocks.block_support.plants.minimal_state import MinimalState
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, flatten
from spart_blocks.results.files import write_bytes

# --- Gains of linear quadratic regulators ---------------------------------------------------------


Floats = NDArray[np.float64]

SUFFIXES = (".json", ".csv", ".yaml")


@dataclass(frozen=True, eq=False)
class LQRGain:
    """The gain of a linear quadratic regulator.

    K (m, n): u = u_point - K x for deviations x from the operating point. S (n, n): the remaining
    cost from x is x' S x. poles (n,): of the closed loop. A (n, n), B (n, m): the linearised
    plant. states, inputs: names of the entries. point: for each plant its state at the operating
    point. u (m,): the control that holds it there. T [s]: period of a sampled gain, for which A
    and B are from tick to tick; None for a continuous one.
    """

    K: Floats
    S: Floats
    poles: NDArray[np.complex128]
    A: Floats
    B: Floats
    states: tuple[str, ...]
    inputs: tuple[str, ...]
    point: Mapping[str, Floats]
    u: Floats
    T: float | None = None

    def save(self, path: str | Path) -> Path:
        """Write it to a file, atomically. .json: all of it. .csv: K with names. .yaml: K and hold
        in the form that a block LQR takes.
        """
        target = Path(path).expanduser()
        writers = {".json": self._json, ".csv": self._csv, ".yaml": self._yaml}
        writer = writers.get(target.suffix.lower())
        if writer is None:
            hint = f"end it in {', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
            raise InputError(Fault(f"cannot save a gain to {target}", hint=hint))
        write_bytes(target, writer().encode("utf-8"))
        return target

    def _json(self) -> str:
        content: dict[str, Any] = {key: getattr(self, key).tolist() for key in "KSABu"}
        content["poles"] = [[pole.real, pole.imag] for pole in self.poles]
        content |= {"states": list(self.states), "inputs": list(self.inputs), "T": self.T}
        content["point"] = {name: np.asarray(x).tolist() for name, x in self.point.items()}
        return json.dumps(content, indent=1) + "\n"

    def _csv(self) -> str:
        out = StringIO()
        table = csv.writer(out, lineterminator="\n")
        table.writerow(["", *self.states])
        for name, row in zip(self.inputs, self.K, strict=True):
            table.writerow([name, *(repr(float(value)) for value in row)])
        return out.getvalue()

    def _yaml(self) -> str:
        rows = "".join(f"  - {_list(row)}\n" for row in self.K)
        columns = f"# columns: {', '.join(self.states)}\n# rows: {', '.join(self.inputs)}\n"
        return f"{columns}K:\n{rows}hold: {_list(self.u)}\n"


def _list(values: Floats) -> str:
    return f"[{', '.join(repr(float(value)) for value in values)}]"


_LEAK = 1e-6


def with_gains(diagram: Diagram) -> Diagram:
    """The diagram with all gains computed; the first pass over a diagram.

    A gain is computed once for each diagram and stored in the block. Raises DiagramError, at the
    place in the file, if there is none.
    """
    if not any(_is_pending(block) for block in _blocks(diagram.bd)):
        return diagram
    wiring = flatten(diagram.bd, diagram.places, diagram.run)
    for node in _designed(wiring):
        if node.block.pending:
            gain = _gain_at(diagram, wiring, node)
            plain = node.block.minimal is None and _is_number(gain)
            node.block.found(*((gain.K[0], gain.u[0]) if plain else (gain.K, gain.u)))
    return diagram


def wired(diagram: Diagram) -> FlatDiagram:
    """Flatten a diagram, with its gains and the models of its filters computed. Raises
    DiagramError, as `with_gains` does.
    """
    ready = with_gains(diagram)
    wiring = flatten(ready.bd, ready.places, ready.run)
    filters = [node for node in wiring.nodes if _lacks_model(node.block)]
    if not filters:
        return wiring
    from spart_blocks.program.tracing.models import find_models

    find_models(ready, filters, wiring, wired)
    return flatten(ready.bd, ready.places, ready.run)  # models bring sizes of ports with them


def designed_gains(diagram: Diagram) -> dict[str, LQRGain]:
    """The computed gains of a diagram, by block."""
    wiring = flatten(diagram.bd, diagram.places, diagram.run)
    return {node.name: _gain_at(diagram, wiring, node) for node in _designed(wiring)}


def gain_of(wiring: FlatDiagram, design: LqrDesign, minimal: MinimalState | None = None) -> LQRGain:
    """The gain of a design in a flat diagram; plants are given by full names.

    minimal: the form in which a robot's state is fed back, if a block says so. Raises InputError,
    whose messages start with the wrong entry of the design.
    """
    # Only diagrams with such a block pay for SciPy's import.
    from spart_blocks.dynamics.riccati import held, regulator, weights
    from spart_blocks.program.tracing.open_loop import open_loop
    from spart_blocks.program.tracing.plant_names import (
        find_entries,
        find_plants,
        minimal_of,
        resting_point,
    )

    plants = find_plants(wiring, design.plant)
    entries = find_entries(wiring, plants, design.inputs)
    minimal = _fitting(plants, minimal) or minimal_of(plants, entries)
    at = [resting_point(plant, given) for plant, given in _points(plants, design.at)]
    system = open_loop(wiring, plants, entries, minimal, at)
    _warn_of(system.leak, plants)
    Q, R, N = weights(design.Q, design.R, design.N, system.states, system.inputs)
    A, B = system.A, system.B
    if design.T is not None:
        A, B = held(A, B, design.T)
    K, S, poles = regulator(A, B, Q, R, N, system.states, design.T is not None)
    point = {plant.name: x for plant, x in zip(plants, at, strict=True)}
    names = system.states.labels, system.inputs.labels
    return LQRGain(K, S, poles, A, B, *names, point, system.u, design.T)


# --- blocks -------------------------------------------------------------------------------


def _blocks(bd: Any) -> Iterator[Any]:
    """The blocks of a diagram and of its subsystems."""
    for block in bd.blocklist:
        if block.blockclass == "subsystem":
            yield from _blocks(block.subsystem)
        else:
            yield block


def _is_designed(block: Any) -> bool:
    """Whether a block's gain is computed from a design."""
    return isinstance(attribute(block, "design"), LqrDesign)


def _is_pending(block: Any) -> bool:
    """Whether a block's gain still has to be computed."""
    return _is_designed(block) and block.pending


def _lacks_model(block: Any) -> bool:
    """Whether a filter's model still has to be computed."""
    return attribute(block, "model_source") is not None and bool(block.pending)


def _designed(wiring: FlatDiagram) -> list[Node]:
    """The nodes of blocks whose gain is computed from a design."""
    return [node for node in wiring.nodes if _is_designed(node.block)]


def _gain_at(diagram: Diagram, wiring: FlatDiagram, node: Node) -> LQRGain:
    block, design = node.block, _seen_from(wiring, node)
    if block.minimal is not None:
        if not design.inputs:
            design = replace(design, inputs=block.controls)
        if design.at is None and block.setpoint is not None:
            design = replace(design, at=block.setpoint)
    try:
        return gain_of(wiring, design, block.minimal)
    except InputError as error:
        raise DiagramError(_located(node.name, error, diagram.places)) from None


def _is_number(gain: LQRGain) -> bool:
    """Whether the control is a scalar and not a vector of length 1; its name then has no index."""
    return len(gain.inputs) == 1 and not gain.inputs[0].endswith("]")


def _seen_from(wiring: FlatDiagram, node: Node) -> LqrDesign:
    """The design of a block with full names of its plants. Names are looked up in the block's own
    subsystem first, then in the enclosing ones.
    """
    names = {other.name for other in wiring.nodes}
    levels = node.name.split("/")[:-1]

    def full(name: str) -> str:
        around = ("/".join((*levels[:k], name)) for k in range(len(levels), -1, -1))
        return next((found for found in around if found in names), name)

    design: LqrDesign = node.block.design
    return replace(design, plant=tuple(map(full, design.plant)))


def _located(name: str, error: InputError, places: Mapping[str, Place]) -> list[Fault]:
    """The faults of a gain, placed at the entries of the design with which their messages start."""
    top = f"blocks.{name}.K"
    faults = []
    for fault in error.faults:
        key = fault.message.split(" ", 1)[0].rstrip(":,")
        place = places.get(f"{top}.lqr.{key}") or places.get(top) or places.get(f"blocks.{name}")
        faults.append(Fault(f"{name} (LQR): {fault.message}", place, fault.hint))
    return faults


# --- checks -------------------------------------------------------------------------------


def _fitting(plants: Sequence[Node], minimal: MinimalState | None) -> MinimalState | None:
    """The form of the plant's state that a block feeds back, if the plant has it. Raises
    InputError otherwise.
    """
    if minimal is None:
        return None
    state = attribute(plants[0].block, "plant_state")
    if len(plants) > 1 or state is None or not state.rates:
        raise InputError("plant: a gain for a robot's state takes one MULTIBODY")
    theirs, ours = state.robot, minimal.robot
    if (theirs.position_names, theirs.base) != (ours.position_names, ours.base):
        raise InputError(f"plant: the robot of {plants[0].name} differs from the block's")
    return minimal


def _points(plants: Sequence[Node], at: Any) -> list[tuple[Node, Any]]:
    """The given operating point of each plant: by name, for a single plant, or as the vector of the
    states of all.
    """
    names = [plant.name for plant in plants]
    if isinstance(at, Mapping) and at and set(at) <= set(names):
        return [(plant, at.get(plant.name)) for plant in plants]
    if len(plants) == 1 or at is None:
        return [(plant, at) for plant in plants]
    sizes = [len(np.ravel(plant.block.getstate0())) for plant in plants]
    if not isinstance(at, Sequence | np.ndarray) or len(at) != sum(sizes):
        hint = f"give the states by name, of {', '.join(names)}, or all {sum(sizes)} as a list"
        raise InputError(f"at: {hint}")
    ends = np.cumsum(sizes).tolist()
    return [(p, at[end - n : end]) for p, n, end in zip(plants, sizes, ends, strict=True)]


def _warn_of(leak: float, plants: Sequence[Node]) -> None:
    if leak > _LEAK:
        text = (
            f"the base of {plants[0].name} acts back on its joints ({leak:.2g} of their own "
            "motion), and the gain does not see it"
        )
        warn(text)

"""Linearises the plant of a controller, with the loop opened at the plant's control inputs;
everything else that acts on the plant is kept.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, warn
from spart_blocks.block_support.plants.minimal_state import MinimalState
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.block_support.ports import Port, attribute
from spart_blocks.diagram.build.companions import AUDIT, COMPANION
from spart_blocks.diagram.network.algebraic_loops import uncut
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.dynamics.riccati import Labels
from spart_blocks.program.derivatives import Derivatives, Floats, Point, Rowwise
from spart_blocks.program.tracing.cuts import Inlet, only
from spart_blocks.program.tracing.evaluation import Evaluation
from spart_blocks.program.tracing.plant_names import (
    ControlEntry,
    input_labels,
    is_mode,
    state_labels,
)
from spart_blocks.program.tracing.symbol import TraceError

_DEVIATION = "deviation"
_MOST_STEPS = 20
_EXACT = 1e-12
_AT_REST, _NEARLY = 1e-7, 1e-5
"""Rates at rest, relative to those without control, or to 1: exactly, and as at the end of a run,
which is told.
"""


@dataclass(frozen=True, eq=False)
class OpenLoop:
    """The linearised plant at an operating point.

    A (n, n), B (n, m): for deviations of its state and control, with names. u (m,): the control
    that holds it at the point. leak: coupling of omitted states into these, as the largest entry
    of A for omitted states relative to that of A.
    """

    A: Floats
    B: Floats
    states: Labels
    inputs: Labels
    u: Floats
    leak: float


class _Coordinates:
    """A block that computes the deviation from the operating point from the plants' outputs."""

    type = "coordinates"

    def __init__(self, minimal: MinimalState, state: Floats, base_pose: Any) -> None:
        at = PlantState(minimal.robot).split(state, base_pose)
        self.minimal, self.at = minimal, at

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        at = self.at
        return [self.minimal.deviation(inputs, (at.R0, at.r0), at.qm, at.um)]


def open_loop(
    wiring: FlatDiagram,
    plants: Sequence[Node],
    entries: Sequence[ControlEntry],
    minimal: MinimalState | None,
    states: Sequence[Floats],
) -> OpenLoop:
    """Linearise the plants at their states, with the control that holds them there.

    Raises InputError if no control does, or naming a block that cannot be traced.
    """
    opened = _opened(wiring, plants, entries, minimal, states)
    system = _System(opened, plants, entries, states, minimal is not None)
    labels = state_labels(plants, minimal)
    size = sum(entry.size for entry in entries)
    # A joint with Coulomb friction is seen as it slides, else no torque would move it. What
    # friction takes is of opposite signs both ways, and the point lies between.
    system.slide(-1.0)
    back = _holding(system, size, labels)
    system.slide(1.0)
    forth = _holding(system, size, labels)
    F, B, C, _ = system.at(forth)
    # The deviation is z = C x to first order; pinv(C) leads back without a change of what z
    # does not show: the base's pose where joints alone are seen, a quaternion's length.
    A = C @ F @ np.linalg.pinv(C)
    largest = max(np.abs(A).max(initial=0.0), 1e-300)
    leak = float(np.abs(C @ F - A @ C).max(initial=0.0) / largest)
    return OpenLoop(A, C @ B, labels, input_labels(entries), (back + forth) / 2, leak)


def _opened(
    wiring: FlatDiagram,
    plants: Sequence[Node],
    entries: Sequence[ControlEntry],
    minimal: MinimalState | None,
    states: Sequence[Floats],
) -> FlatDiagram:
    """The part of the diagram that affects the plants, with a placeholder for each control input,
    and for a robot a last node that gives the deviation.
    """
    wiring = uncut(wiring)
    nodes = with_inlets(wiring, entries)
    order = [*range(len(wiring.nodes), len(nodes)), *wiring.schedule]
    wanted = {plant.index for plant in plants}
    if minimal is not None:
        node = _deviation(plants[0], minimal, states[0], len(nodes))
        nodes.append(node)
        order.append(node.index)
        wanted.add(node.index)
    whole = FlatDiagram(tuple(nodes), tuple(order), {}, {}, wiring.loops)
    inside = whole.upstream(wanted)
    for i in sorted(inside):
        if attribute(nodes[i].block, "pending", False):
            message = f"what moves {plants[0].name} depends on {nodes[i].name}"
            hint = "give one of them its numbers, as sb.lqr and spart lqr find them"
            raise InputError(
                Fault(f"plant: {message}, whose gain is to be found as well", hint=hint)
            )
    return only(whole, inside)


def with_inlets(wiring: FlatDiagram, entries: Sequence[ControlEntry]) -> list[Node]:
    """The nodes with each control input connected to a placeholder, also in the companion and the
    audit of its plant.
    """
    sources = [list(node.sources) for node in wiring.nodes]
    inlets = []
    for index, entry in enumerate(entries, start=len(wiring.nodes)):
        gives = (Port("0", entry.shape),)
        inlet = Inlet(np.zeros(entry.shape))
        inlets.append(Node(index, inlet_name(entry), inlet, "source", (), (), gives))
        port = entry.node.in_ports[entry.port].name
        for node in wiring.nodes:
            if node.name.removesuffix(COMPANION).removesuffix(AUDIT) == entry.node.name:
                for k, other in enumerate(node.in_ports):
                    if other.name == port:
                        sources[node.index][k] = (index, 0)
    pairs = zip(wiring.nodes, sources, strict=True)
    return [*(replace(node, sources=tuple(found)) for node, found in pairs), *inlets]


def _deviation(plant: Node, minimal: MinimalState, state: Floats, index: int) -> Node:
    """The node that computes the deviation of a plant from a state."""
    block = _Coordinates(minimal, state, plant.block.base_pose)
    outputs = {port.name: k for k, port in enumerate(plant.out_ports)}
    seen = [outputs[name] for name in minimal.takes.split()]
    takes = tuple(plant.out_ports[k] for k in seen)
    gives = (Port("0", (minimal.size,)),)
    sources = tuple((plant.index, k) for k in seen)
    return Node(index, _DEVIATION, block, "function", sources, takes, gives)


def inlet_name(entry: ControlEntry) -> str:
    """The name of the placeholder for a control input."""
    return f"control {entry.label}"


class _System:
    """The traced rates and deviation of the plants, with derivatives."""

    def __init__(
        self,
        wiring: FlatDiagram,
        plants: Sequence[Node],
        entries: Sequence[ControlEntry],
        states: Sequence[Floats],
        reduced: bool,
    ) -> None:
        try:
            traced = Evaluation(wiring, {})
            by_name = {node.name: node for node in wiring.nodes}
            parts = [traced.change(by_name[plant.name], "deriv") for plant in plants]
            if reduced:
                parts += traced.values[by_name[_DEVIATION].index]
        except TraceError as error:
            raise InputError(f"the plant cannot be linearised: {error}") from error
        function = traced.function("open_loop", parts, "y")
        self.derivatives = Rowwise(function, np.arange(function.numel_out(0)))
        slots = {slot.name: slot.part for slot in traced.states}
        inlets = {slot.name: slot.part for slot in traced.parameters.slots}
        self.x = _start(wiring, "continuous")
        self.p = traced.parameters.p
        for plant, state in zip(plants, states, strict=True):
            self.x[slots[plant.name]] = state
        self.xd = _start(wiring, "sampled")
        places = np.concatenate([np.r_[slots[plant.name]] for plant in plants])
        modes = np.concatenate([is_mode(plant) for plant in plants])
        self.modes, self.columns, self.rows = places[modes], places[~modes], np.flatnonzero(~modes)
        self.states = len(places)
        self.controls = np.concatenate([np.r_[inlets[f"{inlet_name(e)}.value"]] for e in entries])

    def slide(self, way: float) -> None:
        """Set joints with friction to slide in one direction, +1 or -1."""
        self.x[self.modes] = way

    def at(self, u: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """With the control u: the derivatives of the plants' rates by state and control, that of
        the deviation by the state, and the rate of the deviation.
        """
        p = self.p.copy()
        p[self.controls] = u
        found: Derivatives = self.derivatives(Point(0.0, self.x, self.xd, p))
        n, rows = self.states, self.rows
        C = found.x[n:, self.columns] if len(found.value) > n else np.eye(len(rows))
        return (
            found.x[rows][:, self.columns],
            found.p[rows][:, self.controls],
            C,
            C @ found.value[rows],
        )


def _start(wiring: FlatDiagram, kind: str) -> Floats:
    parts = [np.ravel(np.asarray(n.block.getstate0(), float)) for n in wiring.of_kind(kind)]
    return np.concatenate([np.zeros(0), *parts])


def _example_of_a_point(labels: Labels) -> str:
    """A point by names, as it is written in a file: that of a robot, or of blocks with a state."""
    names = dict.fromkeys(label.partition("[")[0] for label in labels.labels)
    if any(name.rpartition(".")[2] == "qm" for name in names):
        return "{qm: [...]}"
    first = list(names)[:4]
    more = ", ..." if len(names) > len(first) else ""
    return "{" + ", ".join(f"{name}: 0" for name in first) + more + "}"


def _holding(system: _System, size: int, labels: Labels) -> Floats:
    """The control that keeps the deviation constant, by Newton's method; the one of smallest norm
    if there are several. A robot's rates are affine in its torques, so that one step is exact.
    """
    u, scale, rate = np.zeros(size), 1.0, np.zeros(0)
    for k in range(_MOST_STEPS):
        _, B, C, rate = system.at(u)
        largest = np.abs(rate).max(initial=0.0)
        if k == 0:
            scale = max(1.0, largest)
        if not np.isfinite(B).all() or not np.isfinite(largest):
            raise InputError("at: the derivatives are not finite at this point")
        step = np.linalg.lstsq(C @ B, -rate, rcond=None)[0]
        if np.abs(step).max(initial=0.0) <= _EXACT * max(1.0, np.abs(u).max(initial=0.0)):
            break
        u = u + step
    if largest <= _AT_REST * scale:
        return u
    worst = labels.labels[int(np.abs(rate).argmax())]
    if largest <= _NEARLY * scale:
        warn(f"at: the point counts as at rest, though {worst} keeps the rate {largest:.3g}")
        return u
    raise InputError(
        Fault(
            f"at: the plant cannot rest here: whatever the inputs, {worst} keeps the rate "
            f"{largest:.3g}",
            hint=f"give a point at which it can, as at: {_example_of_a_point(labels)}",
        )
    )

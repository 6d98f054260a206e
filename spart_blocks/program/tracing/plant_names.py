"""Finds the plants and control inputs of a regulator by name, with the names of their entries and
the operating point.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.paths import element_names
from spart_blocks.block_support.plants.minimal_state import MinimalState
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.companions import AUDIT, COMPANION
from spart_blocks.diagram.network.flatten import FlatDiagram, Node
from spart_blocks.dynamics.riccati import Labels
from spart_blocks.program.derivatives import Floats


@dataclass(frozen=True)
class ControlEntry:
    """A control input: an input of a block, and the shape of its signal."""

    node: Node
    port: int
    shape: tuple[int, ...]

    @property
    def label(self) -> str:
        return self.node.input_name(self.port)

    @property
    def size(self) -> int:
        return int(np.prod(self.shape))


def find_plants(wiring: FlatDiagram, names: Sequence[str]) -> list[Node]:
    """The nodes of these names. Raises InputError for names that are not blocks with a continuous
    state.
    """
    known = {node.name: node for node in wiring.of_kind("continuous")}
    faults = [
        Fault(f"plant: no block {name!r} with a continuous state", hint=did_you_mean(name, known))
        for name in names
        if name not in known
    ]
    if faults or not names:
        raise InputError(faults or "plant: name the block whose state is fed back")
    return [known[name] for name in names]


def find_entries(
    wiring: FlatDiagram, plants: Sequence[Node], names: Sequence[str]
) -> list[ControlEntry]:
    """The inputs of these names, such as 'plant.taum', or 'taum' if there is one plant; by default
    the joint torques of a robot, or all inputs of another plant. Raises InputError.
    """
    if not names:
        if len(plants) > 1:
            raise InputError("inputs: name what moves the plants, as inputs: [motor.0]")
        [plant] = plants
        own = [port.name for port in plant.in_ports if not port.optional]
        names = ["taum"] if "taum" in own else own
    known = {node.input_name(k): (node, k) for node in wiring.nodes
             for k in range(len(node.in_ports))
             if not node.name.endswith((COMPANION, AUDIT))}  # fmt: skip
    alone = {node.name: (node, 0) for node in wiring.nodes if len(node.in_ports) == 1}
    entries: list[ControlEntry] = []
    faults: list[Fault] = []
    for name in names:
        found = known.get(name) or known.get(f"{plants[0].name}.{name}") or alone.get(name)
        if found is None:
            near = [port.name for port in plants[0].in_ports]
            hint = did_you_mean(name, [*near, *(key for key in known if "=" not in key)])
            faults.append(Fault(f"inputs: there is no input {name!r} of a block", hint=hint))
        elif found in [(entry.node, entry.port) for entry in entries]:
            faults.append(Fault(f"inputs: {name} is given twice"))
        else:
            entries.append(ControlEntry(*found, _shape(*found)))
    if faults:
        raise InputError(faults)
    return entries


def _shape(node: Node, port: int) -> tuple[int, ...]:
    """The shape of an input; if it is not declared, one with which the block works."""
    declared = node.in_ports[port].shape
    if declared is not None or node.kind != "continuous" or len(node.in_ports) > 1:
        return declared or ()
    x = node.start_state()
    shapes: list[tuple[int, ...]] = [(), *((n,) for n in range(1, len(x) + 1))]
    for shape in shapes:
        try:
            if np.size(node.block.deriv(0.0, [np.zeros(shape) if shape else 0.0], x)) == len(x):
                return shape
        except Exception:  # a block's own way to say that the shape is wrong
            continue
    return ()


def state_labels(plants: Sequence[Node], minimal: MinimalState | None) -> Labels:
    """The names of the entries that are fed back."""
    labels: list[str] = []
    groups: dict[str, list[int]] = {}
    for plant in plants:
        if minimal is not None:
            parts = [(f"{plant.name}.{part}", size) for part, size in minimal.parts.items()]
        else:
            parts = [(plant.name, len(np.ravel(plant.block.getstate0())))]
        for name, size in parts:
            numbers = list(range(len(labels), len(labels) + size))
            labels += element_names(name, (size,)) if size > 1 or minimal else [name]
            groups[name] = groups[name.rpartition(".")[2]] = numbers
    if minimal is not None:
        for part in ("qm", "um"):
            rows = zip(minimal.robot.rate_names, groups[part], strict=True)
            groups |= {f"{part}.{name}": [number] for name, number in rows}
            whole = ((f"{part}.{e.name}", groups[part][e.u]) for e in minimal.robot.layout)
            groups |= dict(whole)
    return Labels(tuple(labels), groups)


def input_labels(entries: Sequence[ControlEntry]) -> Labels:
    """The names of the entries of the control."""
    labels: list[str] = []
    groups: dict[str, list[int]] = {}
    for entry in entries:
        numbers = list(range(len(labels), len(labels) + entry.size))
        labels += element_names(entry.label, entry.shape)
        groups[entry.label] = groups[entry.node.in_ports[entry.port].name] = numbers
    return Labels(tuple(labels), groups)


def minimal_of(plants: Sequence[Node], entries: Sequence[ControlEntry]) -> MinimalState | None:
    """The form in which a robot's state is fed back, including its base if tau0 is an input; None
    for other plants.
    """
    state: PlantState | None = attribute(plants[0].block, "plant_state")
    if len(plants) > 1 or state is None or not state.rates:
        return None
    tau0 = [e for e in entries if e.node is plants[0] and e.node.in_ports[e.port].name == "tau0"]
    return MinimalState(state.robot, bool(tau0))


# --- the point ----------------------------------------------------------------------------


def is_mode(plant: Node) -> Any:
    """Mask of the states of a plant that give the direction in which a joint slides."""
    state: PlantState | None = attribute(plant.block, "plant_state")
    if state is None:
        return np.zeros(len(np.ravel(plant.block.getstate0())), dtype=bool)
    return np.array([name.startswith("mode.") for name in state.names])


def at_rest(plant: Node, x: Any) -> Floats:
    """A state of a plant, with the velocities of a robot set to zero."""
    state: PlantState | None = attribute(plant.block, "plant_state")
    out: Floats = np.array(x, dtype=float)
    if state is not None:
        moving = [name.startswith(("omega0.", "v0.", "um.")) for name in state.names]
        out[: len(moving)][moving] = 0.0
    return out


def resting_point(plant: Node, at: Any) -> Floats:
    """The state of a plant given by `at`: a vector, or entries as in a plant's `initial`; by
    default its initial state, with a robot at rest. The vector of a robot is the plant's state, or
    [qm, um], with its base at the start.
    """
    state: PlantState | None = attribute(plant.block, "plant_state")
    start: Floats = np.array(np.ravel(plant.block.getstate0()), dtype=float)
    if at is None:
        return at_rest(plant, start)
    if isinstance(at, Mapping):
        if state is None:
            raise InputError(f"at: {plant.name} takes a list, only a robot takes entries")
        found = state.initial(at)[1]
        start[: len(found)] = found
        return start
    try:
        out = np.atleast_1d(np.asarray(at, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"at: {plant.name} takes numbers, not {at!r}") from None
    joints = 0 if state is None else state.robot.nq + state.robot.nu
    if np.isfinite(out).all() and out.shape == start.shape:
        return out
    if np.isfinite(out).all() and state is not None and out.shape == (joints,):
        qm, um = np.split(out, [state.robot.nq])
        return resting_point(plant, {"qm": qm.tolist(), "um": um.tolist()})
    text = f"at: {plant.name} takes {len(start)} finite numbers, got {out.shape}"
    raise InputError(f"{text}; [qm, um] has {joints}" if joints else text)

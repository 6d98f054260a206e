"""Finds signals, block inputs, states and parameters by the names that users give, with slices."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.paths import element_names, look_up, named, places, several_signals
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.companions import AUDIT, COMPANION, is_audit
from spart_blocks.diagram.network.display import aliases_of, signal_names
from spart_blocks.diagram.network.flatten import FlatDiagram, Node, Source
from spart_blocks.results.configs import spherical_states

Indices = NDArray[np.intp]
STATES = "states."


@dataclass(frozen=True)
class Elements:
    """Entries of a flat vector: their names and indices."""

    labels: tuple[str, ...]
    indices: Indices

    @property
    def size(self) -> int:
        return len(self.labels)


def together(parts: Iterable[Elements]) -> Elements:
    """Several groups of elements concatenated."""
    found = list(parts)
    labels = tuple(label for part in found for label in part.labels)
    return Elements(labels, np.concatenate([np.zeros(0, int), *(p.indices for p in found)]))


def elements(base: str, shape: tuple[int, ...], index: str | None, start: int = 0) -> Elements:
    """The elements of an array that an index such as '0:2' selects. start: first index of the
    array in the vector.
    """
    found = places(f"{base}[{index}]", start, shape, index)
    return Elements(tuple(element_names(base, shape, index if shape else None)), np.ravel(found))


# --- signals and block inputs -------------------------------------------------------------


@dataclass(frozen=True)
class WirePlace:
    """A place on the wires: an output with all its consumers, or the input of one block.

    source, signal: the output that feeds it, and its name. consumers: the inputs, as (node, port).
    label: its full name. The input of a plant includes those of its companion and its audit.
    """

    label: str
    source: Source
    signal: str
    consumers: tuple[tuple[int, int], ...]
    is_input: bool


class Spots:
    """The spots of a flat diagram, by name."""

    def __init__(self, wiring: FlatDiagram) -> None:
        self.wiring = wiring
        self.signals = signal_names(wiring)
        self.aliases = aliases_of(wiring)
        self.inputs = {
            node.input_name(k): (node, k)
            for node in wiring.nodes
            for k in range(len(node.in_ports))
            if not node.name.endswith((COMPANION, AUDIT))
        }

    def find(self, name: str) -> tuple[WirePlace, str | None]:
        """The spot of 'ctrl.tau', 'plant.taum[0]' or 'ctrl', and its index. If an output and an
        input have the same name, the name means the output, and '-> gain.0' the input. Raises
        InputError with the nearest names.
        """
        if name.startswith("->"):
            base, index = look_up(name[2:].strip(), "no block input {}", self.inputs)
            return self._input(base), index
        known = {**self.signals, **self.inputs}
        base, index = named(name, known, self.aliases)
        if base not in known:
            hint = did_you_mean(base, {*known, *self.aliases})
            fault = Fault(f"no signal or block input {base!r}", hint=hint)
            raise InputError(several_signals(base, known) or fault)
        return (self._output if base in self.signals else self._input)(base), index

    def _output(self, name: str) -> WirePlace:
        source = self.signals[name]
        consumers = tuple(
            (node.index, k)
            for node in self.wiring.nodes
            for k, found in enumerate(node.sources)
            if found == source
        )
        return WirePlace(name, source, name, consumers, is_input=False)

    def _input(self, name: str) -> WirePlace:
        node, k = self.inputs[name]
        twins = [
            (other.index, number)
            for other in self.wiring.nodes
            if other.name in (f"{node.name}{COMPANION}", f"{node.name}{AUDIT}")
            for number, port in enumerate(other.in_ports)
            if port.name == node.in_ports[k].name
        ]
        source = node.sources[k]
        signal = self.wiring.nodes[source[0]].output_name(source[1])
        return WirePlace(name, source, signal, ((node.index, k), *twins), is_input=True)


# --- states and parameters ----------------------------------------------------------------


class States:
    """The states of a diagram in one vector with names, continuous ones first.

    A block without names of states has 'int' or 'int[0]'. A plant has 'plant.qm[0]', or
    equivalently 'plant.qm.Joint_1'; 'plant.qm.ball' is a quaternion, 'plant.um.ball' the rates of
    that joint. 'plant' and 'states.plant' are all states of a block. audits: states of each
    plant's audit, which do not affect its motion. helds: outputs that are held between ticks; at a
    tick they follow from the other states.
    """

    def __init__(self, nodes: Iterable[Node], slices: Mapping[str, slice]) -> None:
        self.labels: list[str] = []
        self.groups: dict[str, list[int]] = {}
        self.audits: list[list[int]] = []
        self.helds: list[int] = []
        by_name = {node.name: node for node in nodes}
        for name, part in slices.items():
            if name in by_name:
                self._add(by_name[name], part.stop - part.start)
            else:
                self._add_held(name, part.stop - part.start)

    @property
    def size(self) -> int:
        return len(self.labels)

    def _add(self, node: Node, width: int) -> None:
        start = len(self.labels)
        numbers = list(range(start, start + width))
        if is_audit(node.block):
            self.audits.append(numbers)
        given = attribute(node.block, "_state_names")
        if given is None or len(given) != width:
            self.labels += element_names(node.name, (width,)) if width > 1 else [node.name]
        else:
            for name, number in zip(given, numbers, strict=True):
                head, dot, _ = name.partition(".")
                group = self.groups.setdefault(f"{node.name}.{head}", [])
                label = f"{head}[{len(group)}]" if dot else name
                self.labels.append(f"{node.name}.{label}")
                group.append(number)
                self.groups[f"{node.name}.{name}"] = [number] if dot else group
        for name in (node.name, f"{STATES}{node.name}"):
            self.groups.setdefault(name, numbers)
        for name, part in spherical_states(given or ()).items():
            self.groups.setdefault(f"{node.name}.{name}", numbers[part])

    def _add_held(self, name: str, width: int) -> None:
        start = len(self.labels)
        self.labels += element_names(name, (width,)) if width > 1 else [name]
        self.helds += range(start, start + width)

    def find(self, name: str) -> Elements | None:
        """The states that a name selects; None if there are none."""
        if name in self.labels:
            number = self.labels.index(name)
            return Elements((name,), np.array([number]))
        base, index = named(name, self.groups)
        if base not in self.groups:
            return None
        numbers = np.array(self.groups[base])
        picked = numbers[elements(base, (len(numbers),), index).indices]
        return Elements(tuple(self.labels[k] for k in picked), picked)

    def names(self) -> list[str]:
        """All names that `find` accepts, without slices."""
        return [*self.groups, *self.labels]


def repeated(names: Iterable[str], what: str) -> list[Fault]:
    """A fault for each duplicate name."""
    seen: set[str] = set()
    faults = []
    for name in names:
        if name in seen:
            faults.append(Fault(f"{what} {name} is given twice"))
        seen.add(name)
    return faults


def as_names(names: Any, what: str) -> list[str]:
    """A list of names; a single name becomes a list. Raises InputError for other values."""
    single = isinstance(names, str)
    found = [names] if single or not isinstance(names, Iterable) else list(names)
    wrong = [name for name in found if not isinstance(name, str)]
    if wrong:
        raise InputError(f"{what} are names such as 'plant.qm', not {brief(wrong[0])}")
    return found

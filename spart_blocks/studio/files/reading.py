"""Reads a diagram file and builds it as far as its mistakes allow."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from spart_blocks.base.cache import key_of
from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import Fault, InputError, SpartWarning
from spart_blocks.diagram.build.loader import attempt, structure_faults
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.check.first_values import named_shapes, start_values
from spart_blocks.diagram.check.shapes import wrong_wires
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.network.display import aliases_of, signal_names, units_of
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.diagram.sections.schema import PartSection, validate
from spart_blocks.diagram.written.files import UsedFiles
from spart_blocks.diagram.written.sheets import File, Sheet, Slot
from spart_blocks.program.slots import given_names

LOADING = threading.Lock()
"""Held while a diagram is built: output of bdsim is suppressed for the whole process meanwhile."""
MOST_EVALUATED = 20_000
"""Largest number of blocks for which signals are evaluated to find their shapes."""

AT_ONCE = 2000
"""Largest number of blocks of a diagram that is built before a change of it is answered; larger
ones are built in the background."""
OPENED_AT_ONCE = 300
"""The same when it is opened."""
_DEEPEST = 16

Shape = tuple[int, ...]


@dataclass(frozen=True)
class Signals:
    """The signals of a diagram without mistakes. names: full name by each name or alias. shapes,
    units: by full name. inlets: for each subsystem, the signal at each of its inputs."""

    names: Mapping[str, str] = field(default_factory=dict)
    shapes: Mapping[str, Shape] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    inlets: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reading:
    """A file as read. root: the project's folder. chosen: the choice for each slot of variants. bd:
    bdsim's diagram of the blocks without mistakes, or None. diagram: the complete diagram, None if
    it has mistakes. faults: its mistakes. pending: whether it is not built yet, so that its
    mistakes are unknown."""

    path: Path
    root: Path
    file: File
    chosen: Mapping[str, str]
    bd: Any = None
    diagram: Diagram | None = None
    faults: tuple[Fault, ...] = ()
    signals: Signals = field(default_factory=Signals)
    used: dict[Path, File | None] = field(default_factory=dict)
    built: dict[int, dict[str, Any]] = field(default_factory=dict)
    pending: bool = False

    @property
    def document(self) -> Document:
        """The parsed document, with the position of each value."""
        return self.file.document

    @property
    def text(self) -> str:
        """The text of the file."""
        return self.document.text

    @property
    def revision(self) -> str:
        """The key of the text, by which edits identify the version that they change."""
        return key_of(self.text)

    @property
    def data(self) -> dict[str, Any]:
        """The values of the file as plain data."""
        return self.document.data

    @property
    def files(self) -> tuple[Path, ...]:
        """The other files that it depends on."""
        read = self.diagram.files if self.diagram is not None else ()
        return tuple(dict.fromkeys((*read, *self.used)))

    def use(self, given: str, user: File) -> tuple[Path, File] | None:
        """A file that a block uses, as (path, file); None if it cannot be read. given: its path as
        written in the file `user`."""
        return UsedFiles(self.root, self.used).use(given, user.document)

    @cached_property
    def parameters(self) -> Mapping[str, str]:
        """The numbers that can be tuned during a run: tunable name by the name in the file, such as
        `ctrl.kp` or a parameter of `params`."""
        if self.diagram is None:
            return {}
        with LOADING:
            return _tunable(self.diagram)


def slots_of(file: File) -> dict[str, Slot]:
    """The slots of variants of a file that have choices."""
    return {name: slot for name, slot in file.slots.items() if slot.choices}


def read(path: Path, root: Path, file: File, chosen: Mapping[str, str]) -> Reading:
    """Read a file; build it unless it is larger than AT_ONCE. chosen: choices by slot; unknown ones
    are ignored."""
    reading = unbuilt(path, root, file, chosen)
    return reading if is_large(reading.file) else built(reading)


def read_first(path: Path, root: Path) -> Reading:
    """Read a file that is opened; build it unless it is larger than OPENED_AT_ONCE."""
    with collector_paused():
        reading = unbuilt(path, root, File(read_document(path)), {})
    return reading if blocks_in(reading.file) > min(OPENED_AT_ONCE, AT_ONCE) else built(reading)


def is_large(file: File) -> bool:
    """Whether a diagram is built in the background after a change."""
    return blocks_in(file) > AT_ONCE


def checked_only(reading: Reading) -> Reading:
    """The reading with the mistakes of its sections alone, which are found without building it."""
    faults = structure_faults(reading.document, reading.path)
    return replace(reading, faults=tuple(faults), pending=False)


def unbuilt(path: Path, root: Path, file: File, chosen: Mapping[str, str]) -> Reading:
    """The reading of a file without building it, so that its mistakes are unknown. Arguments as for
    `read`."""
    found = {slot.name: slot.choice(chosen.get(slot.name)) for slot in file.slots.values()}
    chosen = {slot: choice.name for slot, choice in found.items() if choice is not None}
    return Reading(path, root, file, chosen, pending=True)


def built(reading: Reading) -> Reading:
    """The reading with its blocks built as far as possible, and with its mistakes."""
    document = reading.document
    if reading.file.top.has_gates:
        _, wrong, _ = validate(document, document.data, PartSection)
        return replace(reading, faults=tuple(wrong), pending=False, used={}, built={})
    with LOADING, warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        found = attempt(document, reading.path, reading.root, reading.chosen)
        signals, faults = Signals(), list(found.faults)
        if found.diagram is not None:
            try:
                signals, wrong = _signals(found.diagram)
                faults += wrong
            except InputError as error:
                faults += error.faults
    diagram = None if faults else found.diagram
    return Reading(
        reading.path, reading.root, reading.file, reading.chosen,
        found.bd, diagram, tuple(faults), signals,
    )  # fmt: skip


def blocks_in(file: File) -> int:
    """The approximate number of blocks of a diagram including subsystems, at most AT_ONCE + 1."""
    known: dict[str, int] = {}

    def count(sheet: Sheet, depth: int) -> int:
        total = 0
        for block in sheet.blocks.values():
            inner = file.subsystem_of(block) if depth < _DEEPEST else None
            if inner is not None and inner.name not in known:
                known[inner.name] = 1
                known[inner.name] += count(inner, depth + 1)
            total += 1 if inner is None else known[inner.name]
            if total > AT_ONCE:
                return AT_ONCE + 1
        return total

    return count(file.top, 0)


def _signals(diagram: Diagram) -> tuple[Signals, list[Fault]]:
    """The signals of a diagram, and a fault for each wire whose shape does not fit. Raises
    DiagramError for algebraic loops."""
    flat = flatten(diagram.bd, diagram.places, diagram.run)
    names = {name: name for name in signal_names(flat)} | aliases_of(flat)
    inlets = {
        block: {port: flat.nodes[i].output_name(k) for port, (i, k) in sources.items()}
        for block, sources in flat.inlets.items()
    }
    units = units_of(flat)
    if len(flat.nodes) > MOST_EVALUATED:
        return Signals(names, {}, units, inlets), []
    values, _ = start_values(flat)
    shapes = named_shapes(flat, values)
    faults: list[Fault] = []
    for node in flat.nodes:
        if node.sources and all(index in values for index, _ in node.sources):
            faults += wrong_wires(flat.nodes, node, node.inputs(values))
    return Signals(names, shapes, units, inlets), faults


def _tunable(diagram: Diagram) -> dict[str, str]:
    from spart_blocks.program.program import START
    from spart_blocks.program.tracing.parameters import Parameters

    flat = flatten(diagram.bd, diagram.places, diagram.run)
    found = Parameters(flat.nodes, diagram.origins, diagram.robots, diagram.tunable)
    names = {slot.name: slot.name for slot in found.slots if not slot.name.endswith(f".{START}")}
    names |= {
        given: slots[0]
        for given, slots in given_names(found.origins, found.slots).items()
        if slots[0] in names
    }
    for parameter, pairs in diagram.shared.items():
        if parameter in names:
            for block, argument in pairs:
                names.setdefault(f"{block}.{argument}", names[parameter])
    return names

"""Two versions of a sheet as one drawing: each block and wire once, marked as added, removed or
changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from spart_blocks.base.document import Keys
from spart_blocks.diagram.written.connections import IN_ORDER, Connection, meant, renamed
from spart_blocks.diagram.written.sheets import GATES, TOP, WrittenBlock, is_slot
from spart_blocks.versions.differences.changes import BLOCK, INITIAL, PARAMETER, Change
from spart_blocks.versions.differences.matched_versions import (
    DiagramVersion,
    MatchedVersions,
    called,
    shown,
)
from spart_blocks.versions.differences.references import users_of
from spart_blocks.versions.differences.wire_changes import apart

State = Literal["common", "added", "removed", "changed"]
MOST_BLOCKS = 120
"""Blocks of a sheet that is drawn whole. Of a larger one only changes and their neighbours are
drawn."""


@dataclass(frozen=True)
class UnionBlock:
    """A block of the drawing. name: both names of a renamed block, `d → damping`. kind: its type,
    both of a retyped one. piece: the block as it is written, in the new file if it is there."""

    name: str
    kind: str
    state: State
    piece: WrittenBlock
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class UnionWire:
    """A wire of the drawing, from an output of a block to an input of one, by number."""

    source: int
    output: int
    target: int
    input: int
    state: State


@dataclass(frozen=True)
class Union:
    """One sheet of the drawing. hidden: number of blocks that are left out."""

    title: str
    blocks: tuple[UnionBlock, ...]
    wires: tuple[UnionWire, ...]
    hidden: int = 0

    @property
    def differs(self) -> bool:
        """Whether anything is added, removed or changed."""
        states = {one.state for one in self.blocks} | {one.state for one in self.wires}
        return bool(states - {"common"})


def unions_of(
    pair: MatchedVersions, changes: Sequence[Change], changed_files: Collection[str] = ()
) -> list[Union]:
    """The diagram, then each subsystem in which something has changed. changed_files: paths of used
    files that differ, as blocks name them."""
    touched = set(_touched(pair, changes, changed_files))
    found = []
    for sheet, other in pair.sheets.items():
        if not is_slot(sheet):
            union = _SheetUnion(pair, sheet, other, touched).union()
            if sheet == TOP or union.differs:
                found.append(union)
    return found


def _touched(
    pair: MatchedVersions, changes: Sequence[Change], changed_files: Collection[str]
) -> Iterator[str]:
    """New names of the blocks in which something has changed, as changes write them."""
    users = users_of(pair.new)
    sheets = set()
    for change in changes:
        if change.subject == BLOCK and change.kind in ("renamed", "retyped", "moved"):
            yield change.path
        elif change.subject in (PARAMETER, INITIAL):
            yield change.path.partition(".")[0]
        elif change.subject == "parameter of the diagram":
            parameter = change.path.split(".")[1] if "." in change.path else ""
            yield from (shown(name) for name, _ in users.get(parameter, ()))
        for mark in ("/", ": "):
            inside, found, _ = change.path.partition(mark)
            sheets |= {inside} if found else set()
        if change.subject in ("subsystem", "variant"):
            sheets.add(change.path.partition(".")[0])
        if change.path.partition("=")[1] and change.subject in (BLOCK, PARAMETER, INITIAL):
            yield change.path.partition("=")[0]
    for name, piece in pair.new.pieces.items():
        if (piece.uses and piece.kind in changed_files) or (
            not piece.uses and piece.kind in sheets
        ):
            yield shown(name)


@dataclass
class _SheetUnion:
    """Makes the drawing of one sheet. Blocks go by their new names."""

    pair: MatchedVersions
    sheet: Keys
    other: Keys
    touched: set[str]
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    outputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @cached_property
    def names(self) -> dict[str, str]:
        """New names of renamed blocks by the old."""
        return self.pair.names_on(self.sheet)

    @cached_property
    def former(self) -> dict[str, str]:
        """Old names of renamed blocks by the new."""
        return {new: old for old, new in self.names.items()}

    def union(self) -> Union:
        """The drawing of the sheet."""
        wires = self._wires()
        states = self._states(wires)
        kept = _kept(states, wires)
        place = {name: k for k, name in enumerate(kept)}
        edges = []
        for one, target, state in wires:
            if one.source in place and one.target in place:
                output = self._port(self.outputs, one.source, one.output)
                number = self._port(self.inputs, one.target, target)
                edges.append(UnionWire(place[one.source], output, place[one.target], number, state))
        blocks = tuple(self._block(name, states[name]) for name in kept)
        title = called(self.other) if self.other != TOP else ""
        return Union(title, blocks, tuple(edges), len(states) - len(kept))

    def _wires(self) -> list[tuple[Connection, str | None, State]]:
        """Each connection once, with its input and state. An input that is filled in order is one
        for each source."""
        old = renamed(_meant(self.pair.old, self.sheet), self.names)
        new = _meant(self.pair.new, self.other)
        gone, come = apart(old, new)
        added = set(come)
        found: list[tuple[Connection, str | None, State]] = []
        for one in new:
            found.append((one, _input(one), "added" if one in added else "common"))
        return found + [(one, _input(one), "removed") for one in gone]

    def _states(self, wires: Sequence[tuple[Connection, str | None, State]]) -> dict[str, State]:
        """The state of each block, those of the new file first, and of the gates that wires lead
        to."""
        states: dict[str, State] = {}
        back = {b: a for a, b in self.pair.blocks.items()}
        for name in self.pair.new.blocks[self.other]:
            full = self.other, name
            known = full in back and self.pair.sheets.get(back[full][0]) == self.other
            changed = shown(full) in self.touched
            states[name] = "added" if not known else "changed" if changed else "common"
        for name in self.pair.old.blocks[self.sheet]:
            states.setdefault(self.names.get(name, name), "removed")
        for one, _, _ in wires:
            for name in (one.source, one.target):
                states.setdefault(name, "common" if name in GATES else "changed")
        return states

    def _port(self, ports: dict[str, list[str]], block: str, port: str | None) -> int:
        """The number of a port of a block; a port that is new to it gets the next one."""
        known, name = ports[block], port or ""
        if name not in known:
            known.append(name)
        return known.index(name)

    def _block(self, name: str, state: State) -> UnionBlock:
        """A block of the drawing."""
        former = self.former.get(name, name)
        old = self.pair.old.blocks[self.sheet].get(former)
        new = self.pair.new.blocks[self.other].get(name)
        before = old or WrittenBlock(name, (), {"type": ""})
        after = new or old or WrittenBlock(name, (), {"type": _gate(name)})
        label = name
        if state == "changed" and name in self.former:
            label = f"{former} → {name}"
        kind = _kind(after)
        if state == "changed" and old is not None and self.pair.kind(before) != after.kind:
            kind = f"{_kind(before)} → {kind}"
        texts = [
            tuple("" if port.isdigit() or port.startswith(IN_ORDER) else port for port in ports)
            for ports in (self.inputs[name], self.outputs[name])
        ]
        return UnionBlock(label, kind, state, after, *texts)


def _gate(name: str) -> str:
    """The type that is drawn for a block that no file has: that of a gate."""
    return {"in": "INPORT", "out": "OUTPORT"}.get(name, "?")


def _kind(piece: WrittenBlock) -> str:
    """The type that is drawn for a block; for a used file its name."""
    return piece.kind.rpartition("/")[2] if piece.uses else piece.kind


def _meant(half: DiagramVersion, sheet: Keys) -> list[Connection]:
    """The connections of a sheet with the names of ports."""
    found = half.found[sheet]
    return meant(found, found, lambda name: half.ports(sheet, name))


def _input(one: Connection) -> str | None:
    """The input of a connection; one for each source of a block that is filled in order."""
    return f"{IN_ORDER}{one.start}" if one.input == IN_ORDER else one.input


def _kept(
    states: dict[str, State], wires: Sequence[tuple[Connection, str | None, State]]
) -> list[str]:
    """The blocks that are drawn: all, or of very many those that differ and their neighbours."""
    if len(states) <= MOST_BLOCKS:
        return list(states)
    first = {name for name, state in states.items() if state != "common"}
    for one, _, state in wires:
        if state != "common":
            first |= {one.source, one.target}
    near = set(first)
    for one, _, _ in wires:
        if one.source in first or one.target in first:
            near |= {one.source, one.target}
    kept = [name for name in states if name in near]
    kept = kept if len(kept) <= MOST_BLOCKS else [name for name in states if name in first]
    return kept[:MOST_BLOCKS]


# --- marks on sheets that are drawn already -------------------------------------------------------


@dataclass(frozen=True)
class SheetMarks:
    """What differs on a sheet, to be marked on its drawing. sheet: its path in the new file.
    blocks: the state of each block that differs, by its new name. gone: types of the removed ones.
    added, removed: connections that only one file has, with new names of blocks."""

    sheet: Keys
    blocks: Mapping[str, State]
    gone: Mapping[str, str]
    added: tuple[Connection, ...]
    removed: tuple[Connection, ...]


def marks_of(
    pair: MatchedVersions, changes: Sequence[Change], changed_files: Collection[str] = ()
) -> list[SheetMarks]:
    """The marks of each sheet on which something differs. The arguments are as for `unions_of`."""
    touched = set(_touched(pair, changes, changed_files))
    found = []
    for sheet, other in pair.sheets.items():
        if not is_slot(sheet):
            one = _SheetUnion(pair, sheet, other, touched)
            wires = one._wires()
            blocks = {name: state for name, state in one._states(wires).items()
                      if state != "common"}  # fmt: skip
            gone = {name: one._block(name, "removed").kind for name, state in blocks.items()
                    if state == "removed"}  # fmt: skip
            come, left = (
                tuple(dict.fromkeys(wire for wire, _, mark in wires if mark == state))
                for state in ("added", "removed")
            )
            if blocks or come or left:
                found.append(SheetMarks(other, blocks, gone, come, left))
    return found

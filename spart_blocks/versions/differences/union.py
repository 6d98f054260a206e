"""Both sides of a diff as one diagram: every block and wire once, with what became of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal

from spart_blocks.versions.differences.changes import BLOCK, INITIAL, PARAMETER, Change
from spart_blocks.versions.differences.connections import IN_ORDER, Connection, meant, renamed
from spart_blocks.versions.differences.pair import Half, Pair
from spart_blocks.versions.differences.references import users_of
from spart_blocks.versions.differences.sheets import GATES, TOP, VARIANT, Piece, called, shown
from spart_blocks.versions.differences.wire_changes import apart

State = Literal["common", "added", "removed", "changed"]
MOST_BLOCKS = 120
"""Blocks of a sheet that is drawn whole; of a larger one, changes and their neighbours are."""


@dataclass(frozen=True)
class UnionBlock:
    """A block: its name, or both as `d → damping`, its type in the same way, and its ports. piece:
    as it is written, in the new file if it is there."""

    name: str
    kind: str
    state: State
    piece: Piece
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]


@dataclass(frozen=True)
class UnionWire:
    """A connection from an output of a block to an input of one, all by number."""

    source: int
    output: int
    target: int
    input: int
    state: State


@dataclass(frozen=True)
class Union:
    """A sheet of both sides. hidden: how many blocks are left out."""

    title: str
    blocks: tuple[UnionBlock, ...]
    wires: tuple[UnionWire, ...]
    hidden: int = 0

    @property
    def differs(self) -> bool:
        """Whether anything is not common to both sides."""
        states = {one.state for one in self.blocks} | {one.state for one in self.wires}
        return bool(states - {"common"})


def unions_of(
    pair: Pair, changes: Sequence[Change], changed_files: Collection[str] = ()
) -> list[Union]:
    """The diagram, then every subsystem in which something has changed. changed_files: used files
    that differ, as blocks name them."""
    touched = set(_touched(pair, changes, changed_files))
    found = []
    for sheet, other in pair.sheets.items():
        if not sheet.startswith(VARIANT):
            union = _Maker(pair, sheet, other, touched).union()
            if sheet == TOP or union.differs:
                found.append(union)
    return found


def _touched(
    pair: Pair, changes: Sequence[Change], changed_files: Collection[str]
) -> Iterator[str]:
    """The blocks of which something has changed, by their new names."""
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
class _Maker:
    """The union of one sheet, by the new names of its blocks."""

    pair: Pair
    sheet: str
    other: str
    touched: set[str]
    inputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    outputs: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    @cached_property
    def names(self) -> dict[str, str]:
        """The new names of the blocks that have another."""
        return self.pair.names_on(self.sheet)

    @cached_property
    def former(self) -> dict[str, str]:
        """The old names by the new ones."""
        return {new: old for old, new in self.names.items()}

    def union(self) -> Union:
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
        """Each connection once, with the input it leads to; those filled in order have one for
        each source."""
        old = renamed(_meant(self.pair.old, self.sheet), self.names)
        new = _meant(self.pair.new, self.other)
        gone, come = apart(old, new)
        added = set(come)
        found: list[tuple[Connection, str | None, State]] = []
        for one in new:
            found.append((one, _input(one), "added" if one in added else "common"))
        return found + [(one, _input(one), "removed") for one in gone]

    def _states(self, wires: Sequence[tuple[Connection, str | None, State]]) -> dict[str, State]:
        """The blocks, those of the new file first; gates where wires lead to them."""
        states: dict[str, State] = {}
        back = {b: a for a, b in self.pair.blocks.items()}
        for name in self.pair.new.sheets[self.other].blocks:
            full = self.other, name
            known = full in back and self.pair.sheets.get(back[full][0]) == self.other
            changed = shown(full) in self.touched
            states[name] = "added" if not known else "changed" if changed else "common"
        for name in self.pair.old.sheets[self.sheet].blocks:
            states.setdefault(self.names.get(name, name), "removed")
        for one, _, _ in wires:
            for name in (one.source, one.target):
                states.setdefault(name, "common" if name in GATES else "changed")
        return states

    def _port(self, ports: dict[str, list[str]], block: str, port: str | None) -> int:
        known, name = ports[block], port or ""
        if name not in known:
            known.append(name)
        return known.index(name)

    def _block(self, name: str, state: State) -> UnionBlock:
        former = self.former.get(name, name)
        old = self.pair.old.sheets[self.sheet].blocks.get(former)
        new = self.pair.new.sheets[self.other].blocks.get(name)
        before = old if old is not None else Piece("")
        after = new if new is not None else before if old is not None else Piece(_gate(name))
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
    return {"in": "INPORT", "out": "OUTPORT"}.get(name, "?")


def _kind(piece: Piece) -> str:
    """A type as a block shows it; of a used file its name."""
    return piece.kind.rpartition("/")[2] if piece.uses else piece.kind


def _meant(half: Half, sheet: str) -> list[Connection]:
    found = half.found[sheet]
    return meant(found, found, lambda name: half.ports(sheet, name))


def _input(one: Connection) -> str | None:
    return f"{IN_ORDER}{one.start}" if one.input == IN_ORDER else one.input


def _kept(
    states: dict[str, State], wires: Sequence[tuple[Connection, str | None, State]]
) -> list[str]:
    """The blocks to draw: all, or of many those that have changed and what they are wired to."""
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

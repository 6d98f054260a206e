"""Three versions of a file's values become one, as steps on those of ours.

Mappings are merged by key. Wires are merged by the input that they lead to: two sources for one
input are a conflict. Lists in which the order means nothing, such as `run: log`, are merged as
sets, lists of one length by their items. What both sides have changed otherwise is a conflict.
Values are equal as for `diff`: 1 and 1.0 are, and so are two ways to write a port.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError, brief
from spart_blocks.diagram.sections.expectations import CLAIMS
from spart_blocks.diagram.written.connections import port_named, selected
from spart_blocks.diagram.written.sheets import Name, Sheet
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End, WrittenWire
from spart_blocks.versions.differences.changes import ABSENT
from spart_blocks.versions.differences.matched_versions import DiagramVersion
from spart_blocks.versions.differences.references import clock_of
from spart_blocks.versions.differences.units import parameter_default, section_default
from spart_blocks.versions.differences.values import equal, frozen
from spart_blocks.versions.edits.steps import (
    InsertItem,
    RemoveValue,
    SetValue,
    Step,
    read_wire,
    wire_steps,
    wires_of,
)
from spart_blocks.versions.edits.values import same as written_alike

_AS_SETS = ("log", "effort", "tunable", "part", "keep", "signals", "notes", "areas", *CLAIMS)
"""Lists in which the order means nothing, by key; claims among them."""
_Connection = tuple[str, str]
"""The source and the input, each in one spelling."""


@dataclass(frozen=True)
class Conflict:
    """A place that both sides have changed. base, ours, theirs: the values in words; "" where there
    is none. message: the whole conflict in words, where it is not one of values. former: what the
    block was called in the base, if it is renamed."""

    path: Keys
    base: str = ""
    ours: str = ""
    theirs: str = ""
    message: str = ""
    former: str = ""

    def __str__(self) -> str:
        if self.message:
            return self.message
        where = ".".join(map(str, self.path))
        if self.former:
            where += f" ({self.former} before)"
        before = f" (before: {self.base})" if self.base else ""
        return f"{where}: ours {_says(self.ours)}, theirs {_says(self.theirs)}{before}"


def _says(value: str) -> str:
    """What a side has done to a value."""
    return f"has {value}" if value else "removes it"


@dataclass
class ThreeWay:
    """A merge of values in progress. halves: the three versions, for the ports of their blocks.
    former: names in the base of renamed blocks, by place. steps: those found so far, from ours to
    the merge. to_theirs: those that settle the conflicts as theirs has it; None if a conflict is
    not one of values."""

    halves: Sequence[DiagramVersion]
    former: Mapping[Keys, str]
    steps: list[Step] = field(default_factory=list)
    conflicts: list[Conflict] = field(default_factory=list)
    to_theirs: list[Step] | None = field(default_factory=list)

    def values(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        """Merge the values at a path."""
        if _alike(ours, theirs) or _alike(base, theirs):
            return
        if base is ABSENT and _is_section(path) and _of(dict, ours, theirs):
            base = {}
        listed = path[-1:] == ("wires",) or (_is_drawing(path) and path[-1] in _AS_SETS)
        if base is ABSENT and listed and _of(list, ours, theirs):
            base = []
        values = base, ours, theirs
        if len(path) == 2 and path[0] == "clocks" and self._same_clock(path, values):
            return
        if _of(dict, *values):
            for key in dict.fromkeys([*base, *ours, *theirs]):
                self.values((*path, key), *(value.get(key, ABSENT) for value in values))
        elif path[-1:] == ("wires",) and _of(list, *values):
            self.wires(path, *values)
        elif path and path[-1] in _AS_SETS and _of(list, *values):
            self.sets(path, *values)
        elif _of(list, *values) and len(base) == len(ours) == len(theirs):
            for index, items in enumerate(zip(*values, strict=True)):
                self.values((*path, index), *items)
        else:
            self.whole(path, *values)

    def whole(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        """A value that is not merged in parts: theirs, if ours is as it was."""
        before, mine, other = self._meant(path, (base, ours, theirs))
        if not _alike(base, ours):
            if equal(before, other) or equal(mine, other):
                return
            if not equal(before, mine):
                self.conflict(path, base, ours, theirs)
                return
        self.steps.append(_step_to(path, theirs))

    def _meant(self, path: Keys, values: Sequence[Any]) -> list[Any]:
        """Values at a path, with the default in place of one that is not there."""
        if ABSENT not in values:
            return list(values)
        name = _block_at(path[:-1])
        found = (half.pieces.get(name) for half in self.halves) if name is not None else ()
        kinds = {block.kind for block in found if block is not None}
        if kinds:
            default = parameter_default(kinds.pop(), str(path[-1])) if len(kinds) == 1 else ABSENT
        else:
            default = section_default(tuple(map(str, path)))
        return [default if value is ABSENT else value for value in values]

    def _same_clock(self, path: Keys, values: Sequence[Any]) -> bool:
        """Whether a clock is settled as a whole: a rate and its period are the same."""
        base, ours, theirs = values
        if ABSENT in values or _alike(base, ours):
            return False
        before, mine, other = map(clock_of, values)
        if before == mine and before != other:
            self.steps.append(SetValue(path, theirs))
        return bool(other in (before, mine) or before == mine)

    def conflict(self, path: Keys, base: Any, ours: Any, theirs: Any) -> None:
        """Add the conflict of a value that both sides have changed."""
        former = next(
            (self.former[p] for n in range(len(path)) if (p := path[: n + 1]) in self.former), ""
        )
        self.conflicts.append(
            Conflict(path, _shown(base), _shown(ours), _shown(theirs), former=former)
        )
        if self.to_theirs is not None:
            self.to_theirs.append(_step_to(path, theirs))

    def sets(self, path: Keys, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        """Lists whose order means nothing."""
        keys = [[frozen(item) for item in items] for items in (base, ours, theirs)]
        before, mine, other = map(set, keys)
        both_gone = before - mine - other
        if both_gone and mine - before != other - before:
            self.conflict(path, base, ours, theirs)  # perhaps one entry changed in two ways
            return
        for index, key in enumerate(keys[1]):
            if key in before and key not in other:
                self.steps.append(RemoveValue((*path, index)))
        for item, key in zip(theirs, keys[2], strict=True):
            if key not in before and key not in mine:
                self.steps.append(InsertItem(path, item))

    # Wires.

    def wires(self, path: Keys, base: list[Any], ours: list[Any], theirs: list[Any]) -> None:
        """The wires of a sheet, by their inputs."""
        spellings = [_Spelling(half, path[:-1], self.halves) for half in self.halves]
        try:
            before, mine, other = (
                _sources(wires, each)
                for wires, each in zip((base, ours, theirs), spellings, strict=True)
            )
        except InputError:  # a wire that cannot be read
            self.whole(path, base, ours, theirs)
            return
        gone: set[_Connection] = set()
        added: set[_Connection] = set()
        for end in dict.fromkeys([*before, *mine, *other]):
            old, left, right = (wires.get(end, ()) for wires in (before, mine, other))
            if left == right or old == right:
                continue
            if old != left:
                where = (*path[:-1], "wires", f"to {end[0]}")
                self.conflicts.append(Conflict(where, *map(", ".join, (old, left, right))))
                self.to_theirs = None
                continue
            kept = len(left) if right[: len(left)] == left else 0
            if not set(left).isdisjoint(right[kept:]):
                kept = 0
            gone |= {(source, end[0]) for source in left[kept:]}
            added |= {(source, end[0]) for source in right[kept:]}
        bare = frozenset(
            name
            for wires, each in zip((base, ours, theirs), spellings, strict=True)
            for name in each.bare(wires)
        )
        mine_now, other_now = (Sheet(path[:-1], {"wires": wires}) for wires in (ours, theirs))
        self.steps += wire_steps(
            mine_now, lambda wire: spellings[1].without(wire, lambda one: one in gone, bare)
        )
        for wire in wires_of(other_now).values():
            new = spellings[2].without(wire, lambda one: one not in added, bare)
            if new is not None:
                self.steps.append(InsertItem(path, new))


@dataclass(frozen=True)
class _Spelling:
    """One spelling of the ends of a version's wires, with the names of ports if they are known.
    sheet: path of the sheet of the wires; another path if they belong to no sheet. every: all
    versions; an end without a port is the only port that one of them has."""

    half: DiagramVersion
    sheet: Keys
    every: Sequence[DiagramVersion]

    def source(self, end: End) -> str:
        """`plant.qm[:2]`; one of several signals as it is written."""
        if end.names is not None:
            return str(end)
        return f"{self._port(end, 1)}{selected(end.selection)}"

    def input(self, end: End) -> str:
        """`ctrl.qm`; the block alone for the next of inputs that are filled in order."""
        return self._port(end, 0)

    def without(
        self, wire: WrittenWire, leaves: Callable[[_Connection], bool], bare: Collection[str]
    ) -> str | None:
        """The text of a wire without the connections for which leaves is true; None if none
        remains. A port that is the only one of its block in some versions alone is named, unless it
        is one of bare."""
        source = self.source(wire.source)
        kept = wire.without(
            lambda end: end is not wire.source and leaves((source, self.input(end)))
        )
        if kept is None:
            return None
        left = wire if kept == wire.text else read_wire(kept)
        for end, side in (*((one, 0) for one in reversed(left.ends)), (left.source, 1)):
            port = self._port_of(end, side) if end.port is None and end.names is None else None
            name = f"{end.block}.{port}"
            if port is None or name in bare:
                continue
            if any(self._several(one, end, side) for one in self.every):
                kept = f"{kept[: end.offset]}{name}{kept[end.offset + len(end.block) :]}"
        return kept

    def bare(self, wires: list[Any]) -> Iterator[str]:
        """The ports that wires do not name, though their blocks have several."""
        for wire in map(read_wire, filter(str.strip, wires)):
            for end, side in ((wire.source, 1), *((one, 0) for one in wire.ends)):
                if end.port is None and self._several(self.half, end, side):
                    yield self._port(end, side)

    def _several(self, version: DiagramVersion, end: End, side: int) -> bool:
        """Whether a version has several ports at the block of an end."""
        has_sheet = isinstance(version.sheets.get(self.sheet), Sheet)
        return has_sheet and len(version.ports(self.sheet, end.block)[side] or ()) > 1

    def _port(self, end: End, side: int) -> str:
        port = self._port_of(end, side)
        return end.block if port is None else f"{end.block}.{port}"

    def _port_of(self, end: End, side: int) -> str | None:
        """The name of an end's port, as far as it is known. side: 1 for a source."""
        if not isinstance(self.half.sheets.get(self.sheet), Sheet):
            return end.port
        if end.port is not None:
            return port_named(end.port, self.half.ports(self.sheet, end.block)[side])
        block = self.half.blocks[self.sheet].get(end.block)
        if block is not None and block.kind in FILLED_IN_ORDER and not side:
            return None
        versions = (self.half, *self.every)
        found = (port_named(None, one.ports(self.sheet, end.block)[side]) for one in versions)
        return next((name for name in found if name is not None), None)


def _sources(wires: list[Any], spelling: _Spelling) -> dict[tuple[str, str], tuple[str, ...]]:
    """The sources of each input, in the order of the wires. A wire of several signals is an input
    of its own: the second word of its key is its source."""
    found: dict[tuple[str, str], tuple[str, ...]] = {}
    for text in wires:
        if not isinstance(text, str):
            raise InputError("a wire must be text")
        if not text.strip():
            continue
        wire = read_wire(text)
        source = spelling.source(wire.source)
        for end in wire.ends:
            key = spelling.input(end), source if wire.source.names is not None else ""
            found[key] = (*found.get(key, ()), source)
    return found


def _block_at(path: Keys) -> Name | None:
    """The block that is written at a path; None for other paths."""
    inside = path[-2:-1] in (("blocks",), ("choices",))
    return (path[:-2], str(path[-1])) if inside else None


def _is_section(path: Keys) -> bool:
    """Whether a mapping holds entries that are merged one by one, also where both sides made it."""
    inner = len(path) == 3 and path[0] == "subsystems" and path[2] in ("blocks", "drawing")
    return len(path) == 1 or inner or _is_drawing(path)


def _is_drawing(path: Keys) -> bool:
    """Whether this is a list or mapping of a drawing, or the look of a block in it."""
    inside = path[2:] if path[:1] == ("subsystems",) else path
    return inside[:1] == ("drawing",) and 2 <= len(inside) <= 3


def _step_to(path: Keys, value: Any) -> Step:
    """The step after which a value stands at a path, or none if it is ABSENT."""
    return RemoveValue(path) if value is ABSENT else SetValue(path, value)


def _alike(one: Any, other: Any) -> bool:
    """Whether two values are written alike, 1 and 1.0 not."""
    if one is ABSENT or other is ABSENT:
        return one is other
    return written_alike(one, other)


def _of(kind: type, *values: Any) -> bool:
    """Whether all values are of a type."""
    return all(isinstance(value, kind) for value in values)


def _shown(value: Any) -> str:
    """A value as text; empty for ABSENT."""
    return "" if value is ABSENT else brief(value)

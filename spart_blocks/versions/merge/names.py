"""The names that blocks, subsystems, parameters and so on get in a merge.

Both sides are matched with the base, as `diff` does it. What one side calls otherwise, or has moved
to another sheet, gets this name and place in all three versions, before they are merged by paths.
What both sides call otherwise, and not alike, is a conflict.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.diagram.written.sheets import TOP, VARIANT, Name, is_slot
from spart_blocks.versions.differences.matched_versions import (
    SLOT,
    DiagramVersion,
    MatchedVersions,
    called,
    shown,
)
from spart_blocks.versions.differences.references import References
from spart_blocks.versions.edits.renaming import NewNames

N = TypeVar("N", bound=Hashable)
SECTIONS = {"params": "parameter", "clocks": "clock", "robots": "robot"}


@dataclass(frozen=True)
class CommonNames:
    """The names of a merge. versions: the renames of base, ours and theirs, by their own names.
    moves: the blocks of each that another version has on another sheet, from place to place by the
    names of the merge. former: names in the base of renamed blocks, by their place in the merge.
    conflicts: texts."""

    versions: Sequence[NewNames]
    moves: Sequence[Mapping[Name, Name]]
    former: Mapping[Name, str]
    conflicts: tuple[str, ...]


@dataclass(frozen=True)
class Matched:
    """The base matched with a side. data: values of the side."""

    pair: MatchedVersions
    references: References
    data: Mapping[str, Any]


def common_names(base: Mapping[str, Any], ours: Matched, theirs: Matched) -> CommonNames:
    """The names that base, ours and theirs get in the merge."""
    halves = ours.pair.old, ours.pair.new, theirs.pair.new
    sheets = _agreed([half.sheets for half in halves], ours.pair.sheets, theirs.pair.sheets, _one)
    conflicts = [
        _conflict_text(str(name[0]).removesuffix("s"), called(name), called(a), called(b))
        for name, a, b in sheets.conflicts
    ]
    blocks = _agreed_blocks(halves, sheets.maps, ours.pair, theirs.pair)
    conflicts += [
        _conflict_text("block", shown(name), shown(a), shown(b)) for name, a, b in blocks.conflicts
    ]
    conflicts += _moved_and_removed(ours.pair, theirs.pair, "ours", "theirs")
    conflicts += _moved_and_removed(theirs.pair, ours.pair, "theirs", "ours")
    sections: list[dict[str, dict[str, str]]] = [{}, {}, {}]
    for section, subject in SECTIONS.items():
        found = _agreed(
            [mapping_at(data, section) for data in (base, ours.data, theirs.data)],
            _same_or_renamed(base, ours, section),
            _same_or_renamed(base, theirs, section),
            _one,
        )
        conflicts += [_conflict_text(subject, *names) for names in found.conflicts]
        for names, new in zip(sections, found.maps, strict=True):
            names[section] = _changed(new)
    versions = [_version(*each) for each in zip(sheets.maps, blocks.maps, sections, strict=True)]
    moves = [{(a[0], b[1]): b for a, b in each.items() if a[0] != b[0]} for each in blocks.maps]
    former = {b: shown(a) for a, b in blocks.maps[0].items() if a != b}
    return CommonNames(versions, moves, former, tuple(conflicts))


def _moved_and_removed(
    one: MatchedVersions, other: MatchedVersions, mover: str, remover: str
) -> Iterator[str]:
    """The conflicts of blocks that one side has moved to another sheet, and that the other one has
    removed, or made a choice of a slot: the wires of the new sheet would lead to nothing."""
    for a, b in one.blocks.items():
        moved = one.sheets.get(a[0], a[0]) != b[0] and not (is_slot(a[0]) or is_slot(b[0]))
        if not moved or one.old.pieces[a].kind == SLOT:
            continue
        c = other.blocks.get(a)
        varied = c is not None and (is_slot(c[0]) or other.new.pieces[c].kind == SLOT)
        if c is None or varied:
            does = "has variants of it" if varied else "removes it"
            yield f"block {shown(a)}: {mover} has it as {shown(b)}, {remover} {does}"


def _conflict_text(subject: str, name: str, ours: str, theirs: str) -> str:
    """The conflict of two new names."""
    return f"{subject} {name}: ours calls it {ours}, theirs calls it {theirs}"


def _changed(names: Mapping[N, N]) -> dict[N, N]:
    """The entries whose new name is another one."""
    return {old: new for old, new in names.items() if old != new}


def _version(
    sheets: Mapping[Keys, Keys], blocks: Mapping[Name, Name], sections: dict[str, dict[str, str]]
) -> NewNames:
    """The renames of one version. sheets, blocks: names in the merge by those of the version; the
    blocks are on the sheets of the merge."""
    own = {new: old for old, new in sheets.items()}
    return NewNames(
        _changed(sheets),
        {
            (own.get(sheet, sheet), name): new
            for (sheet, name), (_, new) in blocks.items()
            if name != new
        },
        sections,
    )


def _same_or_renamed(base: Mapping[str, Any], side: Matched, section: str) -> dict[str, str]:
    """The name in a side of each entry of a section of the base that the side has."""
    renamed: Mapping[str, str] = getattr(side.references, section)
    names = {name: renamed.get(name, name) for name in mapping_at(base, section)}
    there = mapping_at(side.data, section)
    return {old: new for old, new in names.items() if new in there}


# --- the sides agree ------------------------------------------------------------------------


@dataclass(frozen=True)
class _Agreement(Generic[N]):
    """maps: for base, ours and theirs the names in the merge of what is matched, by their own.
    conflicts: a name in the base, and both new ones."""

    maps: tuple[dict[N, N], dict[N, N], dict[N, N]]
    conflicts: list[tuple[N, N, N]]


def _agreed(
    names: Sequence[Collection[N]],
    ours: Mapping[N, N],
    theirs: Mapping[N, N],
    choose: Callable[[N, N, N], N | None],
) -> _Agreement[N]:
    """The names in the merge. names: all of base, ours and theirs. ours, theirs: names in a side by
    those in the base. choose: the name of the merge, from the name in the base and both new ones;
    None where they are in conflict. A new name that another thing of a version has is not followed:
    then both are different things, as their names say.
    """
    dropped: set[N] = set()
    while True:
        found = _Agreement[N](({}, {}, {}), [])
        for before in names[0]:
            if before in dropped:
                continue
            mine, other = ours.get(before, before), theirs.get(before, before)
            merged = choose(before, mine, other)
            if merged is None:
                found.conflicts.append((before, mine, other))
                merged = mine
            found.maps[0][before] = merged
            for side, names_of_side in ((found.maps[1], ours), (found.maps[2], theirs)):
                if before in names_of_side:
                    side[names_of_side[before]] = merged
        counts = [
            Counter(new.get(name, name) for name in every)
            for new, every in zip(found.maps, names, strict=True)
        ]
        taken = {name for count in counts for name, number in count.items() if number > 1}
        double = {old for old, new in found.maps[0].items() if new in taken}
        if not double:
            return found
        dropped |= double


def _one(before: N, ours: N, theirs: N) -> N | None:
    """The new one of a name and two that come from it; None if both are new and differ."""
    if theirs in (before, ours):
        return ours
    return theirs if ours == before else None


def _place(before: Name, ours: Name, theirs: Name) -> Name | None:
    """The same of blocks: one side may change the sheet, the other one the name."""
    sheet = _one(before[0], ours[0], theirs[0])
    name = _one(before[1], ours[1], theirs[1])
    return None if sheet is None or name is None else (sheet, name)


def _agreed_blocks(
    halves: Sequence[DiagramVersion],
    sheets: Sequence[Mapping[Keys, Keys]],
    ours: MatchedVersions,
    theirs: MatchedVersions,
) -> _Agreement[Name]:
    """The blocks on the sheets of the merge. sheets: names of these by those of each version. The
    slots of variants are named by their sheets."""

    def moved(version: int, name: Name) -> Name:
        return sheets[version].get(name[0], name[0]), name[1]

    def matched(version: int, pair: MatchedVersions) -> dict[Name, Name]:
        found = {}
        for a, b in pair.blocks.items():
            before, after = moved(0, a), moved(version, b)
            choices = is_slot(before[0]) or is_slot(after[0])
            if pair.old.pieces[a].kind != SLOT and not (choices and before[0] != after[0]):
                found[before] = after
        return found

    names = []
    for version, half in enumerate(halves):
        slots = [
            moved(version, ((VARIANT, n), ""))
            for (s, n), p in half.pieces.items()
            if p.kind == SLOT
        ]
        every = [moved(version, name) for name, piece in half.pieces.items() if piece.kind != SLOT]
        names.append([*every, *((TOP, called(slot)) for slot, _ in slots)])
    return _agreed(names, matched(1, ours), matched(2, theirs), _place)

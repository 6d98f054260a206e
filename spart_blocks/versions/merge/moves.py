"""Blocks that one version of a merge has on another sheet go there in all of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.document import Keys, mapping_at, value_at
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import (
    SUBSYSTEM,
    TOP,
    File,
    Name,
    block_path,
    blocks_path,
    is_slot,
)
from spart_blocks.versions.edits.drawings import drawing_of, moved_out, with_looks, without_blocks
from spart_blocks.versions.edits.grouping import grouped
from spart_blocks.versions.edits.operations import Put
from spart_blocks.versions.edits.renaming import signals_renamed
from spart_blocks.versions.edits.steps import Operation, RemoveValue, SetValue, Step, ordered


def moving(versions: Sequence[File], moves: Sequence[Mapping[Name, Name]]) -> list[list[Operation]]:
    """For each version the operations that move blocks to where another one has them. versions:
    base, ours and theirs by their new names. A subsystem that a version does not have is made as
    the other one has it."""
    every = {a: b for each in moves for a, b in each.items()}
    if not every:
        return [[] for _ in versions]
    sections: dict[str, Mapping[str, Any]] = {}
    for sheet, _ in every.values():
        if sheet[:1] == (SUBSYSTEM,):
            name = str(sheet[-1])
            there = (one.subsystems[name] for one in versions if name in one.subsystems)
            sections[name] = next((one.section for one in there), {})
    signals = dict(_moved_signals(versions, every))
    targets = frozenset(every.values())
    gathers = [_gathers(file, versions, each, targets)
               for file, each in zip(versions, moves, strict=True)]  # fmt: skip
    alone = {name for each in gathers for name, one in each.items() if one is None}
    found: list[list[Operation]] = []
    for each, made in zip(moves, gathers, strict=True):
        groups = [one for name, one in made.items() if one is not None and name not in alone]
        apart = {a for one in groups for a in one.moved}
        rest = tuple((a, b) for a, b in each.items() if a not in apart)
        found.append([Move(rest, sections, targets, signals), *groups] if each else [])
    return found


def _gathers(
    file: File, versions: Sequence[File], moves: Mapping[Name, Name], targets: Collection[Name]
) -> dict[str, Gather | None]:
    """The subsystems that a version does not have, and to which its blocks go: how it makes them,
    or None where it cannot."""
    made: dict[str, list[Name]] = {}
    for a, (sheet, _) in moves.items():
        if sheet[:1] == (SUBSYSTEM,) and str(sheet[-1]) not in file.subsystems:
            made.setdefault(str(sheet[-1]), []).append(a)
    found = {}
    for name, moved in made.items():
        is_renamed = any(moves[a][1] != a[1] for a in moved)
        found[name] = None if is_renamed else _gather(file, name, moved, versions, targets)
    return found


def _gather(
    file: File, name: str, moved: Sequence[Name], versions: Sequence[File],
    targets: Collection[Name],
) -> Gather | None:  # fmt: skip
    """How a version makes a subsystem of blocks that are on one of its sheets, where another
    version has the only block of it; None if it cannot."""
    homes = {sheet for sheet, _ in moved}
    home = homes.pop()
    other = next((one for one in versions if name in one.subsystems), None)
    if other is None or homes or is_slot(home):
        return None
    if not all(block in file.sheet_at(home).blocks for _, block in moved):
        return None
    users = [one for one in other.blocks() if one.type == name]
    if len(users) != 1:
        return None
    user = users[0].keys
    stands = user[:2] if is_slot(user) else (*home, user[-1])  # a choice stands as its slot
    if user[:-1] != blocks_path(home) and not (is_slot(user) and home == TOP):
        return None
    inner = other.subsystems[name]
    inputs: dict[str, str] = {}
    outputs: dict[str, str] = {}
    for wire in inner.wires.values():
        if wire.source.block == "in" and wire.source.port is not None:
            inputs |= {wire.written(end): wire.source.port for end in wire.ends}
        for end in wire.ends:
            if end.block == "out" and end.port is not None:
                outputs.setdefault(wire.written(wire.source), end.port)
    others = {block: one for block, one in mapping_at(inner.section, "blocks").items()
              if (inner.keys, block) not in targets}  # fmt: skip
    found = Gather(name, str(stands[-1]), tuple(moved), inner.section, others, inputs, outputs)
    try:
        found.steps(file)
    except InputError:  # a wire that cannot be read, or `a.*` across the border
        return None
    return found


def _moved_signals(
    versions: Sequence[File], moves: Mapping[Name, Name]
) -> Iterator[tuple[str, str]]:
    """The path of a moved block's signals, and its new one, if there is one of each."""
    uses: dict[Keys, dict[str, None]] = {}
    for file in versions:
        for prefix, sheet in file.instances():
            uses.setdefault(sheet.keys, {})[prefix] = None
    for (kept, name), (other, new) in moves.items():
        before, after = uses.get(kept, {}), uses.get(other, {})
        if len(before) == len(after) == 1:
            yield f"{next(iter(before))}{name}", f"{next(iter(after))}{new}"


@dataclass(frozen=True)
class Move(Operation):
    """Blocks go to other sheets; their wires stay as they are. sections: subsystems that are made
    where there is none, of which the blocks of targets are left out."""

    moves: tuple[tuple[Name, Name], ...]
    sections: Mapping[str, Mapping[str, Any]]
    targets: frozenset[Name]
    signals: Mapping[str, str]

    def steps(self, file: File) -> list[Step]:
        steps = signals_renamed(file.data, dict(self.signals))
        made: dict[str, dict[Name, Any]] = {}
        for a, b in self.moves:
            block = value_at(file.data, block_path(a))
            steps.append(RemoveValue(block_path(a)))
            name = str(b[0][-1]) if b[0] else ""
            if b[0] == TOP or name in file.subsystems:
                steps += Put(block_path(b), block).steps(file)
            else:
                made.setdefault(name, {})[b] = block
        steps += self._drawings(file)
        looks = self._looks(file)
        new = {name: self._section(name, blocks, looks) for name, blocks in made.items()}
        if new and "subsystems" not in file.data:
            steps.append(SetValue(("subsystems",), new))
        else:
            steps += [SetValue(("subsystems", name), section) for name, section in new.items()]
        return ordered(steps)

    def _drawings(self, file: File) -> Iterator[Step]:
        """The steps that take moved blocks out of drawings, and their looks to their new sheets."""
        gone: dict[Keys, set[str]] = {}
        for (sheet, name), _ in self.moves:
            gone.setdefault(sheet, set()).add(name)
        for sheet, names in gone.items():
            if not is_slot(sheet):
                yield from without_blocks(file.sheet_at(sheet), names)
        for sheet, looks in self._looks(file).items():
            if not sheet or (sheet[:1] == (SUBSYSTEM,) and sheet[1] in file.subsystems):
                yield from with_looks(file.sheet_at(sheet), looks)

    def _looks(self, file: File) -> dict[Keys, dict[str, Any]]:
        """The looks of moved blocks, by their new sheets and names."""
        looks: dict[Keys, dict[str, Any]] = {}
        for (sheet, name), (other, new) in self.moves:
            look = mapping_at(file.data, *sheet, "drawing", "looks").get(name)
            if look is not None:
                looks.setdefault(other, {})[new] = look
        return looks

    def _section(
        self, name: str, moved: Mapping[Name, Any], looks: Mapping[Keys, dict[str, Any]]
    ) -> dict[str, Any]:
        """A subsystem with its moved blocks as this version has them."""
        section = self.sections[name]
        sheet: Keys = SUBSYSTEM, name
        blocks = {}
        for block, value in mapping_at(section, "blocks").items():
            if (sheet, block) not in self.targets or (sheet, block) in moved:
                blocks[block] = moved.get((sheet, block), value)
        blocks |= {block: value for (_, block), value in moved.items() if block not in blocks}
        drawing = dict(mapping_at(section, "drawing"))
        others = mapping_at(drawing, "looks")
        own = {key: one for key, one in others.items() if (sheet, key) not in self.targets}
        drawing["looks"] = own | looks.get(sheet, {})
        if not drawing["looks"]:
            del drawing["looks"]
        made = {**section, "blocks": blocks, "drawing": drawing}
        return made if drawing else {key: one for key, one in made.items() if key != "drawing"}


@dataclass(frozen=True)
class Gather(Operation):
    """Blocks become a subsystem as another version has made one, with the wires of this version.
    block: the one that stands for it; its place is made by the merge. moved: the blocks, all of one
    sheet. like: the subsystem there. others: its blocks that come from no sheet. inputs, outputs:
    names of its ports, as for `grouped`."""

    name: str
    block: str
    moved: tuple[Name, ...]
    like: Mapping[str, Any]
    others: Mapping[str, Any]
    inputs: Mapping[str, str]
    outputs: Mapping[str, str]

    def steps(self, file: File) -> list[Step]:
        sheet = file.sheet_at(self.moved[0][0])
        names = [name for _, name in self.moved]
        written = mapping_at(sheet.section, "blocks")
        blocks = {name: written[name] for name in names}
        part = grouped(self.block, blocks, sheet, self.inputs, self.outputs)
        every = {**self.others, **blocks}
        order = [name for name in mapping_at(self.like, "blocks") if name in every]
        own = {
            **part.section,
            "blocks": {name: every[name] for name in (*order, *(every.keys() - {*order}))},
            "drawing": drawing_of(sheet.drawing, set(names)),
        }
        section = {
            key: own.get(key, self.like.get(key))
            for key in dict.fromkeys([*self.like, *own])
            if own.get(key) or (key not in own and key not in ("inputs", "outputs"))
        }
        steps = [*part.steps, *moved_out(sheet, set(names), self.block)]
        steps += [RemoveValue(block_path(one)) for one in self.moved]
        return ordered([*steps, *Put((SUBSYSTEM, self.name), section).steps(file)])

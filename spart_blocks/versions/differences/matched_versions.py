"""Two versions of a diagram file with their blocks matched, and the names of what they have."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from spart_blocks.base.document import Keys, value_at
from spart_blocks.diagram.written.connections import Connection, Ports, connections_of
from spart_blocks.diagram.written.sheets import (
    SUBSYSTEM,
    TOP,
    File,
    Name,
    Sheet,
    Slot,
    WrittenBlock,
    is_slot,
)
from spart_blocks.versions.differences.matching import MOST_NEAR, LinkGraph, matched
from spart_blocks.versions.differences.units import port_names_of
from spart_blocks.versions.differences.values import frozen

SLOT = "(variants)"
"""The type of the block that stands for a slot of variants."""


def shown(name: Name) -> str:
    """A block's name in changes: `p`, `servo/gain` in a subsystem, `controller=pd` for a choice of
    a slot."""
    sheet, block = name
    return f"{sheet[-1]}{'=' if is_slot(sheet) else '/'}{block}" if sheet else block


def called(sheet: Keys) -> str:
    """A sheet's name in changes: that of its subsystem or slot, or `the diagram`."""
    return str(sheet[-1]) if sheet else "the diagram"


PortsOfFile = Callable[[str], tuple[Ports, Ports]]
"""A function that gives the input and output ports of a used file, from its path as written."""


@dataclass(frozen=True)
class DiagramVersion:
    """One version of a file: its sheets, the blocks of all sheets, and the connections of each.
    Entries of the wrong form are left out. ports_of_file: the ports of files that it uses."""

    file: File
    ports_of_file: PortsOfFile

    @cached_property
    def sheets(self) -> dict[Keys, Sheet | Slot]:
        """The sheets and slots by path, the diagram's own sheet first."""
        data = self.file.data
        found: list[Sheet | Slot] = [*self.file.sheets, *self.file.slots.values()]
        return {one.keys: one for one in found if isinstance(value_at(data, one.keys), dict)}

    @cached_property
    def blocks(self) -> dict[Keys, dict[str, WrittenBlock]]:
        """The blocks of each sheet by name. Slots are blocks of the diagram's own sheet, their
        choices blocks of the slot."""
        found = {}
        for keys, sheet in self.sheets.items():
            every = sheet.choices if isinstance(sheet, Slot) else sheet.blocks
            found[keys] = {n: one for n, one in every.items() if isinstance(one.written, dict)}
        for keys, sheet in self.sheets.items():
            if is_slot(keys):
                found[TOP][sheet.name] = WrittenBlock(sheet.name, keys, {"type": SLOT})
        return found

    @cached_property
    def pieces(self) -> dict[Name, WrittenBlock]:
        """The blocks of all sheets."""
        return {(k, name): one for k, each in self.blocks.items() for name, one in each.items()}

    @cached_property
    def found(self) -> dict[Keys, list[Connection]]:
        """The connections of each sheet as they are written."""
        return {keys: connections_of(one, self.blocks[keys]) if isinstance(one, Sheet) else []
                for keys, one in self.sheets.items()}  # fmt: skip

    def ports(self, sheet: Keys, block: str) -> tuple[Ports, Ports]:
        """The input and output ports of a block; None if only a built block tells them."""
        piece: WrittenBlock | None = self.blocks[sheet].get(block)
        if piece is None:
            own = self.file.sheet_at(sheet)
            return {"in": ((), own.inputs), "out": (own.outputs, ())}.get(block, (None, None))
        if piece.kind == SLOT:
            slot = self.file.slots[block]
            piece = slot.choices.get(slot.default or "")
        if piece is None:
            return None, None
        if piece.uses:
            return self.ports_of_file(piece.kind)
        inner = self.file.subsystem_of(piece)
        if inner is not None:
            return inner.inputs, inner.outputs
        return port_names_of(piece.kind, piece.parameters)


@dataclass(frozen=True)
class MatchedVersions:
    """Two versions, matched. blocks: the new block of each old one that has one. sheets: the new
    sheet of each old one that has one."""

    old: DiagramVersion
    new: DiagramVersion
    blocks: Mapping[Name, Name]
    sheets: Mapping[Keys, Keys]

    @staticmethod
    def of(old: DiagramVersion, new: DiagramVersion) -> MatchedVersions:
        """Match the blocks and sheets of two versions."""
        others = renamed_sheets(old, new)
        kinds = {str(a[-1]): str(b[-1]) for a, b in others.items() if a[0] == SUBSYSTEM}
        webs = LinkGraph.of(old.pieces, old.found), LinkGraph.of(new.pieces, new.found)
        blocks = matched(*webs, kinds, others)
        same = {name: name for name in old.sheets if name in new.sheets}
        return MatchedVersions(old, new, blocks, same | others)

    def kind(self, old: WrittenBlock) -> str:
        """The type of an old block; of a renamed subsystem its new name."""
        other = self.sheets.get((SUBSYSTEM, old.kind))
        return str(other[-1]) if other is not None and not old.uses else old.kind

    def renamed(self) -> dict[str, str]:
        """New names of renamed and moved blocks by the old ones, written as in changes:
        `servo/gain`."""
        return {shown(a): shown(b) for a, b in self.blocks.items() if shown(a) != shown(b)}

    def names_on(self, sheet: Keys) -> dict[str, str]:
        """New names of renamed blocks that are still on an old sheet, by the old names. A block
        that has left the sheet, and whose name a new block has, is called `NAME (before)`, a name
        that no block can have."""
        other = self.sheets[sheet]
        found = {}
        for name in self.old.blocks[sheet]:
            target = self.blocks.get((sheet, name))
            if target is not None and target[0] == other:
                if target[1] != name:
                    found[name] = target[1]
            elif name in self.new.blocks[other]:
                found[name] = f"{name} (before)"
        return found

    def uses(self) -> Iterator[tuple[str, str]]:
        """The pairs of files that matched blocks use, old and new path."""
        for a, b in self.blocks.items():
            before, after = self.old.pieces[a], self.new.pieces[b]
            if before.uses and after.uses:
                yield before.kind, after.kind


# --- renamed sheets -------------------------------------------------------------------------------


def renamed_sheets(old: DiagramVersion, new: DiagramVersion) -> dict[Keys, Keys]:
    """New paths of renamed sheets, by the old ones. Two sheets are matched if they share more than
    half of their blocks by name and type, or if only they have their ports and types of blocks."""
    gone = [keys for keys in old.sheets if keys not in new.sheets]
    come = [keys for keys in new.sheets if keys not in old.sheets]
    found = _by_blocks(gone, come, old.blocks, new.blocks) if gone and come else {}
    shapes: dict[Hashable, tuple[list[Keys], list[Keys]]] = defaultdict(lambda: ([], []))
    for side, (paths, version) in enumerate(((gone, old), (come, new))):
        for keys in paths:
            if keys not in found and keys not in found.values():
                shapes[_shape(version, keys)][side].append(keys)
    pairs = (both for both in shapes.values() if len(both[0]) == len(both[1]) == 1)
    return found | {a[0]: b[0] for a, b in pairs}


def _shape(version: DiagramVersion, keys: Keys) -> Hashable:
    """The ports and types of blocks of a sheet, hashable."""
    ports = (frozen(version.sheets[keys].section.get(key)) for key in ("inputs", "outputs"))
    kinds = sorted(piece.kind for piece in version.blocks[keys].values())
    return keys[0], *ports, tuple(kinds)


def _by_blocks(
    gone: Sequence[Keys],
    come: Sequence[Keys],
    old: Mapping[Keys, Mapping[str, WrittenBlock]],
    new: Mapping[Keys, Mapping[str, WrittenBlock]],
) -> dict[Keys, Keys]:
    """New paths of sheets that share more than half of their blocks, by name and type."""
    holders: dict[Hashable, list[Keys]] = defaultdict(list)
    for keys in come:
        for block, piece in new[keys].items():
            holders[keys[0], block, piece.kind].append(keys)
    found: dict[Keys, Keys] = {}
    taken: set[Keys] = set()
    for keys in gone:
        shared: dict[Keys, int] = defaultdict(int)
        for block, piece in old[keys].items():
            for other in holders.get((keys[0], block, piece.kind), ())[:MOST_NEAR]:
                shared[other] += 1
        free = [other for other in shared if other not in taken]
        best = max(free, key=lambda other: shared[other], default=None)
        most = max(len(old[keys]), len(new[best])) if best is not None else 0
        if best is not None and 2 * shared[best] > most:
            found[keys] = best
            taken.add(best)
    return found


# --- names of signals -----------------------------------------------------------------------------


@dataclass(frozen=True)
class SignalNames:
    """New names of signals, such as `loop/gain` and `plant.qm`, between two matched versions."""

    pair: MatchedVersions

    def new(self, signal: str) -> str:
        """The name of an old signal in the new diagram; the old name if its block is not there."""
        path, dot, port = signal.partition(".")
        sheet, parts = TOP, []
        names = path.split("/")
        for number, name in enumerate(names):
            block = self.pair.blocks.get((sheet, name))
            if block is None or block[0] != self.pair.sheets.get(sheet):
                parts += names[number:]
                break
            parts.append(block[1])
            piece = self.pair.old.pieces[sheet, name]
            sheet = SUBSYSTEM, piece.kind
            if sheet not in self.pair.sheets or piece.uses:
                parts += names[number + 1 :]
                break
        return f"{'/'.join(parts)}{dot}{port}"

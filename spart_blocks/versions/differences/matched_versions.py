"""Two versions of a diagram file with their blocks matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.diagram.written.sheets import WrittenBlock
from spart_blocks.versions.differences.connections import PortConnection, Ports, connections_of
from spart_blocks.versions.differences.matching import LinkGraph, matched, renamed_sheets
from spart_blocks.versions.differences.sheets import (
    SLOT,
    SUBSYSTEM,
    VARIANT,
    Name,
    SheetEntries,
    pieces_of,
    sheets_of,
    shown,
)
from spart_blocks.versions.differences.units import port_names_of

PortsOfFile = Callable[[str], tuple[Ports, Ports]]
"""A function that gives the input and output ports of a used file, from its path as written."""


@dataclass(frozen=True)
class DiagramVersion:
    """One version: its sheets, the blocks of all sheets, and the connections of each sheet.
    ports_of_file: the ports of files that it uses."""

    sheets: Mapping[str, SheetEntries]
    pieces: Mapping[Name, WrittenBlock]
    found: Mapping[str, list[PortConnection]]
    ports_of_file: PortsOfFile

    @staticmethod
    def of(data: dict[str, Any], ports_of_file: PortsOfFile) -> DiagramVersion:
        """Read the sheets and wires in the values of a file."""
        sheets = sheets_of(data)
        found = {name: connections_of(sheet) for name, sheet in sheets.items()}
        return DiagramVersion(sheets, dict(pieces_of(sheets)), found, ports_of_file)

    def ports(self, sheet: str, block: str) -> tuple[Ports, Ports]:
        """The input and output ports of a block; None if only a built block tells them."""
        piece = self.sheets[sheet].blocks.get(block)
        rest = self.sheets[sheet].rest
        if piece is None:
            inputs, outputs = ports_of(rest)
            return {"in": ((), inputs), "out": (outputs, ())}.get(block, (None, None))
        if piece.kind == SLOT:
            slot = self.sheets.get(VARIANT + block)
            default = slot.blocks.get(str(slot.rest.get("default"))) if slot is not None else None
            return self._ports(default) if default is not None else (None, None)
        return self._ports(piece)

    def _ports(self, piece: WrittenBlock) -> tuple[Ports, Ports]:
        """The same, of a block as it is written."""
        if piece.uses:
            return self.ports_of_file(piece.kind)
        section = self.sheets.get(SUBSYSTEM + piece.kind)
        if section is not None:
            return ports_of(section.rest)
        return port_names_of(piece.kind, piece.parameters)


def ports_of(data: Mapping[str, Any]) -> tuple[Ports, Ports]:
    """The input and output ports that a subsystem, or a file with ports, lists."""
    sides = (data.get(key) or [] for key in ("inputs", "outputs"))
    inputs, outputs = (tuple(map(str, side)) if isinstance(side, list) else None for side in sides)
    return inputs, outputs


@dataclass(frozen=True)
class MatchedVersions:
    """Two versions, matched. blocks: the new block of each old one that has one. sheets: the new
    sheet of each old one that has one."""

    old: DiagramVersion
    new: DiagramVersion
    blocks: Mapping[Name, Name]
    sheets: Mapping[str, str]

    @staticmethod
    def of(old: DiagramVersion, new: DiagramVersion) -> MatchedVersions:
        """Match the blocks and sheets of two versions."""
        others = renamed_sheets(old.sheets, new.sheets)
        kinds = {
            a.removeprefix(SUBSYSTEM): b.removeprefix(SUBSYSTEM)
            for a, b in others.items()
            if a.startswith(SUBSYSTEM)
        }
        webs = LinkGraph.of(old.pieces, old.found), LinkGraph.of(new.pieces, new.found)
        blocks = matched(*webs, kinds, others)
        same = {name: name for name in old.sheets if name in new.sheets}
        return MatchedVersions(old, new, blocks, same | others)

    def kind(self, old: WrittenBlock) -> str:
        """The type of an old block; of a renamed subsystem its new name."""
        other = self.sheets.get(SUBSYSTEM + old.kind)
        return other.removeprefix(SUBSYSTEM) if other is not None and not old.uses else old.kind

    def renamed(self) -> dict[str, str]:
        """New names of renamed and moved blocks by the old ones, written as in changes:
        `servo/gain`."""
        return {shown(a): shown(b) for a, b in self.blocks.items() if shown(a) != shown(b)}

    def names_on(self, sheet: str) -> dict[str, str]:
        """New names of renamed blocks that are still on an old sheet, by the old names. A block
        that has left the sheet, and whose name a new block has, is called `NAME (before)`, a name
        that no block can have."""
        other = self.sheets[sheet]
        found = {}
        for name in self.old.sheets[sheet].blocks:
            target = self.blocks.get((sheet, name))
            if target is not None and target[0] == other:
                if target[1] != name:
                    found[name] = target[1]
            elif name in self.new.sheets[other].blocks:
                found[name] = f"{name} (before)"
        return found

    def uses(self) -> Iterator[tuple[str, str]]:
        """The pairs of files that matched blocks use, old and new path."""
        for a, b in self.blocks.items():
            before, after = self.old.pieces[a], self.new.pieces[b]
            if before.uses and after.uses:
                yield before.kind, after.kind

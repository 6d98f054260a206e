"""Two files of a diagram with their blocks matched."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from spart_blocks.versions.differences.connections import Connection, Ports, connections_of
from spart_blocks.versions.differences.matching import Web, matched, renamed_sheets
from spart_blocks.versions.differences.sheets import (
    SLOT,
    SUBSYSTEM,
    VARIANT,
    Name,
    Piece,
    Sheet,
    pieces_of,
    sheets_of,
    shown,
)
from spart_blocks.versions.differences.units import port_names_of

PortsOfFile = Callable[[str], tuple[Ports, Ports]]
"""The inputs and outputs of a used file by its path."""


@dataclass(frozen=True)
class Half:
    """One file: its sheets, the blocks on all of them, and their connections by sheet."""

    sheets: Mapping[str, Sheet]
    pieces: Mapping[Name, Piece]
    found: Mapping[str, list[Connection]]
    ports_of_file: PortsOfFile

    @staticmethod
    def of(data: Mapping[str, Any], ports_of_file: PortsOfFile) -> Half:
        sheets = sheets_of(data)
        found = {name: connections_of(sheet) for name, sheet in sheets.items()}
        return Half(sheets, dict(pieces_of(sheets)), found, ports_of_file)

    def ports(self, sheet: str, block: str) -> tuple[Ports, Ports]:
        """The inputs and outputs of a block, as far as they are known without building it."""
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

    def _ports(self, piece: Piece) -> tuple[Ports, Ports]:
        if piece.uses:
            return self.ports_of_file(piece.kind)
        section = self.sheets.get(SUBSYSTEM + piece.kind)
        if section is not None:
            return ports_of(section.rest)
        return port_names_of(piece.kind, piece.parameters)


def ports_of(data: Mapping[str, Any]) -> tuple[Ports, Ports]:
    """The ports that a subsystem or a file with ports says it has."""
    sides = (data.get(key) or [] for key in ("inputs", "outputs"))
    inputs, outputs = (tuple(map(str, side)) if isinstance(side, list) else None for side in sides)
    return inputs, outputs


@dataclass(frozen=True)
class Pair:
    """Both files. blocks: the new block of each old one; sheets: the new sheet of each old one."""

    old: Half
    new: Half
    blocks: Mapping[Name, Name]
    sheets: Mapping[str, str]

    @staticmethod
    def of(old: Half, new: Half) -> Pair:
        others = renamed_sheets(old.sheets, new.sheets)
        kinds = {
            a.removeprefix(SUBSYSTEM): b.removeprefix(SUBSYSTEM)
            for a, b in others.items()
            if a.startswith(SUBSYSTEM)
        }
        webs = Web.of(old.pieces, old.found), Web.of(new.pieces, new.found)
        blocks = matched(*webs, kinds, others)
        same = {name: name for name in old.sheets if name in new.sheets}
        return Pair(old, new, blocks, same | others)

    def kind(self, old: Piece) -> str:
        """The type of an old block by its new name."""
        other = self.sheets.get(SUBSYSTEM + old.kind)
        return other.removeprefix(SUBSYSTEM) if other is not None and not old.uses else old.kind

    def renamed(self) -> dict[str, str]:
        """The blocks that go by another name, as changes call them."""
        return {shown(a): shown(b) for a, b in self.blocks.items() if shown(a) != shown(b)}

    def names_on(self, sheet: str) -> dict[str, str]:
        """New names of the blocks of an old sheet that are on the same sheet still. Those that
        are not get a name that no block has, if a new block has theirs."""
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
        """The files that matched blocks use."""
        for a, b in self.blocks.items():
            before, after = self.old.pieces[a], self.new.pieces[b]
            if before.uses and after.uses:
                yield before.kind, after.kind

"""The names of a run's signals in the new diagram, through renamed blocks and subsystems."""

from __future__ import annotations

from dataclasses import dataclass

from spart_blocks.versions.differences.pair import Pair
from spart_blocks.versions.differences.sheets import SUBSYSTEM, TOP


@dataclass(frozen=True)
class SignalNames:
    """New names of signals, `loop/gain` and `plant.qm`, by a pair of files."""

    pair: Pair

    def new(self, signal: str) -> str:
        """The name of an old signal in the new diagram; itself where its block is not there."""
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
            sheet = SUBSYSTEM + piece.kind
            if sheet not in self.pair.sheets or piece.uses:
                parts += names[number + 1 :]
                break
        return f"{'/'.join(parts)}{dot}{port}"

"""The names that the signals of a run have in another version of its diagram."""

from __future__ import annotations

from dataclasses import dataclass

from spart_blocks.diagram.written.sheets import SUBSYSTEM, TOP
from spart_blocks.versions.differences.matched_versions import MatchedVersions


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

"""Seeds of derivatives side by side in lanes, for compiled loops over them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.gradients.tangents import Floats
from spart_blocks.program.c.compiler import usual_lanes

_ALIGNED = 64


@dataclass(frozen=True)
class Blocks:
    """m columns in blocks of `lanes` numbers side by side."""

    m: int
    lanes: int

    @staticmethod
    def of(m: int, least: int = 8) -> Blocks:
        """Those of m columns on this processor, of `least` lanes if they need no more. Fewer lanes
        save little time, and each number of them is a library to compile.
        """
        lanes = usual_lanes()
        while lanes > least and lanes // 2 >= m:
            lanes //= 2
        return Blocks(m, lanes)

    @property
    def count(self) -> int:
        """The number of blocks."""
        return -(-self.m // self.lanes)

    def zeros(self, *shape: int) -> Floats:
        """Zeros (*shape[:-1], blocks, shape[-1], lanes)."""
        return aligned((*shape[:-1], self.count, shape[-1], self.lanes))

    def packed(self, columns: Floats) -> Floats:
        """Columns (n, m) in blocks (blocks, n, lanes)."""
        n = len(columns)
        wide = np.zeros((n, self.count * self.lanes))
        wide[:, : self.m] = columns
        found = self.zeros(n)
        found[:] = wide.reshape(n, self.count, self.lanes).transpose(1, 0, 2)
        return found

    def unpacked(self, blocks: Floats) -> Floats:
        """Blocks (..., blocks, n, lanes) as columns (..., n, m)."""
        *lead, count, n, lanes = blocks.shape
        columns = np.moveaxis(blocks, -3, -2).reshape(*lead, n, count * lanes)
        return np.array(columns[..., : self.m])


def aligned(shape: tuple[int, ...]) -> Floats:
    """Zeros at an address that suits a vector of numbers."""
    size = int(np.prod(shape)) * 8
    room = np.zeros(size + _ALIGNED, np.uint8)
    begin = -room.ctypes.data % _ALIGNED
    return room[begin : begin + size].view(np.float64).reshape(shape)

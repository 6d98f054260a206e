"""Rows of numbers that hold several arrays side by side."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def parted(rows: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> list[NDArray[Any]]:
    """Rows (N, width) of arrays with these shapes as one array (N, ...) for each."""
    ends = np.cumsum([math.prod(shape) for shape in shapes], dtype=int)
    columns = np.split(rows, ends[:-1], axis=1) if shapes else []
    return [c.reshape(len(rows), *shape) for c, shape in zip(columns, shapes, strict=True)]


def extreme_rows(
    stretch: NDArray[np.int64], values: Iterable[NDArray[np.float64]], most: int
) -> Any:
    """The rows (N,) at which a number has its least or its greatest value in a stretch, the first
    of equal ones. stretch (N,): the number of each row's stretch, which does not decrease. values:
    of each number (N,). Of more than `most` rows in a stretch, those with the most extremes stay.
    """
    starts = np.flatnonzero(np.diff(stretch, prepend=stretch[0] - 1))
    of = np.repeat(np.arange(len(starts)), np.diff(starts, append=len(stretch)))
    held = np.zeros(len(stretch), np.int32)
    for column in values:
        for pick in (np.minimum, np.maximum):
            at = np.flatnonzero(column == pick.reduceat(column, starts)[of])
            held[at[np.diff(of[at], prepend=-1) > 0]] += 1
    if held.max() and np.add.reduceat(held > 0, starts).max() > most:
        order = np.lexsort((-held, of))
        rank = np.arange(len(order)) - starts[of[order]]
        held[order[rank >= most]] = 0
    return held > 0

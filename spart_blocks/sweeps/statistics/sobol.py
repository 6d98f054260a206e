"""Sobol indices: the parts of a metric's variance that are due to each varied quantity.

The estimators are those of `scipy.stats.sobol_indices` (Saltelli et al., Computer Physics
Communications 181, 2010, table 2 b and f). That function takes a power of two of base points;
a sweep that was stopped, or has failed runs, holds any number of them.

The draws of a saltelli design for d quantities come in blocks of d + 2, one for each base point:
block k holds A_k, B_k, then AB_k^1 to AB_k^d, which are A_k with one quantity taken from B_k.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from spart_blocks.base.errors import InputError, brief
from spart_blocks.sweeps.statistics.intervals import check_confidence
from spart_blocks.sweeps.statistics.tables import Tables, TextTable, percent

Floats = NDArray[np.float64]

_CHUNK = 4_000_000
"""Largest number of weights of resampled points held at once."""


@dataclass(frozen=True, eq=False)
class SobolIndices(Tables):
    """Indices of d quantities, with their bootstrap intervals.

    names: of the quantities. first, total (d,): the part of the variance due to each alone, and
    the part that would go if it were fixed. first_interval, total_interval (d, 2): low and high
    ends. points: base points used. left_out: base points with a run that gave no number.
    """

    names: tuple[str, ...]
    first: Floats
    first_interval: Floats
    total: Floats
    total_interval: Floats
    confidence: float
    points: int
    left_out: int

    between = ()

    def tables(self) -> list[TextTable]:
        rows = [
            (name, _text(*numbers[:3]), _text(*numbers[3:]))
            for name, numbers in zip(self.names, self._numbers(), strict=True)
        ]
        return [TextTable(("quantity", "first order", "total"), rows)]

    def notes(self) -> list[str]:
        note = f"{self.points} base points, {percent(self.confidence)} bootstrap intervals"
        if self.left_out:
            note += f"; {self.left_out} left out, as a run of theirs gave no number"
        return [note]

    def to_dict(self) -> dict[str, dict[str, float]]:
        """By quantity: first, first_low, first_high, total, total_low, total_high."""
        kinds = ("first", "first_low", "first_high", "total", "total_low", "total_high")
        return {
            name: dict(zip(kinds, numbers, strict=True))
            for name, numbers in zip(self.names, self._numbers(), strict=True)
        }

    def _numbers(self) -> list[list[float]]:
        columns = (self.first, self.first_interval, self.total, self.total_interval)
        rows: list[list[float]] = np.column_stack(columns).tolist()
        return rows


def sobol_indices(
    values: ArrayLike,
    names: Sequence[str],
    *,
    confidence: float = 0.95,
    resamples: int = 999,
    seed: int = 0,
) -> SobolIndices:
    """First-order and total Sobol indices of a metric.

    values: the metric of each draw, in the order of the draws; an unfinished last block is left
    out, and so is a block with NaN. Intervals are percentiles over resampled blocks.
    """
    check_confidence(confidence)
    blocks, left_out = _blocks(values, len(names))
    moments = _moments(blocks)
    first, total = _indices(moments.mean(axis=0))
    spread = _resampled(moments, resamples, seed)
    miss = (1 - confidence) / 2
    low, high = np.quantile(np.stack(_indices(spread)), [miss, 1 - miss], axis=1)
    return SobolIndices(
        tuple(names),
        first,
        np.column_stack([low[0], high[0]]),
        total,
        np.column_stack([low[1], high[1]]),
        confidence,
        len(blocks),
        left_out,
    )


def _text(value: float, low: float, high: float) -> str:
    return f"{value:.3f} ({low:.3f} to {high:.3f})"


def _blocks(values: ArrayLike, d: int) -> tuple[Floats, int]:
    """Complete blocks (n, d + 2) about their mean, and the number of blocks left out."""
    array = np.asarray(values, float)
    if d == 0 or array.ndim != 1:
        raise InputError("Sobol indices need the names of the quantities and a value for each draw")
    whole = array[: len(array) // (d + 2) * (d + 2)].reshape(-1, d + 2)
    known = whole[np.isfinite(whole).all(axis=1)]
    if len(known) < 2:
        raise InputError(
            f"Sobol indices of {d} quantities need two complete blocks of {d + 2} draws at least; "
            f"{brief(len(array))} draws have {len(known)} without failed runs"
        )
    return known - known[:, :2].mean(), len(whole) - len(known)


def _moments(blocks: Floats) -> Floats:
    """The terms (n, 2 + 2 d) whose means give the indices."""
    A, B, AB = blocks[:, :1], blocks[:, 1:2], blocks[:, 2:]
    both = (A + B) / 2
    squares = (A**2 + B**2) / 2
    return np.hstack([both, squares, B * (AB - A), (AB - A) ** 2 / 2])


def _indices(means: Floats) -> tuple[Floats, Floats]:
    """First-order and total indices (..., d); 0 where nothing varies."""
    d = (means.shape[-1] - 2) // 2
    variance = means[..., 1:2] - means[..., 0:1] ** 2
    parts = np.divide(
        means[..., 2:], variance, out=np.zeros_like(means[..., 2:]), where=variance > 0
    )
    return parts[..., :d], parts[..., d:]


def _resampled(moments: Floats, resamples: int, seed: int) -> Floats:
    """Means of the terms over resampled blocks (resamples, 2 + 2 d)."""
    n = len(moments)
    rng = np.random.Generator(np.random.Philox(seed))
    each = max(_CHUNK // n, 1)
    parts = []
    for begin in range(0, resamples, each):
        chosen = rng.integers(n, size=(min(each, resamples - begin), n))
        offset = np.arange(len(chosen))[:, None] * n
        weights = np.bincount((chosen + offset).ravel(), minlength=chosen.size)
        parts.append(weights.reshape(chosen.shape) @ moments / n)
    return np.concatenate(parts)

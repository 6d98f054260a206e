"""Plots of signals that number states, such as those of a STATE_MACHINE: a row of bars for each
state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from spart_blocks.results.run_data import RunData

MOST_ROWS = 60
"""Largest number of rows that are drawn as bars; more are drawn as numbers."""
_THICK = 0.62


@dataclass(frozen=True)
class LevelBar:
    """A row of bars: the name of a state, and the time spans [s] in which it is active. signal:
    index of the signal."""

    name: str
    spans: tuple[tuple[float, float], ...]
    signal: int


def bars_of(results: RunData, signals: Sequence[str]) -> list[LevelBar] | None:
    """The rows for signals that all number states; None for others, and for more than MOST_ROWS
    rows. With several signals, the name of a row begins with the signal's block."""
    named = [results.levels_of(name) for name in signals]
    if not named or not all(named) or sum(map(len, named)) > MOST_ROWS:
        return None
    several, rows = len(signals) > 1, []
    for k, (signal, levels) in enumerate(zip(signals, named, strict=True)):
        numbers = np.rint(np.ravel(results[signal]))
        before = f"{signal.rpartition('.')[0] or signal}: " if several else ""
        rows += [
            LevelBar(f"{before}{level}", tuple(_spans(results.t, numbers == number)), k)
            for number, level in enumerate(levels, 1)
        ]
    return rows


def _spans(t: NDArray[np.float64], here: NDArray[np.bool_]) -> list[tuple[float, float]]:
    """The time spans in which a condition holds: from its first sample to the next one at which it
    does not."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], here, [False]]).astype(int)))
    ends = np.append(t, t[-1:])
    return [(float(ends[a]), float(ends[b])) for a, b in edges.reshape(-1, 2)]


def draw_bars(axis: Axes, rows: Sequence[LevelBar], colours: Sequence[str]) -> None:
    """Draw rows of bars, the first at the top."""
    for place, row in enumerate(rows):
        bars = [(start, end - start) for start, end in row.spans]
        colour = colours[row.signal % len(colours)]
        axis.broken_barh(bars, (place - _THICK / 2, _THICK), facecolors=colour, linewidth=0)
    axis.set_yticks(range(len(rows)), [row.name for row in rows], parse_math=False)
    axis.set_ylim(len(rows) - 0.4, -0.6)
    axis.tick_params(axis="y", length=0)
    axis.grid(visible=False, axis="y")

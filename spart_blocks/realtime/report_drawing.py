"""The figure of a real-time run."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.realtime.structs import Durations, edges
from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    dress,
    new_figure,
    plain_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_MICRO = 1e6


def figure(
    name: str,
    title: str,
    rate: float,
    jitter: tuple[Durations, Durations],
    delays: Mapping[str, Durations],
) -> Figure:
    """A histogram of the period jitter, and below it the fraction of durations that are longer.

    jitter: how much periods were shorter, and longer, than at the rate [Hz]. delays: durations by
    their label.
    """
    made = new_figure(name, 7.0)
    above, below = made.subplots(2, 1)
    dress(above, plain_text(title))
    _draw_jitter(above, *jitter)
    dress(below, "Step, and delays after a deadline")
    _draw_tails(below, rate, delays)
    return made


def _draw_jitter(axis: Axes, shorter: Durations, longer: Durations) -> None:
    """Histogram over the deviation [us]. The axis is linear up to 1 us and logarithmic beyond."""
    bounds = np.concatenate([[0.0, 1.0], 10 ** np.arange(0.1, 7.0, 0.1)])  # us
    for durations, sign in ((shorter, -1.0), (longer, 1.0)):
        counts = [durations.between(low / _MICRO, high / _MICRO) for low, high in pairwise(bounds)]
        some = np.flatnonzero(counts)
        if len(some):
            last = some[-1] + 1
            axis.stairs(
                counts[:last] if sign > 0 else counts[:last][::-1],
                bounds[: last + 1] if sign > 0 else -bounds[: last + 1][::-1],
                color=COLOURS[0],
                fill=True,
            )
    axis.set_xscale("symlog", linthresh=1.0)
    axis.set_yscale("log")
    axis.set_ylim(bottom=0.5)
    axis.set_xlabel("a period less its nominal length [us]")
    axis.set_ylabel("periods")


def _draw_tails(axis: Axes, rate: float, delays: Mapping[str, Durations]) -> None:
    labels = []
    for number, (label, durations) in enumerate(delays.items()):
        if durations.count:
            x, y = _tail(durations)
            axis.plot(x * _MICRO, y, drawstyle="steps-post", color=COLOURS[number], label=label)
            labels.append(label)
    axis.axvline(_MICRO / rate, color=FAINT, linewidth=1.0, linestyle="--")
    axis.annotate("period", (_MICRO / rate, 1.0), ha="right", va="top", rotation=90, color=INK)
    axis.set_xscale("log")
    axis.set_yscale("log")
    axis.set_xlabel("duration [us]")
    axis.set_ylabel("fraction that is longer")
    if labels:
        add_legend(axis, labels)


def _tail(durations: Durations) -> tuple[np.ndarray, np.ndarray]:
    """(duration [s], fraction of durations that are longer), down to a single duration."""
    filled = np.flatnonzero(durations.counts)
    below = np.cumsum(durations.counts[filled])
    x = np.concatenate([[edges()[filled[0]]], edges()[filled + 1]])
    x[-1] = durations.longest
    y = np.concatenate([[1.0], 1.0 - below / durations.count])
    y[-1] = y[-2]  # nothing is longer than the longest
    return np.maximum(x, 1e-9), y

"""The figure of a real-time run."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.realtime.durations import Durations, edges
from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    dress,
    new_figure,
    plain_text,
    render,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spart_blocks.realtime.report import Report

_CURVES = {
    "step": "step",
    "latency": "wake-up",
    "response": "outputs sent",
}
_MICRO = 1e6


def picture(report: Report) -> bytes:
    """The figure as a PNG file."""
    return render(figure(report), "png")


def figure(report: Report) -> Figure:
    """A histogram of the period jitter, and below it the fraction of durations that are longer."""
    made = new_figure(f"{report.name} in real time", 7.0)
    above, below = made.subplots(2, 1)
    missed = sum(report.missed.values())
    own = report.missed["step"]
    title = f"{report.name}: {report.steps} steps at {report.rate:g} Hz"
    dress(above, plain_text(f"{title}, {missed} deadlines missed, {own} by the step itself"))
    _draw_jitter(above, report)
    dress(below, "Step, and delays after a deadline")
    _draw_tails(below, report)
    return made


def _draw_jitter(axis: Axes, report: Report) -> None:
    """Histogram over the deviation [us]. The axis is linear up to 1 us and logarithmic beyond."""
    bounds = np.concatenate([[0.0, 1.0], 10 ** np.arange(0.1, 7.0, 0.1)])  # us
    for durations, sign in ((report.shorter, -1.0), (report.longer, 1.0)):
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


def _draw_tails(axis: Axes, report: Report) -> None:
    labels = []
    for number, (kind, label) in enumerate(_CURVES.items()):
        durations: Durations = getattr(report, kind)
        if durations.count:
            x, y = _tail(durations)
            axis.plot(x * _MICRO, y, drawstyle="steps-post", color=COLOURS[number], label=label)
            labels.append(label)
    axis.axvline(_MICRO / report.rate, color=FAINT, linewidth=1.0, linestyle="--")
    axis.annotate(
        "period", (_MICRO / report.rate, 1.0), ha="right", va="top", rotation=90, color=INK
    )
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

"""Pictures of a fit: what was measured beside the model, the errors, and the correlations."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.fits.fitted_signal import FittedSignal
from spart_blocks.fits.statistics import Statistics
from spart_blocks.results.plots import add_legend, dress, look, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_ELEMENTS = 8
"""Largest number of elements of a signal that are drawn."""
MOST_SHOWN = 30
"""Largest number of estimates in the picture of their correlations."""


def pictures(signals: Sequence[FittedSignal], statistics: Statistics) -> list[Figure]:
    """One for each measured signal, then that of the correlations."""
    found = [signal_picture(one) for one in signals]
    if 1 < len(statistics.labels) <= MOST_SHOWN:
        found.append(correlation_picture(statistics))
    return found


def signal_picture(one: FittedSignal) -> Figure:
    """A signal as measured and as modelled, its errors, and how these are correlated in time."""
    figure = new_figure(f"{one.experiment} {one.signal}", 6.4)
    above, below, last = figure.subplots(3, 1, height_ratios=(2, 1, 1))
    below.sharex(above)
    names = []
    width = min(one.measured.shape[1], MOST_ELEMENTS)
    for k in range(width):
        style = look(k)
        element = f"[{k}]" if one.measured.shape[1] > 1 else ""
        names += [f"measured{element}", f"model{element}"]
        dots = {"color": style["color"], "alpha": 0.5, "ms": 4.0, "label": names[-2]}
        above.plot(one.times, one.measured[:, k], ".", **dots)
        above.plot(one.times, one.modelled[:, k], label=names[-1], **style)
        below.plot(one.times, one.errors[:, k], ".", color=style["color"], ms=2.5)
    kind = ", held out" if one.hold_out else ""
    dress(above, f"{one.signal} in {one.experiment}{kind}")
    add_legend(above, names)
    dress(below, "Errors")
    below.axhline(0, color="#9AA1AB", linewidth=0.8)
    below.set_xlabel("t [s]")
    dress(last, "Correlation of errors that many samples apart")
    white = one.whiteness
    if white is None:
        last.text(0.5, 0.5, "too few errors", ha="center", transform=last.transAxes, fontsize=9)
    else:
        lags = np.arange(1, len(white.correlation) + 1)
        last.xaxis.get_major_locator().set_params(integer=True)
        last.bar(lags, white.correlation, color=look(0)["color"], width=0.6)
        last.axhspan(-white.bound, white.bound, color="#9AA1AB", alpha=0.25)
        last.set_xlabel("samples apart; 95 of 100 bars of white noise end in the grey band")
    return figure


def correlation_picture(statistics: Statistics) -> Figure:
    """The correlations of the estimates as a map."""
    labels, r = statistics.labels, statistics.correlation
    figure = new_figure("correlations", max(3.5, 1.6 + 0.32 * len(labels)))
    axis = figure.subplots()
    axis.imshow(np.ma.masked_invalid(r), cmap="RdBu_r", vmin=-1, vmax=1, aspect="auto")
    ticks = range(len(labels))
    dress(axis, "Correlations of the estimates")
    axis.grid(visible=False)
    axis.set_xticks(ticks, labels, rotation=90 if len(labels) > 4 else 0, fontsize=8)
    axis.set_yticks(ticks, labels, fontsize=8)
    if len(labels) <= 12:
        for i in ticks:
            for j in ticks:
                text = f"{r[i, j]:.2f}" if np.isfinite(r[i, j]) else "?"
                dark = np.isfinite(r[i, j]) and abs(r[i, j]) > 0.6
                axis.text(j, i, text, ha="center", va="center", fontsize=7.5,
                          color="white" if dark else "#30363D")  # fmt: skip
    return figure

"""Pictures of failed claims: expected and actual signal, and the largest deviation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.analysis.claims import Band, Floats, Miss, elements
from spart_blocks.results import Results
from spart_blocks.results.files import write_whole
from spart_blocks.results.plots import COLOURS, add_legend, dress, new_figure, plain_text, render

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EXPECTED, GOT = COLOURS[0], COLOURS[1]
_WRONG = "#B42318"


@dataclass(frozen=True)
class Worst:
    """The largest violation of a band: element, time t [s], value got, and the expected value, if
    the claim has one."""

    element: int
    t: float
    got: float
    expected: float | None

    @staticmethod
    def of(band: Band, miss: Miss) -> Worst:
        """The violation at the sample and element of `miss`."""
        at = (miss.sample, miss.element)
        expected = None if band.expected is None else float(band.expected[at])
        return Worst(miss.element, band.when(miss), float(band.got[at]), expected)


def draw(path: Path, title: str, results: Results, signal: str, band: Band, worst: Worst) -> None:
    """Write the picture of a claim at its worst element as PNG. The folder is created if
    missing."""
    write_whole(path, render(picture(title, results, signal, band, worst), "png"))


def picture(title: str, results: Results, signal: str, band: Band, worst: Worst) -> Figure:
    """A figure with both curves, the band and the worst time; if the claim has an expected curve, a
    second panel shows the difference."""
    both = band.expected is not None and len(band.t) > 1
    figure = new_figure(title, 6.5 if both else 4.5)
    rows = figure.subplots(2 if both else 1, 1, sharex=True, squeeze=False)
    above = rows[0, 0]
    j = worst.element
    got, low, high = band.got[:, j], band.low[:, j], band.high[:, j]
    dress(above, plain_text(f"{results.diagram_name}: {title}"))
    above.plot(results.t, elements(results, signal)[:, j], color=GOT, linewidth=1.6, label="got")
    middle = band.expected[:, j] if band.expected is not None else 0 * got
    marker = "." if len(band.t) <= 100 else ""
    if band.expected is not None:
        above.plot(band.t, middle, color=EXPECTED, ls="--", lw=1.4, marker=marker, label="expected")
    if both:
        below = rows[1, 0]
        dress(below, "got - expected")
        below.plot(band.t, got - middle, color=GOT, linewidth=1.6, marker=marker)
        _allowed(below, band.t, low - middle, high - middle)
        _worst(below, worst.t, worst.got - (worst.expected or 0.0))
    _allowed(above, band.t, low, high)
    _worst(above, worst.t, worst.got)
    above.margins(x=0.02)
    add_legend(above, [str(line) for line in above.get_legend_handles_labels()[1]])
    for axis in rows[:, 0]:
        axis.set_ylabel(f"[{results.unit(signal)}]" if results.unit(signal) else "")
    rows[-1, 0].set_xlabel("time [s]")
    return figure


def _allowed(axis: Axes, t: Floats, low: Floats, high: Floats) -> None:
    """Draw the band. An infinite limit is drawn at the edge of the picture."""
    edges = [edge[np.isfinite(edge)] for edge in (low, high)]
    limits = [
        *axis.get_ylim(),
        *(float(f(edge)) for edge in edges if edge.size for f in (min, max)),
    ]
    bottom, top = min(limits), max(limits)
    room = 0.05 * (top - bottom) or 1.0
    axis.set_ylim(bottom - room, top + room)
    floor, ceiling = (np.clip(edge, bottom - room, top + room) for edge in (low, high))
    if len(t) == 1:  # a band at one time has no area
        axis.vlines(t, floor, ceiling, color=EXPECTED, alpha=0.25, linewidth=9, label="allowed")
        return
    axis.fill_between(t, floor, ceiling, color=EXPECTED, alpha=0.15, linewidth=0, label="allowed")
    for edge in (low, high):
        if np.isfinite(edge).all():
            axis.plot(t, edge, color=EXPECTED, alpha=0.5, linewidth=0.8)


def _worst(axis: Axes, t: float, value: float) -> None:
    axis.axvline(t, color=_WRONG, linewidth=0.8, linestyle=":")
    axis.plot([t], [value], "o", color=_WRONG, fillstyle="none", label=f"worst, at {t:.6g} s")

"""Scatter matrix of varied values and metrics, with the outcome of each run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.results.plots import COLOURS, FAINT, INK, dress, new_figure, plain_text, quantity
from spart_blocks.sweeps.report.picture_data import (
    COMPLETE,
    MISSED,
    NO_RESULT,
    PASSED,
    Floats,
    Quantity,
    is_logarithmic,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

MOST_COLUMNS = 8
_MOST_POINTS = 5_000  # of runs that passed; the others are all shown
_PIXELS_FROM = 200  # points, from which they are an image in SVG
_MARKS = {
    PASSED: ("o", COLOURS[0]),
    COMPLETE: ("o", COLOURS[0]),
    MISSED: ("^", COLOURS[1]),
    NO_RESULT: ("x", COLOURS[6]),
}
"""Marker and colour of each outcome; in this order, so that failures lie on top."""


def scatter(columns: Sequence[Quantity], outcome: NDArray[Any] | None = None) -> Figure:
    """A panel for each pair of columns, and a histogram of each on the diagonal.

    columns: varied values and metrics of the same runs; texts become places on an axis.
    outcome (n,): of each run, from `outcomes`. A run without a value of a pair (as one that
    failed has no metrics) is marked at the edge of the panel, at its other value.
    """
    values = [c.coded()[0].astype(float) if c.is_text else c.numbers() for c in columns]
    _check(columns, values)
    runs = len(values[0])
    kinds = np.full(runs, COMPLETE, dtype=object) if outcome is None else outcome
    shown = _thinned(kinds)
    size = len(columns)
    figure, axes = _framed(" and ".join(column.name for column in columns), size)
    scales = ["log" if _is_logarithmic(one) else "linear" for one in values]
    for row in range(size):
        for column in range(size):
            axis = axes[row, column]
            if column > row:
                axis.remove()
                continue
            dress(axis, "")
            axis.tick_params(labelsize=7)
            axis.set_xscale(scales[column])
            if column == row:
                _diagonal(axis, values[row], kinds)
            else:
                axis.set_yscale(scales[row])
                _pair(axis, values[column][shown], values[row][shown], kinds[shown])
    _label(axes, columns)
    _legend(figure, kinds, shown.size)
    return figure


def _framed(label: str, size: int) -> tuple[Figure, NDArray[Any]]:
    """A figure with size x size panels; of fixed margins, as their labels are of one kind."""
    width, height = max(8.0, 1.0 + 1.6 * size), max(3.4, 1.2 + 1.35 * size)
    figure = new_figure(label, height)
    figure.set_figwidth(width)
    figure.set_layout_engine("none")
    margins = {"left": 0.85 / width, "right": 1 - 0.15 / width}
    margins |= {"bottom": 0.62 / height, "top": 1 - 0.4 / height}
    spaces = {**margins, "wspace": 0.12, "hspace": 0.14}
    return figure, figure.subplots(size, size, sharex="col", squeeze=False, gridspec_kw=spaces)


def _is_logarithmic(values: Floats) -> bool:
    known = values[~np.isnan(values)]
    return bool(known.size) and is_logarithmic(known)


def _check(columns: Sequence[Quantity], values: Sequence[Floats]) -> None:
    if not columns:
        raise InputError("a scatter matrix needs at least one varied value or metric")
    if len(columns) > MOST_COLUMNS:
        names = ", ".join(column.name for column in columns)
        what = f"{len(columns)} columns; a scatter matrix shows at most {MOST_COLUMNS}"
        raise InputError(Fault(what, hint=f"name some of {names}"))
    if not len(values[0]):
        raise InputError("there are no runs to show")


def _thinned(kinds: NDArray[Any]) -> NDArray[np.intp]:
    """The rows that are drawn: all failures, and of the others at most 5,000, evenly chosen."""
    bad = np.isin(kinds, [MISSED, NO_RESULT])
    good = np.flatnonzero(~bad)
    if len(good) > _MOST_POINTS:
        good = good[np.linspace(0, len(good) - 1, _MOST_POINTS).astype(np.intp)]
    return np.sort(np.concatenate([good, np.flatnonzero(bad)]))


def _pair(axis: Axes, x: Floats, y: Floats, kinds: NDArray[Any]) -> None:
    faint: dict[str, Any] = {"alpha": float(np.clip(20 / np.sqrt(max(len(x), 1)), 0.15, 0.8))}
    pixels: dict[str, Any] = {"rasterized": len(x) > _PIXELS_FROM}
    for kind, (marker, colour) in _MARKS.items():
        own = kinds == kind
        strength = faint if kind in (PASSED, COMPLETE) else {"alpha": 0.9}
        style: dict[str, Any] = {"color": colour, "marker": marker, "linestyle": ""}
        style["markeredgewidth"] = 0.8
        style |= {"markersize": 2.5 if marker == "o" else 4.0, "clip_on": marker == "o"}
        both = own & ~np.isnan(x) & ~np.isnan(y)
        axis.plot(x[both], y[both], **style, **strength, **pixels)
        lacks_y, lacks_x = own & ~np.isnan(x) & np.isnan(y), own & np.isnan(x) & ~np.isnan(y)
        at_bottom, at_left = axis.get_xaxis_transform(), axis.get_yaxis_transform()
        axis.plot(x[lacks_y], 0.02 + 0 * x[lacks_y], transform=at_bottom, **style, **strength)
        axis.plot(0.02 + 0 * y[lacks_x], y[lacks_x], transform=at_left, **style, **strength)


def _diagonal(axis: Axes, values: Floats, kinds: NDArray[Any]) -> None:
    """Draw a histogram of all runs, and of those that failed."""
    known = values[~np.isnan(values)]
    axis.tick_params(labelleft=False, left=False)
    axis.grid(False)
    if not known.size:
        axis.text(0.5, 0.5, "no values", ha="center", color=FAINT, transform=axis.transAxes)
        return
    count = min(30, max(8, int(np.sqrt(known.size))))
    if _is_logarithmic(values):
        bins = np.geomspace(known.min(), known.max(), count + 1)
    else:
        bins = np.histogram_bin_edges(known, bins=count)
    axis.hist(known, bins.tolist(), color=COLOURS[0], alpha=0.35)
    bad = values[np.isin(kinds, [MISSED, NO_RESULT]) & ~np.isnan(values)]
    if bad.size:
        axis.hist(bad, bins.tolist(), color=COLOURS[1], alpha=0.8)


def _label(axes: NDArray[Any], columns: Sequence[Quantity]) -> None:
    for k, column in enumerate(columns):
        text = _broken(column)
        axes[-1, k].set_xlabel(text, fontsize=8)
        if k:
            axes[k, 0].set_ylabel(text, fontsize=8)
        for j in range(len(columns)):
            if 0 < j < k:
                axes[k, j].sharey(axes[k, 0])
                axes[k, j].tick_params(labelleft=False)
        if column.is_text:
            names = [plain_text(name) for name in column.coded()[1]]
            axes[-1, k].set_xticks(range(len(names)), names)
            if k:
                axes[k, 0].set_yticks(range(len(names)), names)
    axes[0, 0].set_title(_broken(columns[0]), fontsize=8, color=INK)


def _broken(column: Quantity) -> str:
    """The label, in two lines if it is long."""
    label = column.label
    return label if len(label) < 18 else quantity(f"{plain_text(column.name)}\n", column.unit)


def _legend(figure: Figure, kinds: NDArray[Any], shown: int) -> None:
    from matplotlib.lines import Line2D

    handles = []
    for kind, (marker, colour) in _MARKS.items():
        count = int(np.count_nonzero(kinds == kind))
        if count:
            label = f"{kind}: {counted(count, 'run')}"
            handles.append(Line2D([], [], color=colour, marker=marker, linestyle="", label=label))
    if shown < len(kinds):
        text = f"{shown:,} of {len(kinds):,} shown, failures all"
        handles.append(Line2D([], [], linestyle="", label=text))
    figure.legend(handles=handles, loc="upper right", frameon=False, fontsize=9, labelcolor=INK)

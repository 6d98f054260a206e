"""Pictures of metrics of many runs: distributions, maps over a grid, and Sobol indices.

Pictures of signals over time are in `history_pictures`, the scatter matrix is in
`scatter_picture`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    dress,
    new_figure,
    plain_text,
    quantity,
)
from spart_blocks.sweeps.report.picture_data import (
    Floats,
    Quantity,
    RunGroup,
    columns_of,
    group_lines,
    groups_of,
    is_logarithmic,
    note,
    panels,
    without_value,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from spart_blocks.sweeps.statistics import SobolIndices

_MOST_BINS = 80
_MOST_BANDS = 3  # groups whose areas can be shaded
_MOST_STEPS = 1500  # of a distribution function
_MOST_VALUES = 60  # of a parameter that still counts as a grid
_MOST_CELLS = 100  # that have their values written in them
_MOST_BARS = 20
MAP = "cividis"  # reads the same for colour-blind readers, and in grey


# Distribution of a metric


def distribution(
    metric: Quantity,
    labels: NDArray[Any] | None = None,
    confidence: float | None = 0.95,
    apart: NDArray[Any] | None = None,
) -> Figure:
    """Histogram, and empirical distribution function, of a metric.

    labels (n,): groups of the runs, for instance variants. confidence: of the band about the
    distribution function of up to three groups, by the inequality of Dvoretzky, Kiefer, Wolfowitz
    and Massart; it holds for independent draws. None draws no band. apart (n,): groups that each
    have a column of panels, for instance faults.
    """
    known = metric.known()
    numbers = metric.numbers()
    groups = groups_of(labels, len(numbers))
    columns = columns_of(apart, len(numbers))
    figure, axes = panels(metric.name, 6.4 if len(columns) == 1 else 5.4, 2, len(columns))
    bins = _bins(known)
    confidence = confidence if len(groups) <= _MOST_BANDS else None
    for (above, below), column in zip(axes.T, columns, strict=True):
        dress(above, plain_text(column.name or metric.name))
        dress(below, "")
        if is_logarithmic(known):
            above.set_xscale("log")
        elif len(columns) > 1:
            above.locator_params(axis="x", nbins=4)
        for group in groups:
            values = np.sort(numbers[np.intersect1d(group.rows, column.rows)])
            values = values[~np.isnan(values)]
            if values.size:
                _histogram(above, values, bins, group, len(groups))
                _shares(below, values, group, confidence)
        below.set_ylim(-0.02, 1.02)
        below.set_xlabel(metric.label)
    axes[0, 0].set_ylabel("runs")
    axes[1, 0].set_ylabel("share of runs at or below")
    _name_groups(figure, axes[0], groups)
    band = [] if confidence is None else [f"band: {100 * confidence:g} % confidence"]
    note(axes[1, -1], [*band, *without_value(metric)])
    return figure


def _name_groups(figure: Figure, top: Sequence[Axes], groups: Sequence[RunGroup]) -> None:
    """A legend of the groups, where there are several."""
    if len(groups) < 2:
        return
    if len(top) == 1:
        add_legend(top[0], [plain_text(group.name) for group in groups])
        return
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK}
    figure.legend(handles=group_lines(groups), loc="outside right upper", **style)


def _bins(known: Floats) -> Floats:
    """Edges of the bars, of one width on the axis, at most 80."""
    shown = np.log(known) if is_logarithmic(known) else known
    low, high = float(shown.min()), float(shown.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        half = 0.5 * max(abs(low), 1.0) * 0.1
        return np.array([low - half, low + half])
    spread = float(np.subtract(*np.percentile(shown, [75, 25])))
    width = 2 * spread / len(shown) ** (1 / 3)  # Freedman and Diaconis
    count = int(np.clip((high - low) / width if width > 0 else 10, 8, _MOST_BINS))
    edges: Floats = np.linspace(low, high, count + 1)
    return np.exp(edges) if is_logarithmic(known) else edges


def _histogram(axis: Axes, values: Floats, bins: Floats, group: RunGroup, groups: int) -> None:
    label = plain_text(group.name) if group.name else None
    # exp(log(x)) may leave x just outside.
    counts, _ = np.histogram(np.clip(values, bins[0], bins[-1]), bins)
    if groups <= _MOST_BANDS:
        shade = 0.35 if groups == 1 else 0.15
        axis.stairs(counts, bins, fill=True, color=group.colour, alpha=shade)
    style = {"color": group.colour, "linestyle": group.dashes, "linewidth": 1.4}
    axis.stairs(counts, bins, label=label, **style)


def _shares(axis: Axes, values: Floats, group: RunGroup, confidence: float | None) -> None:
    """The share of runs at or below each value. values: sorted; of many, evenly chosen ones."""
    x = np.concatenate([values[:1], values])
    share = np.linspace(0.0, 1.0, len(values) + 1)
    if len(x) > _MOST_STEPS:
        chosen = np.linspace(0, len(x) - 1, _MOST_STEPS).astype(np.intp)
        x, share = x[chosen], share[chosen]
    if confidence is not None and len(values) > 1:
        half = np.sqrt(np.log(2 / (1 - confidence)) / (2 * len(values)))
        low, high = np.clip(share - half, 0, 1), np.clip(share + half, 0, 1)
        band: dict[str, Any] = {"alpha": 0.18, "color": group.colour, "linewidth": 0}
        axis.fill_between(x, low, high, step="post", **band)
    style = {"color": group.colour, "linestyle": group.dashes, "linewidth": 1.6}
    axis.plot(x, share, drawstyle="steps-post", marker="." if len(values) <= 3 else "", **style)


# Map over two parameters


def heat_map(value: Quantity, x: Quantity, y: Quantity) -> Figure:
    """Mean of a metric, or the success rate, over a grid of two parameters. Cells lie at the
    values, also where these are unevenly spaced; a cell without a value is hatched.
    """
    value.known()
    (columns, x_labels), (rows, y_labels) = _ticks(x), _ticks(y)
    numbers = value.numbers()
    mean = _means(numbers, columns, rows, len(x_labels), len(y_labels))
    name = "success rate" if value.is_verdict else f"mean of {value.name}"
    figure = new_figure(name, 5.2)
    axis = figure.subplots()
    axis.set_facecolor("#F3F4F6")
    dress(axis, plain_text(f"{name} by {x.name} and {y.name}"))
    axis.grid(False)
    across, x_places = _edges(axis, x, x_labels, "x")
    upward, y_places = _edges(axis, y, y_labels, "y")
    limits: dict[str, Any] = {"vmin": 0.0, "vmax": 1.0} if value.is_verdict else {}
    mesh = axis.pcolormesh(across, upward, mean, cmap=MAP, **limits)
    _hatch_empty(axis, across, upward, mean)
    bar = figure.colorbar(mesh, ax=axis)
    bar.set_label(name if value.is_verdict else quantity(plain_text(name), value.unit), color=INK)
    bar.outline.set_visible(False)
    if mean.size <= _MOST_CELLS:
        _write_cells(axis, mesh, mean, (x_places, y_places), value.is_verdict)
    axis.set_xlabel(x.label)
    axis.set_ylabel(y.label)
    most = int(np.bincount(rows * len(x_labels) + columns).max())
    note(axis, [f"up to {counted(most, 'run')} in a cell", *without_value(value)])
    return figure


def _ticks(column: Quantity) -> tuple[NDArray[np.intp], list[Any]]:
    """The place of each run on an axis of a grid, and the values on the axis, in order."""
    if column.is_text:
        return column.coded()
    numbers = column.numbers()
    if np.isnan(numbers).any():
        raise InputError(f"{column.name} has no value in some runs")
    found, places = np.unique(numbers, return_inverse=True)
    if len(found) > _MOST_VALUES:
        what = f"{column.name} has {len(found):,} values, so its runs form no grid"
        raise InputError(Fault(what, hint="plot_scatter shows parameters that are drawn at random"))
    return places, found.tolist()


def _means(
    numbers: Floats, columns: NDArray[np.intp], rows: NDArray[np.intp], nx: int, ny: int
) -> Floats:
    """The mean (ny, nx) of the runs of each cell that have a value; NaN where none has."""
    some = ~np.isnan(numbers)
    place = (rows * nx + columns)[some]
    count = np.bincount(place, minlength=nx * ny)
    total = np.bincount(place, weights=numbers[some], minlength=nx * ny)
    with np.errstate(invalid="ignore"):
        mean: Floats = (total / count).reshape(ny, nx)
    return mean


def _edges(axis: Axes, column: Quantity, values: Sequence[Any], side: str) -> tuple[Floats, Floats]:
    """The edges of the cells along an axis, half-way between the values, and the values. The axis
    is given ticks at the values, where these are few, and is logarithmic where the values are
    spaced so."""
    ticks = axis.xaxis if side == "x" else axis.yaxis
    if column.is_text:
        ticks.set_ticks(np.arange(len(values)), [plain_text(text) for text in values])
        places = np.arange(float(len(values) + 1))
        return places - 0.5, places[:-1]
    numbers: Floats = np.asarray(values, dtype=float)
    logarithmic = _spaced_logarithmically(numbers)
    if logarithmic:
        (axis.set_xscale if side == "x" else axis.set_yscale)("log")
    if len(numbers) <= 12:
        ticks.set_ticks(numbers, [f"{one:.4g}" for one in numbers])
        ticks.set_ticks([], minor=True)
    shown = np.log(numbers) if logarithmic else numbers
    if len(shown) == 1:
        half = 0.05 * abs(shown[0]) or 0.5
        between = np.array([shown[0] - half, shown[0] + half])
    else:
        middle = (shown[1:] + shown[:-1]) / 2
        first, last = shown[0] - (middle[0] - shown[0]), shown[-1] + (shown[-1] - middle[-1])
        between = np.concatenate([[first], middle, [last]])
    edges: Floats = np.exp(between) if logarithmic else between
    return edges, numbers


def _spaced_logarithmically(values: Floats) -> bool:
    """Whether the logarithms of the values are spaced more evenly than the values."""
    if len(values) < 3 or values[0] <= 0:
        return False
    steps, factors = np.diff(values), np.diff(np.log(values))
    return bool(np.std(factors) / np.mean(factors) < 0.5 * np.std(steps) / np.mean(steps))


def _hatch_empty(axis: Axes, across: Floats, upward: Floats, mean: Floats) -> None:
    from matplotlib.patches import Rectangle

    for row, column in np.argwhere(np.isnan(mean)):
        corner = (across[column], upward[row])
        size = (across[column + 1] - corner[0], upward[row + 1] - corner[1])
        axis.add_patch(Rectangle(corner, *size, fill=False, hatch="///", color="#C4C8CF", lw=0))


def _write_cells(
    axis: Axes, mesh: Any, mean: Floats, places: tuple[Floats, Floats], percent: bool
) -> None:
    """The value of each cell, black or white, whichever stands out."""
    across, upward = places
    for row, column in np.argwhere(~np.isnan(mean)):
        value = mean[row, column]
        red, green, blue, _ = mesh.cmap(mesh.norm(value))
        dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
        text = f"{100 * value:.3g} %" if percent else f"{value:.3g}"
        axis.text(
            across[column], upward[row], text, ha="center", va="center", fontsize=8,
            color="white" if dark else "black",
        )  # fmt: skip


# Sobol indices


def tornado(metric: str, indices: SobolIndices) -> Figure:
    """Bars of the Sobol indices of the varied values with their intervals, the largest total
    index on top."""
    names, first, total = indices.names, indices.first, indices.total
    if not len(names) or not np.isfinite(total).any():
        raise InputError(f"{metric} has no Sobol indices: nothing varies, or it has no values")
    order = np.argsort(-np.nan_to_num(total, nan=-np.inf), kind="stable")[:_MOST_BARS]
    figure = new_figure(f"Sobol indices of {metric}", max(2.6, 1.4 + 0.5 * len(order)))
    axis = figure.subplots()
    many = "" if len(order) == len(names) else f" (the {len(order)} largest of {len(names)})"
    dress(axis, plain_text(f"Sobol indices of {metric}{many}"))
    axis.grid(False, axis="y")
    places = np.arange(len(order))
    bars = (
        ("total", total, indices.total_interval, -0.2, COLOURS[5]),
        ("first order", first, indices.first_interval, 0.2, COLOURS[0]),
    )
    for label, values, interval, offset, colour in bars:
        # An interval by resampling may lie beside its estimate.
        reach = np.nan_to_num([values - interval[:, 0], interval[:, 1] - values])
        error = np.clip(reach, 0, None)[:, order]
        axis.barh(
            places + offset, values[order], height=0.36, color=colour, label=label, xerr=error,
            error_kw={"ecolor": INK, "elinewidth": 1.0, "capsize": 2.5},
        )  # fmt: skip
    axis.axvline(0, color=FAINT, linewidth=0.8)
    axis.set_yticks(places, [plain_text(names[k]) for k in order])
    axis.invert_yaxis()
    axis.set_xlim(left=min(0.0, axis.get_xlim()[0]))
    axis.set_xlabel("share of the variance")
    add_legend(axis, ["total", "first order"])
    return figure

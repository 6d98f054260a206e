"""Pictures of a signal over time in many runs: fan charts, and chosen runs overlaid."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, counted
from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    INK,
    add_legend,
    dress,
    plain_text,
    quantity,
)
from spart_blocks.sweeps.report.picture_data import (
    Floats,
    Quantity,
    RunGroup,
    Traces,
    columns_of,
    group_lines,
    groups_of,
    note,
    panels,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUTER, INNER = (0.05, 0.95), (0.25, 0.75)
"""The quantiles at the edges of the two bands."""
OUTER_SHADE, INNER_SHADE = 0.18, 0.3
_FEWEST = 5  # runs of which quantiles say something
_MOST_INNER = 3  # groups that have the inner band too
_FEW = 20  # runs that are drawn one by one
_STYLES = {"worst": (COLOURS[1], "-"), "median": (COLOURS[0], "--"), "best": (COLOURS[2], "-.")}


def fan(
    traces: Traces, labels: NDArray[Any] | None = None, apart: NDArray[Any] | None = None
) -> Figure:
    """Median and quantile bands of a signal over time, a row of panels for each element. Up to 20
    runs of a panel are drawn one by one too, and fewer than 5 of a group without bands.

    labels (n,): groups of the runs, for instance variants. apart (n,): groups that each have a
    column of panels, for instance faults.
    """
    shown = traces.panels()
    columns = columns_of(apart, len(traces.runs))
    figure, axes = _panels(traces, list(shown), "", len(columns))
    groups = groups_of(labels, len(traces.runs))
    for row, values in zip(axes, shown.values(), strict=True):
        for axis, column in zip(row, columns, strict=True):
            few = len(column.rows) <= _FEW
            for group in groups:
                rows = np.intersect1d(group.rows, column.rows)
                if rows.size:
                    _draw_group(axis, traces, values[rows], group, len(groups), few)
    for axis, column in zip(axes[0], columns, strict=True):
        dress(axis, plain_text(column.name or (traces.name if len(shown) > 1 else "")))
    counts = len(traces.runs) if len(columns) == 1 else None
    _legend(figure, axes[0], groups, counts)
    _note_ends(axes[-1][-1], next(iter(shown.values())))
    return figure


def extreme_runs(traces: Traces, metric: Quantity, worst: str = "largest") -> Figure:
    """The runs with the worst, the median and the best value of a metric.

    metric: of the same runs as the histories. worst: 'largest' or 'smallest'.
    """
    picked = pick(metric, worst)
    shown = traces.panels()
    title = f"{traces.name}: worst, median and best {metric.name}"
    figure, rows = _panels(traces, list(shown), title)
    axes = rows[:, 0]
    numbers = metric.numbers()
    for axis, values in zip(axes, shown.values(), strict=True):
        for name, row in picked.items():
            value = quantity(f"{numbers[row]:.4g}", metric.unit).replace("[", "").replace("]", "")
            label = f"{name}: run {traces.runs[row]} ({value})"
            colour, dashes = _STYLES[name]
            style: dict[str, Any] = {"color": colour, "linestyle": dashes, "linewidth": 1.6}
            axis.plot(traces.times, values[row], label=label, **style)
    add_legend(axes[0], [str(text) for text in axes[0].get_legend_handles_labels()[1]])
    return figure


def pick(metric: Quantity, worst: str = "largest") -> dict[str, int]:
    """The rows of the worst, the median and the best run, the worst first, each once."""
    if worst not in ("largest", "smallest"):
        raise InputError(f"worst is 'largest' or 'smallest', not {worst!r}")
    metric.known()
    numbers = metric.numbers()
    rows = np.argsort(numbers if worst == "smallest" else -numbers, kind="stable")
    rows = rows[: np.count_nonzero(~np.isnan(numbers))]  # NaN comes last
    chosen = {"worst": rows[0], "median": rows[(len(rows) - 1) // 2], "best": rows[-1]}
    found: dict[str, int] = {}
    for name, row in chosen.items():
        if int(row) not in found.values():
            found[name] = int(row)
    return found


def quantiles(values: Floats, levels: Sequence[float]) -> Floats:
    """Quantiles (q, k) over the runs (n, k) that have a value; NaN at a time at which none has."""
    if not np.isnan(values).any():
        plain: Floats = np.quantile(values, levels, axis=0)
        return plain
    ordered = np.sort(values, axis=0)  # NaN last
    count = np.count_nonzero(~np.isnan(values), axis=0)
    place = np.multiply.outer(np.asarray(levels, dtype=float), np.maximum(count - 1, 0))
    low = np.floor(place).astype(np.intp)
    high = np.minimum(low + 1, np.maximum(count - 1, 0))
    below = np.take_along_axis(ordered, low, axis=0)
    above = np.take_along_axis(ordered, high, axis=0)
    between: Floats = below + (place - low) * (above - below)
    return between


def _panels(
    traces: Traces, names: Sequence[str], title: str, columns: int = 1
) -> tuple[Figure, NDArray[Any]]:
    """A figure with a row of panels for each name, over a common time axis."""
    height = max(4.5, 0.8 + 1.9 * len(names))
    figure, axes = panels(title or traces.name, height, len(names), columns)
    for row, name in zip(axes, names, strict=True):
        for axis in row:
            dress(axis, "")
            axis.margins(x=0)
        row[0].set_ylabel(quantity(plain_text(name), traces.unit))
    dress(axes[0, 0], plain_text(title))
    for axis in axes[-1]:
        axis.set_xlabel("time [s]")
    return figure, axes


def _draw_group(
    axis: Axes, traces: Traces, values: Floats, group: RunGroup, groups: int, singly: bool
) -> None:
    """The bands and the median of a group of runs; singly: the runs themselves too."""
    kept = values[~np.isnan(values).all(axis=1)]
    t = traces.times
    few = len(kept) < _FEWEST
    if singly or few:
        style: dict[str, Any] = {"linewidth": 0.6, "alpha": 0.6, "linestyle": "-"}
        if few:
            style = {"linewidth": 1.1, "alpha": 0.9, "linestyle": group.dashes}
        axis.plot(t, kept.T, color=group.colour, **style)
    if few:
        return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # times at which no run is left
        levels = (OUTER[0], INNER[0], 0.5, INNER[1], OUTER[1])
        low, lower, middle, upper, high = quantiles(kept, levels)
    bands: dict[str, Any] = {"linewidth": 0, "color": group.colour}
    strength = 1.0 if groups <= 2 else 0.6
    axis.fill_between(t, low, high, alpha=OUTER_SHADE * strength, **bands)
    if groups <= _MOST_INNER:
        axis.fill_between(t, lower, upper, alpha=INNER_SHADE * strength, **bands)
    style = {"color": group.colour, "linewidth": 1.8, "linestyle": group.dashes}
    axis.plot(t, middle, **style)


def _legend(
    figure: Figure, top: Sequence[Axes], groups: Sequence[RunGroup], runs: int | None
) -> None:
    """Draw the legend of lines and bands: above the panels, or beside them if there are many
    groups. runs: number of runs, if it is to be shown."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    handles: list[Any] = []
    if len(groups) > 1:
        handles += group_lines(groups, linewidth=1.8)
    elif runs is not None and runs < _FEWEST:
        return
    colour = groups[0].colour if len(groups) == 1 else FAINT
    handles.append(Patch(color=colour, alpha=OUTER_SHADE, linewidth=0, label="5 to 95 %"))
    if len(groups) <= _MOST_INNER:
        both = 1 - (1 - OUTER_SHADE) * (1 - INNER_SHADE)
        handles.append(Patch(color=colour, alpha=both, linewidth=0, label="25 to 75 %"))
    if len(groups) == 1:
        label = "median" if runs is None else f"median of {counted(runs, 'run')}"
        handles.append(Line2D([], [], color=colour, linewidth=1.8, label=label))
    labels = [handle.get_label() for handle in handles]
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK, "handles": handles}
    if len(top) == 1 and sum(map(len, labels)) + 6 * len(labels) <= 64:
        top[0].legend(
            loc="lower right", bbox_to_anchor=(1, 1.02), ncols=len(handles), borderaxespad=0.0,
            columnspacing=1.4, handlelength=1.6, **style,
        )  # fmt: skip
    else:
        figure.legend(loc="outside right upper", **style)


def _note_ends(axis: Axes, values: Floats) -> None:
    """Write below a panel how many runs ended before the last time."""
    ended = int(np.count_nonzero(np.isnan(values[:, -1])))
    if ended:
        of_all = counted(len(values), "run")
        note(axis, [f"{ended:,} of {of_all} ended earlier; bands are of the others"])

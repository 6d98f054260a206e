"""Pictures of a signal over time in many runs: fan charts, and chosen runs overlaid."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import InputError
from spart_blocks.results.plots import (
    COLOURS,
    FAINT,
    add_legend,
    dress,
    new_figure,
    plain_text,
    quantity,
)
from spart_blocks.sweeps.shown import Floats, Group, Quantity, Traces, counted, groups_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

OUTER, INNER = (0.05, 0.95), (0.25, 0.75)
"""The quantiles between which the two bands lie."""
_FEWEST = 5  # runs of which quantiles say something
_FEW = 20  # runs that are drawn one by one
_STYLES = {"worst": (COLOURS[1], "-"), "median": (COLOURS[0], "--"), "best": (COLOURS[2], "-.")}


def fan(traces: Traces, labels: NDArray[Any] | None = None) -> Figure:
    """Median and quantile bands of a signal over time, a panel for each element. Up to 20 runs of
    a group are drawn one by one too, and fewer than 5 without bands.

    labels (n,): groups of the runs, for instance variants.
    """
    panels = traces.panels()
    groups = groups_of(labels, len(traces.runs))
    figure, axes = _panels(traces, list(panels), "")
    for axis, values in zip(axes, panels.values(), strict=True):
        for group in groups:
            _draw_group(axis, traces, values[group.rows], group, len(groups))
    dress(axes[0], plain_text(traces.name) if len(panels) > 1 else "")
    add_legend(axes[0], [str(text) for text in axes[0].get_legend_handles_labels()[1]])
    _note_ends(axes[-1], next(iter(panels.values())))
    return figure


def extreme_runs(traces: Traces, metric: Quantity, worst: str = "largest") -> Figure:
    """The runs with the worst, the median and the best value of a metric.

    metric: of the same runs as the histories. worst: 'largest' or 'smallest'.
    """
    picked = pick(metric, worst)
    panels = traces.panels()
    title = f"{traces.name}: worst, median and best {metric.name}"
    figure, axes = _panels(traces, list(panels), title)
    numbers = metric.numbers()
    for axis, values in zip(axes, panels.values(), strict=True):
        for name, row in picked.items():
            value = quantity(f"{numbers[row]:.4g}", metric.unit).replace("[", "").replace("]", "")
            label = f"{name}: run {traces.runs[row]} ({value})"
            colour, dashes = _STYLES[name]
            style: dict[str, Any] = {
                "color": colour,
                "linestyle": dashes,
                "linewidth": 1.6,
                "label": label,
            }
            axis.plot(traces.times, values[row], **style, **_drawstyle(traces))
    add_legend(axes[0], [str(text) for text in axes[0].get_legend_handles_labels()[1]])
    return figure


def pick(metric: Quantity, worst: str = "largest") -> dict[str, int]:
    """The rows of the worst, the median and the best run; a row only once, the worst first."""
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


def _panels(traces: Traces, names: Sequence[str], title: str) -> tuple[Figure, list[Axes]]:
    """A figure with a panel for each name, over a common time axis."""
    figure = new_figure(title or traces.name, max(4.5, 0.8 + 1.9 * len(names)))
    axes = list(figure.subplots(len(names), 1, sharex=True, squeeze=False)[:, 0])
    for axis, name in zip(axes, names, strict=True):
        dress(axis, "")
        axis.set_ylabel(quantity(plain_text(name), traces.unit))
        axis.margins(x=0)
    dress(axes[0], plain_text(title))
    axes[-1].set_xlabel("time [s]")
    return figure, axes


def _drawstyle(traces: Traces) -> dict[str, Any]:
    return {"drawstyle": "steps-post"} if traces.held else {}


def _draw_group(axis: Axes, traces: Traces, values: Floats, group: Group, groups: int) -> None:
    """The bands, the median, and where they are few the runs of a group."""
    kept = values[~np.isnan(values).all(axis=1)]
    t, held = traces.times, _drawstyle(traces)
    name = f"{plain_text(group.name)}: " if group.name else ""
    colour, dashes = group.colour, group.dashes
    if len(kept) <= _FEW:
        few = len(kept) < _FEWEST
        label = f"{name}{counted(len(kept))}" if few else None
        style: dict[str, Any] = {
            "color": colour,
            "linewidth": 1.1 if few else 0.6,
            "alpha": 0.9 if few else 0.6,
        }
        lines = axis.plot(t, kept.T, **style, **held, linestyle=dashes if few else "-")
        if lines and label:
            lines[0].set_label(label)
        if few:
            return
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # times at which no run is left
        levels = (OUTER[0], INNER[0], 0.5, INNER[1], OUTER[1])
        low, lower, middle, upper, high = quantiles(kept, levels)
    step: dict[str, Any] = {"step": "post"} if traces.held else {}
    strength = 1.0 if groups <= 2 else 0.6
    bands: dict[str, Any] = {"linewidth": 0, "color": colour, **step}
    both = f"{name}5 to 95 %" if groups == 1 else None
    axis.fill_between(t, low, high, alpha=0.18 * strength, label=both, **bands)
    if groups <= 3:
        inner = f"{name}25 to 75 %" if groups == 1 else None
        axis.fill_between(t, lower, upper, alpha=0.3 * strength, label=inner, **bands)
    label = f"median of {counted(len(kept))}" if groups == 1 else f"{name}median of {len(kept):,}"
    style = {"color": colour, "linewidth": 1.8, "linestyle": dashes, "label": label}
    axis.plot(t, middle, **style, **held)


def _note_ends(axis: Axes, values: Floats) -> None:
    """Say below the panel how many runs ended before the last time."""
    ended = int(np.count_nonzero(np.isnan(values[:, -1])))
    if ended:
        note = f"{ended:,} of {counted(len(values))} ended earlier; bands are of the others"
        axis.annotate(
            note, (1, 0), xytext=(0, -36), ha="right", va="top", xycoords="axes fraction",
            textcoords="offset points", fontsize=8, color=FAINT,
        )  # fmt: skip

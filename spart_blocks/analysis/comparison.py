"""The result of a comparison: the runs by case, metrics, and tables."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.analysis.measures import Measures
from spart_blocks.base import html
from spart_blocks.base.errors import InputError, RunError, SpartError
from spart_blocks.base.paths import element_names, split_index
from spart_blocks.diagram.sections.comparison import base_signals
from spart_blocks.results import Results, ScopeSpec
from spart_blocks.results.files import save_table
from spart_blocks.results.overlay import overlay, scopes_of
from spart_blocks.results.plots import presented, write_figures
from spart_blocks.run.measure.gauges import Gauge, Readings

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TRACKING = {
    "rms_error": "RMS error",
    "peak_error": "peak error",
    "rise_time": "rise [s]",
    "settling_time": "settling [s]",
    "overshoot_percent": "overshoot [%]",
}
EFFORT = {"effort": "effort", "peak_effort": "peak"}
BASE = {"base_rotation": "rotation [rad]", "base_displacement": "displacement [m]"}
GROUPS = {"tracking": TRACKING, "control effort": EFFORT, "base disturbance": BASE}
"""The metrics by table, with their column headings."""


@dataclass(frozen=True)
class MetricsRow:
    """The metrics of one signal, or one element of it, in one case; NaN if undefined.

    rms_error, peak_error: in the unit of the signal. rise_time, settling_time [s]. effort: (unit
    of the signal)^2 s. base_rotation [rad], base_displacement [m].
    """

    case: str
    signal: str
    unit: str
    metrics: Mapping[str, float]


@dataclass(frozen=True)
class Page:
    """A table of texts. The first two columns are words, the others numbers."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The result of `compare`.

    results: the Results of each case, in the requested order. rows: the metrics, by case and
    signal. notes: remarks on the table. failures: the errors of failed cases.
    """

    diagram_name: str
    results: Mapping[str, Results]
    rows: tuple[MetricsRow, ...]
    notes: tuple[str, ...] = ()
    failures: Mapping[str, SpartError] = field(default_factory=dict)

    def __repr__(self) -> str:
        return f"<comparison of {self.diagram_name}: {', '.join(self.results) or 'no cases'}>"

    def _repr_html_(self) -> str:
        """HTML for notebooks: the tables and notes."""
        parts = [html.heading(self.diagram_name, f"{len(self.results)} cases")]
        for page in self.pages():
            parts += [html.heading(page.title), html.table(page.columns, page.rows)]
        notes = [f"note: {note}" for note in self.notes]
        failed = [f"{case} failed: {error}" for case, error in self.failures.items()]
        return "".join([*parts, html.lines([*notes, *failed])])

    def __str__(self) -> str:
        """The tables and notes as plain text."""
        notes = [f"note: {note}" for note in self.notes]
        return "\n\n".join([self.diagram_name, *map(_as_text, self.pages()), *notes])

    @property
    def scopes(self) -> tuple[ScopeSpec, ...]:
        """The scopes of all cases, without duplicates."""
        return scopes_of(self.results)

    @property
    def failure(self) -> SpartError:
        """The failures as one error. If a run failed, its attribute `results` is this
        comparison.
        """
        errors = list(self.failures.values())
        wrong = [fault for e in errors if isinstance(e, InputError) for fault in e.faults]
        if wrong:
            return InputError(wrong)
        error = RunError("\n".join(map(str, errors)))
        error.results = self
        return error

    def table(self) -> dict[str, NDArray[Any]]:
        """Columns by name, with one entry for each row: case, signal, unit and every metric; NaN
        where a row has no value. Can be passed to pandas.DataFrame.
        """
        columns: dict[str, NDArray[Any]] = {
            key: np.array([getattr(row, key) for row in self.rows], dtype=object)
            for key in ("case", "signal", "unit")
        }
        for group in GROUPS.values():
            for name in group:
                columns[name] = np.array([row.metrics.get(name, math.nan) for row in self.rows])
        return columns

    def pages(self) -> tuple[Page, ...]:
        """A table for each group of metrics, with the cases of a signal next to each other."""
        made = (_page(title, group, self.rows) for title, group in GROUPS.items())
        return tuple(page for page in made if page.rows)

    def save(self, path: str | Path) -> Path:
        """Write the table to a .csv file, atomically; NaN is written as an empty entry."""
        return save_table(self.table(), path)

    def plot(self, *, show: bool | None = None) -> list[Figure]:
        """A figure for each scope, with the curves of every case; without scopes, for each
        kept signal. show: as for `Results.plot`."""
        return presented(list(overlay(self.results).values()), show)

    def save_plots(self, folder: str | Path, fmt: str = "png") -> list[Path]:
        """Write the figures of `plot()` to a folder, which is made if missing: png, svg or pdf."""
        return write_figures(list(overlay(self.results).items()), folder, fmt)


# --- rows -----------------------------------------------------------------------------------


def rows_of(
    case: str, results: Results, measures: Measures, readings: Mapping[Gauge, Readings]
) -> list[MetricsRow]:
    """The metrics of a run, from the readings of its gauges. InputError if a signal and its
    reference have different shapes.
    """
    rows = []
    for signal, reference in measures.track:
        rows += list(_tracking(case, results, signal, reference, readings))
    for signal in measures.effort:
        square, extremes = readings[Gauge("square", signal)], readings[Gauge("extremes", signal)]
        found = {"effort": square["integral"], "peak_effort": _peak(extremes)}
        rows += _each(case, results, signal, found)
    rows += [_base(case, plant, readings) for plant in measures.base]
    return rows


def _tracking(
    case: str,
    results: Results,
    signal: str,
    reference: str,
    readings: Mapping[Gauge, Readings],
) -> list[MetricsRow]:
    y, r = results[signal], results[reference]
    if r.shape != y.shape and r[0].size != 1:
        shapes = f"{signal} is {y.shape[1:]}, {reference} is {r.shape[1:]}"
        raise InputError(f"case {case}: compare: track: {shapes}; they must have the same shape")
    pair = (signal, reference)
    square, extremes = readings[Gauge("square", *pair)], readings[Gauge("extremes", *pair)]
    step = readings[Gauge("step", *pair)]
    found = {"rms_error": rms(square), "peak_error": _peak(extremes), **step}
    return _each(case, results, signal, found)


def rms(found: Readings) -> NDArray[np.float64]:
    """The root mean square, from the readings of a square gauge."""
    span = np.where(found["span"] > 0, found["span"], np.nan)
    return np.asarray(np.sqrt(found["integral"] / span))


def _peak(extremes: Readings) -> NDArray[np.float64]:
    """The largest magnitude of each element."""
    return np.maximum(np.abs(extremes["least"]), np.abs(extremes["most"]))


def _each(
    case: str, results: Results, signal: str, found: Mapping[str, NDArray[np.float64]]
) -> list[MetricsRow]:
    """A row for each element of a signal."""
    base, index = split_index(signal)
    if index is not None and base in results:
        names = element_names(base, results[base].shape[1:], index)
    else:
        names = results.labels(signal)
    unit = results.unit(signal)
    return [
        MetricsRow(case, name, unit, {key: float(values[k]) for key, values in found.items()})
        for k, name in enumerate(names)
    ]


def _base(case: str, plant: str, readings: Mapping[Gauge, Readings]) -> MetricsRow:
    attitude, position = base_signals(plant)
    found = {
        "base_rotation": readings[Gauge("rotation", attitude)]["largest"],
        "base_displacement": readings[Gauge("displacement", position)]["largest"],
    }
    return MetricsRow(case, plant, "", {key: float(value[0]) for key, value in found.items()})


# --- tables as text -------------------------------------------------------------------------


def _page(title: str, group: Mapping[str, str], rows: Sequence[MetricsRow]) -> Page:
    own = [row for row in rows if group.keys() <= row.metrics.keys()]
    signals = list(dict.fromkeys(row.signal for row in own))
    ordered = sorted(own, key=lambda row: signals.index(row.signal))  # stable: cases in order
    cells = []
    for k, row in enumerate(ordered):
        first = k == 0 or ordered[k - 1].signal != row.signal
        name = f"{row.signal} [{row.unit}]" if row.unit else row.signal
        numbers = (_number(key, row.metrics[key]) for key in group)
        cells.append((name if first else "", row.case, *numbers))
    return Page(title, ("signal", "case", *group.values()), tuple(cells))


def _number(name: str, value: float) -> str:
    if math.isnan(value):
        return "-"
    return f"{value:.2f}" if name == "overshoot_percent" else f"{value:.4g}"


def _as_text(page: Page) -> str:
    lines = [page.columns, *page.rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    shown = [_line(line, widths) for line in lines]
    return "\n".join([page.title, *shown])


def _line(cells: Iterable[str], widths: Sequence[int]) -> str:
    words = [
        cell.ljust(width) if k < 2 else cell.rjust(width)
        for k, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return "  ".join(words).rstrip()

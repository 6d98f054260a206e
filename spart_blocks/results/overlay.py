"""Plots of several runs in common figures: each run has the same colour in all figures, and each
line of a scope its own panel."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from spart_blocks.results.plots import (
    COLOURS,
    DASHES,
    INK,
    Line,
    dress,
    frame_xy,
    lines_of,
    new_figure,
    plain_text,
    quantity,
)
from spart_blocks.results.run_data import RunData, ScopeSpec

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_ONE_COLUMN = 4  # panels, up to which they stand one under another
_PANEL = 1.75  # inches high


@dataclass(frozen=True)
class _Curve:
    """A curve of one run, with the style of the run."""

    run: str
    results: RunData
    line: Line
    style: Mapping[str, Any]


def overlay(runs: Mapping[str, RunData]) -> dict[str, Figure]:
    """A figure for each scope of any run, by the scope's name; if there are no scopes, for each
    kept signal.

    Runs may have different sample times and lines. A scope is drawn as defined in the first run
    that has it. The styles of its lines are ignored, since colours identify the runs.
    """
    scopes = scopes_of(runs) or _first_of_each(
        ScopeSpec(name, signals=(name,)) for results in runs.values() for name in results
    )
    return {scope.name: _figure(scope, _curves(scope, runs)) for scope in scopes}


def scopes_of(runs: Mapping[str, RunData]) -> tuple[ScopeSpec, ...]:
    """The scopes of all runs; of scopes with the same name, the first."""
    return _first_of_each(scope for results in runs.values() for scope in results.scopes)


def _first_of_each(scopes: Iterable[ScopeSpec]) -> tuple[ScopeSpec, ...]:
    found: dict[str, ScopeSpec] = {}
    for scope in scopes:
        found.setdefault(scope.name, scope)
    return tuple(found.values())


def _look(number: int) -> dict[str, Any]:
    """The style of a run. Its dashes differ too, so that a curve is visible below another."""
    return {
        "color": COLOURS[number % len(COLOURS)],
        "linestyle": DASHES[(number + number // len(COLOURS)) % len(DASHES)],
        "linewidth": 1.7,
    }


def _curves(scope: ScopeSpec, runs: Mapping[str, RunData]) -> list[list[_Curve]]:
    """The curves of each run that has a scope (or signal) of this name."""
    found = []
    for number, (run, results) in enumerate(runs.items()):
        own = next((one for one in results.scopes if one.name == scope.name), None)
        if own is None and scope.name in results and not results.scopes:
            own = scope
        if own is not None and own.kind == scope.kind and len(results.t):
            lines = lines_of(results, own)
            found.append([_Curve(run, results, line, _look(number)) for line in lines])
    return found


def _figure(scope: ScopeSpec, curves: Sequence[Sequence[_Curve]]) -> Figure:
    if scope.kind == "xy":
        return _xy(scope, curves)
    panels = max(len(own) for own in curves)
    columns = 1 if panels <= _ONE_COLUMN else 2
    rows = -(-panels // columns)
    figure = _titled(scope, 4.5 if panels == 1 else 1.1 + _PANEL * rows)
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).T.ravel()
    for number, axis in enumerate(axes):
        if number >= panels:
            axis.set_visible(False)
            continue
        _panel(axis, scope, [own[number] for own in curves if number < len(own)])
        at_bottom = number % rows == rows - 1
        axis.tick_params(labelbottom=at_bottom or number == panels - 1)
        if at_bottom:
            axis.set_xlabel(scope.xlabel or "time [s]")
    figure.align_ylabels()
    _legend(figure, curves)
    return figure


def _titled(scope: ScopeSpec, height: float) -> Figure:
    figure = new_figure(scope.title or scope.name, height)
    title = plain_text(scope.title or scope.name, keep_math=scope.title is not None)
    figure.suptitle(title, x=0.01, ha="left", fontsize=10.5, fontweight="bold", color=INK)
    return figure


def _panel(axis: Axes, scope: ScopeSpec, curves: Sequence[_Curve]) -> None:
    """Draw one line of the scope, for every run."""
    dress(axis, "")
    held: dict[str, Any] = {"drawstyle": "steps-post"} if scope.stairs else {}
    for curve in curves:
        axis.plot(curve.results.t, curve.line.values, **curve.style, **held)
    times = [t for curve in curves for t in (curve.results.t[0], curve.results.t[-1])]
    axis.margins(x=0)
    if max(times) > min(times):
        axis.set_xlim(min(times), max(times))
    if scope.scale is not None:
        axis.set_ylim(*scope.scale)
    axis.set_ylabel(quantity(curves[0].line.label, curves[0].line.unit))


def _xy(scope: ScopeSpec, curves: Sequence[Sequence[_Curve]]) -> Figure:
    figure = _titled(scope, 5.0)
    axis = figure.subplots()
    dress(axis, "")
    for x, y in curves:
        axis.plot(x.line.values, y.line.values, **x.style)
    x, y = curves[0]
    frame_xy(axis, scope, x.line, y.line)
    _legend(figure, curves)
    return figure


def _legend(figure: Figure, curves: Sequence[Sequence[_Curve]]) -> None:
    """Add a legend of the runs: in a line above the panels, or beside them if it is long."""
    from matplotlib.lines import Line2D

    own = [line[0] for line in curves if line]
    handles = [Line2D([], [], **curve.style) for curve in own]
    labels = [plain_text(curve.run) for curve in own]
    style = {"frameon": False, "fontsize": 8.5, "labelcolor": INK, "handlelength": 2.6}
    if sum(map(len, labels)) + 6 * len(labels) <= 64:
        figure.legend(handles, labels, loc="upper right", ncols=len(labels), **style)
    else:
        figure.legend(handles, labels, loc="outside right upper", **style)

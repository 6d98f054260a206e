"""The HTML that notebooks show for results: a summary, a table of signals, and a small plot."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base import html
from spart_blocks.base.errors import InputError
from spart_blocks.results.plots import preview, render
from spart_blocks.results.summary import notes

if TYPE_CHECKING:
    from spart_blocks.results.run_data import RunData

_COLUMNS = ("signal", "shape", "unit", "least", "largest", "at the end")
_MOST_ELEMENTS = 4
_MOST_SIGNALS = 12


def to_html(results: RunData) -> str:
    """See Results._repr_html_."""
    t = results.t
    ended = "complete" if results.complete else f"stopped early: {results.stopped or 'unknown'}"
    told = [f"{t[0]:g} to {t[-1]:g} s" if len(t) else "no time", f"{len(t)} samples"]
    told += [str(results.info[key]) for key in ("engine", "solver") if key in results.info]
    parts = [html.heading(results.diagram_name or "results", f"{ended}; {', '.join(told)}")]
    if results.signals:
        rows = [_row(results, name) for name in results.signals]
        parts.append(html.table(_COLUMNS, rows, _MOST_SIGNALS))
    picture = _picture(results)
    if picture:
        parts.append(html.picture(picture, f"plot of {results.diagram_name or 'the run'}"))
    motion = html.of_motion("frame_of_run")(results)
    return "".join([*parts, html.lines(notes(results)), motion])


def _row(results: RunData, name: str) -> tuple[str, ...]:
    array = results[name]
    shape = " x ".join(map(str, array.shape[1:]))
    if not array.size or array.dtype.kind == "c":
        return name, shape, results.unit(name), "", "", ""
    last = np.ravel(array[-1])
    end = ", ".join(f"{value:.4g}" for value in last[:_MOST_ELEMENTS])
    more = ", ..." if last.size > _MOST_ELEMENTS else ""
    extremes = f"{np.min(array):.4g}", f"{np.max(array):.4g}"
    return name, shape, results.unit(name), *extremes, end + more


def _picture(results: RunData) -> bytes | None:
    """The first scope, signal or states as SVG; None if nothing can be drawn."""
    with suppress(InputError):  # a style or a number that plots refuse costs the plot alone
        figure = preview(results)
        return None if figure is None else render(figure, "svg")
    return None

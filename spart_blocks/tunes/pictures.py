"""Pictures of a design: the signals that it is judged by, before the search and after it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.results.plots import add_legend, dress, look, new_figure
from spart_blocks.tunes.histories import Histories, histories
from spart_blocks.tunes.problem import smooth
from spart_blocks.tunes.search import Found

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_PICTURES = 3
"""Largest number of cases with a picture."""
MOST_ELEMENTS = 6
"""Largest number of elements of a signal that are drawn."""
FAINT, BOUND = "#9AA1AB", "#B3261E"
_WINDOW = re.compile(r"(since|until)\s*=\s*([-+.\deE]+)")
_TIMES = r"(?:,\s*(?:since|until)\s*=\s*[-+.\deE]+\s*)*"
_ONE_SIGNAL = re.compile(rf"(most|least|peak|max|min)\(([^(),]+)({_TIMES})\)")


def pictures(found: Found) -> list[tuple[str, Figure]]:
    """A caption and a figure for each of the cases that decide, then one of all cases."""
    shown = [(_caption(one.case), case_picture(found, one))
             for one in histories(found, MOST_PICTURES)]  # fmt: skip
    if found.problem.weights and len(found.problem.cases) > 2:
        shown.append(("The objective in all cases", cases_picture(found)))
    return shown


def _caption(case: str) -> str:
    return f"Case {case}: grey before, coloured after"


def case_picture(found: Found, one: Histories) -> Figure:
    """The signals of a case: grey before, coloured after, with the bounds of the constraints."""
    count = len(one.signals)
    figure = new_figure(one.case, 1.0 + 1.9 * count)
    axes = figure.subplots(count, 1, sharex=True, squeeze=False)[:, 0]
    for axis, signal in zip(axes, one.signals, strict=True):
        names: list[str] = []
        for results, after in ((one.before, False), (one.after, True)):
            if results is not None:
                names += _draw(axis, results, signal, after)
        ends = axis.get_xlim()
        for bound, since, until in _bounds(found, signal):
            line = {"color": BOUND, "linewidth": 0.9, "linestyle": (0, (4, 3))}
            axis.plot(np.clip([since, until], *ends), [bound, bound], **line)
        axis.set_xlim(ends)
        dress(axis, signal)
        add_legend(axis, names)
    axes[-1].set_xlabel("t [s]")
    return figure


def _draw(axis: Any, results: Any, signal: str, after: bool) -> list[str]:
    flat = np.asarray(results[signal], dtype=float).reshape(len(results.t), -1)
    names = []
    for k in range(min(flat.shape[1], MOST_ELEMENTS)):
        element = f"[{k}]" if flat.shape[1] > 1 else ""
        names.append(f"{'after' if after else 'before'}{element}")
        style = dict(look(k)) if after else {"color": FAINT, "linewidth": 1.1}
        axis.plot(results.t, flat[:, k], label=names[-1], **style)
    return names


def _bounds(found: Found, signal: str) -> list[tuple[float, float, float]]:
    """The bounds that constraints set to a signal itself, each with its window of times."""
    bounds: list[tuple[float, float, float]] = []
    for one in found.demands.demands:
        given = _ONE_SIGNAL.fullmatch(smooth(found.problem.constraints[one.name]))
        if given is not None and given[2].strip("'\"") == signal:
            window = {name: float(number) for name, number in _WINDOW.findall(given[3])}
            span = window.get("since", -np.inf), window.get("until", np.inf)
            sides = (one.bound, -one.bound) if given[1] == "peak" else (one.bound,)
            bounds += [(side, *span) for side in sides]
    return list(dict.fromkeys(bounds))


def cases_picture(found: Found) -> Figure:
    """The objective of all cases, before and after, in rising order."""
    figure = new_figure("cases", 3.2)
    axis: Any = figure.subplots()
    sign = -1.0 if found.problem.large else 1.0
    demands = found.demands
    for numbers, after in ((found.first, False), (found.best.numbers, True)):
        values = np.sort(sign * demands.of_cases(numbers))
        colour = look(0)["color"] if after else FAINT
        name = "after" if after else "before"
        axis.plot(np.arange(1, len(values) + 1), values, ".-", color=colour, label=name)
    dress(axis, "Objective")
    axis.xaxis.get_major_locator().set_params(integer=True)
    axis.set_xlabel("cases in rising order")
    add_legend(axis, ["before", "after"])
    return figure

"""The report of a sweep as one HTML file: what was run, its results, and how to repeat it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.sweeps.report import report_page as html
from spart_blocks.sweeps.report.history_pictures import extreme_runs, fan
from spart_blocks.sweeps.report.picture_data import MISSED, NO_RESULT, Quantity
from spart_blocks.sweeps.report.pictures import distribution, heat_map, tornado
from spart_blocks.sweeps.report.scatter_picture import MOST_COLUMNS, scatter
from spart_blocks.sweeps.report.study import Study, counts_in_words, replay_command
from spart_blocks.sweeps.statistics import Summary, compare_variants, success_of, summarize
from spart_blocks.sweeps.statistics.grouping import draws_of
from spart_blocks.sweeps.statistics.tables import percent

MOST_LISTED = 50
"""Largest number of failed runs that are listed."""
_MOST_METRICS, _MOST_SIGNALS, _MOST_VARIED = 12, 6, 4


def write_study(study: Study, path: str | Path) -> Path:
    """Write the report, whole or not at all. The same runs give the same bytes."""
    target = as_path(path, "the file of the report")
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(Fault(f"cannot write a report to {target}", hint="end it in .html"))
    text = report(study)
    make_folder(target.parent)
    write_whole(target, text.encode())
    return target


def report(study: Study) -> str:
    """The report as HTML."""
    return html.page(f"Sweep of {study.name}", _head(study), list(_sections(study)))


def _sections(study: Study) -> Iterator[tuple[str, str]]:
    yield "What was run", html.table(("", ""), study.plan, words=2)
    if not len(study):
        return
    summary = summarize(
        study.columns,
        study.metrics,
        confidence=study.confidence,
        together=study.together,
        design=study.design,
        left_out=study.left_out,
    )
    yield "Success", _success(study, summary)
    yield "Metrics", "".join(_metrics(study, summary))
    yield "Variants compared", _compared(study)
    yield "Sensitivity", "".join(_sensitivity(study))
    yield "Grid", "".join(_grid(study))
    yield "Signals", "".join(_signals(study))
    yield "Varied values and metrics", "".join(_scatter(study))
    yield "Failed runs", _listed(study, study.outcomes == NO_RESULT)
    yield "Runs that do not meet the claims", _listed(study, study.outcomes == MISSED)
    yield "Versions", html.table(("package", "version"), study.versions.items(), words=2)


def _head(study: Study) -> str:
    parts = [html.paragraph(counts_in_words(study), "sub")]
    if len(study):
        passed = study.verdicts()
        draws = draws_of(study.columns, np.arange(len(study)), study.together)
        found = success_of(passed, study.confidence, draws)
        what = "meet all claims" if study.judged else "run without an error; no claims were made"
        text = f"{percent(found.estimate)} of the runs {what}"
        if not np.isnan(found.low):
            ends = f"lies between {percent(found.low)} and {percent(found.high)}"
            sure = f"{percent(study.confidence)} confidence"
            sure += "" if study.independent else ", were the draws independent"
            text += f"; the probability {ends} ({sure})"
        good = bool(passed.all())
        word = "all passed" if good else f"{np.count_nonzero(~passed):,} not passed"
        parts.append(html.verdict(good, word, text))
    return "".join(parts)


def _success(study: Study, summary: Summary) -> str:
    notes = [html.paragraph(f"{note[0].upper()}{note[1:]}.", "note") for note in summary.notes()]
    notes += [html.paragraph(_FIXED, "note")] if study.independent else []
    outcome = html.table(summary.outcome_head, summary.outcome_rows(), _words(summary))
    claims = html.table(summary.claim_head, summary.claim_rows(), _words(summary) + 1)
    return outcome + claims + "".join(notes)


_FIXED = (
    "Intervals are for a number of draws fixed in advance. That of the probability is Clopper and "
    "Pearson's, which holds at least at the given confidence; Wilson's is shorter and holds on "
    "average."
)


def _words(summary: Summary) -> int:
    """The number of columns that name a group."""
    return summary.outcome_head.index("runs")


def _metrics(study: Study, summary: Summary) -> Iterator[str]:
    rows = summary.metric_rows()
    band = study.confidence if study.banded else None
    for name in study.metrics[:_MOST_METRICS]:
        own = [row[1:] for row in rows if row[0] == name]
        yield html.paragraph(_titled(study.quantity(name)))
        yield html.table(summary.metric_head[1:], own, _words(summary))
        with suppress(InputError):  # no run has a value; the table says so
            labels, apart = study.factors()
            figure = distribution(study.quantity(name), labels, band, apart)
            yield html.picture(figure, f"Distribution of {name}")
    if len(study.metrics) > _MOST_METRICS:
        left = ", ".join(study.metrics[_MOST_METRICS:])
        yield html.paragraph(f"Not shown: {left}", "note")


def _compared(study: Study) -> str:
    """The differences of each pair of variants, draw by draw."""
    if len(study.names("variant")) < 2:
        return ""
    shown = study.metrics[:_MOST_METRICS]
    found = compare_variants(
        study.columns,
        shown,
        confidence=study.confidence,
        together=study.together,
        design=study.design,
    )
    note = (
        "First variant minus second, on the same draws. lower, higher: share of the pairs in which "
        "the first is lower or higher. p: of Wilcoxon's signed-rank test, for success of "
        "McNemar's; Holm's is adjusted for all rows together."
    )
    return html.table(found.head, found.rows(), 3) + html.paragraph(note, "note")


def _titled(quantity: Quantity) -> str:
    return f"{quantity.name} [{quantity.unit}]" if quantity.unit else quantity.name


def _sensitivity(study: Study) -> Iterator[str]:
    for name, found in study.indices.items():
        with suppress(InputError):
            yield html.picture(tornado(name, found), f"Sobol indices of {name}")


def _grid(study: Study) -> Iterator[str]:
    """A map of the success rate and of each metric over the first two grid axes."""
    if len(study.grid) < 2:
        return
    x, y = (study.quantity(name) for name in study.grid[:2])
    shown = [study.quantity(name) for name in study.metrics[:_MOST_METRICS]]
    if study.judged:
        shown.insert(0, Quantity("passed", study.verdicts().astype(object)))
    for quantity in shown:
        with suppress(InputError):
            yield html.picture(heat_map(quantity, x, y), f"{quantity.name} over {x.name}, {y.name}")


def _signals(study: Study) -> Iterator[str]:
    shown = [traces for name, traces in study.traces.items() if ".audit." not in name]
    for traces in shown[:_MOST_SIGNALS]:
        with suppress(InputError):
            caption = f"{traces.name} in {counted(len(traces.runs), 'run')} kept"
            yield html.picture(fan(traces, *study.factors(traces)), caption)
        if study.metrics:
            with suppress(InputError):
                metric = study.quantity(study.metrics[0], traces)
                caption = f"{traces.name} in the runs with the greatest, the median and the least"
                yield html.picture(extreme_runs(traces, metric), f"{caption} {metric.name}")
    left = [traces.name for traces in shown[_MOST_SIGNALS:]]
    if left:
        yield html.paragraph(f"Not shown: {', '.join(left)}", "note")


def _scatter(study: Study) -> Iterator[str]:
    """The scatter matrix of the first varied values and metrics."""
    varied = _unlike([study.quantity(name) for name in study.varied])
    shown = varied[:_MOST_VARIED]
    shown += [study.quantity(name) for name in study.metrics[: MOST_COLUMNS - len(shown)]]
    if len(shown) > 1:
        yield html.picture(scatter(shown, study.outcomes), "A mark for each run")
        left = [quantity.name for quantity in varied[_MOST_VARIED:]]
        if left:
            yield html.paragraph(f"Not shown: {', '.join(left)}", "note")


def _unlike(varied: Sequence[Quantity]) -> list[Quantity]:
    """The varied values, without those that vary in proportion to an earlier one, as the elements
    of an inertia with one common factor do."""
    found: list[Quantity] = []
    seen: list[NDArray[np.float64]] = []
    for quantity in varied:
        if quantity.is_text:
            if len(set(quantity.values)) > 1:
                found.append(quantity)
            continue
        values = quantity.numbers()
        values = values - values.mean()
        size = np.linalg.norm(values)
        if size > 0 and not any(abs(values @ one) > (1 - 1e-9) * size for one in seen):
            found.append(quantity)
            seen.append(values / size)
    return found


def _listed(study: Study, which: NDArray[np.bool_]) -> str:
    """The runs with their messages, and the commands that repeat them."""
    rows = np.flatnonzero(which)
    claimed = "missed" in study.columns
    columns = ("run", "draw", "variant", "fault", "t_end [s]", "message", "repeat it alone")
    lines = [
        (
            str(study.columns["run"][k]),
            str(study.columns["draw"][k]),
            str(study.columns["variant"][k]),
            str(study.columns["fault"][k]),
            f"{study.columns['t_end'][k]:.6g}",
            str(study.columns["message"][k] or (study.columns["missed"][k] if claimed else "")),
            replay_command(study, int(study.columns["run"][k])),
        )
        for k in rows[:MOST_LISTED]
    ]
    left = len(rows) - len(lines)
    more = html.paragraph(f"and {left:,} more, in the table of the results", "note")
    return html.table(columns, lines, words=6, code=6) + (more if left else "")

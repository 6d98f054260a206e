"""The report of a sweep as one HTML file: what was run, its results, and how to repeat it."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.results.plots import quantity as titled
from spart_blocks.results.plots import render
from spart_blocks.sweeps.report.history_pictures import extreme_runs, fan
from spart_blocks.sweeps.report.picture_data import MISSED, NO_RESULT, Quantity
from spart_blocks.sweeps.report.pictures import distribution, heat_map, tornado
from spart_blocks.sweeps.report.scatter_picture import MOST_COLUMNS, scatter
from spart_blocks.sweeps.report.study import Study
from spart_blocks.sweeps.statistics import Summary
from spart_blocks.sweeps.statistics.summary import GroupSummary
from spart_blocks.sweeps.statistics.tables import percent
from spart_blocks.sweeps.storage.columns import NO_GRADIENT

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CONFIDENCE = 0.95
MOST_LISTED = 50
"""Largest number of failed runs that are listed."""
MOST_VERDICTS = 24
"""Largest number of variants and faults with a line at the top."""
_MOST_METRICS, _MOST_SIGNALS, _MOST_VARIED = 12, 6, 4


def write_study(study: Study, path: str | Path) -> Path:
    """Write the report, whole or not at all. The same runs give the same bytes."""
    return write_page(path, lambda: report(study))


def report(study: Study) -> str:
    """The report as HTML."""
    summary = study.statistics(confidence=CONFIDENCE) if len(study) else None
    return page(f"Sweep of {study.name}", _head(study, summary), list(_sections(study, summary)))


def _sections(study: Study, summary: Summary | None) -> Iterator[tuple[str, str]]:
    yield "What was run", table(("", ""), study.facts.get("told", ()), words=2)
    if summary is None:
        return
    yield "Success", _success(study, summary)
    yield "Metrics", "".join(_metrics(study, summary))
    yield "Variants compared", _compared(study)
    yield "Sensitivity", "".join(_sensitivity(study, summary))
    yield "Grid", "".join(_grid(study))
    yield "Signals", "".join(_signals(study))
    yield "Varied values and metrics", "".join(_scatter(study))
    yield "Failed runs", _listed(study, study.outcomes == NO_RESULT)
    yield "Runs that do not meet the claims", _listed(study, study.outcomes == MISSED)
    yield (
        "Versions",
        table(("package", "version"), study.facts.get("versions", {}).items(), words=2),
    )


def _head(study: Study, summary: Summary | None) -> str:
    """How many runs ended and how, and a line with the verdict on each variant and fault."""
    parts = [paragraph(study.counts_in_words(), "sub")]
    groups, factors = ((), ()) if summary is None else (summary.groups, summary.columns)
    what = "meet all claims" if study.judged else "run without an error; no claims were made"
    for group in groups[:MOST_VERDICTS]:
        missed = group.runs - group.successes
        word = f"{missed:,} not passed" if missed else "all passed"
        text = f"{percent(group.success.estimate)} of the runs {what}{_chance(study, group)}"
        named = "".join(f"{name} {group.group[name]}, " for name in factors)
        parts.append(verdict(not missed, word, f"{named[:-2]}: {text}" if named else text))
    if len(groups) > MOST_VERDICTS:
        parts.append(paragraph(f"and {len(groups) - MOST_VERDICTS:,} more, below", "note"))
    return "".join(parts)


def _chance(study: Study, group: GroupSummary) -> str:
    """The interval of the probability of success as text; '' without one."""
    low, high = group.success.low, group.success.high
    if np.isnan(low):
        return ""
    sure = f"{percent(CONFIDENCE)} confidence"
    sure += "" if study.independent else ", were the draws independent"
    return f"; the probability lies between {percent(low)} and {percent(high)} ({sure})"


def _success(study: Study, summary: Summary) -> str:
    notes = [paragraph(f"{note[0].upper()}{note[1:]}.", "note") for note in summary.notes()]
    notes += [paragraph(_FIXED, "note")] if study.independent else []
    words = len(summary.columns)
    outcome = table(*summary.outcome_table(), words)
    claims = table(*summary.claim_table(), words + 1)
    return outcome + claims + "".join(notes)


_FIXED = (
    "Intervals are for a number of draws fixed in advance. That of the probability is Clopper and "
    "Pearson's, which holds at least at the given confidence; Wilson's is shorter and holds on "
    "average."
)


def _metrics(study: Study, summary: Summary) -> Iterator[str]:
    head, rows = summary.metric_table()
    band = CONFIDENCE if study.banded else None
    for name in study.metrics[:_MOST_METRICS]:
        own = [row[1:] for row in rows if row[0] == name]
        yield paragraph(titled(name, study.units.get(name, "")))
        yield table(head[1:], own, len(summary.columns))
        with suppress(InputError):  # no run has a value; the table says so
            labels, apart = study.factors()
            figure = distribution(study.quantity(name), labels, band, apart)
            yield picture(figure, f"Distribution of {name}")
    yield _left_out(study.metrics[_MOST_METRICS:])


def _left_out(names: Iterable[str]) -> str:
    """A note on what is not shown."""
    listed = ", ".join(names)
    return paragraph(f"Not shown: {listed}", "note") if listed else ""


def _compared(study: Study) -> str:
    """The differences of each pair of variants, and of each fault from none, draw by draw."""
    found = study.comparisons(study.metrics[:_MOST_METRICS], confidence=CONFIDENCE)
    note = (
        "First minus second, on the same draws. lower, higher: share of the pairs in which "
        "the first is lower or higher. p: of Wilcoxon's signed-rank test, for success of "
        "McNemar's; Holm's is adjusted for all rows together."
    )
    return "".join(table(*one.table(), 3) + paragraph(note, "note") for one in found)


def _sensitivity(study: Study, summary: Summary) -> Iterator[str]:
    """The derivatives of metrics, the runs that lack some, and Sobol indices."""
    head, rows = summary.metric_table()
    own = [row for row in rows if row[0] in study.derivative_columns]
    yield table(("derivative", *head[1:]), own, 1 + len(summary.columns))
    lacking = study.underived
    place = dict(zip(study["run"].tolist(), range(len(study)), strict=True))
    lines = [
        (str(run), *(str(study[name][place[run]]) for name in ("variant", "fault", NO_GRADIENT)))
        for run in lacking[:MOST_LISTED].tolist()
    ]
    yield table(("run", "variant", "fault", "derivatives that it lacks"), lines, words=4)
    if len(lacking) > len(lines):
        left = len(lacking) - len(lines)
        yield paragraph(f"and {left:,} more, in the column {NO_GRADIENT} of the table", "note")
    for name, found in study.all_indices().items():
        with suppress(InputError):
            yield picture(tornado(name, found), f"Sobol indices of {name}")


def _grid(study: Study) -> Iterator[str]:
    """A map of the success rate and of each metric over the first two grid axes."""
    grid = study.facts.get("grid", ())
    if len(grid) < 2:
        return
    x, y = (study.quantity(name) for name in grid[:2])
    shown = [study.quantity(name) for name in study.metrics[:_MOST_METRICS]]
    if study.judged:
        shown.insert(0, Quantity("passed", study.success().astype(object)))
    for quantity in shown:
        with suppress(InputError):
            yield picture(heat_map(quantity, x, y), f"{quantity.name} over {x.name}, {y.name}")


def _signals(study: Study) -> Iterator[str]:
    shown = [traces for name, traces in study.all_traces().items() if ".audit." not in name]
    for traces in shown[:_MOST_SIGNALS]:
        with suppress(InputError):
            caption = f"{traces.name} in {counted(len(traces.runs), 'run')} kept"
            yield picture(fan(traces, *study.factors(traces)), caption)
        if study.metrics:
            with suppress(InputError):
                metric = study.quantity(study.metrics[0], traces)
                caption = f"{traces.name} in the runs with the greatest, the median and the least"
                yield picture(extreme_runs(traces, metric), f"{caption} {metric.name}")
    yield _left_out(traces.name for traces in shown[_MOST_SIGNALS:])


def _scatter(study: Study) -> Iterator[str]:
    """The scatter matrix of the first varied values and metrics."""
    varied = _unlike([study.quantity(name) for name in study.varied_columns])
    shown = varied[:_MOST_VARIED]
    shown += [study.quantity(name) for name in study.metrics[: MOST_COLUMNS - len(shown)]]
    if len(shown) > 1:
        yield picture(scatter(shown, study.outcomes), "A mark for each run")
        yield _left_out(quantity.name for quantity in varied[_MOST_VARIED:])


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
    head = ("run", "draw", "variant", "fault", "t_end [s]", "message", "repeat it alone")
    columns = {
        name: study[name] for name in ("run", "draw", "variant", "fault", "t_end", "message")
    }
    missed = study["missed"] if "missed" in study.columns else [""] * len(study)
    lines = [
        (
            *(str(columns[name][k]) for name in ("run", "draw", "variant", "fault")),
            f"{columns['t_end'][k]:.6g}",
            str(columns["message"][k] or missed[k]),
            study.replay_command(int(columns["run"][k])),
        )
        for k in rows[:MOST_LISTED]
    ]
    left = len(rows) - len(lines)
    more = paragraph(f"and {left:,} more, in the table of the results", "note")
    return table(head, lines, words=6, code=6) + (more if left else "")


# --- HTML of one page that needs nothing else, neither files nor a network ------------------------


_STYLE = """
:root { color-scheme: light; }
body { margin: 0 auto; max-width: 72rem; padding: 1.5rem 1.25rem 4rem; color: #222;
  background: #fff;
  font: 15px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, "DejaVu Sans", sans-serif; }
h1 { font-size: 1.6rem; margin: 0 0 .25rem; }
h2 { font-size: 1.15rem; margin: 2.2rem 0 .6rem; padding-top: .6rem;
  border-top: 1px solid #e3e6ea; }
p { margin: .4rem 0; }
.sub, .note { color: #5b6370; }
.note { font-size: .88rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .88rem; margin: .4rem 0; }
th, td { padding: .25rem .7rem .25rem 0; text-align: left; vertical-align: top; }
th { border-bottom: 1px solid #9aa1ab; font-weight: 600; white-space: nowrap; }
td { border-bottom: 1px solid #eef0f2; }
.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
code { font: .85rem ui-monospace, "DejaVu Sans Mono", monospace; white-space: pre-wrap;
  overflow-wrap: anywhere; }
figure { margin: 1rem 0; }
img { max-width: 100%; height: auto; }
nav a { margin-right: 1rem; }
a { color: #0059a0; }
.good, .bad { display: inline-block; padding: .1rem .55rem; border-radius: .3rem;
  font-weight: 600; }
.good { background: #e2f3ec; color: #00563d; }
.bad { background: #fdeae4; color: #9b2c00; }
@media print { nav { display: none; } h2 { break-after: avoid; }
  figure, tr { break-inside: avoid; } }
"""
MOST_BYTES = 150_000
"""Size of an SVG picture above which pixels take its place, if they are smaller."""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"


def page(title: str, head: str, sections: Sequence[tuple[str, str]]) -> str:
    """A page with a heading for each section (title, HTML). Sections without content are left out.
    The page's policy forbids scripts and requests."""
    shown = [(name, body) for name, body in sections if body]
    links = "".join(f'<a href="#s{k}">{escape(name)}</a>' for k, (name, _) in enumerate(shown))
    parts = [f'<h2 id="s{k}">{escape(name)}</h2>{body}' for k, (name, body) in enumerate(shown)]
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<main>\n"
        f"<h1>{escape(title)}</h1>\n{head}\n<nav>{links}</nav>\n"
        + "\n".join(parts)
        + "\n</main>\n</body>\n</html>\n"
    )


def write_page(path: str | Path, text: Callable[[], str]) -> Path:
    """Write a page, whole or not at all. text: makes it, once the path is known to be one."""
    target = as_path(path, "the file of the report")
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(Fault(f"cannot write a report to {target}", hint="end it in .html"))
    made = text()
    make_folder(target.parent)
    write_whole(target, made.encode())
    return target


def paragraph(text: str, kind: str = "") -> str:
    """A paragraph. kind: 'sub' or 'note' for lesser text."""
    return f'<p class="{kind}">{escape(text)}</p>' if kind else f"<p>{escape(text)}</p>"


def verdict(good: bool, word: str, text: str) -> str:
    """A word on a coloured ground, with a text beside it."""
    kind = "good" if good else "bad"
    return f'<p><span class="{kind}">{escape(word)}</span> {escape(text)}</p>'


def table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], words: int = 1, code: int | None = None
) -> str:
    """A table of texts. columns: the headings; all empty for none. words: the number of first
    columns that are not numbers. code: the column that shows commands."""
    head = "".join(_cell("th", text, k >= words and k != code) for k, text in enumerate(columns))
    lines = []
    for row in rows:
        cells = (
            f"<td><code>{escape(text)}</code></td>" if k == code else _cell("td", text, k >= words)
            for k, text in enumerate(row)
        )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    if not lines:
        return ""
    top = f"<thead><tr>{head}</tr></thead>\n" if any(columns) else ""
    body = "\n".join(lines)
    return f'<div class="scroll"><table>{top}{body}</table></div>'


def _cell(kind: str, text: str, number: bool) -> str:
    if not number:
        return f"<{kind}>{escape(text)}</{kind}>"
    stacked = escape(text).replace(" (", "<br>(")  # an interval below its estimate
    return f'<{kind} class="number">{stacked}</{kind}>'


def picture(figure: Figure, caption: str) -> str:
    """HTML of a figure with its caption, as an embedded SVG image, or as PNG where the SVG is large
    and the PNG smaller. In an image its text and styles cannot affect those of the page."""
    image, kind = render(figure, "svg"), "svg+xml"
    if len(image) > MOST_BYTES:
        pixels = render(figure, "png", dpi=144)
        image, kind = min((image, kind), (pixels, "png"), key=lambda one: len(one[0]))
    data, text = b64encode(image).decode("ascii"), escape(caption)
    return (
        f'<figure><img alt="{text}" src="data:image/{kind};base64,{data}" '
        f'style="width: {figure.get_figwidth():.3g}in">'
        f'<figcaption class="note">{text}</figcaption></figure>'
    )

"""The report of a fit as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from spart_blocks.fits.fitted_signal import FittedSignal
from spart_blocks.fits.pictures import MOST_SHOWN, correlation_picture, signal_picture
from spart_blocks.fits.statistics import Statistics
from spart_blocks.sweeps.report.report import page, paragraph, picture, table, verdict, write_page
from spart_blocks.sweeps.statistics.tables import TextTable


def write_report(
    path: str | Path,
    name: str,
    end: tuple[bool, str],
    tables: Sequence[TextTable],
    notes: Sequence[str],
    statistics: Statistics,
    signals: Sequence[FittedSignal],
) -> Path:
    """Write the page, whole or not at all. end: whether the search has ended, and what is told of
    it. tables: of the estimates, of base parameters where there are some, and of the signals.
    """
    ended, told = end
    head = verdict(ended, "ended" if ended else "not ended", told)
    return write_page(
        path,
        lambda: page(f"Fit of {name}", head, list(_sections(tables, notes, statistics, signals))),
    )


def _sections(
    tables: Sequence[TextTable],
    notes: Sequence[str],
    statistics: Statistics,
    signals: Sequence[FittedSignal],
) -> Iterator[tuple[str, str]]:
    estimates, *base, measured = tables
    told = "".join(paragraph(note, "note") for note in notes)
    yield "Estimates", table(estimates.head, estimates.rows) + told
    if 1 < len(statistics.labels) <= MOST_SHOWN:
        shown = correlation_picture(statistics)
        yield "Correlations", picture(shown, "Correlations of the estimates")
    if base:
        yield "Base parameters", table(base[0].head, base[0].rows, words=5)
    yield "Signals", table(measured.head, measured.rows, words=3)
    yield (
        "Errors",
        "".join(
            picture(signal_picture(one), f"{one.signal} in {one.experiment}") for one in signals
        ),
    )

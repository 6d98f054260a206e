"""The report of a fit as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.fits.pictures import MOST_SHOWN, correlation_picture, signal_picture
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.sweeps.report.report import page, paragraph, picture, table, verdict

if TYPE_CHECKING:
    from spart_blocks.fits.estimate import Fit


def write_report(fit: Fit, path: str | Path) -> Path:
    """Write the page, whole or not at all."""
    target = as_path(path, "the file of the report")
    if target.suffix.lower() not in (".html", ".htm"):
        raise InputError(Fault(f"cannot write a report to {target}", hint="end it in .html"))
    head = verdict(fit.ended, "ended" if fit.ended else "not ended", fit.above)
    text = page(f"Fit of {Path(fit.title).name}", head, list(_sections(fit)))
    make_folder(target.parent)
    write_whole(target, text.encode())
    return target


def _sections(fit: Fit) -> Iterator[tuple[str, str]]:
    estimates, signals = fit.tables()
    notes = "".join(paragraph(note, "note") for note in fit.notes())
    yield "Estimates", table(estimates.head, estimates.rows) + notes
    if 1 < len(fit.statistics.labels) <= MOST_SHOWN:
        yield "Correlations", picture(correlation_picture(fit), "Correlations of the estimates")
    yield "Signals", table(signals.head, signals.rows, words=3)
    yield (
        "Errors",
        "".join(
            picture(signal_picture(one), f"{one.signal} in {one.experiment}") for one in fit.signals
        ),
    )

"""The report of an optimum as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.sweeps.report.report import page, paragraph, picture, table, verdict, write_page
from spart_blocks.sweeps.statistics.tables import TextTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def write_report(
    path: str | Path,
    name: str,
    end: tuple[bool, str],
    tables: Mapping[str, TextTable],
    notes: Sequence[str],
    figures: Sequence[Figure],
) -> Path:
    """Write the page, whole or not at all. end: whether an optimum was found, and what is told of
    it. tables: by title, the first of what was chosen."""
    ended, told = end
    head = verdict(ended, "optimal" if ended else "no optimum", told)
    return write_page(
        path, lambda: page(f"Optimum of {name}", head, list(_sections(tables, notes, figures)))
    )


def _sections(
    tables: Mapping[str, TextTable], notes: Sequence[str], figures: Sequence[Figure]
) -> Iterator[tuple[str, str]]:
    for k, (title, one) in enumerate(tables.items()):
        told = "" if k else "".join(paragraph(note, "note") for note in notes)
        yield title, table(one.head, one.rows) + told
    yield "Motion", "".join(picture(one, str(one.get_label())) for one in figures)

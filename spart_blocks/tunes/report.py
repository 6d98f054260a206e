"""The report of a design as one HTML file."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from spart_blocks.sweeps.report.report import page, paragraph, picture, table, verdict, write_page
from spart_blocks.sweeps.statistics.tables import TextTable
from spart_blocks.tunes.pictures import pictures
from spart_blocks.tunes.search import Found


def write_report(
    path: str | Path,
    name: str,
    end: tuple[bool, str, str],
    tables: Sequence[TextTable],
    notes: Sequence[str],
    found: Found,
) -> Path:
    """Write the page, whole or not at all. end: whether all is as asked, a word, and what is told
    of it. tables: of the parameters, of what was asked, and of the cases if there are several.
    """
    title, head = f"Design of {name}", verdict(*end)
    return write_page(path, lambda: page(title, head, list(_sections(tables, notes, found))))


def _sections(
    tables: Sequence[TextTable], notes: Sequence[str], found: Found
) -> Iterator[tuple[str, str]]:
    parameters, demands, *cases = tables
    yield "Parameters", table(parameters.head, parameters.rows)
    told = "".join(paragraph(note, "note") for note in notes)
    yield "Asked", table(demands.head, demands.rows, words=2) + told
    yield "Cases", "".join(table(one.head, one.rows) for one in cases)
    yield "Runs", "".join(picture(figure, caption) for caption, figure in pictures(found))

"""Tables and numbers of statistics as text."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple

from spart_blocks.base import html


class TextTable(NamedTuple):
    """A table of texts: its headings, and its rows."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        """The table as lines of text, with aligned columns."""
        widths = [max(map(len, column)) for column in zip(self.head, *self.rows, strict=True)]
        return [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in (self.head, *self.rows)
        ]


class Tables(ABC):
    """Statistics that print as tables, and as HTML in notebooks. above: a line before the tables.
    between: what separates the tables from each other and from the notes."""

    above = ""
    between: tuple[str, ...] = ("",)

    @abstractmethod
    def tables(self) -> list[TextTable]:
        """The tables; none without results."""

    @abstractmethod
    def notes(self) -> list[str]:
        """Notes on how to read the numbers."""

    def __str__(self) -> str:
        lines = [self.above] if self.above else []
        for table in self.tables():
            lines += [*(self.between if lines else ()), *table.lines()]
        return "\n".join([*lines, *(self.between if self.notes() else ()), *self.notes()])

    def _repr_html_(self) -> str:
        return "".join(html.table(*table) for table in self.tables()) + html.lines(self.notes())


def percent(share: float) -> str:
    """A share in per cent; "" for NaN."""
    return "" if math.isnan(share) else f"{100 * share:.4g} %"

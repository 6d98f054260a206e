"""Tables and numbers of statistics as text."""

from __future__ import annotations

import math
from collections.abc import Sequence


def text_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of a table whose columns are aligned."""
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    return [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in (head, *rows)
    ]


def percent(share: float) -> str:
    """A share in per cent; "" for NaN."""
    return "" if math.isnan(share) else f"{100 * share:.4g} %"

"""Tables for a terminal, and matrices and poles as tables or lines."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.table import Table

    from spart_blocks.analysis import LinearSystem

_SHOWN = 12  # rows and columns of a matrix that fit a page


def matrix_lines(
    name: str, matrix: Any, rows: tuple[str, ...], columns: tuple[str, ...]
) -> list[Any]:
    """A matrix as a table if it fits on a page, otherwise its nonzero entries, one row per line."""
    heading = f"{name} ({len(rows)} x {len(columns)})"
    if not matrix.any():
        return [f"{heading}: zero"]
    if len(columns) > _SHOWN:
        lines = []
        for row, values in zip(rows, matrix, strict=True):
            entries = [f"{v:.6g} {c}" for v, c in zip(values, columns, strict=True) if v]
            lines.append(f"  {row}: {' + '.join(entries) if entries else '0'}".replace("+ -", "- "))
        return [f"{heading}, entries that are not zero", *lines]
    cells = ((row, *(f"{v:.6g}" for v in some)) for row, some in zip(rows, matrix, strict=True))
    return [heading, headed_table(("", *columns), cells)]


def pole_lines(system: LinearSystem) -> list[Any]:
    """A table of the poles with frequency, damping and time constant."""
    if not system.states:
        return ["  none"]
    table = headed_table(("pole", "frequency [rad/s]", "damping", "time constant [s]"))
    for pole in system.damping():
        value = f"{pole.value.real:.6g}"
        if pole.value.imag:
            value += f" {'+' if pole.value.imag > 0 else '-'} {abs(pole.value.imag):.6g}j"
        damping = "" if pole.frequency == 0 else f"{pole.damping:.4g}"
        table.add_row(value, f"{pole.frequency:.6g}", damping, f"{pole.time_constant:.6g}")
    return [table]


def headed_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]] = (), left: int = 1
) -> Table:
    """A table with bold headings and without lines. left: number of leading text columns; the other
    columns are right-aligned numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table without headings and lines; its last column is as wide as the terminal allows."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column == "name", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table

"""Columns of numbers in .csv files: a header line with names, then lines of numbers, separated by
commas.

Empty lines and lines that begin with # are skipped; an entry with a comma is quoted. Columns that
are not requested may contain anything.
"""

from __future__ import annotations

import csv
import stat
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.paths import element_names, split_index
from spart_blocks.results.signal_names import STATES

Floats = NDArray[np.float64]

MOST_TEXT = 16_000_000
"""Largest size [bytes] of a .csv file."""
MOST_TOLD = 20
"""Largest number of faults reported for a file."""


@dataclass(frozen=True)
class CsvFile:
    """A .csv file. names: of its columns. header: line number of the names. rows: line number and
    text of each further line."""

    path: Path
    names: tuple[str, ...]
    header: int
    rows: tuple[tuple[int, str], ...]

    def numbers(self, columns: Sequence[str]) -> Floats:
        """The named columns of all rows as an array (k, n) of finite numbers. Raises InputError
        with line and column otherwise."""
        counts = Counter(self.names)
        known = {name: k for k, name in enumerate(self.names)}
        at = [self._place(name, counts[name], known.get(name)) for name in columns]
        table: list[list[float]] = []
        faults: list[Fault] = []
        for number, line in self.rows:
            row, wrong = self._row(number, line, at)
            table.append(row)
            faults += wrong
            if len(faults) >= MOST_TOLD:
                break
        if faults:
            raise InputError(faults[:MOST_TOLD])
        if not table:
            raise InputError(f"{self.path}:{self.header}: no rows of finite numbers follow")
        return np.array(table, dtype=float)

    def _place(self, name: str, count: int, place: int | None) -> int:
        where = f"{self.path}:{self.header}"
        if place is None:
            have = brief(", ".join(self.names), 200)
            raise InputError(f"{self.path} has no column {name!r}; its columns are {have}")
        if not name:
            raise InputError(f"{where}: column {self.names.index(name) + 1} has no name")
        if count > 1:
            raise InputError(f"{where}: the column {brief(name)} is there twice")
        return place

    def _row(self, number: int, line: str, at: Sequence[int]) -> tuple[list[float], list[Fault]]:
        """The entries of a line in the columns `at` as numbers, and their faults."""
        cells = _cells(self.path, number, line)
        if len(cells) != len(self.names):
            place = self._at(number, line, cells, min(len(cells), len(self.names)))
            return [], [
                Fault(f"{place}: the row has {len(cells)} cells, the header {len(self.names)}")
            ]
        row, faults = [], []
        for i in at:
            value = _number(cells[i])
            if value is None:
                place = self._at(number, line, cells, i)
                name, cell = brief(self.names[i]), brief(cells[i].strip())
                faults.append(Fault(f"{place}: column {name} needs finite numbers, not {cell}"))
            row.append(0.0 if value is None else value)
        return row, faults

    def _at(self, number: int, line: str, cells: Sequence[str], i: int) -> str:
        """The position of entry i in the file, as path, line and column; without the column if the
        line has quotes."""
        if '"' in line:
            return f"{self.path}:{number}"
        indent = len(cells[i]) - len(cells[i].lstrip()) if i < len(cells) else 0
        column = 1 + sum(len(cell) + 1 for cell in cells[:i]) + indent
        return f"{self.path}:{number}:{column}"

    def signal(self, name: str) -> tuple[list[str], tuple[int, ...]]:
        """The columns of a signal, and the shape of a sample. The columns are name, or name[0],
        name[1], ..., or for the named states of a block, 'states.plant', 'states.plant.qm.q1' and
        so on. Raises InputError with similar names."""
        if name in self.names:
            return [name], ()
        named = [column for column in self.names if column.startswith(f"{name}.")]
        named = [column for column in named if split_index(column)[1] is None]
        if name.startswith(STATES) and named:
            return named, (len(named),)
        indices = [split_index(column) for column in self.names]
        places = [_index(index) for base, index in indices if base == name and index is not None]
        if not places or None in places:
            bases = list(dict.fromkeys(base for base, _ in indices))
            raise no_signal(self.path, name, [*bases, *self.names])
        shape = tuple(max(axis) + 1 for axis in zip(*(p for p in places if p), strict=False))
        if int(np.prod(shape, dtype=object)) != len(places):
            where = f"{self.path}:{self.header}"
            raise InputError(f"{where}: the columns of {name} are not all there, or come twice")
        return element_names(name, shape), shape

    def check_rising(self, name: str, times: Floats) -> None:
        """Raise InputError with the line if the times (k,) of the rows do not increase."""
        check_rising(self.path, name, times, [number for number, _ in self.rows])


def read_csv(path: str | Path) -> CsvFile:
    """Read a .csv file. Raises InputError if it cannot be read."""
    source = Path(path)
    try:
        about = source.stat()
        if not stat.S_ISREG(about.st_mode):
            raise InputError(f"cannot read {source}: it is not a file")
        if about.st_size > MOST_TEXT:
            raise InputError(f"{source} has more than {MOST_TEXT:,} bytes")
        text = source.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"cannot read {source}: {error}") from None
    return csv_of(source, text)


def csv_of(source: Path, text: str) -> CsvFile:
    """The file with this text. Raises InputError if it has no line of names. source: its path, for
    messages."""
    numbered = enumerate(text.split("\n"), start=1)
    lines = [(k, line) for k, line in numbered if line.strip() and not line.startswith("#")]
    if not lines:
        raise InputError(f"{source} has no row of names")
    header, line = lines[0]
    names = tuple(name.strip() for name in _cells(source, header, line))
    return CsvFile(source, names, header, tuple(lines[1:]))


def no_signal(source: Path, name: str, known: Sequence[str]) -> InputError:
    """The error for a signal that a file does not have. known: names for the hint."""
    have = did_you_mean(name, known)
    return InputError(Fault(f"{source} has no signal {name!r}", hint=have))


def check_rising(
    path: str | Path, name: str, times: Floats, lines: Sequence[int] | None = None
) -> None:
    """InputError where times (k,) do not rise, with the line where lines (k,) are given."""
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if wrong.size:
        k = int(wrong[0])
        line = f":{lines[k + 1]}" if lines is not None else ""
        text = f"{name} does not rise: {times[k + 1]:g} follows {times[k]:g}"
        raise InputError(f"{path}{line}: {text}")


def _cells(path: Path, number: int, line: str) -> list[str]:
    if '"' not in line:
        return line.split(",")
    try:
        return next(csv.reader([line], skipinitialspace=True, strict=True))
    except csv.Error as error:
        raise InputError(f"{path}:{number}: {error}") from None


def _number(cell: str) -> float | None:
    """A finite number; None if the text is none."""
    try:
        value = float(cell) if "_" not in cell else float("nan")
    except ValueError:
        return None
    return value if value - value == 0.0 else None


def _index(text: str | None) -> tuple[int, ...] | None:
    parts = (text or "").split(",")
    return tuple(map(int, parts)) if all(p.isdecimal() and len(p) < 7 for p in parts) else None

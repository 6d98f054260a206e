"""Columns of numbers in a text file: comma-separated values with a row of names."""

from __future__ import annotations

import csv
from collections import Counter
from pathlib import Path

import numpy as np

from spart_blocks.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.spatial import Array

MAX_BYTES = 16_000_000
MOST_TOLD = 20
"""Mistakes of one file that are told."""


def read_columns(path: Path) -> dict[str, Array]:
    """The columns of a CSV file by the names in its first row, in order.

    Lines that begin with # and empty lines are passed over. Raises InputError, with line and
    column of each mistake: an entry that is no finite number, a row of another length.
    """
    lines = _lines(path)
    if not lines:
        raise InputError(f"{path.name}: it has no row of names")
    number, header = lines[0]
    names = _names(header)
    faults = _wrong_names(f"{path.name}:{number}", names)
    rows = []
    for number, line in lines[1:]:
        if len(faults) > MOST_TOLD:
            break
        row, wrong = _row(f"{path.name}:{number}", line, len(names))
        rows.append(row)
        faults += wrong
    if faults:
        raise InputError(faults)
    table = np.array(rows, dtype=float).reshape(len(rows), len(names))
    return dict(zip(names, table.T, strict=True))


def _lines(path: Path) -> list[tuple[int, str]]:
    """The lines that hold something, with their numbers."""
    try:
        if path.stat().st_size > MAX_BYTES:
            raise InputError(f"{path.name} is larger than {MAX_BYTES} bytes")
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise InputError(f"{path.name} is no text in UTF-8: byte {error.start}") from None
    found = ((k, line) for k, line in enumerate(text.split("\n"), start=1))
    return [(k, line) for k, line in found if line.strip() and not line.startswith("#")]


def _names(header: str) -> list[str]:
    """The names in a row; one with a comma stands in quotes."""
    try:
        return [name.strip() for name in next(csv.reader([header.rstrip("\r")]))]
    except csv.Error as error:
        raise InputError(f"the row of names cannot be read: {error}") from None


def _wrong_names(where: str, names: list[str]) -> list[Fault]:
    if "" in names:
        return [Fault(f"{where}:1: column {names.index('') + 1} has no name")]
    twice = [name for name, count in Counter(names).items() if count > 1]
    faults = (f"{where}:1: the column {brief(name)} is there twice" for name in twice[:MOST_TOLD])
    return [Fault(message) for message in faults]


def _row(where: str, line: str, width: int) -> tuple[list[float], list[Fault]]:
    """The numbers of a line, and what is wrong with them."""
    entries = line.rstrip("\r").split(",")
    if len(entries) != width:
        column = 1 + sum(len(entry) + 1 for entry in entries[:width])
        message = f"{where}:{column}: this row has {len(entries)} entries, its names are {width}"
        return [], [Fault(message)]
    row: list[float] = []
    faults: list[Fault] = []
    column = 1
    for entry in entries:
        value = _number(entry)
        if value is None and len(faults) < MOST_TOLD:
            at = column + len(entry) - len(entry.lstrip())
            faults.append(Fault(f"{where}:{at}: {brief(entry.strip())} is no finite number"))
        row.append(value if value is not None else 0.0)
        column += len(entry) + 1
    return row, faults


def _number(text: str) -> float | None:
    try:
        value = float(text) if "_" not in text else np.nan
    except ValueError:
        return None
    return value if np.isfinite(value) else None


def column_named(columns: dict[str, Array], name: str, file: str) -> list[str]:
    """The columns that a name stands for: that one, or those of a vector, name[0], name[1],
    ... in the order of the file. Raises InputError with near names."""
    if name in columns:
        return [name]
    parts = [key for key in columns if key.startswith(f"{name}[") and key.endswith("]")]
    if not parts:
        hint = did_you_mean(name, columns)
        raise InputError(Fault(f"there is no column {brief(name)} in {file}", hint=hint))
    return parts

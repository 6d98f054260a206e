"""The workspace of a model: variables of a `.mat` file, or of a `.m` file of plain assignments.
No code is run: a statement of a .m file that is not `name = expression` is reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.diagram.converted.matlab import UnreadableError, value_of
from spart_blocks.results.mat_files import DamagedError, entries

MOST_BYTES = 64 * 2**20
MOST_STATEMENTS = 20_000
_ASSIGNMENT = re.compile(r"([A-Za-z]\w*(?:\.[A-Za-z]\w*)*)\s*=(?!=)\s*(.+)", re.DOTALL)
_IGNORED = re.compile(r"(clear|clc|close|format|more|hold|figure|disp|fprintf|warning)\b")
_TEXT = re.compile(r"(?<![\w)\]'.])'[^'\n]*'|\"[^\"\n]*\"")


def read_workspace(path: Path) -> tuple[dict[str, Any], list[str]]:
    """The variables of a file, and a line for each statement or variable that was left out.
    Raises InputError if the file cannot be read."""
    place = Place(str(path))
    try:
        if path.stat().st_size > MOST_BYTES:
            raise InputError(Fault(f"it has more than {MOST_BYTES / 2**20:.0f} MB", place))
        data = path.read_bytes()
    except OSError as error:
        raise InputError(Fault(f"it cannot be read: {error.strerror}", place)) from None
    if path.suffix == ".m":
        return assigned(path, data.decode("utf-8", "replace"))
    if path.suffix == ".mat":
        return _stored(path, data)
    raise InputError(Fault("it is neither a .mat nor a .m file", place))


class _All:
    """The names of all variables."""

    def __contains__(self, name: object) -> bool:
        return True


def _stored(path: Path, data: bytes) -> tuple[dict[str, Any], list[str]]:
    found: dict[str, Any] = {}
    left = []
    try:
        for name, value in entries(data, _All(), MOST_BYTES):
            if value is None or isinstance(value, list):
                left.append(f"{path}: {name} holds no real numbers")
            else:
                found[name] = value.item() if value.size == 1 else value
    except NotImplementedError:
        hint = "save it again: save('file.mat', '-v7')"
        raise InputError(Fault("it is of version 7.3", Place(str(path)), hint)) from None
    except DamagedError as error:
        raise InputError(Fault(f"it is damaged: {error}", Place(str(path)))) from None
    return found, left


def assigned(
    path: Path | str, text: str, known: Mapping[str, Any] | None = None
) -> tuple[dict[str, Any], list[str]]:
    """The variables that a text of assignments makes, where others are known, and a line for each
    statement that was left out. Raises InputError if there are too many."""
    seen: dict[str, Any] = dict(known or {})
    found: dict[str, Any] = {}
    left = []
    for count, (line, statement) in enumerate(_statements(text)):
        if count > MOST_STATEMENTS:
            hint = f"it has more than {MOST_STATEMENTS} statements"
            raise InputError(Fault(hint, Place(str(path), line)))
        match = _ASSIGNMENT.fullmatch(statement)
        if match is None:
            if not _IGNORED.match(statement):
                left.append(f"{path}:{line}: no assignment of numbers: {brief(statement)}")
            continue
        try:
            found[match[1]] = seen[match[1]] = value_of(match[2], seen)
        except UnreadableError as error:
            found.pop(match[1], None)
            seen.pop(match[1], None)
            left.append(f"{path}:{line}: {match[1]} was left out: {error}")
    return found, left


def _statements(text: str) -> Iterator[tuple[int, str]]:
    """The statements of a .m file with their lines: without comments, continued lines joined."""
    held, start, blocked = "", 0, 0
    for number, raw in enumerate(text.split("\n"), 1):
        if raw.strip() in ("%{", "#{", "%}", "#}"):
            blocked = max(blocked + (1 if raw.strip()[1] == "{" else -1), 0)
            continue
        line = "" if blocked else _uncommented(raw)
        start = start if held else number
        cut = line.find("...")
        if cut >= 0:
            held += line[:cut] + " "
            continue
        held += line
        if held.count("[") > held.count("]"):
            held += "\n"
            continue
        yield from ((start, part) for part in _split(held))
        held = ""
    yield from ((start, part) for part in _split(held))


def _uncommented(line: str) -> str:
    blank = _TEXT.sub(lambda text: "x" * len(text[0]), line)
    cut = blank.find("%")
    return line if cut < 0 else line[:cut]


def _split(text: str) -> Iterator[str]:
    """The statements of a line: they end at ; and , outside of brackets."""
    depth, begin = 0, 0
    for place, letter in enumerate(text):
        depth += (letter in "[({") - (letter in "])}")
        if letter in ";," and depth <= 0:
            if text[begin:place].strip():
                yield text[begin:place].strip()
            begin = place + 1
    if text[begin:].strip():
        yield text[begin:].strip()

"""Checks that lists in a value are lists of numbers. Parameters of all blocks are checked so
before any library gets them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

from spart_blocks.base.document import Key, Keys
from spart_blocks.base.errors import brief

_ROWS = "all rows need the same length, all entries must be numbers"


class Stray(NamedTuple):
    """An entry that is not a number among numbers: a message, its place within the value, and a
    hint.
    """

    message: str
    keys: Keys
    hint: str


def stray(value: Any, even: bool = True) -> Stray | None:
    """The first entry of a value that is not a number although its neighbours are, or the first
    rows of different lengths; None if there is no fault. even: whether the rows of the value
    itself must have one length.
    """
    if isinstance(value, dict):
        return _first_within(value.items())
    if not isinstance(value, list):
        return None
    kinds = [_kind(item) for item in value]
    if "number" in kinds:
        wrong = next((k for k, kind in enumerate(kinds) if kind not in ("number", "text")), None)
        if wrong is not None:
            message = f"has {brief(value[wrong])} among its numbers"
            hint = _ROWS if isinstance(value[wrong], list) else "a list of numbers has nothing else"
            return Stray(message, (wrong,), hint)
    return _first_within(enumerate(value)) or (_uneven(value) if even else None)


def _first_within(items: Iterable[tuple[Key, Any]]) -> Stray | None:
    for key, item in items:
        found = stray(item)
        if found is not None:
            return found._replace(keys=(key, *found.keys))
    return None


def _kind(item: Any) -> str:
    if isinstance(item, int | float) and not isinstance(item, bool):
        return "number"
    return "text" if isinstance(item, str) else "other"


def _uneven(rows: Sequence[Any]) -> Stray | None:
    """The fault of lists of numbers with different lengths; None if they are equally long or not
    all lists.
    """
    if not rows or not all(isinstance(row, list) and _numeric(row) for row in rows):
        return None
    lengths = [len(row) for row in rows]
    odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return None
    message = f"has rows of {lengths[0]} and of {lengths[odd]} numbers"
    return Stray(message, (odd,), _ROWS)


def _numeric(row: Sequence[Any]) -> bool:
    return bool(row) and all(_kind(item) == "number" for item in row)

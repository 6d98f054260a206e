"""Positions of lines in a text."""

from __future__ import annotations


def line_start(text: str, at: int) -> int:
    """The position at which the line that contains `at` starts."""
    start = text.rfind("\n", 0, at) + 1
    return max(start, text.rfind("\r", start, at) + 1)


def column_of(text: str, at: int) -> int:
    """The column of the position `at`, counted from 0."""
    return at - line_start(text, at)


def line_end(text: str, at: int) -> int:
    """The position at which the line that contains `at` ends, before its line break."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    mark = text.find("\r", at, end)
    return end if mark < 0 else mark


def break_at(text: str, at: int) -> int:
    """The length of the line break that starts at a position: 0, 1 or 2 characters."""
    return 2 if text[at : at + 2] == "\r\n" else int(at < len(text))


def break_before(text: str, at: int) -> int:
    """The length of the line break that ends at a position: 0, 1 or 2 characters."""
    return 2 if text[max(0, at - 2) : at] == "\r\n" else int(at > 0)

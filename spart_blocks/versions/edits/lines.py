"""Where the lines of a text begin and end."""

from __future__ import annotations


def line_start(text: str, at: int) -> int:
    """Where the line of a place begins."""
    start = text.rfind("\n", 0, at) + 1
    return max(start, text.rfind("\r", start, at) + 1)


def column_of(text: str, at: int) -> int:
    """How many characters of its line are before a place."""
    return at - line_start(text, at)


def line_end(text: str, at: int) -> int:
    """Where the line of a place ends, before its break."""
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    mark = text.find("\r", at, end)
    return end if mark < 0 else mark


def break_at(text: str, at: int) -> int:
    """Characters of the line break that begins at a place."""
    return 2 if text[at : at + 2] == "\r\n" else int(at < len(text))


def break_before(text: str, at: int) -> int:
    """Characters of the line break that ends at a place."""
    return 2 if text[max(0, at - 2) : at] == "\r\n" else int(at > 0)

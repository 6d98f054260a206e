"""Patches: replacements of parts of a text. Positions of lines in a text."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patch:
    """Replaces the characters start to end - 1 of a text by another text."""

    start: int
    end: int
    text: str


def _in_order(patches: Iterable[Patch]) -> list[Patch]:
    """Patches sorted by position; insertions at the same position keep their order."""
    return sorted(patches, key=lambda patch: (patch.start, patch.end))


def applied(text: str, patches: Iterable[Patch]) -> str:
    """The text with the patches applied. They must not overlap."""
    parts: list[str] = []
    at = 0
    for patch in _in_order(patches):
        if patch.start < at:
            raise ValueError(f"patches overlap at character {patch.start}")
        parts += [text[at : patch.start], patch.text]
        at = patch.end
    return "".join([*parts, text[at:]])


def inverse(text: str, patches: Iterable[Patch]) -> tuple[Patch, ...]:
    """The patches that turn the patched text back into `text`."""
    back: list[Patch] = []
    shift = 0
    for patch in _in_order(patches):
        start = patch.start + shift
        back.append(Patch(start, start + len(patch.text), text[patch.start : patch.end]))
        shift += len(patch.text) - (patch.end - patch.start)
    return tuple(back)


# --- positions of lines ---------------------------------------------------------------------------


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

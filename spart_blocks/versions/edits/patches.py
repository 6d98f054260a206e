"""Patches: replacements of parts of a text."""

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

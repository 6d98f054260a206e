"""Patches: parts of a text that are replaced."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Patch:
    """The characters from start up to end of a text become another text."""

    start: int
    end: int
    text: str


def _in_order(patches: Iterable[Patch]) -> list[Patch]:
    """By place; what is put in at one place stays in its order."""
    return sorted(patches, key=lambda patch: (patch.start, patch.end))


def applied(text: str, patches: Iterable[Patch]) -> str:
    """The text with the patches, which must not overlap, in place."""
    parts: list[str] = []
    at = 0
    for patch in _in_order(patches):
        if patch.start < at:
            raise ValueError(f"patches overlap at character {patch.start}")
        parts += [text[at : patch.start], patch.text]
        at = patch.end
    return "".join([*parts, text[at:]])


def inverse(text: str, patches: Iterable[Patch]) -> tuple[Patch, ...]:
    """The patches that lead from the patched text back to the text."""
    back: list[Patch] = []
    shift = 0
    for patch in _in_order(patches):
        start = patch.start + shift
        back.append(Patch(start, start + len(patch.text), text[patch.start : patch.end]))
        shift += len(patch.text) - (patch.end - patch.start)
    return tuple(back)

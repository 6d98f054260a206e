"""Values as texts of one line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from spart_blocks.versions.differences.changes import ABSENT

LONGEST = 70
"""Characters of a value that are shown."""


def value_text(value: Any) -> str:
    """A value in one line as a file has it, cut if it is long; empty for ABSENT."""
    return "" if value is ABSENT else shortened(whole_text(value))


def shortened(text: str) -> str:
    """A text whose end is left out if it is long."""
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 4]} ..."


def whole_text(value: Any, depth: int = 0) -> str:
    """A value in one line as a file has it. The ends of very long lists are left out."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return f"{value:.6g}" if float(f"{value:.6g}") == value else repr(value)
    if isinstance(value, Mapping):
        if depth > 3:
            return "{...}"
        items = list(value.items())[: LONGEST // 4]
        return "{" + ", ".join(f"{k}: {whole_text(v, depth + 1)}" for k, v in items) + "}"
    if isinstance(value, list | tuple):
        if depth > 3:
            return "[...]"
        return "[" + ", ".join(whole_text(one, depth + 1) for one in value[: LONGEST // 2]) + "]"
    text = str(value)
    return text if text and "\n" not in text and text == text.strip() else repr(text)

"""What differs between two versions of a sheet, so that the page is sent no more."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

Part = Mapping[str, Any]


def changes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    """A sheet as changes of another one: instead of blocks and wires that are in both, the ranges
    of their numbers there."""
    return {
        **after,
        "base": before["version"],
        "blocks": _changes(before["blocks"], after["blocks"], lambda block: block["name"]),
        "wires": _changes(before["wires"], after["wires"], _key),
    }


def _key(wire: Part) -> tuple[str, ...]:
    start, end = wire["from"], wire["to"]
    return start["block"], start["port"], end["block"], end["port"]


def _changes(
    before: Sequence[Part], after: Sequence[Part], key: Callable[[Part], Any]
) -> list[Part | list[int]]:
    number = {key(part): k for k, part in enumerate(before)}
    found: list[Part | list[int]] = []
    run: list[int] | None = None
    for part in after:
        k = number.get(key(part))
        if k is None or not (before[k] is part or before[k] == part):
            found.append(part)
            run = None
        elif run is not None and run[1] == k:
            run[1] = k + 1
        else:
            run = [k, k + 1]
            found.append(run)
    return found

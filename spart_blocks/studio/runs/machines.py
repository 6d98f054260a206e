"""The active states of a state machine at one time of a run."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from spart_blocks.studio.runs.record import RecordPart
from spart_blocks.studio.runs.runner import Answer, Runner


def active(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """For each copy of a machine the numbers of its active states at time t [s], and those that
    they came from."""
    t = float(asked["t"])
    parts = [one for one in runner.parts_at(t) if len(one.results.t)]
    known = [one for one in parts if one is parts[0] or one.results.t[0] <= t]
    return list(_copies(known, asked["block"], t)) if known else [], b""


def _copies(parts: Sequence[RecordPart], block: str, t: float) -> Iterator[dict[str, Any]]:
    results = parts[-1].results
    names = re.compile(re.escape(block).replace(r"\*", r"\d+"))
    found = [name for name in results.states if names.fullmatch(name)]
    row = max(int(np.searchsorted(results.t, t, side="right")) - 1, 0)
    for name in sorted(found, key=_order):
        labels = parts[-1].engine.display.states.get(name, ())
        numbers = [k for k, label in enumerate(labels) if f"since.{label}.0" in labels]
        if labels[:1] == ("state",):
            numbers.insert(0, 0)
        x = results.states[name][: row + 1]
        yield {
            "numbers": {labels[k]: int(x[-1, k]) for k in numbers},
            "left": {labels[k]: _before(x[:, k]) for k in numbers},
        }


def _before(numbers: Any) -> int | None:
    """The number before the last change; None without one."""
    other = np.flatnonzero(numbers != numbers[-1])
    return int(numbers[other[-1]]) if len(other) else None


def _order(name: str) -> list[Any]:
    return [int(part) if part.isdecimal() else part for part in re.split(r"(\d+)", name)]

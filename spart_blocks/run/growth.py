"""Tells of a run that grew without bound: since when, which state first, and what feeds it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from spart_blocks.results.columns import state_columns
from spart_blocks.results.signal_names import STATES
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.run import Run

GREAT = 1e9
"""A state has grown without bound when it is this many times its start, or 1 if that is more,"""
STEEP = 1e3
"""and this many times its largest value in the first half of the run, which no power of time below
the tenth is.
"""
LATE = 0.9
"""The fraction of the run from which on its end is looked at, since a swing passes zero."""
BEGUN = 10.0
"""Its growth begins where it is this many times its start for the first time."""
MOST_LOOPS = 3


class _Grown(NamedTuple):
    """A state that grew: time [s] where that began, block, name, and largest value near the end."""

    begun: float
    block: str
    name: str
    last: float


def growth_notes(run: Run) -> list[str]:
    """Notes on a run that grew without bound, none if it did not. Loops with positive feedback that
    a grown state is part of are named.
    """
    t = run.recorder.times()
    if len(t) < 2:
        return []
    held = {one.name for one in run.engine.holds if one.is_added}
    states = {name: rows for name, rows in run.recorder.states().items() if name not in held}
    names = run.engine.display.states
    half, late = (int(np.searchsorted(t, t[0] + part * (t[-1] - t[0]))) for part in (0.5, LATE))
    late = min(late, len(t) - 1)
    grown = [
        one
        for block, values in states.items()
        if np.fmax.reduce(np.abs(values[late:]), axis=None, initial=0.0) >= GREAT
        for one in _grown(t, half, late, block, values, state_columns(block, states, names))
    ]
    if not grown:
        return []
    first = min(grown, key=lambda one: one.begun)
    others = f", the first of {len(grown)} states," if len(grown) > 1 else ""
    text = (
        f"the run grew without bound: {first.name}{others} is {BEGUN:g} times its start from "
        f"t = {first.begun:.6g} s on, and {first.last:.3g} at the end"
    )
    return [text, *_feedback(run, {one.block for one in grown})]


def _grown(
    t: Floats, half: int, late: int, block: str, values: Floats, names: Sequence[str]
) -> Iterator[_Grown]:
    """The states of a block, (N, n) at times (N,) [s], that grew without bound. half, late: the
    rows at half of the run, and from which on its end is looked at.
    """
    rows = values.reshape(len(t), -1)
    start = np.maximum(_sizes(rows[0]), 1.0)
    last = _sizes(rows[late:]).max(axis=0)
    for k in np.flatnonzero(last / GREAT >= start).tolist():
        sizes = _sizes(rows[:, k])
        if last[k] / STEEP < max(sizes[: half + 1].max() if half else start[k], start[k]):
            continue
        begun = _reached(t, sizes, BEGUN * start[k])
        name = names[k].removeprefix(STATES) if len(names) > 1 else block
        yield _Grown(begun, block, name, float(last[k]))


def _sizes(values: Floats) -> Floats:
    """The magnitudes of values; zero where they are not finite."""
    return np.abs(np.nan_to_num(values, nan=0.0, posinf=0.0, neginf=0.0))


def _reached(t: Floats, sizes: Floats, level: float) -> float:
    """The time [s] at which sizes (N,) first reach a level; straight lines hold between rows."""
    k = max(int(np.argmax(sizes >= level)), 1)
    part = (level - sizes[k - 1]) / (sizes[k] - sizes[k - 1])
    return float(t[k - 1] + np.clip(part, 0, 1) * (t[k] - t[k - 1]))


def _feedback(run: Run, blocks: set[str]) -> Iterator[str]:
    """A note for each loop with positive feedback through some blocks, and how to turn it."""
    loops = [one for one in run.engine.display.positive_loops if blocks.intersection(one.blocks)]
    for loop in loops[:MOST_LOOPS]:
        yield f"{loop}; where {loop.summing} is to give a difference, write - among its signs"
    if len(loops) > MOST_LOOPS:
        yield f"{len(loops) - MOST_LOOPS} more loops feed back with a plus"

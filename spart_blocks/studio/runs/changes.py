"""What changed at an event or a tick of a run, and the instants of its record."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.stops import just_after
from spart_blocks.run.states import set_states
from spart_blocks.studio.runs.record import MOST_NAMES, RecordPart, state_at
from spart_blocks.studio.runs.runner import Answer, Runner
from spart_blocks.studio.runs.stepping import interval_of, next_tick
from spart_blocks.studio.runs.values import clock_text, text_of

NEAR = 1e-9
"""Instants nearer than this [s] are one; relative for times above 1 s."""
JUMP = 1e-6
"""A value has jumped if it changes by more than this, relative to its size."""
MOST_CHANGES = 200
MOST_EVENTS = 50


def moment(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The next instant of the record after t [s], or the last one before: of an event, of a tick,
    or by an interval. None where the record has none."""
    parts = runner.known_parts()
    if not parts:
        return None, b""
    t, to, back = float(asked["t"]), asked["to"], bool(asked.get("back"))
    begin, end = parts[0].begins, parts[-1].results.final_state.t
    found = None
    if to == "event":
        times = [event.t for part in parts for event in part.results.events]
        some = [one for one in times if (one < t - near(t) if back else one > t + near(t))]
        found = None if not some else max(some) if back else min(some)
    elif to == "tick":
        with suppress(InputError):
            found = next_tick(parts[-1].engine.clocks, t, asked.get("clock"), back=back)
    elif to == "time":
        step = -interval_of(asked) if back else interval_of(asked)
        found = max(t + step, begin) if back and t > begin else t + step
    return found if found is not None and begin <= found <= end else None, b""


def changed(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """What happened at t [s], and what it changed."""
    parts, t = runner.known_parts(), float(asked["t"])
    every = [event for part in parts for event in part.results.events]
    events = [event for event in every if abs(event.t - t) <= near(t)]
    known = [part for part in parts if part.begins <= t]
    if not known:
        raise InputError("the run has not begun")
    engine = known[-1].engine
    clocks = [clock for clock in engine.clocks if _ticks(clock, t)]
    changes: list[dict[str, Any]] = []
    if (events or clocks) and t > parts[0].begins + near(t):
        changes = list(_changes(engine, *_sides(parts, engine, t)))
    return {
        "t": t,
        "events": [{"block": one.block, "what": one.what} for one in events[:MOST_EVENTS]],
        "ticks": [clock_text(clock) for clock in clocks],
        "changes": changes[:MOST_CHANGES],
        "more": max(0, len(changes) - MOST_CHANGES),
    }, b""


def near(t: float) -> float:
    """How near to t [s] an instant is the same."""
    return NEAR * max(1.0, abs(t))


def _ticks(clock: Any, t: float) -> bool:
    k = round((t - float(clock.offset)) / float(clock.period))
    return k >= clock.first and abs(float(clock.time(k)) - t) <= near(t)


Side = tuple[float, Floats, Floats]


def _sides(parts: list[RecordPart], engine: Engine, t: float) -> tuple[Side, Side]:
    """The time [s], the states and the discrete states just before t and after all that happens
    there. The run is gone over again to both."""

    def vectors(at: float) -> tuple[Floats, Floats]:
        state = state_at(parts, at)
        x, xd = (one.copy() for one in engine.initial())
        set_states(engine, {**state.continuous, **state.discrete}, x, xd)
        return x, xd

    before = max(t - near(t), parts[0].begins)
    end = parts[-1].results.final_state.t
    after = end if abs(end - t) <= near(t) else t
    return (before, *vectors(before)), (just_after(after), *vectors(after))


def _changes(engine: Engine, before: Side, after: Side) -> Iterator[dict[str, Any]]:
    """The states that were reset or have moved on, then the outputs that have jumped."""
    levels, held = engine.display.levels, {one.name for one in engine.holds if one.is_added}
    machines = {name.rpartition(".")[0] or name for name in levels} | {*levels}
    (t0, x0, xd0), (t1, x1, xd1) = before, after
    for slices, was, now in ((engine.continuous, x0, x1), (engine.sampled, xd0, xd1)):
        for block, part in slices.items():
            if block in held or block.endswith(AUDIT) or block in machines:
                continue
            old, new = was[part], now[part]
            jumps = old != new if slices is engine.sampled else _jumps(old, new)
            labels = engine.display.states.get(block, ())
            for i in np.flatnonzero(jumps).tolist():
                name = labels[i] if i < len(labels) else f"state {i}" if len(old) > 1 else "state"
                yield _change("state", block, name, text_of(old[i]), text_of(new[i]))
    names = [name for name in engine.signals() if "=0" not in name][: 5 * MOST_NAMES]
    with np.errstate(all="ignore"):
        values = engine.over(names, np.array([t0, t1]), np.array([x0, x1]), np.array([xd0, xd1]))
    for name, (old, new) in zip(names, values, strict=True):
        if not _jumps(old, new).any():
            continue
        around, slash, last = name.rpartition("/")
        block, _, port = last.partition(".")
        level = levels.get(name)
        texts = [_level(level, one) if level else text_of(one) for one in (old, new)]
        kind = "mode" if level else "output"
        yield _change(kind, around + slash + block, port, *texts)


def _change(kind: str, block: str, name: str, before: str, after: str) -> dict[str, Any]:
    return {"kind": kind, "block": block, "name": name, "before": before, "after": after}


def _jumps(old: Floats, new: Floats) -> Any:
    size = np.maximum(np.maximum(np.abs(old), np.abs(new)), JUMP)
    return np.abs(new - old) > JUMP * size


def _level(levels: tuple[str, ...], value: Floats) -> str:
    """The name of the state that a number stands for."""
    k = round(float(value))
    return levels[k - 1] if 1 <= k <= len(levels) else "none"

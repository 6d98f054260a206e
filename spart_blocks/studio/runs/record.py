"""The record of a run, in parts. A new part begins when a parameter changes."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.base.rows import parted
from spart_blocks.results import FinalState, Results
from spart_blocks.results.signal_names import EVENTS, THINNED
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.record.recorder import Recorder
from spart_blocks.run.record.watching import end_at, rows_since
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import begin_engine, finish, results_of

MOST_ROWS = 20_000
MOST_NUMBERS = 2_000_000
"""Largest number of values in an answer with signals."""
MOST_NAMES = 2_000


@dataclass(frozen=True)
class RecordPart:
    """A part of a run. engine: with the parameters of this part. start: the state at which it
    began, None for the start of the diagram."""

    engine: Engine
    start: FinalState | None
    results: Results

    @property
    def begins(self) -> float:
        """The time at which it begins [s]."""
        return 0.0 if self.start is None else self.start.t


def joined(parts: Sequence[RecordPart], tuned: Mapping[str, str]) -> Results:
    """The results of all parts as one. tuned: the tuned values, which are added to `info`. A single
    part is returned as it is."""
    first, last = parts[0].results, parts[-1].results
    if len(parts) == 1:
        return first
    every = [part.results for part in parts]
    sums = {
        key: sum(float(one.info.get(key, 0)) for one in every)
        for key in ("steps", "evaluations", "wall_time")
    }
    stretches = [float(one.info[THINNED]) for one in every if THINNED in one.info]
    if stretches:
        sums[THINNED] = max(stretches)
    if any(EVENTS in one.info for one in every):
        sums[EVENTS] = sum(int(one.info.get(EVENTS, len(one.events))) for one in every)
    listed = {"tuned": "; ".join(f"{name}={text}" for name, text in tuned.items())}
    return replace(
        last,
        t=np.concatenate([one.t for one in every]),
        signals={
            name: np.concatenate([one.signals[name] for one in every]) for name in first.signals
        },
        states={name: np.concatenate([one.states[name] for one in every]) for name in first.states},
        events=tuple(event for one in every for event in one.events),
        info={**last.info, **sums, **(listed if tuned else {})},
        recompute=_OfParts(tuple(every)),
    )


@dataclass(frozen=True, eq=False)
class _OfParts:
    """Computes a signal that was not kept, for each part with its own engine."""

    parts: tuple[Results, ...]

    def __call__(self, name: str) -> NDArray[Any]:
        try:
            return np.concatenate([part[name] for part in self.parts])
        except InputError:
            raise KeyError(name) from None

    @property
    def names(self) -> tuple[str, ...]:
        """The signals that can be computed."""
        return tuple(getattr(self.parts[0].recompute, "names", ()))


def so_far(run: Run, first: int = 0) -> Results:
    """The results of an active run, from row `first` to its present state."""
    twin = copy.copy(run)
    twin.recorder = Recorder(run.engine, run.recorder.names)
    twin.recorder.stretch = run.recorder.stretch
    rows = rows_since(run, first)
    if rows is not None:
        signals = parted(rows.signals, shapes_of(run))
        twin.recorder.adopt(rows.t, signals, rows.x, rows.xd)
    is_late = run.settled if rows is None else run.t > rows.t[-1]
    if is_late and not run.engine.display.acting:
        with suppress(RunError):
            twin.recorder.keep(float(run.t), run.x, run.xd)
    return results_of(twin)


def shapes_of(run: Run) -> list[tuple[int, ...]]:
    """The shapes of the signals that a run keeps, in the order of its recorder."""
    names, engine = run.recorder.names, run.engine
    if isinstance(engine, Native):
        return [engine.slot[name].shape for name in names]
    values = engine.picked(names)(float(run.t), run.x, run.xd)
    return [np.shape(value) for value in values]


def state_at(parts: Sequence[RecordPart], t: float) -> FinalState:
    """The state at t [s]. The part that contains t is simulated again up to t, with the same steps.

    Raises InputError for a time outside the run.
    """
    end = parts[-1].results.final_state.t
    if not parts[0].begins <= t <= end:
        text = f"the run has no state at t = {t:g} s: it goes from {parts[0].begins:g} to {end:g} s"
        raise InputError(Fault(text))
    part = [one for one in parts if one.begins <= t][-1]
    if part.start is not None and part.begins == t:
        return part.start
    if part.results.final_state.t == t:
        return part.results.final_state
    run = begin_engine(part.engine, part.start)
    if t == float(run.t):
        return run.final_state()
    end_at(run, t)
    return finish(run).final_state


def plain_state(state: FinalState) -> dict[str, Any]:
    """A state as data for JSON, without rounding."""
    parts = {
        name: {block: np.asarray(x).tolist() for block, x in getattr(state, name).items()}
        for name in ("continuous", "discrete")
    }
    return {"t": state.t, **parts, "ticks": dict(state.ticks)}


def state_from(plain: Mapping[str, Any]) -> FinalState:
    """The state of which this is the `plain_state`."""
    parts = {
        name: {block: np.array(x, dtype=float) for block, x in plain[name].items()}
        for name in ("continuous", "discrete")
    }
    return FinalState(float(plain["t"]), **parts, ticks=plain["ticks"])


def table_of(
    results: Results, names: Any, first: float | None = None, last: float | None = None
) -> tuple[dict[str, Any], bytes]:
    """Signals as rows of the time and all values, thinned for drawing: the header and the bytes of
    the message. first, last [s]: the part of the run, by default all. Raises InputError."""
    columns, signals = [np.asarray(results.t)[:, None]], []
    for name in check_names(names):
        values = np.asarray(results[name], dtype=float).reshape(len(results.t), -1)
        signals.append({"name": name, "width": values.shape[1]})
        columns.append(values)
    table = np.hstack(columns)
    if first is not None and last is not None:
        begin = int(np.searchsorted(results.t, float(first), side="left")) - 1
        end = int(np.searchsorted(results.t, float(last), side="right")) + 1
        table = table[max(begin, 0) : end]
    whole = len(table)
    table = thinned(table, max(2, min(MOST_ROWS, MOST_NUMBERS // table.shape[1])))
    size = {"rows": len(table), "width": table.shape[1] - 1, "thinned": len(table) < whole}
    return {"signals": signals, **size}, np.ascontiguousarray(table, dtype="<f8").tobytes()


def check_names(names: Any) -> list[str]:
    """The signal names of a request, at most MOST_NAMES. Raises InputError if it is no list of
    texts."""
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("names are a list of texts")
    return names[:MOST_NAMES]


def thinned(table: Floats, most: int) -> Floats:
    """At most `most` rows for drawing a table (N, width), whose first column is time. Each group of
    consecutive rows is replaced by its minimum and maximum in each column: the minimum first if the
    column rises over the group, otherwise the maximum."""
    if len(table) <= most:
        return table
    edges = np.linspace(0, len(table), max(most // 2, 1) + 1).astype(int)[:-1]
    last = np.append(edges[1:], len(table)) - 1
    found = np.empty((2 * len(edges), table.shape[1]))
    low, high = (one.reduceat(table, edges, axis=0) for one in (np.fmin, np.fmax))
    falls = table[last] < table[edges]
    found[0::2], found[1::2] = np.where(falls, high, low), np.where(falls, low, high)
    return found

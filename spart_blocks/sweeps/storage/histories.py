"""Histories: signals and states over time of runs of a sweep."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.results.signal_names import STATES
from spart_blocks.sweeps.work import Done, FileWork, Floats, Ints, Work

if TYPE_CHECKING:
    from spart_blocks.program import Program

MOST_AT_ONCE = 4_000_000
"""Numbers that are evaluated at once, which bounds the memory in use."""
_LATE = 1e-12


@dataclass(frozen=True, eq=False)
class Histories:
    """Signals of n runs at k times. runs (n,): numbers of the runs. times (k,) [s]. values: arrays
    (n, k, ...) by name, NaN after the end of a run. A name is that of a signal, or `states.` with
    the name of a block."""

    runs: Ints
    times: Floats
    values: Mapping[str, Floats]
    units: Mapping[str, str] = field(default_factory=dict)

    def part(self, which: NDArray[Any]) -> Histories:
        """The histories of some runs, chosen by their positions."""
        values = {name: array[which] for name, array in self.values.items()}
        return Histories(self.runs[which], self.times, values, self.units)


def histories_of(work: Work | FileWork, done: Done, which: NDArray[np.intp]) -> Histories | None:
    """The histories of some of the runs that have ended, chosen by their positions among these;
    None if no rows were recorded."""
    if done.times is None or done.rows is None:
        return None
    place = {int(run): k for k, run in enumerate(work.runs)}
    own = np.array([place[int(run)] for run in done.runs[which]], dtype=np.intp)
    rows = done.rows[which].copy()
    rows[done.times[None, :] > done.t[which, None] * (1 + _LATE)] = np.nan
    if isinstance(work, FileWork):
        return joined(
            _by_blocks(work, int(k), done.times, row) for k, row in zip(own, rows, strict=True)
        )
    program, p = work.program, work.p[own]
    rows = _projected(program, done.times, rows, p)
    names = program.display.kept(program.run.log, [slot.name for slot in program.signals])
    values = signals_of(program, names, done.times, rows, p) | states_of(program, rows)
    units = {name: unit for name, unit in program.display.units.items() if name in values}
    return Histories(done.runs[which], done.times, values, units)


def _by_blocks(work: FileWork, k: int, times: Floats, row: Floats) -> Histories:
    """The histories of run k of a job without a program, from its states (k, nx + nd): blocks
    compute the signals."""
    engine = work.file_of(k).reference()
    nx = len(engine.initial()[0])
    known = ~np.isnan(row).any(axis=1)
    x, xd = row[known, :nx], row[known, nx:]
    names = engine.display.kept(engine.run.log, engine.signals())
    found = dict(zip(names, engine.over(names, times[known], x, xd), strict=True))
    found |= {STATES + name: x[:, part] for name, part in engine.continuous.items()}
    found |= {STATES + name: xd[:, part] for name, part in engine.sampled.items()}
    values = {}
    for name, array in found.items():
        values[name] = np.full((1, len(times), *array.shape[1:]), np.nan)
        values[name][0, known] = array
    units = {name: unit for name, unit in engine.display.units.items() if name in values}
    return Histories(work.runs[[k]], times, values, units)


def states_of(program: Program, rows: Floats) -> dict[str, Floats]:
    """The states of each block, from rows (n, k, nx + nd)."""
    nx = len(program.x0)
    found = {STATES + slot.name: rows[:, :, slot.part] for slot in program.states}
    for slot in program.discrete:
        part = slice(nx + slot.part.start, nx + slot.part.stop)
        found[STATES + slot.name] = rows[:, :, part]
    return found


def signals_of(
    program: Program, names: Sequence[str], times: Floats, rows: Floats, p: Floats
) -> dict[str, Floats]:
    """The named signals (n, k, ...) in states (n, k, nx + nd), with parameters p (n, np)."""
    if not names:
        return {}
    function = program.selected(names)
    nx = len(program.x0)

    def column(t: Floats, flat: Floats, p: Floats) -> Floats:
        return np.array(function(t[None], flat[:, :nx].T, flat[:, nx:].T, p.T)).T

    whole = _over_runs(column, times, rows, p)
    slots = {slot.name: slot for slot in program.signals}
    found, at = {}, 0
    for name in names:
        shape = slots[name].shape
        size = math.prod(shape)
        found[name] = whole[:, :, at : at + size].reshape(*rows.shape[:2], *shape)
        at += size
    return found


def _projected(program: Program, times: Floats, rows: Floats, p: Floats) -> Floats:
    """A copy of the rows, with the states projected onto their constraints if outputs need that."""
    rows = rows.copy()
    if not program.drifting or program.project is None:
        return rows
    nx = len(program.x0)

    def column(t: Floats, flat: Floats, p: Floats) -> Floats:
        return np.array(program.project(t[None], flat[:, :nx].T, flat[:, nx:].T, p.T)).T

    rows[:, :, :nx] = _over_runs(column, times, rows, p)
    return rows


def _over_runs(column: Any, times: Floats, rows: Floats, p: Floats) -> Floats:
    """A function of (t, states, p), at every row of every run: (n, k, width), NaN where the states
    are."""
    n, k, width = rows.shape
    step = max(1, MOST_AT_ONCE // max(1, k * max(width, p.shape[1], 1)))
    parts = []
    for start in range(0, n, step):
        some = rows[start : start + step]
        flat = some.reshape(-1, width)
        values = column(np.tile(times, len(some)), flat, np.repeat(p[start : start + step], k, 0))
        values[np.isnan(flat).any(axis=1)] = np.nan
        parts.append(values.reshape(len(some), k, -1))
    return np.concatenate(parts) if parts else np.zeros((0, k, 0))


def joined(parts: Iterable[Histories]) -> Histories | None:
    """Histories of several parts as one, in the order of their runs; None if there are none. Runs
    that end early have fewer times, and a signal that some runs lack is NaN there. A signal that
    has different shapes in different structures is left out."""
    parts = [part for part in parts if len(part.runs)]
    if not parts:
        return None
    times = max((part.times for part in parts), key=len)
    runs = np.concatenate([part.runs for part in parts])
    order = np.argsort(runs, kind="stable")
    values: dict[str, Floats] = {}
    for name, shape in common_shapes(parts).items():
        whole = np.full((len(runs), len(times), *shape), np.nan)
        at = 0
        for part in parts:
            if name in part.values:
                whole[at : at + len(part.runs), : len(part.times)] = part.values[name]
            at += len(part.runs)
        values[name] = whole[order]
    units = {name: unit for part in parts for name, unit in part.units.items()}
    return Histories(runs[order], times, values, units)


def common_shapes(parts: Sequence[Histories]) -> dict[str, tuple[int, ...]]:
    """The shape of a sample of each signal that has one shape in all parts that have it."""
    shapes: dict[str, set[tuple[int, ...]]] = {}
    for part in parts:
        for name, array in part.values.items():
            shapes.setdefault(name, set()).add(array.shape[2:])
    return {name: next(iter(found)) for name, found in shapes.items() if len(found) == 1}

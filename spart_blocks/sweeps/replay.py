"""Repeats one run of a sweep, with the same bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError, RunError
from spart_blocks.measures.work import COMPLETE, FAILED, STATUSES, AnyWork, Done, FileWork
from spart_blocks.results import FinalState, Results
from spart_blocks.run.engines.native import Native
from spart_blocks.run.record.recomputing import FromStates
from spart_blocks.run.simulate import finish
from spart_blocks.run.start import prepare
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.sweeps.storage.columns import Array
from spart_blocks.sweeps.storage.histories import signals_of, states_of
from spart_blocks.sweeps.sweep_data import SweepData

_COMPARED = ("status", "passed", "t_end", "steps")


@dataclass(frozen=True, eq=False)
class Replay:
    """A repeated run.

    label: its draw, and its variant and fault if there are several. case: the varied values.
    differences: a line for each value that differs from the stored one; empty if all bits agree.
    reasons: a line for each claim that the run does not fulfil. failure: for a run that ends with
    an error, its message and location as in `simulate`.
    """

    run: int
    label: str
    results: Results
    case: Mapping[str, Any]
    differences: tuple[str, ...]
    reasons: tuple[str, ...] = ()
    failure: str | None = None

    @property
    def message(self) -> str:
        """A sentence that says whether the run agrees with the stored one."""
        if self.differences:
            listed = "\n  ".join(self.differences)
            return f"run {self.run} is not as the sweep has stored it:\n  {listed}"
        return f"run {self.run} has the stored metrics, bit for bit"


def replayed(found: SweepData, run: int) -> Replay:
    """Repeat a run of a sweep. Raises InputError if the sweep does not contain this run."""
    runs = found["run"]
    place = int(np.searchsorted(runs, run))
    if place == len(runs) or runs[place] != run:
        known = f"it has {len(runs):,}, up to {int(runs[-1]):,}" if len(runs) else "it has none"
        raise InputError(f"the sweep has not done run {run}; {known}")
    planned = found.planned
    works, reasons = planned.works(np.array([run]))
    if not works:
        raise RunError(f"run {run} cannot begin: {reasons[run]}")
    [work] = works
    every = work.every or planned.interval(work)
    device, precision = found.facts.get("device"), found.facts.get("precision", "double")
    with Runner(workers=1, device=device, precision=precision) as runner:
        done = next(iter(runner(replace(work, every=every))))
    columns, _ = planned.evaluated(work, done)
    differences = tuple(_differences(found, columns, place))
    results = _results(work, done)
    info = {**results.info, "sweep_run": run}
    case = planned.plan.case(run)
    label, results = _label(found, place), replace(results, info=info)
    failed = STATUSES[int(done.status[0])] == FAILED
    missed = () if failed else tuple(planned.reasons(work, done))
    failure = results.stopped if failed else None
    return Replay(run, label, results, case, differences, missed, failure)


def _label(found: SweepData, place: int) -> str:
    parts = [f"draw {found['draw'][place]}"]
    parts += [
        f"{name} {found[name][place]}"
        for name in ("variant", "fault")
        if len(found.columns.names(name)) > 1
    ]
    return ", ".join(parts)


def _differences(found: SweepData, columns: Mapping[str, Array], place: int) -> list[str]:
    """A line for each difference from the stored row; two NaN count as equal."""
    lines = []
    for name in (*_COMPARED, *found.metrics, *found.derivative_columns):
        stored, new = found.columns.kept(name)[place], columns[name][0]
        if stored != new and not (stored != stored and new != new):
            shown = found.columns.shown(name, np.array([stored, new])).tolist()
            lines.append(f"{name}: {shown[0]!r} stored, {shown[1]!r} now")
    return lines


def _results(work: AnyWork, done: Done) -> Results:
    """The results of the only run of a work.

    These are the results of `simulate` if its final states are the same bit for bit, because they
    hold both sides of every jump; otherwise they are made from the recorded rows. The reason of a
    failure is always that of `simulate`, which names the block.
    """
    rich = _simulated(work)
    if isinstance(work, FileWork):
        return rich
    program = replace(work.program, p=work.p[0])
    if _same_end(program, rich, done):
        return rich
    rows = _of_rows(program, done)
    fails = STATUSES[int(done.status[0])] == FAILED and not rich.complete and rich.stopped
    return replace(rows, stopped=rich.stopped) if fails else rows


def _simulated(work: AnyWork) -> Results:
    if isinstance(work, FileWork):
        engine: Any = work.file_of(0).reference()
    else:
        program = replace(work.program, p=work.p[0])
        engine = Native(program, None if work.file is None else work.file.reference)
    run = prepare(engine, None, None)
    run.measure(work.gauges)  # steps depend on it in their last bits
    try:
        return finish(run)
    except RunError as error:
        if error.results is None:
            raise
        results: Results = error.results
        return results


def _same_end(program: Any, rich: Results, done: Done) -> bool:
    state = rich.final_state.continuous
    parts = [np.ravel(state[slot.name]) for slot in program.states if slot.name in state]
    x = np.concatenate([np.zeros(0), *parts])
    return x.tobytes() == np.ascontiguousarray(done.x[0][: len(x)]).tobytes()


def _of_rows(program: Any, done: Done) -> Results:
    """Results from the state rows that a runner has recorded."""
    assert done.times is not None
    assert done.rows is not None
    known = done.times <= done.t[0] * (1 + 1e-12)
    t, rows = done.times[known], done.rows[:1, known]
    display = program.display
    names = display.kept(program.run.log, [slot.name for slot in program.signals])
    signals = signals_of(program, names, t, rows, program.p[None])
    states = {
        name.removeprefix("states."): values[0] for name, values in states_of(program, rows).items()
    }
    message = done.messages.get(int(done.runs[0]))
    status = STATUSES[int(done.status[0])]
    final = FinalState(
        float(done.t[0]),
        {slot.name: done.x[0][slot.part] for slot in program.states},
        {slot.name: done.xd[0][slot.part] for slot in program.discrete},
    )
    return Results(
        t=t,
        signals=display.by_shown_name(program.run.log, {n: v[0] for n, v in signals.items()}),
        states=states,
        final_state=final,
        scopes=display.scopes,
        complete=status == COMPLETE or message is None,
        stopped=message,
        diagram_name=program.name,
        info={"engine": "lanes", "solver": program.run.solver, "T": program.run.T,
              "record": "samples", "steps": int(done.steps[0])},
        aliases=display.aliases,
        units=display.units,
        state_names=display.states,
        levels=display.levels,
        entries=display.entries,
        recompute=FromStates(program, t, states),
    )  # fmt: skip

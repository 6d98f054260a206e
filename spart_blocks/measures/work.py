"""The input and output of a runner: runs of one program, and their outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.run.measure.gauges import Gauge, Readings

if TYPE_CHECKING:
    from spart_blocks.program import Program
    from spart_blocks.run.engines.from_file import DiagramFile

MOST_TRIED = 8
"""Number of first runs that are tried until one can start."""
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COMPLETE, STOPPED, FAILED = "complete", "stopped", "failed"
STATUSES = (COMPLETE, STOPPED, FAILED)
"""How a run ended: at T, by a STOP block, or by an error. `Done.status` holds indices into this."""


@dataclass(frozen=True, eq=False)
class Derivatives:
    """The derivatives of metrics that are asked for of each run of a work.

    formulas: all metrics, by name. by: for each metric that is differentiated its parameters.
    shapes: of the parameters. changes (np, m): a direction for each of their elements, in this
    order. constants: varied values that metrics may use and that are no parameters, by path.
    refusal: why the program has no derivatives, or not all that are asked for; "" if it has all.
    """

    formulas: Mapping[str, str]
    by: Mapping[str, tuple[str, ...]]
    shapes: Mapping[str, tuple[int, ...]]
    changes: Floats
    constants: Mapping[str, Any] = field(default_factory=dict)
    refusal: str = ""


@dataclass(frozen=True, eq=False)
class Work:
    """Runs of one program with different parameters.

    program: with its run options (T, solver, tolerances, ...) and the nominal parameters. runs
    (n,): run numbers. p (n, np): the parameters of each run, which include initial states. gauges:
    what to measure. blocks: those whose first event is recorded. every [s]: interval of the
    recorded rows; None records none. file: the diagram file of the program, if there is one; it is
    loaded where the blocks themselves are needed. derivatives: of metrics, if any are asked for.
    """

    program: Program
    runs: Ints
    p: Floats
    gauges: tuple[Gauge, ...] = ()
    blocks: tuple[str, ...] = ()
    every: float | None = None
    file: DiagramFile | None = None
    derivatives: Derivatives | None = None

    def part(self, which: NDArray[np.intp] | slice) -> Work:
        """Some of the runs."""
        return replace(self, runs=self.runs[which], p=self.p[which])


@dataclass(frozen=True, eq=False)
class FileWork:
    """Runs of a diagram file that cannot be traced, so that its blocks are executed.

    runs (n,): run numbers. overrides: for each run, in addition to those of the file, as `--set`
    takes them; the diagram is loaded for each run. start: initial states (n, m) by block, such as
    those of random sequences. The other fields are as in `Work`.
    """

    file: DiagramFile
    runs: Ints
    overrides: tuple[tuple[str, ...], ...]
    gauges: tuple[Gauge, ...] = ()
    blocks: tuple[str, ...] = ()
    every: float | None = None
    start: Mapping[str, Floats] = field(default_factory=dict)

    def file_of(self, k: int) -> DiagramFile:
        """The diagram file of run k."""
        return replace(self.file, overrides=(*self.file.overrides, *self.overrides[k]))

    def part(self, which: NDArray[np.intp] | slice) -> FileWork:
        """Some of the runs."""
        chosen = np.arange(len(self.runs))[which]
        return replace(
            self,
            runs=self.runs[which],
            overrides=tuple(self.overrides[k] for k in chosen),
            start={name: states[which] for name, states in self.start.items()},
        )


AnyWork = Work | FileWork


@dataclass(frozen=True, eq=False)
class Done:
    """The outcomes of n runs that have ended.

    runs (n,): run numbers. status (n,): indices into STATUSES. t (n,) [s]: final times. steps
    (n,): solver steps. x (n, nx), xd (n, nd): final states. readings: for each gauge and quantity
    an array (n, m) over the m elements of the signal; NaN where a run failed before it could be
    measured. events: for each of Work.blocks the time (n,) [s] of its first event, NaN if there
    was none. messages: of failed runs, by run number, with reason and time. derivatives (n,): of
    metrics by parameters, by column; NaN where there are none. underived: for runs that lack some
    of them the reason, by run number. times (k,) [s], rows
    (n, k, nx + nd): recorded states, NaN after a run's end; None if none were recorded.
    """

    runs: Ints
    status: NDArray[np.uint8]
    t: Floats
    steps: Ints
    x: Floats
    xd: Floats
    readings: Mapping[Gauge, Readings] = field(default_factory=dict)
    events: Mapping[str, Floats] = field(default_factory=dict)
    messages: Mapping[int, str] = field(default_factory=dict)
    derivatives: Mapping[str, Floats] = field(default_factory=dict)
    underived: Mapping[int, str] = field(default_factory=dict)
    times: Floats | None = None
    rows: Floats | None = None

    @staticmethod
    def unstarted(
        runs: Ints,
        messages: Mapping[int, str],
        work: AnyWork | None = None,
        readings: Mapping[Gauge, Readings] = {},
        nx: int = 0,
        nd: int = 0,
    ) -> Done:
        """The outcomes of runs that failed before they started. readings: of one run, without
        numbers.
        """
        n = len(runs)
        recorded = work is not None and work.every is not None
        return Done(
            runs=runs,
            status=np.full(n, STATUSES.index(FAILED), dtype=np.uint8),
            t=np.full(n, np.nan),
            steps=np.zeros(n, dtype=np.int64),
            x=np.full((n, nx), np.nan),
            xd=np.full((n, nd), np.nan),
            readings={
                gauge: {name: np.tile(value, (n, 1)) for name, value in read.items()}
                for gauge, read in readings.items()
            },
            events={block: np.full(n, np.nan) for block in (work.blocks if work else ())},
            messages=messages,
            times=np.zeros(0) if recorded else None,
            rows=np.zeros((n, 0, nx + nd)) if recorded else None,
        )


# --- outcomes of several parts of a work as one ---------------------------------------------------


def joined(parts: Sequence[Done]) -> Done:
    """The outcomes of all runs of some parts of one work, in order. Values that a part lacks,
    because none of its runs started, are NaN.
    """
    if len(parts) == 1:
        return parts[0]
    readings: dict[Any, dict[str, Floats]] = {}
    for gauge in dict.fromkeys(gauge for part in parts for gauge in part.readings):
        names = next(part.readings[gauge] for part in parts if gauge in part.readings)
        readings[gauge] = {
            name: stacked(
                [p.readings[gauge][name] if gauge in p.readings else _none(p) for p in parts]
            )
            for name in names
        }
    rows = [part.rows for part in parts if part.rows is not None]
    times = [part.times for part in parts if part.times is not None]
    return Done(
        runs=np.concatenate([part.runs for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        t=np.concatenate([part.t for part in parts]),
        steps=np.concatenate([part.steps for part in parts]),
        x=stacked([part.x for part in parts]),
        xd=stacked([part.xd for part in parts]),
        readings=readings,
        events={
            block: np.concatenate([part.events[block] for part in parts])
            for block in parts[0].events
        },
        messages={number: text for part in parts for number, text in part.messages.items()},
        derivatives={
            name: np.concatenate([part.derivatives.get(name, _unknown(part)) for part in parts])
            for name in dict.fromkeys(name for part in parts for name in part.derivatives)
        },
        underived={number: text for part in parts for number, text in part.underived.items()},
        times=max(times, key=len) if times else None,
        rows=stacked(rows) if rows else None,
    )


def _none(part: Done) -> Floats:
    return np.zeros((len(part.runs), 0))


def _unknown(part: Done) -> Floats:
    return np.full(len(part.runs), np.nan)


def stacked(arrays: Sequence[NDArray[Any]]) -> Floats:
    """Arrays (n, ...) concatenated along the first axis; smaller ones are padded with NaN in the
    other axes.
    """
    shape = [max(sizes) for sizes in zip(*(a.shape[1:] for a in arrays), strict=True)]
    if all(list(a.shape[1:]) == shape for a in arrays):
        return np.concatenate(arrays)
    out = np.full((sum(map(len, arrays)), *shape), np.nan)
    first = 0
    for array in arrays:
        place = (slice(first, first + len(array)), *map(slice, array.shape[1:]))
        out[place] = array
        first += len(array)
    return out

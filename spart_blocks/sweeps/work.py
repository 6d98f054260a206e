"""The input and output of a runner: runs of one program, and their outcomes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

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
class Work:
    """Runs of one program with different parameters.

    program: with its run options (T, solver, tolerances, ...) and the nominal parameters. runs
    (n,): run numbers. p (n, np): the parameters of each run, which include initial states. gauges:
    what to measure. blocks: those whose first event is recorded. every [s]: interval of the
    recorded rows; None records none. file: the diagram file of the program, if there is one; it is
    loaded where the blocks themselves are needed.
    """

    program: Program
    runs: Ints
    p: Floats
    gauges: tuple[Gauge, ...] = ()
    blocks: tuple[str, ...] = ()
    every: float | None = None
    file: DiagramFile | None = None

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
    was none. messages: of failed runs, by run number, with reason and time. times (k,) [s], rows
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

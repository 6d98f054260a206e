"""What a runner takes and gives: runs of one program, and what came of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from spart_blocks.run.measure.gauges import Gauge, Readings

if TYPE_CHECKING:
    from spart_blocks.program import Program
    from spart_blocks.run.engines.from_file import DiagramFile

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

COMPLETE, STOPPED, FAILED = "complete", "stopped", "failed"
STATUSES = (COMPLETE, STOPPED, FAILED)
"""How a run ended: at T, by a STOP block, or by an error. `Done.status` holds their numbers."""


@dataclass(frozen=True, eq=False)
class Work:
    """Runs of one program that differ in its parameters.

    program: with its run options (T, solver, tolerances, ...); it holds the nominal parameters.
    runs (n,): the numbers of the runs. p (n, np): the parameters of each, initial states among
    them. gauges: what to measure of each run. blocks: whose first event is wanted. every [s]:
    interval of the rows that are kept of each run; None keeps none.
    file: the diagram file of the program, if it has one, for what only its blocks know.
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
        from dataclasses import replace

        return replace(self, runs=self.runs[which], p=self.p[which])


@dataclass(frozen=True, eq=False)
class FileWork:
    """Runs of a diagram file that has no program, by its blocks.

    runs (n,): the numbers of the runs. overrides: of each run, in place of values of the file, in
    addition to its own, as `--set` takes them; a diagram is loaded for each run. start: states
    (n, m) at which blocks start, such as those of random sequences. The others: as of `Work`.
    """

    file: DiagramFile
    runs: Ints
    overrides: tuple[tuple[str, ...], ...]
    gauges: tuple[Gauge, ...] = ()
    blocks: tuple[str, ...] = ()
    every: float | None = None
    start: Mapping[str, Floats] = field(default_factory=dict)

    def part(self, which: NDArray[np.intp] | slice) -> FileWork:
        """Some of the runs."""
        from dataclasses import replace

        chosen = np.arange(len(self.runs))[which]
        return replace(
            self,
            runs=self.runs[which],
            overrides=tuple(self.overrides[k] for k in chosen),
            start={name: states[which] for name, states in self.start.items()},
        )


@dataclass(frozen=True, eq=False)
class Done:
    """n runs that have ended.

    runs (n,): their numbers. status (n,): entries of STATUSES. t (n,) [s]: the times they reached.
    steps (n,): solver steps. x (n, nx), xd (n, nd): the states they reached.
    readings: of each gauge, each quantity as (n, m) for the m elements of its signal; NaN where a
    run failed before it could be measured. events: of each of Work.blocks, the time (n,) [s] of its
    first event, NaN without one. messages: of failed runs, by number, with the reason and the time.
    times (k,) [s], rows (n, k, nx + nd): states kept; NaN after a run's end. None if none were
    kept.
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

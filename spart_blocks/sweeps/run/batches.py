"""Runs a sweep: gives batches of runs to a runner, and stores their results."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.interrupts import deferred
from spart_blocks.measures.work import AnyWork, Done, Floats, Ints
from spart_blocks.sweeps.statistics import draws_needed
from spart_blocks.sweeps.storage.columns import succeeded
from spart_blocks.sweeps.storage.store import Store

if TYPE_CHECKING:
    from spart_blocks.sweeps.plan.sweep_job import Planned

Progress = Callable[[int, int], None]

FIRST_BATCH, GROWTH, LONG_BATCH = 256, 4, 20.0
"""The size of the first batch. A batch that took less than LONG_BATCH [s] is followed by one that
is GROWTH times as large. The next batch starts when all runs of the previous one have ended.
"""
MOST_BATCH = 1 << 17
MOST_BYTES = 64 << 20
"""Upper limits of a batch: number of runs, and size [bytes] of their parameters and histories."""
FIRST_DRAWS, MORE_DRAWS = 64, 1.1
"""The numbers of draws at which a sweep with `until` checks the interval: the first one, and the
factor from one to the next. They are constants, so that the same runs are done on every machine.
"""
INTERRUPTED = "interrupted"
ENOUGH = "the interval is narrow enough"
"""The reason for ending before the last run, if `until` is reached."""


@dataclass
class SweepRun:
    """The execution of a sweep.

    run: executes the runs of a work. until: width of the confidence interval of the success
    probability at which the sweep ends. confidence: of this interval.
    """

    job: Planned
    store: Store
    run: Callable[[AnyWork], Iterator[Done]]
    until: float | None = None
    confidence: float = 0.95
    progress: Progress | None = None

    def execute(self) -> str | None:
        """Execute all runs that are not in the store. Returns why it stopped before the last run,
        or None.
        """
        done = self.store.runs()
        self._report()
        try:
            for start, end in self.batches():
                self._do(np.setdiff1d(np.arange(start, end), done, assume_unique=True))
                if self.until is not None and self._enough(end):
                    return ENOUGH if end < self.job.total else None
        except KeyboardInterrupt:
            return INTERRUPTED
        return None

    def batches(self) -> Iterator[tuple[int, int]]:
        """For each batch its first run, and the first run of the next batch."""
        sizes = self._fixed_sizes() if self.until is not None else self._grown_sizes()
        start = 0
        while start < self.job.total:
            end = min(start + next(sizes), self.job.total)
            yield start, end
            start = end

    def _grown_sizes(self) -> Iterator[int]:
        most = max(1, min(MOST_BATCH, MOST_BYTES // max(1, self.job.bytes_of_run)))
        size = min(FIRST_BATCH, most)
        while True:
            begun = time.monotonic()
            yield size
            if time.monotonic() - begun < LONG_BATCH:
                size = min(size * GROWTH, most)

    def _fixed_sizes(self) -> Iterator[int]:
        draws = 0
        while True:
            after = max(FIRST_DRAWS, int(np.ceil(draws * MORE_DRAWS)))
            yield (after - draws) * self.job.per_draw
            draws = after

    def _do(self, runs: Ints) -> None:
        first = int(np.searchsorted(runs, self.job.kept_first or 0))
        for part in (runs[:first], runs[first:]):
            works, reasons = self.job.works(part) if len(part) else ((), {})
            if reasons:
                with deferred():
                    self.store.add(self.job.not_begun(reasons))
            for work in works:
                for done in self.run(work):
                    with deferred():
                        self.store.add(*self.job.evaluated(work, done))
                    self._report()

    def _report(self) -> None:
        if self.progress is not None:
            self.progress(self.store.count, self.job.total)

    def _enough(self, end: int) -> bool:
        """Whether, after the runs before `end`, the interval is narrow enough for each variant and
        fault.
        """
        assert self.until is not None
        shares = self._shares(end)
        needed = (draws_needed(column, self.until, self.confidence) for column in shares.T)
        return all(number is not None for number in needed)

    def _shares(self, end: int) -> Floats:
        """The share of successes of each draw for each variant and fault: (draws, groups)."""
        runs = self.store.runs()
        if not np.array_equal(runs[:end], np.arange(end)):
            raise InputError("runs are missing; a runner has not given all that it was asked for")
        kept = (self.store.read(name)[:end] for name in ("status", "passed"))
        groups = self.job.groups
        success = succeeded(*kept).reshape(-1, self.job.per_draw // groups, groups)
        shares: Floats = success.mean(axis=1)
        return shares

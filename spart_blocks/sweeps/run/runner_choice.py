"""Chooses the runner of a work: lanes if possible, otherwise one run after another."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Self

from spart_blocks.base.errors import Fault, InputError, brief, warn
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.executors import WORTH, spread
from spart_blocks.sweeps.run.one_by_one import each_run
from spart_blocks.sweeps.work import AnyWork, Done, Work
from spart_blocks.workers.executor import Processes

COST = "about ten times as long"
"""How much longer runs take one by one than in lanes; for the message."""


@dataclass
class Runner:
    """Executes works, each with the fastest possible runner. The choice depends on the runs alone,
    not on earlier works.

    workers: number of threads of the lanes, or of processes; by default one for each processor.
    executor: where to run instead, as `spread` takes it. device: None for the processor, or
    "cuda". precision: "double", or "float" on a card.
    """

    workers: int | None = None
    executor: Any = None
    device: str | None = None
    precision: str = "double"
    _warned: set[str] = field(default_factory=set, init=False)
    _processes: Processes | None = field(default=None, init=False)

    def __post_init__(self) -> None:
        if self.device not in (None, "cuda"):
            hint = "device is 'cuda', or left out for the processors"
            raise InputError(Fault(f"there is no device {self.device!r}", hint=hint))
        if self.precision not in ("double", "float"):
            hint = "precision is 'double' or 'float'"
            raise InputError(Fault(f"there is no precision {brief(self.precision)}", hint=hint))
        if self.precision == "float" and self.device is None:
            hint = "give device='cuda' (--device cuda) too, or leave out precision"
            text = "runs in single precision are for a graphics card: processors do them in double"
            raise InputError(Fault(text, hint=hint))
        if self.device is not None and self.executor is not None:
            raise InputError("device is of this machine, and executor of others; give one of them")
        if self.workers is not None and not (isinstance(self.workers, int) and self.workers > 0):
            given = brief(self.workers)
            raise InputError(f"workers is a number of threads or processes, not {given}")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *error: object) -> None:
        if self._processes is not None:
            self._processes.end()

    def __call__(self, work: AnyWork) -> Iterator[Done]:
        """Execute the runs of a work. Yields parts, in any order."""
        why = lanes.refusal(work)
        if why is not None:
            self._refuse_device(why)
            self._warn_once(why)
        if self.executor is not None:
            runner = each_run if why is not None else lanes.fastest
            yield from spread(work, runner, workers=self.workers, executor=self.executor)
        elif why is not None or not isinstance(work, Work):
            yield from self._one_by_one(work)
        else:
            single = self.precision == "float"
            yield from lanes.run(work, threads=self.workers, device=self.device, single=single)

    def _one_by_one(self, work: AnyWork) -> Iterator[Done]:
        """Execute the runs in this process if they are quick, otherwise in processes, which are
        kept for later works.
        """
        if self.workers is not None and self.workers > 1 and self._processes is None:
            self._processes = Processes(self.workers)
        if self._processes is not None:
            count = self.workers or os.cpu_count() or 1
            yield from spread(work, each_run, workers=count, executor=self._processes)
            return
        begun = time.monotonic()
        yield from spread(work, each_run, workers=self.workers)
        count = os.cpu_count() or 1
        if self.workers is None and count > 1 and time.monotonic() - begun > WORTH:
            self._processes = Processes(count)

    def _refuse_device(self, why: str) -> None:
        if self.device is not None:
            hint = "leave out device to run them on the processors"
            raise InputError(Fault(f"the runs cannot go to {self.device}: {why}", hint=hint))

    def _warn_once(self, why: str) -> None:
        if why in self._warned:
            return
        self._warned.add(why)
        where = "" if self.executor is None else " on its workers"
        warn(f"runs go one by one{where}, which takes {COST}: {why}")

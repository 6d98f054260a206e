"""Crews: those who do chunks. An executor of `concurrent.futures`, our own processes, or Dask."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from typing import Literal

from spart_blocks.base.errors import RunError, told
from spart_blocks.sweeps.run.chunks import Answer, Chunk, do
from spart_blocks.workers.executor import Processes
from spart_blocks.workers.process import WorkerEndedError

Cause = Literal["the worker ended", "the connection ended", "an error"]

AHEAD = 2
"""Chunks under way for each worker, so that none waits."""


class ChunkWorkers(ABC):
    """Does chunks, several at once.

    suspects: whether a chunk that only waited for a worker that ends is blamed too; it is then
    blamed after some workers, not one.
    """

    suspects = False

    @abstractmethod
    def workers(self) -> int:
        """Number of chunks that are done at once; it may change."""

    @abstractmethod
    def submit(self, chunk: Chunk) -> Future[Answer]:
        """Do a chunk."""

    @abstractmethod
    def cause(self, error: BaseException) -> Cause:
        """Why a chunk has no answer."""

    def lost(self) -> bool:
        """Whether the connection to the workers has ended, and with it all that is under way."""
        return False

    def reconnect(self) -> None:
        """Connect to the workers again. Raises RunError if that is not possible."""
        raise RunError("the executor is broken, and runs have not ended")

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """End the work. at_once: without waiting for what is under way."""


class ProcessWorkers(ChunkWorkers):
    """Our own processes."""

    def __init__(self, workers: int) -> None:
        self._workers, self.processes = workers, Processes(workers)

    def workers(self) -> int:
        return self._workers

    def submit(self, chunk: Chunk) -> Future[Answer]:
        return self.processes.submit(do, chunk)

    def cause(self, error: BaseException) -> Cause:
        return "the worker ended" if isinstance(error, WorkerEndedError) else "an error"

    def close(self, *, at_once: bool) -> None:
        if at_once:
            self.processes.end()
        else:
            self.processes.shutdown()


class ExecutorWorkers(ChunkWorkers):
    """An executor of the caller, which stays open."""

    def __init__(self, executor: Executor, workers: int | None) -> None:
        self.executor = executor
        self._workers = workers or getattr(executor, "_max_workers", None) or os.cpu_count() or 1
        self._under_way: set[Future[Answer]] = set()

    def workers(self) -> int:
        return self._workers

    def submit(self, chunk: Chunk) -> Future[Answer]:
        try:
            future = self.executor.submit(do, chunk)
        except RuntimeError as error:  # broken or shut down
            raise RunError(f"the executor takes no more chunks: {told(error)}") from error
        self._under_way.add(future)
        future.add_done_callback(self._under_way.discard)
        return future

    def cause(self, error: BaseException) -> Cause:
        if isinstance(error, WorkerEndedError):
            return "the worker ended"
        broken = isinstance(error, BrokenExecutor | CancelledError)
        return "the connection ended" if broken else "an error"

    def close(self, *, at_once: bool) -> None:
        for future in list(self._under_way):
            future.cancel()

"""Workers that execute chunks of runs: our own processes, or an executor of
`concurrent.futures`.
"""

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
"""Number of submitted chunks per worker, so that no worker has to wait."""


class ChunkWorkers(ABC):
    """Executes several chunks at once.

    suspects: when a worker dies, whether chunks that were only waiting for it are counted as a
    possible cause too. A chunk is then blamed only after several workers have died, not after one.
    """

    suspects = False

    @abstractmethod
    def count(self) -> int:
        """The number of chunks that are executed at once; it may change."""

    @abstractmethod
    def submit(self, chunk: Chunk) -> Future[Answer]:
        """Start the execution of a chunk."""

    @abstractmethod
    def cause(self, error: BaseException) -> Cause:
        """Why a chunk raised `error` instead of giving an answer."""

    def lost(self) -> bool:
        """Whether the connection to the workers is lost, and with it all chunks in progress."""
        return False

    def reconnect(self) -> None:
        """Connect to the workers again. Raises RunError if this is not possible."""
        raise RunError("the executor is broken, and runs have not ended")

    @abstractmethod
    def close(self, *, at_once: bool) -> None:
        """Release the workers. at_once: without waiting for chunks in progress."""


class ExecutorWorkers(ChunkWorkers):
    """Chunks in an executor of the caller, which is not shut down; without one, in our own
    processes.
    """

    def __init__(self, executor: Executor | None, workers: int | None) -> None:
        self.own = executor is None
        self.executor = executor or Processes(workers or os.cpu_count() or 1)
        known = getattr(self.executor, "_max_workers", None)
        self._workers = workers or known or os.cpu_count() or 1
        self._in_progress: set[Future[Answer]] = set()

    def count(self) -> int:
        return self._workers

    def submit(self, chunk: Chunk) -> Future[Answer]:
        try:
            future = self.executor.submit(do, chunk)
        except RuntimeError as error:  # broken or shut down
            raise RunError(f"the executor takes no more chunks: {told(error)}") from error
        self._in_progress.add(future)
        future.add_done_callback(self._in_progress.discard)
        return future

    def cause(self, error: BaseException) -> Cause:
        if isinstance(error, WorkerEndedError):
            return "the worker ended"
        broken = isinstance(error, BrokenExecutor | CancelledError)
        return "the connection ended" if broken else "an error"

    def close(self, *, at_once: bool) -> None:
        if self.own and isinstance(self.executor, Processes):
            self.executor.end() if at_once else self.executor.shutdown()
            return
        for future in list(self._in_progress):
            future.cancel()

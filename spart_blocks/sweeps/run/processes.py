"""Worker processes as an Executor: fresh Pythons, which run `worker.py`.

Nothing is forked, and the caller's main module is not imported again. A process that ends fails
the one call that it was doing, and another takes its place.
"""

from __future__ import annotations

import pickle
import subprocess
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import IO, Any

from spart_blocks.base.errors import RunError
from spart_blocks.run.processes import close, how_it_ended, start
from spart_blocks.sweeps.run.messages import read, write

WORKER = "spart_blocks.sweeps.run.worker"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}


MOST_STILLBORN = 3
"""Number of processes that end one after another before they are ready, after which no more are
started."""


class WorkerEndedError(RunError):
    """The process of a call ended before it answered."""


class Processes(Executor):
    """An executor of fresh Python processes, which start as they are needed."""

    def __init__(self, workers: int) -> None:
        self._max_workers = workers  # as the executors of the standard library call it
        self._calls: SimpleQueue[tuple[Future[Any], bytes] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._servants: list[_Servant] = []
        self._waiting = 0
        self._over = False
        self._folder = tempfile.TemporaryDirectory(prefix="spart-")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function of a module in one of the processes."""
        future: Future[Any] = Future()
        message = pickle.dumps((fn, args, kwargs))
        with self._lock:
            if self._over:
                raise RuntimeError("cannot submit to processes that have been shut down")
            self._calls.put((future, message))
            self._waiting += 1
            if len(self._servants) < min(self._max_workers, self._waiting):
                log = Path(self._folder.name, f"{len(self._servants)}.txt")
                self._servants.append(_Servant(self._calls, log, self._answered))
        return future

    def _answered(self) -> None:
        with self._lock:
            self._waiting -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when they have done what was submitted; with cancel_futures, when they
        have done what they are at."""
        with self._lock:
            self._over = True
        if cancel_futures:
            self._cancel()
        for _ in self._servants:
            self._calls.put(None)
        if wait:
            for servant in self._servants:
                servant.thread.join()
            self._folder.cleanup()

    def end(self) -> None:
        """End the processes at once; calls that have not been answered are cancelled or fail."""
        with self._lock:
            self._over = True
        self._cancel()
        for servant in self._servants:
            servant.end()
        self.shutdown()

    def _cancel(self) -> None:
        while not self._calls.empty():
            call = self._calls.get()
            if call is not None:
                call[0].cancel()


class _Servant:
    """A thread with a process, which it replaces when it ends."""

    def __init__(self, calls: SimpleQueue[Any], log: Path, answered: Callable[[], None]) -> None:
        self.calls, self.log, self.answered = calls, log, answered
        self.process: subprocess.Popen[bytes] | None = None
        self.lock = threading.Lock()
        self.over = False
        self.stillborn = 0
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def end(self) -> None:
        """End the process, and start no other."""
        with self.lock:
            self.over = True
            if self.process is not None:
                self.process.kill()

    def _serve(self) -> None:
        try:
            while (call := self.calls.get()) is not None:
                future, message = call
                if future.set_running_or_notify_cancel():
                    self._answer(future, message)
                self.answered()
        finally:
            if self.process is not None:
                close(self.process)

    def _answer(self, future: Future[Any], message: bytes) -> None:
        try:
            good, value = self._ask(message)
        except (OSError, EOFError, pickle.UnpicklingError):
            future.set_exception(self._ended())
        except BaseException as error:
            future.set_exception(error)
        else:
            (future.set_result if good else future.set_exception)(value)

    def _ask(self, message: bytes) -> tuple[bool, Any]:
        with self.lock:
            if self.over:
                raise EOFError
            fresh = self.process is None
            if self.process is None:
                with self.log.open("wb") as log:
                    self.process = start(WORKER, log, ONE_THREAD)
        process = self.process
        assert process.stdin is not None
        assert process.stdout is not None
        if fresh:
            self._greet(process.stdout)
        write(process.stdin, message)
        answer: tuple[bool, Any] = pickle.loads(read(process.stdout))
        return answer

    def _greet(self, answers: IO[bytes]) -> None:
        """Receive the first message of a process, which it sends when it is ready."""
        try:
            read(answers)
        except EOFError:
            self.stillborn += 1
            if self.stillborn < MOST_STILLBORN or self.over:
                raise
            error = self._ended()
            raise RunError(
                "no worker process can start", hint=error.message + (error.hint or "")
            ) from None
        self.stillborn = 0

    def _ended(self) -> WorkerEndedError:
        """Why there is no answer; another process takes the place of the one that has ended."""
        with self.lock:
            process, self.process = self.process, None
        if process is None:
            return WorkerEndedError("its process was ended")
        with suppress(OSError):
            process.kill()  # it may be alive and have closed its output
        close(process)
        how, hint = how_it_ended(process.returncode, self.log)
        return WorkerEndedError(f"its process ended without an answer ({how})", hint=hint)

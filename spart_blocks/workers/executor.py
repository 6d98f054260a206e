"""A concurrent.futures.Executor of worker processes.

If a process ends unexpectedly, only its current call fails, and a new process replaces it. `serve`
performs the calls in a process.
"""

from __future__ import annotations

import pickle
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from contextlib import suppress
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from spart_blocks.base.errors import RunError, told
from spart_blocks.workers.frames import Inbox, Message, Outbox, error_as_json, error_from_json
from spart_blocks.workers.process import Worker, WorkerEndedError

SERVED = "spart_blocks.workers.executor"
ONE_THREAD = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"}
MOST_FAILED_STARTS = 3
"""Number of consecutive processes that end before they are ready, after which no more are
started."""


class Processes(Executor):
    """An executor of worker processes, which are started when needed. workers: their largest
    number."""

    def __init__(self, workers: int) -> None:
        self._max_workers = workers  # as the executors of the standard library call it
        self._calls: SimpleQueue[tuple[Future[Any], bytes] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._threads: list[_WorkerThread] = []
        self._waiting = 0
        self._over = False
        self._folder = tempfile.TemporaryDirectory(prefix="spart-")

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Call a function of a module in one of the processes."""
        future: Future[Any] = Future()
        call = pickle.dumps((fn, args, kwargs))
        with self._lock:
            if self._over:
                raise RuntimeError("cannot submit to processes that have been shut down")
            self._calls.put((future, call))
            self._waiting += 1
            if len(self._threads) < min(self._max_workers, self._waiting):
                log = Path(self._folder.name, f"{len(self._threads)}.txt")
                self._threads.append(_WorkerThread(self._calls, log, self._answered))
        return future

    def _answered(self) -> None:
        with self._lock:
            self._waiting -= 1

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes when all calls are answered. cancel_futures: cancel the calls that have
        not begun."""
        with self._lock:
            self._over = True
        if cancel_futures:
            self._cancel()
        for _ in self._threads:
            self._calls.put(None)
        if wait:
            for one in self._threads:
                one.thread.join()
            self._folder.cleanup()

    def end(self) -> None:
        """End the processes at once. Calls without an answer are cancelled or fail."""
        with self._lock:
            self._over = True
        self._cancel()
        for one in self._threads:
            one.end()
        self.shutdown()

    def _cancel(self) -> None:
        while not self._calls.empty():
            call = self._calls.get()
            if call is not None:
                call[0].cancel()


class _WorkerThread:
    """A thread with a worker process, which is replaced if it ends."""

    def __init__(self, calls: SimpleQueue[Any], log: Path, answered: Callable[[], None]) -> None:
        self.calls, self.log, self.answered = calls, log, answered
        self.worker: Worker | None = None
        self.lock = threading.Lock()
        self.over = False
        self.failed_starts = 0
        self.thread = threading.Thread(target=self._serve, daemon=True)
        self.thread.start()

    def end(self) -> None:
        """End the process, and do not start another."""
        with self.lock:
            self.over = True
            if self.worker is not None:
                self.worker.kill()

    def _serve(self) -> None:
        try:
            while (item := self.calls.get()) is not None:
                future, call = item
                if future.set_running_or_notify_cancel():
                    self._answer(future, call)
                self.answered()
        finally:
            if self.worker is not None:
                self.worker.close()

    def _answer(self, future: Future[Any], call: bytes) -> None:
        try:
            worker = self._ready()
            worker.send({}, call)
            answer = worker.receive()
        except (OSError, EOFError):
            future.set_exception(self._ended())
            return
        except BaseException as error:
            future.set_exception(error)
            return
        try:
            future.set_result(returned(answer))
        except BaseException as error:
            future.set_exception(error)

    def _ready(self) -> Worker:
        """The process, ready for a call. Raises EOFError if it ends before it is ready, and
        RunError if this happens MOST_FAILED_STARTS times."""
        with self.lock:
            if self.over:
                raise EOFError
            if self.worker is not None:
                return self.worker
            worker = self.worker = Worker(SERVED, self.log, ONE_THREAD)
        try:
            worker.receive()
        except EOFError:
            self.failed_starts += 1
            if self.failed_starts < MOST_FAILED_STARTS or self.over:
                raise
            error = self._ended()
            hint = error.message + (error.hint or "")
            raise RunError("no worker process can start", hint=hint) from None
        self.failed_starts = 0
        return worker

    def _ended(self) -> WorkerEndedError:
        """The error for a call whose process has ended. The next call starts a new process."""
        with self.lock:
            worker, self.worker = self.worker, None
        if worker is None:
            return WorkerEndedError("its process was ended")
        worker.kill()  # it may be alive and have closed its output
        worker.close()
        return worker.ended()


# --- in the worker --------------------------------------------------------------------------------
# Performs the calls of an executor in a worker process.
#
# A call is a pickled function with its arguments, and its answer the pickled result or exception.
# An exception is also sent as JSON, since some cannot be pickled.


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Report that the process is ready, then answer calls until it ends."""
    outbox.send({"ready": True})
    while True:
        outbox.send(*_answer(inbox.receive()[1]))


def _answer(call: bytes) -> Message:
    try:
        function, args, kwargs = pickle.loads(call)
        value = function(*args, **kwargs)
    except Exception as error:
        return _raised(error)
    try:
        return {}, pickle.dumps(value)
    except Exception as error:
        return _raised(RunError(f"a worker cannot send its answer: {told(error)}"))


def _raised(error: Exception) -> Message:
    pickled = b""
    with suppress(Exception):  # whatever an exception of a user's block raises
        pickled = pickle.dumps(error)
    return {"error": error_as_json(error)}, pickled


def returned(answer: Message) -> Any:
    """The result of a call from its answer. Raises the exception that the call raised."""
    header, body = answer
    if "error" not in header:
        return pickle.loads(body)
    error: Any = None
    with suppress(Exception):
        error = pickle.loads(body)
    raise error if isinstance(error, Exception) else error_from_json(header["error"])

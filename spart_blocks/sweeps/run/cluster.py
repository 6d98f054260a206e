"""Executes chunks on the workers of a Dask cluster.

Dask repeats a chunk whose worker dies. Workers that join later get chunks as others finish. If the
scheduler dies, all chunks in progress are submitted again to the scheduler that replaces it at the
same address.
"""

from __future__ import annotations

import time
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import suppress
from typing import Any

from spart_blocks.base.errors import Fault, InputError, RunError, brief, optional, told
from spart_blocks.sweeps.run.chunks import Answer, Cause, Chunk, ChunkWorkers, do
from spart_blocks.workers.process import WorkerEndedError

FIRST_WAIT, WAIT = 10.0, 300.0
"""Longest time [s] for a scheduler to answer: at the start, and after the connection was lost."""
FETCH, FETCHING = 15.0, 4
"""Time [s] after which a missing answer is checked, and the number of answers that are fetched at
once.
"""
COUNTED = 1.0
"""Time [s] for which the number of workers is cached."""


class DaskWorkers(ChunkWorkers):
    """The workers of a Dask scheduler. client: a `distributed.Client`, or the address of a
    scheduler.
    """

    suspects = True

    def __init__(self, client: Any) -> None:
        optional("distributed", "distributed", "cluster", "a cluster of Dask")
        self.own = isinstance(client, str)
        if self.own:
            _check_address(client)
        self.client = _connected(client, FIRST_WAIT) if self.own else client
        if self.client.scheduler is None:
            raise InputError(Fault("the client of Dask is closed", hint="make another"))
        self.address: str = self.client.scheduler.address
        self._threads = ThreadPoolExecutor(FETCHING)
        self._given: dict[Future[Answer], Any] = {}
        self._counted, self._workers = -COUNTED, 1

    def count(self) -> int:
        now = time.monotonic()
        if now - self._counted > COUNTED and not self.lost():
            with suppress(OSError, CancelledError, TimeoutError):
                self._workers = max(sum(self.client.nthreads().values()), 1)
            self._counted = now
        return self._workers

    def submit(self, chunk: Chunk) -> Future[Answer]:
        future: Future[Answer] = Future()
        try:
            given = self.client.submit(do, chunk, pure=False)
        except Exception:  # the connection has just ended
            future.set_exception(CancelledError())
            return future
        self._given[future] = given
        # Dask calls back in one thread alone, which must not wait.
        given.add_done_callback(lambda given: self._threads.submit(self._take_over, given, future))
        return future

    def _take_over(self, given: Any, future: Future[Answer]) -> None:
        """Copy the result or the error of Dask's future into ours."""
        try:
            answer = self._fetched(given)
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(answer)
        self._given.pop(future, None)

    def _fetched(self, given: Any) -> Answer:
        """Fetch the answer from the worker that holds it. Raises TimeoutError if it was lost with
        its worker; Dask itself would wait for it without end.
        """
        while True:
            try:
                answer: Answer = given.result(timeout=FETCH)
                return answer
            except TimeoutError:
                if given.status == "error":
                    raise given.exception(timeout=FETCH) from None
                if self.lost() or not any(self.client.who_has([given]).values()):
                    raise

    def cause(self, error: BaseException) -> Cause:
        from distributed import KilledWorker
        from distributed.comm import CommClosedError

        if isinstance(error, KilledWorker | WorkerEndedError):
            return "the worker ended"
        if isinstance(error, CommClosedError | TimeoutError) or "Cancelled" in type(error).__name__:
            return "the connection ended"
        return "an error"

    def lost(self) -> bool:
        comm = self.client.scheduler_comm
        return self.client.status != "running" or comm is None or comm.closed()

    def reconnect(self) -> None:
        """Wait for a scheduler at the same address."""
        self._given.clear()
        until = time.monotonic() + WAIT
        while self.client.status == "connecting" and time.monotonic() < until:
            time.sleep(0.1)
        if self.lost():  # the client has given up
            if self.own:
                _closed(self.client)
            self.client, self.own = _connected(self.address, WAIT), True

    def close(self, *, at_once: bool) -> None:
        with suppress(Exception):  # the scheduler may be gone
            if self._given:
                self.client.cancel(list(self._given.values()), force=True)
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self.own:
            _closed(self.client)


def _check_address(address: str) -> None:
    """Raise InputError for an invalid address. A client would try to connect to it until the
    time-out, and again when it is closed.
    """
    from distributed.comm.addressing import get_address_host_port, parse_address

    try:
        if parse_address(address)[0] in ("inproc", "ucx"):
            return
        _, port = get_address_host_port(address)
        wrong = None if 0 < port < 65536 else f"there is no port {port}"
    except ValueError as error:
        wrong = str(error)
    if wrong is not None:
        text = f"{brief(address)} is no scheduler's address: {wrong}"
        raise InputError(Fault(text, hint="write tcp://that-machine:8786"))


def _connected(address: str, patience: float) -> Any:
    """A client that is connected to the scheduler at an address. patience: time-out [s]."""
    from distributed import Client

    until = time.monotonic() + patience
    while True:
        try:
            return Client(address, timeout=min(patience, 5), set_as_default=False)
        except (OSError, TimeoutError) as error:
            if time.monotonic() > until:
                hint = "start one with `dask scheduler`, and workers with `dask worker ADDRESS`"
                text = f"no scheduler of Dask answers at {address}: {told(error)}"
                raise RunError(text, hint=hint) from None
            time.sleep(0.2)


def _closed(client: Any) -> None:
    with suppress(Exception):  # the scheduler may be gone
        client.close(timeout=5)

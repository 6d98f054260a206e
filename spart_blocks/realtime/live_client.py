"""The client of `spart live` and `spart scope` for a running loop."""

from __future__ import annotations

import select
import socket
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.base.rows import parted
from spart_blocks.realtime.live_places import LoopPlace
from spart_blocks.realtime.live_protocol import (
    MOST_TOLD,
    VERSION,
    BadMessageError,
    Floats,
    LineSplitter,
    faults_of,
    read,
    unpacked,
    written,
)
from spart_blocks.results import FinalState, Results

_PIECE = 2**20  # bytes, largest read
_PAUSE = 0.01  # s, between two attempts to connect
MOST_RECORDED = 50_000_000
"""Most numbers that a recording holds."""


@dataclass(frozen=True)
class WatchedSignals:
    """Watched signals.

    loop: its name. rate: of the rows [Hz]. every: rows are of every n-th step of the loop. labels:
    a name for each number of a row after its time. units: by signal.
    """

    loop: str
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    labels: tuple[str, ...]
    units: Mapping[str, str]
    rate: float
    every: int

    @property
    def width(self) -> int:
        return 1 + len(self.labels)

    def parted(self, rows: Floats) -> dict[str, Floats]:
        """Rows split by signal: (k, ...) each."""
        return dict(zip(self.names, parted(rows[:, 1:], self.shapes), strict=True))


class LiveClient:
    """A connection to a running loop.

    hello: its identity and status: name, pid, time [s], phase, rate [Hz], overruns. ended: the
    reason why the loop has ended; None while it runs. lost: number of missing steps.
    """

    def __init__(self, place: LoopPlace, *, patience: float = 10.0) -> None:
        """patience: how long to wait for an answer [s].

        Raises InputError if the loop refuses the connection, RunError if it does not answer.
        """
        self.place, self.patience = place, patience
        self.ended: str | None = None
        self.lost = 0
        self.watched: WatchedSignals | None = None
        self._rows: list[Floats] = []
        self._lines = LineSplitter(MOST_TOLD)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            self._socket.settimeout(patience)
            self._connect()
            self._send({"token": place.token})
            self.hello: dict[str, Any] = self._awaited("hello")
            if self.hello.get("protocol") != VERSION:
                raise InputError("the loop was started by another version of spart_blocks")
        except OSError as error:
            self.close()
            why = error.strerror or str(error)
            raise RunError(f"the loop {place.name} ({place.pid}) does not answer: {why}") from None
        except BaseException:
            self.close()
            raise

    def _connect(self) -> None:
        """Connect, and retry while the queue of connections is full. Raises OSError."""
        until = time.monotonic() + self.patience
        while True:
            try:
                return self._socket.connect(str(self.place.socket))
            except BlockingIOError:
                if time.monotonic() > until:
                    raise
                time.sleep(_PAUSE)

    def close(self) -> None:
        self._socket.close()

    def __enter__(self) -> LiveClient:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # --- requests -----------------------------------------------------------------------

    def describe(self) -> dict[str, Any]:
        """Its status, parameters and signals, as returned by live_answers.described."""
        return self._asked({"do": "describe"})

    def status(self) -> dict[str, Any]:
        """Its time [s], phase, rate [Hz], overruns."""
        return self._asked({"do": "status"})

    def set(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Set parameters and free inputs, all or none. Returns their complete values.

        Raises InputError with a fault for each value that is refused.
        """
        plain = {name: np.asarray(value, dtype=object).tolist() for name, value in values.items()}
        faults = [f"{name} takes finite numbers" for name in plain if not _writable(plain[name])]
        if faults:
            raise InputError(map(Fault, faults))
        found: dict[str, Any] = self._asked({"do": "set", "values": plain})["values"]
        return found

    def watch(self, signals: Sequence[str] = (), rate: float | None = None) -> WatchedSignals:
        """Start to watch signals, or elements of them; by default the subdiagram's outputs.

        rate: sufficient number of rows per second [Hz], by default the loop's rate. Raises
        InputError for unknown signals.
        """
        units = {row["name"]: row["unit"] for row in self.describe()["signals"]}
        answer = self._asked({"do": "watch", "signals": list(signals), "rate": rate})
        self._rows, self.lost = [], 0
        self.watched = WatchedSignals(
            self.hello["name"],
            tuple(answer["signals"]),
            tuple(map(tuple, answer["shapes"])),
            tuple(answer["labels"]),
            units,
            self.hello["rate"] / answer["every"],
            answer["every"],
        )
        return self.watched

    def rows(self, seconds: float = 0.0) -> Floats:
        """The rows (k, width) received since the last call. seconds: how long to wait for the first
        of them.

        Empty if none were received, or if the loop has ended and all rows were returned.
        """
        assert self.watched is not None
        until = time.monotonic() + seconds
        while self.ended is None:
            left = 0.0 if self._rows else max(0.0, until - time.monotonic())
            if not select.select([self._socket], [], [], left)[0]:
                break
            self._receive()
            while (line := self._line()) is not None:
                self._take(line)
            if self._rows:
                break
        found = np.concatenate([np.empty((0, self.watched.width)), *self._rows])
        self._rows = []
        return found

    # --- messages -----------------------------------------------------------------------

    def _asked(self, message: dict[str, Any]) -> dict[str, Any]:
        self._send(message)
        found: dict[str, Any] = self._awaited("answer")
        return found

    def _send(self, message: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError, ConnectionResetError):  # the reason is read next
            try:
                self._socket.sendall(written(message))
            except TimeoutError:
                raise self._silent() from None

    def _awaited(self, key: str) -> Any:
        """The value of this key in the next message that has it."""
        until = time.monotonic() + self.patience
        while True:
            while (line := self._line()) is not None:
                message = self._take(line)
                if key in message:
                    return message[key]
                if "faults" in message:
                    raise InputError(faults_of(message["faults"]))
            if self.ended is not None:
                raise RunError(f"the loop {self.place.name} has ended: {self.ended}")
            if time.monotonic() > until:
                raise self._silent()
            self._receive()

    def _line(self) -> dict[str, Any] | None:
        try:
            line = self._lines.next()
            return None if line is None else read(line)
        except BadMessageError as error:
            raise self._not_understood(error) from None

    def _silent(self) -> RunError:
        return RunError(f"the loop {self.place.name} does not answer")

    def _not_understood(self, error: BadMessageError) -> RunError:
        return RunError(f"the loop {self.place.name} sent an invalid message: {error}")

    def _take(self, message: dict[str, Any]) -> dict[str, Any]:
        if "rows" in message and self.watched is not None:
            try:
                self._rows.append(unpacked(message["rows"], self.watched.width))
            except BadMessageError as error:
                raise self._not_understood(error) from None
            self.lost = int(message.get("lost", 0))
        if "ended" in message:
            self.ended = str(message["ended"])
        if "refused" in message:
            kind = RunError if hasattr(self, "hello") else InputError
            raise kind(f"the loop {self.place.name} refused: {message['refused']}")
        return message

    def _receive(self) -> None:
        """Wait for bytes. Raises RunError if none arrive in time."""
        try:
            data = self._socket.recv(_PIECE)
        except TimeoutError:
            raise self._silent() from None
        except ConnectionResetError:
            data = b""
        if not data:
            self.ended = "its process has ended"
            return
        self._lines.add(data)


def _writable(value: Any) -> bool:
    """Whether it can be written as JSON, which has no infinity or NaN."""
    try:
        written({"": value})
    except (TypeError, ValueError, RecursionError):
        return False
    return True


@dataclass
class SignalRecording:
    """The rows of watched signals, up to MOST_RECORDED numbers."""

    watched: WatchedSignals
    held: list[Floats] = field(default_factory=list)
    count: int = 0

    @property
    def full(self) -> bool:
        return self.count * self.watched.width >= MOST_RECORDED

    def add(self, rows: Floats) -> None:
        self.held.append(rows)
        self.count += len(rows)

    def results(self, lost: int) -> Results:
        """The recording as the results of a run. lost: number of missing steps."""
        watched = self.watched
        rows = np.concatenate([np.empty((0, watched.width)), *self.held])
        return Results(
            t=rows[:, 0],
            signals=watched.parted(rows),
            states={},
            final_state=FinalState(float(rows[-1, 0]) if len(rows) else 0.0),
            diagram_name=watched.loop,
            info={"recorded from": "a running loop", "rate": watched.rate, "steps lost": lost},
            units={name: watched.units.get(name, "") for name in watched.names},
        )

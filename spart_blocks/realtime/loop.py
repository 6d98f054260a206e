"""A subdiagram in real time, in a thread that Python does not delay."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Sequence
from threading import Event, Thread
from types import TracebackType
from typing import Protocol

import numpy as np

from spart_blocks.diagram.realtime_options import RealtimeOptions
from spart_blocks.export.interface import numbers_of
from spart_blocks.export.step import StepCode
from spart_blocks.realtime.exchange import Parameters, Signals, gathered
from spart_blocks.realtime.library import address_of, check_machine, model_library, runtime
from spart_blocks.realtime.structs import (
    POLICIES,
    Ended,
    HeartbeatStruct,
    LoopStruct,
    MeansStruct,
    Phase,
)

PATIENCE = 5.0  # s, for a thread to start and end


class LoopLink(Protocol):
    """What the loop needs of a link. address: of its struct sb_link. places: those of its
    numbers among the inputs, or the outputs, of the part."""

    @property
    def address(self) -> int: ...

    @property
    def places(self) -> Sequence[int]: ...


class Loop:
    """Steps the compiled part at its deadlines.

    parameters: to be changed while it runs. signals: what it streams. Times are those of
    CLOCK_MONOTONIC.
    """

    def __init__(
        self,
        code: StepCode,
        options: RealtimeOptions,
        receivers: Sequence[LoopLink] = (),
        senders: Sequence[LoopLink] = (),
        heartbeat: HeartbeatStruct | None = None,
        library: ctypes.CDLL | None = None,
    ) -> None:
        """code: of the part. receivers, senders: open links. heartbeat: where a
        watchdog looks. library: with sb_loop, by default its own.

        Raises InputError where the machine cannot run it, CompilerError for C that does
        not compile.
        """
        check_machine()
        self.code, self.options = code, options
        self.library = library or runtime()
        self.model = model_library(code)
        self.struct, self.means = LoopStruct(), MeansStruct()
        self._kept: list[object] = [heartbeat, receivers, senders]
        self._fill(receivers, senders, heartbeat)
        linked = [place for link in receivers for place in link.places]
        self.parameters = Parameters(self.library, self.struct, code, linked)
        self.signals = Signals(self.library, self.struct, code)
        self._fill_values(linked)
        # Not the thread's own join: where Ctrl-C interrupts that, Python 3.11 takes the thread
        # for ended.
        self._over = Event()
        self._thread = Thread(target=self._run, name="spart realtime", daemon=True)

    def _fill(
        self,
        receivers: Sequence[LoopLink],
        senders: Sequence[LoopLink],
        heartbeat: HeartbeatStruct | None,
    ) -> None:
        struct, options = self.struct, self.options
        struct.policy = POLICIES.index(options.policy)
        struct.wait = int(options.wait)
        struct.ticks = -1
        if options.T is not None:
            struct.ticks = round(options.T * float(self.code.schedule.rate))
        struct.nin, struct.nout = len(receivers), len(senders)
        struct.in_ = self._give(np.array([link.address for link in receivers], np.uintp))
        struct.out = self._give(np.array([link.address for link in senders], np.uintp))
        struct.heard = self._give(np.zeros(len(receivers), np.int64))
        struct.heartbeat = None if heartbeat is None else ctypes.addressof(heartbeat)
        self.means.priority, self.means.lock = options.priority, 1
        self._cpu_error = 0

    def _fill_values(self, linked: Sequence[int]) -> None:
        """The arrays of the model, with the values of the diagram in them."""
        interface, p = self.code.interface, self.code.part.program.p
        struct, model = self.struct, self.struct.model
        self.u = gathered(interface.inputs, p)
        self.p = gathered(interface.parameters, p)
        self.y = np.zeros(numbers_of(interface.outputs))
        model.nu, model.ny, model.np = len(self.u), len(self.y), len(self.p)
        model.period_s = float(self.code.schedule.step)
        state = np.zeros(-(-self.model.sb_state_size() // 8), np.int64)
        model.state, struct.u, struct.y = map(self._give, (state, self.u, self.y))
        model.output, model.update = map(address_of, (self.model.sb_output, self.model.sb_update))
        # The outputs at the start, by a state that is not used further.
        scratch, parameters = state.copy(), self._give(self.p)
        self.model.sb_init(scratch.ctypes.data, parameters)
        self.model.sb_output(scratch.ctypes.data, struct.u, parameters, struct.y)
        self.model.sb_init(model.state, parameters)
        tuned = [self.parameters.vector(p) for _ in range(3)]
        struct.tuned = (ctypes.c_void_p * 3)(*map(self._give, tuned))
        struct.front, struct.middle, struct.back = range(3)
        free = np.setdiff1d(np.arange(len(self.u)), np.array(linked, dtype=int))
        struct.nfree, struct.free_inputs = len(free), self._give(free.astype(np.int64))

    def _give(self, array: np.ndarray) -> int:
        """The address of an array, which lives as long as the loop."""
        whole = array if array.size else np.zeros(1, array.dtype)
        self._kept.append(whole)
        return int(whole.ctypes.data)

    # --- running ------------------------------------------------------------------------

    def start(self) -> None:
        """Begin, in a thread of its own."""
        self._thread.start()

    def stop(self) -> None:
        """Ask it to end, which it does within 50 ms, with its safe outputs sent."""
        self.struct.stop = 1

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until it has ended; whether it has."""
        return self._over.wait(seconds)

    def _run(self) -> None:
        if self.options.cpu is not None:
            try:
                os.sched_setaffinity(0, {self.options.cpu})  # of this thread
            except OSError as error:
                self._cpu_error = error.errno or errno.EINVAL
        self.library.sb_loop_prepare(ctypes.byref(self.means))
        try:
            self.library.sb_loop_run(ctypes.byref(self.struct))
        finally:
            self.library.sb_loop_release(ctypes.byref(self.means))
            self._over.set()

    def __enter__(self) -> Loop:
        try:
            self.start()
        except KeyboardInterrupt:  # it may run already, and uses what would be closed now
            self.stop()
            self.wait(PATIENCE)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()
        self.wait()

    # --- looking on ---------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        return Phase(self.struct.phase)

    @property
    def ended(self) -> Ended:
        """Why it has ended, if it has."""
        return Ended(self.struct.ended)

    @property
    def time(self) -> float:
        """Of the clock since its first step [s]."""
        return float(self.struct.tick) * float(self.struct.model.period_s)

    @property
    def overruns(self) -> int:
        """Deadlines missed so far, for whatever reason."""
        return sum(self.struct.missed)

    @property
    def granted(self) -> tuple[str, ...]:
        """What was asked of the system for the loop, and what it said; once it has begun."""
        means, cpu = self.means, self.options.cpu
        asked = [
            ("memory locked", "memory is not locked", means.lock, means.lock_error),
            (
                f"SCHED_FIFO with priority {means.priority}",
                f"SCHED_FIFO with priority {means.priority} was refused",
                means.priority,
                means.priority_error,
            ),
            (f"on processor {cpu}", f"not on processor {cpu}", cpu is not None, self._cpu_error),
        ]
        return tuple(
            f"{refused}: {os.strerror(error)}" if error else granted
            for granted, refused, wanted, error in asked
            if wanted
        )

"""Runs a compiled subdiagram in real time, in a thread that Python does not delay."""

from __future__ import annotations

import ctypes
import errno
import os
from collections.abc import Sequence
from threading import Event, Thread

import numpy as np

from spart_blocks.diagram.sections.realtime_options import RealtimeOptions
from spart_blocks.export.interface import numbers_of
from spart_blocks.export.schedule import faults_of
from spart_blocks.export.step import StepCode
from spart_blocks.realtime.exchange import LoopParameters, SignalRows, gathered
from spart_blocks.realtime.library import address_of, check_machine, model_library, runtime
from spart_blocks.realtime.links import OpenLink
from spart_blocks.realtime.structs import (
    POLICIES,
    Ended,
    HeartbeatStruct,
    LoopStruct,
    MeansStruct,
    Phase,
)

PATIENCE = 5.0  # s, for a thread to start and end


class Loop:
    """Steps the compiled subdiagram at its deadlines.

    parameters: can be changed while it runs. signals: the rows that it streams to those who
    watch; recorded: the same for a recording. Times are those of CLOCK_MONOTONIC.
    """

    def __init__(
        self,
        code: StepCode,
        options: RealtimeOptions,
        receivers: Sequence[OpenLink] = (),
        senders: Sequence[OpenLink] = (),
        heartbeat: HeartbeatStruct | None = None,
        library: ctypes.CDLL | None = None,
    ) -> None:
        """code: of the subdiagram. receivers, senders: open links. heartbeat: read by a watchdog.
        library: with sb_loop, by default `runtime()`.

        Raises InputError if the machine cannot run it, CompilerError if the C code does not
        compile.
        """
        check_machine()
        self.code, self.options = code, options
        self.library = library or runtime()
        self.model = model_library(code)
        self.struct, self.means = LoopStruct(), MeansStruct()
        self._kept: list[object] = [heartbeat, receivers, senders]
        self._fill(receivers, senders, heartbeat)
        linked = [place for link in receivers for place in link.places]
        self.parameters = LoopParameters(self.library, self.struct, code, linked)
        struct = self.struct
        self.signals = SignalRows(self.library, struct, struct.watched, code)
        self.signals.reserve()  # those who watch come while it runs
        self.recorded = SignalRows(self.library, struct, struct.recorded, code)
        self._fill_values(linked)
        # Thread.join is not used: if Ctrl-C interrupts it, Python 3.11 regards the thread as
        # ended.
        self._over = Event()
        self._thread = Thread(target=self._run, name="spart realtime", daemon=True)

    def _fill(
        self,
        receivers: Sequence[OpenLink],
        senders: Sequence[OpenLink],
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
        """Create the arrays of the model, with the values of the diagram."""
        interface, p = self.code.interface, self.code.part.program.p
        struct, model = self.struct, self.struct.model
        self.u = gathered(interface.inputs, p)
        self.p = gathered(interface.parameters, p)
        self.y = np.zeros(numbers_of(interface.outputs))
        model.nu, model.ny, model.np = len(self.u), len(self.y), len(self.p)
        model.period_s = float(self.code.schedule.step)
        self._state = state = np.zeros(-(-self.model.sb_state_size() // 8), np.int64)
        model.state, struct.u, struct.y = map(self._give, (state, self.u, self.y))
        functions = (self.model.sb_output, self.model.sb_update, self.model.sb_init)
        model.output, model.update, model.init = map(address_of, functions)
        # The outputs at the start, computed with a temporary state.
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
        """The address of an array, which is kept as long as the loop."""
        whole = array if array.size else np.zeros(1, array.dtype)
        self._kept.append(whole)
        return int(whole.ctypes.data)

    # --- running ------------------------------------------------------------------------

    def start(self) -> None:
        """Start the loop in a separate thread."""
        self._thread.start()

    def stop(self) -> None:
        """Ask the loop to end. It does so within 50 ms, after sending its safe outputs."""
        self.struct.stop = 1

    def hold(self, held: bool = True) -> None:
        """Compute no steps and send the safe outputs, or go on. Its time goes on meanwhile."""
        self.struct.held = held

    def begin_anew(self) -> None:
        """Let its next step begin at the initial state, with the parameters of now. The replay of a
        recording cannot follow it."""
        self.struct.anew = 1

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the loop has ended. Returns whether it has."""
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
        except KeyboardInterrupt:  # the loop may run already, and use what would be closed now
            self.stop()
            self.wait(PATIENCE)
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.wait()

    # --- status -------------------------------------------------------------------------

    @property
    def phase(self) -> Phase:
        return Phase(self.struct.phase)

    @property
    def ended(self) -> Ended:
        """The reason why it has ended, if it has."""
        return Ended(self.struct.ended)

    @property
    def fault(self) -> str:
        """The fault that a block has reported; empty if none has."""
        reported = self.ended is Ended.FAULT
        faults = faults_of(self.code.part.program, self.code.schedule.method)
        return faults[self._state[-1]] if reported else ""

    @property
    def time(self) -> float:
        """Time since its first step [s]."""
        return float(self.struct.tick) * float(self.struct.model.period_s)

    @property
    def overruns(self) -> int:
        """Number of deadlines missed so far, for all causes."""
        return sum(self.struct.missed)

    @property
    def granted(self) -> tuple[str, ...]:
        """What the loop requested from the system (locked memory, priority, CPU), and whether it
        was granted; valid once it has started.
        """
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

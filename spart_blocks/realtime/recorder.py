"""Records a running loop as an MCAP file: its signals, deadlines and parameters at every step.

The loop writes rows into a ring; a thread makes chunks of them, so a process that dies leaves a
file that is whole up to the last quarter of a second. What is recorded suffices to run the code
again, bit for bit: see replay.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from threading import Event, Lock, Thread

import numpy as np
from scipy.spatial.transform import Rotation

from spart_blocks.animation.plants import Moving, moving_of
from spart_blocks.base.errors import InputError, warn
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.diagram import Diagram
from spart_blocks.program.tracing.gains import wired
from spart_blocks.realtime.exchange import Floats
from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.report import Report
from spart_blocks.realtime.structs import CAUSES
from spart_blocks.recordings.mcap_file import McapFile, Times
from spart_blocks.recordings.record import (
    attach_diagram,
    chunks,
    log_channel,
    log_entry,
    nanoseconds,
)
from spart_blocks.recordings.scene import Scene
from spart_blocks.recordings.schemas import protobuf_channel, signal_class
from spart_blocks.recordings.signals import TIME, RecordedSignal, signal_channels
from spart_blocks.recordings.templates import Rows, hole, template_of
from spart_blocks.results.packed import FINAL_STATE, RECORDED, RECORDING, pack_beside
from spart_blocks.results.run_data import FinalState, RunData

PERIOD = 0.25
"""Time between chunks [s]. The ring has room for two seconds."""
MOST_POSES = 100
"""Largest number of poses of robots a second [Hz]."""
STEPS, PARAMETERS = "steps", "parameters"
"""Keys in the metadata of the channels that a replay needs besides the signals: for each step the
number of its deadline and of its parameters; and the parameters by their number."""


class LoopRecorder:
    """A recording of a loop. problem: why it ended before the loop, '' if it did not."""

    def __init__(self, path: Path, loop: Loop, diagram: Diagram) -> None:
        """path: of the file, which is replaced. Raises InputError if it cannot be written,
        MissingExtraError without the packages of the extra `mcap`."""
        self.loop, self.path, self.diagram, self.problem = loop, path, diagram, ""
        self._over, self._lock = Event(), Lock()
        try:
            self._stream = path.open("wb")
        except OSError as error:
            raise InputError(f"cannot write {path}: {error.strerror or error}") from None
        self._file = McapFile(self._stream)
        self._thread = Thread(target=self._run, name="spart recorder", daemon=True)
        self._epoch: int | None = None
        self._missed = [0] * len(CAUSES)
        self._robots = list(self._shown())
        self._scene = Scene([plant for plant, _ in self._robots]) if self._robots else None
        self._declare()

    # --- at the start ---------------------------------------------------------------------

    def _declare(self) -> None:
        loop, file = self.loop, self._file
        code, columns = loop.code, loop.recorded.columns
        display = code.part.program.display
        attach_diagram(file, self.diagram)
        signals = [
            RecordedSignal(
                column.name,
                column.shape,
                display.units.get(column.name, ""),
                tuple(display.entries.get(column.name, ())),
            )
            for column in columns
        ]
        messages = signal_channels(file, signals)
        width = loop.recorded.width
        kind = signal_class(STEPS, 2, "number of the deadline, and of the parameters")
        channel = protobuf_channel(file, f"/realtime/{STEPS}", kind, {STEPS: ""})
        made = kind(t=hole(TIME), value=[hole(width - 2), hole(width - 1)])
        messages.append((channel, template_of(made)))
        self._rows = Rows(messages)
        self._poses = Rows([] if self._scene is None else self._scene.channels(file, 0))
        self._log = log_channel(file)
        vector = loop.parameters.vector(code.part.program.p)
        self._tuned = signal_class(PARAMETERS, 1 + len(vector), "their number, and their values")
        members = [*code.interface.parameters, *code.interface.inputs]
        about = {PARAMETERS: json.dumps([[m.name, list(m.shape)] for m in members])}
        topic = f"/realtime/{PARAMETERS}"
        self._tunings = protobuf_channel(file, topic, self._tuned, about)
        self._waiting = [(0.0, 0, vector)]
        loop.parameters.told = self._tell

    def _tell(self, number: int, vector: Floats) -> None:
        with self._lock:
            self._waiting.append((self.loop.time, number, vector))

    def _describe(self, *, complete: bool) -> None:
        """Write what results have beside their samples; files without it are of loops that died."""
        code, names = self.loop.code, set(self.loop.recorded.names)
        display = code.part.program.display
        data = RunData(
            t=np.zeros(0),
            signals={},
            states={},
            final_state=FinalState(self.loop.time),
            complete=complete,
            diagram_name=code.part.program.name,
            info={"engine": "real time", "rate": float(code.schedule.rate)},
            units={name: unit for name, unit in display.units.items() if name in names},
            entries={
                name: tuple(found) for name, found in display.entries.items() if name in names
            },
        )
        meta, arrays = pack_beside(data)
        self._file.describe(RECORDED, {"format": RECORDING, "meta": meta})
        self._file.attach(FINAL_STATE, "application/octet-stream", arrays)

    def _shown(self) -> Iterator[tuple[Moving, list[str]]]:
        """The robots whose poses the loop's signals tell, with the names of these signals."""
        names = set(self.loop.recorded.names)
        for plant in moving_of(wired(self.diagram).nodes):
            base = ("R0", "r0") if plant.robot.base == "floating" else ()
            wanted = [f"{plant.name}.{port}" for port in (*base, "qm")]
            if set(wanted) <= names:
                state = PlantState(plant.robot, rates=False)
                x0 = plant.x0[: len(state.names)]
                yield replace(plant, state=state, x0=x0, wrenches={}), wanted

    # --- the thread -----------------------------------------------------------------------

    def start(self) -> None:
        """Let the loop write its rows, and start the thread."""
        self.loop.recorded.streaming = True
        self._thread.start()

    def finish(self, report: Report | None) -> None:
        """Write what is left once the loop has ended, its report, and the end of the file."""
        self._over.set()
        self._thread.join()
        self.loop.parameters.told = None
        if not self.problem:
            self._guarded(lambda: self._end(report))
        with suppress(OSError):  # of a full disk, which was told
            self._stream.close()

    def _run(self) -> None:
        while not self._over.wait(PERIOD) and not self.problem:
            self._guarded(self._take)

    def _guarded(self, act: Callable[[], None]) -> None:
        """Do something; if the file cannot be written, the recording ends and the loop goes on."""
        try:
            act()
        except OSError as error:
            self.loop.recorded.streaming = False
            self.problem = f"the recording ends early: {error.strerror or error}"
            warn(f"{self.path}: {self.problem}")

    def _take(self) -> None:
        """Write what the loop has done since the last time."""
        rows = self.loop.recorded.drain()
        if self._epoch is None:
            if not len(rows):
                return
            self._epoch = time.time_ns() - time.monotonic_ns() + self.loop.struct.begun_ns
            if self._scene is not None:
                self._scene.describe(self._file, self._epoch)
        self._write_tunings()
        if len(rows):
            for chunk in chunks(self._rows, self._times(rows[:, -2]), rows):
                self._file.write(chunk)
            self._write_poses(rows)
        self._write_misses()
        self._file.flush()

    def _end(self, report: Report | None) -> None:
        self._take()
        self._describe(complete=report is not None and report.complete)
        if report is not None:
            self._tell_log("INFO" if report.complete else "ERROR", f"ended: {report.why}")
            data = json.dumps(report.plain(), indent=1).encode()
            self._file.attach("report.json", "application/json", data)
        self._file.close()

    # --- its parts ------------------------------------------------------------------------

    def _times(self, ticks: Floats) -> Times:
        """The times [ns] of deadlines by their numbers."""
        begun = np.uint64(self._epoch or 0)
        return begun + nanoseconds(ticks * self.loop.struct.model.period_s)

    def _write_poses(self, rows: Floats) -> None:
        """Write the poses of the robots at some of the rows."""
        if self._scene is None:
            return
        every = max(1, round(float(self.loop.code.schedule.rate) / MOST_POSES))
        some = rows[rows[:, -2] % every == 0]
        if len(some):
            states = list(self._states(self.loop.recorded.parted(some)))
            values = self._scene.values(states, self._scene.poses(states))
            self._file.write(self._poses.messages(self._times(some[:, -2]), values))

    def _states(self, signals: dict[str, Floats]) -> Iterator[Floats]:
        """The pose of each robot, by the layout of its state."""
        for _, names in self._robots:
            *base, qm = (signals[name] for name in names)
            if base:
                R0, r0 = base
                yield np.concatenate([Rotation.from_matrix(R0).as_quat(), r0, qm], axis=1)
            else:
                yield qm

    def _write_tunings(self) -> None:
        with self._lock:
            waiting, self._waiting = self._waiting, []
        for t, number, vector in waiting:
            message = self._tuned(t=t, value=[number, *vector])
            self._file.message(self._tunings, self._now(t), message.SerializeToString())

    def _write_misses(self) -> None:
        """Tell of deadlines that were missed since the last time, by their cause."""
        for k, cause in enumerate(CAUSES):
            count = int(self.loop.struct.missed[k])
            if count > self._missed[k]:
                missed = count - self._missed[k]
                self._missed[k] = count
                self._tell_log("WARNING", f"deadlines missed: {missed}, cause: {cause}")

    def _tell_log(self, level: str, text: str) -> None:
        at, name = self._now(self.loop.time), self.loop.code.part.program.name
        self._file.message(self._log, at, log_entry(at, level, name, text))

    def _now(self, t: float) -> int:
        return (self._epoch or 0) + round(t * 1e9)

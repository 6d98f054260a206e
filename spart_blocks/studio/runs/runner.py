"""Performs a run in its process: paces, pauses and tunes it, and answers queries of its record."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError, SpartWarning, warn
from spart_blocks.results import FinalState, Results
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.native import Native
from spart_blocks.run.loop import library
from spart_blocks.run.record.watching import row_count, rows_since
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import begin, begin_engine, finish
from spart_blocks.run.states import set_states
from spart_blocks.studio.runs.pace import PERIOD, Pace, Strides
from spart_blocks.studio.runs.record import RecordPart, shapes_of, so_far, state_from
from spart_blocks.studio.runs.stepping import Step, Stepping, clocks_told
from spart_blocks.studio.runs.tuning import (
    Tuned,
    carried,
    needs_trace,
    stamp_of,
    tuned,
    tuned_again,
)
from spart_blocks.workers.frames import Inbox, Outbox, error_as_json

if TYPE_CHECKING:
    from spart_blocks.base.document import Document
    from spart_blocks.diagram import Diagram
    from spart_blocks.studio.runs.posing import Posing

MOST_ROWS = 200
"""Largest number of rows in a message."""
MOST_NUMBERS = 30_000
"""Largest number of values in a message."""
LAST_ROWS = 100
"""Number of the last rows that suffice for values near the present time of the run."""
LISTED_PER_SECOND = 5_000
"""Signals listed per second: with more of them, the status is sent less often."""
LOADING, TRACING, COMPILING = "loading the diagram", "tracing the diagram", "compiling"
INITIALIZING = "initializing"
"""The stages of a run before its first step, as the page says them."""
STATUS_PERIOD, POSE_PERIOD = 0.1, 1 / 30
"""Time between two messages of a kind [s]."""


@dataclass(frozen=True)
class ToldFile(DiagramFile):
    """A diagram file that tells when it is loaded, and when that is done. stage: called with
    LOADING and TRACING."""

    stage: Callable[[str], None] = field(default=lambda doing: None, compare=False, kw_only=True)

    @classmethod
    def of(cls, file: DiagramFile, stage: Callable[[str], None]) -> ToldFile:
        """The same file, with a function that is told."""
        return cls(**vars(file), stage=stage)

    def load(self, document: Document | None = None) -> Diagram:
        """Load the diagram. It is traced next."""
        self.stage(LOADING)
        diagram = super().load(document)
        self.stage(TRACING)
        return diagram


class Runner:
    """One run.

    job: the file, end time T [s] and speed; whether it begins paused; conditions of breakpoints.
    start: the state from which it continues; states: vectors of blocks that replace those of
    `start`; tuned: initial values of parameters. now: the real time [s]. queries: the functions
    that answer commands about the record, by name.
    """

    def __init__(
        self,
        job: Mapping[str, Any],
        inbox: Inbox,
        outbox: Outbox,
        now: Callable[[], float],
        queries: Mapping[str, Query],
    ) -> None:
        self.job, self.inbox, self.outbox, self.now = job, inbox, outbox, now
        self.queries = queries
        self.state, self.t = "preparing", 0.0
        self.doing: str | None = None
        self.compiled = False
        self.pace, self.strides = Pace(job.get("speed")), Strides()
        start = Step("start") if job.get("paused") else None
        self.stepping = Stepping(start, self.pace)
        self.stepping.breakpoints.set(job.get("breakpoints", ()), None)
        self.parts: list[RecordPart] = []
        self.run: Run | None = None
        self.setting: Tuned | None = None
        self.first: Engine | None = None
        self.next_setting: Tuned | None = None
        self.start: FinalState | None = None
        self.stopping = False
        self.sent = 0
        self._signals: list[dict[str, Any]] | None = None
        self._status_period = STATUS_PERIOD
        self._sent_at = dict.fromkeys(("rows", "status", "poses"), -1.0)
        self._caught: list[warnings.WarningMessage] = []
        self._snapshot: RecordPart | None = None
        self._snapshot_at: tuple[Any, ...] = ()
        self._looked = -1.0
        self._present: tuple[float, Mapping[str, Any] | None] | None = None
        self.posing: Posing | None = None
        self.rates: Mapping[str, str] | None = None
        self.whole: tuple[list[RecordPart], Results] | None = None

    # --- the whole ------------------------------------------------------------------------

    def go(self) -> None:
        """Perform the run, then answer queries until the process ends."""
        with warnings.catch_warnings(record=True) as self._caught:
            warnings.simplefilter("always")
            problem: Exception | None = None
            try:
                if self.job.get("still"):  # nothing is run
                    self._answer()
                self._begin()
                while self._run_part():
                    pass
            except Exception as error:
                problem = error
            self._send_rows()
            self.run = self.doing = None
            self.state = "failed" if problem else "ended"
            self._send_status(problem)
            self._answer()

    def _answer(self) -> None:
        """Answer queries until the process ends."""
        while True:
            command = self.inbox.next(None)
            if command is not None:
                self._execute(command)

    def _begin(self) -> None:
        """Build the engine of the file, with the tuned values and the start state of the job."""
        file = file_of_job(self.job)
        options = {"T": self.job["T"]} if self.job.get("T") is not None else {}
        stamp = stamp_of(file)
        with self._tracing(LOADING):
            engine = begin(ToldFile.of(file, self._loading), **options).engine
            self.setting = Tuned(engine, file, stamp, options)
            self.first = engine
            for name, text in self.job.get("tuned", {}).items():
                self.setting = tuned(self.setting, name, text)
            earlier = self.job.get("carried", {})
            self.setting, left_out = tuned_again(self.setting, earlier)
        for text in left_out:
            warn(text)
        if self.job.get("start") is not None:
            self.start = state_from(self.job["start"])
        self._send_description(self.setting.engine)

    def _run_part(self) -> bool:
        """Run until the end, or until parameters change; returns whether another part follows."""
        assert self.setting is not None
        run = begin_engine(self.setting.engine, self.start, self._between_steps)
        if not self.parts and self.job.get("states"):
            set_states(
                run.engine, self.job["states"], run.x, run.xd, argument="states", each="states of"
            )
            run.x = run.engine.project(float(run.t), run.x)
            self.start = run.final_state()
        self.run, self.sent, self.strides, self._signals = run, 0, Strides(), None
        first = not self.parts
        self.stepping.begin(run, first=first and self.start is None)
        run.steps_a_report = 0 if first and self.stepping.looks else 1
        self.t = float(run.t)
        if not self.compiled:
            with self._busy(COMPILING):
                library(run)
            self.compiled = True
        if self.state == "preparing":
            self._stage(INITIALIZING)
        elif self.state != "paused":
            self._set_state("running")
        self.pace.starts(self.t, self.now())
        self._process_commands()
        if self.next_setting is None and not self.stopping:
            return self._finished(run)
        return self._changed()  # before its first step

    def _stage(self, doing: str) -> None:
        """Report an activity during which the run does not advance."""
        self.doing = doing
        self._send_status()

    def _loading(self, doing: str) -> None:
        """Report that the file is loaded or traced, if the run waits for it. It is loaded later,
        too: by what asks for its blocks, such as poses."""
        if self.doing in (LOADING, TRACING):
            self._stage(doing)

    @contextmanager
    def _busy(self, what: str) -> Iterator[None]:
        """As `_stage`, and report its end."""
        self._stage(what)
        try:
            yield
        finally:
            self.doing = None
            self._send_status()

    @contextmanager
    def _tracing(self, first: str = TRACING) -> Iterator[None]:
        """As `_busy`, for tracing the diagram. The program must be compiled again afterwards.
        first: the stage that comes before."""
        with self._busy(first):
            yield
        self.compiled = False

    def _finished(self, run: Run) -> bool:
        assert self.setting is not None
        try:
            results = finish(run)
        except RunError as error:
            if error.results is not None:
                self.parts.append(RecordPart(self.setting.engine, self.start, error.results))
            raise
        self._send_rows()
        self.parts.append(RecordPart(self.setting.engine, self.start, results))
        self.t, self.run = results.final_state.t, None
        if results.complete or not run.cut or self.stopping:
            return False
        self.start = results.final_state
        return self._changed()

    def _changed(self) -> bool:
        if self.stopping:
            if not self.parts:
                raise RunError("it was stopped before its first step")
            return False
        if self.next_setting is not None:
            self.setting, self.next_setting = self.next_setting, None
        return True

    # --- while it goes on -----------------------------------------------------------------

    def _between_steps(self, t: float, end: float) -> None:
        """Called by the run between steps: reads commands and sends reports. t: time reached
        [s]."""
        run, now, stepping = self.run, self.now(), self.stepping
        assert run is not None
        self.t = t
        if self.doing == INITIALIZING:
            self.doing = None
            self._set_state("running")
        if stepping.reached(run):
            self._set_state("paused")
        elif stepping.looks and not self._keeps_pace and now - self._looked < 0.5 * PERIOD:
            run.steps_a_report = 1  # no command or report is due
            return
        self._looked = now
        steps = self.strides.next(run.stats.steps, t, now, self.pace.speed)
        self._process_commands()
        run.steps_a_report = stepping.stride(run, steps)
        self._send_due(run)
        self.strides.rested(run.stats.steps, t, self.now())

    @property
    def _keeps_pace(self) -> bool:
        """Whether the run waits for its time. A step does not."""
        return self.pace.speed is not None and self.stepping.step is None

    def _process_commands(self) -> None:
        """Process received commands, and wait until the run may continue."""
        while True:
            if self.stopping or self.next_setting is not None:
                seconds: float | None = 0.0
            elif self.state == "paused":
                seconds = None
                self._flush()
            else:
                seconds = self.pace.left(self.t, self.now()) if self._keeps_pace else 0.0
            command = self.inbox.next(seconds)
            if command is not None:
                self._execute(command)
            elif seconds is not None:
                break
        if self.run is not None:
            self.run.cut = self.stopping or self.next_setting is not None

    def _send_due(self, run: Run) -> None:
        now = self.now()
        if now - self._sent_at["rows"] >= 0.7 * PERIOD and self.outbox.has_room:
            self._send_rows()
        if now - self._sent_at["status"] >= self._status_period:
            self._send_status()
        if self.posing is not None and now - self._sent_at["poses"] >= POSE_PERIOD:
            self._send_poses(run)

    def _flush(self) -> None:
        """Send the latest rows, the present values and poses before a pause."""
        self._send_rows()
        self._send_present()
        if self.posing is not None and self.run is not None:
            self._send_poses(self.run)

    def _send_rows(self) -> None:
        self._sent_at["rows"] = self.now()
        run = self.run
        count = 0 if run is None else row_count(run)
        if run is None or count <= self.sent:
            return
        signals = self._listed(run)
        width = sum(signal["width"] for signal in signals)
        most = max(1, min(MOST_ROWS, MOST_NUMBERS // (width + 1)))
        rows = rows_since(run, self.sent, -(-(count - self.sent) // most))
        assert rows is not None
        self.sent = count
        table = np.column_stack([rows.t, rows.signals])
        size = {"rows": len(table), "width": width}
        self.outbox.send({"tell": "rows", "signals": signals, **size}, _bytes(table))

    def _listed(self, run: Run) -> list[dict[str, Any]]:
        """The signals of rows, with their widths."""
        if self._signals is None:
            pairs = zip(run.recorder.names, shapes_of(run), strict=True)
            self._signals = [{"name": name, "width": math.prod(shape)} for name, shape in pairs]
        return self._signals

    def _send_present(self) -> None:
        """Send a row of the instant at which the run is paused, whose own row may come later."""
        run = self.run
        at = None if run is None else (float(run.t), self.stepping.paused)
        if run is None or at == self._present:
            return
        self._present = at
        with suppress(RunError):
            values = run.engine.picked(run.recorder.names)(float(run.t), run.x, run.xd)
            row = np.concatenate([[float(run.t)], *map(np.ravel, values)])
            size = {"rows": 1, "width": len(row) - 1}
            self.outbox.send({"tell": "rows", "signals": self._listed(run), **size}, _bytes(row))

    def _send_poses(self, run: Run) -> None:
        if not self.outbox.has_room:
            return
        self._sent_at["poses"] = self.now()
        row = None if self.posing is None else self.posing.row(self.t, run.engine, run.x)
        if row is not None:
            header = {"tell": "poses", "bodies": (len(row) - 1) // 7, "rows": 1}
            self.outbox.send(header, _bytes(row))

    def _set_state(self, state: str) -> None:
        self.state = state
        self._send_status()

    def _send_status(self, problem: Exception | None = None) -> None:
        self._sent_at["status"] = self.now()
        warned = [str(w.message) for w in self._caught if issubclass(w.category, SpartWarning)]
        message: dict[str, Any] = {
            "tell": "status",
            "state": self.state,
            "doing": self.doing,
            "t": self.t,
            "speed": self.pace.speed,
            "warnings": list(dict.fromkeys(warned))[:20],
            "tuned": dict(self._latest().texts) if self.setting else {},
            "carried": carried(self._latest()) if self.setting else {},
            "stopped": self._stopped(),
            "paused": self.stepping.paused if self.state == "paused" else None,
            "breakpoints": self.stepping.breakpoints.told,
        }
        if problem is not None:
            message["problem"] = error_as_json(problem)
        self.outbox.send(message)

    def _stopped(self) -> str | None:
        """Where and why the run stopped before its end time; None if it did not."""
        why = self.parts[-1].results.stopped if self.parts and not self.run else None
        return f"stopped at {self.t:.4g} s" if why and self.stopping else why

    def _send_description(self, engine: Engine) -> None:
        self.t = self.start.t if self.start else 0.0
        kept = set(engine.display.kept(engine.run.log, engine.signals()))
        shapes: dict[str, tuple[int, ...]] = {}
        if isinstance(engine, Native):
            shapes = {name: slot.shape for name, slot in engine.slot.items()}
        scopes = [
            {"title": scope.title or scope.name, "signals": list(scope.signals)}
            for scope in engine.display.scopes
        ]
        signals = [
            {
                "name": name,
                "shape": list(shapes.get(name, ())),
                "unit": engine.display.units.get(name, ""),
                "labels": _labels(engine, name),
                "entries": list(engine.display.entries.get(name, ())),
                "live": name in kept,
            }
            for name in engine.signals()
            if "=0" not in name
        ]
        self._status_period = max(STATUS_PERIOD, len(signals) / LISTED_PER_SECOND)
        message = {"start": self.t, "T": engine.run.T, "scopes": scopes, "signals": signals}
        clocks = clocks_told(engine.clocks)
        self.outbox.send({"tell": "described", "clocks": clocks, **message})

    # --- commands -------------------------------------------------------------------------

    def _execute(self, command: Mapping[str, Any]) -> None:
        """Execute a command, and send the answer or the error."""
        header: dict[str, Any] = {"id": command.get("id")}
        body = b""
        try:
            what = str(command["do"])
            if what in self.queries:
                header["ok"], body = self.queries[what](self, command)
            else:
                header["ok"] = self._control(what, command)
        except Exception as error:
            header["error"] = error_as_json(error)
        with suppress(TypeError):
            self.outbox.send(header, body)

    def _control(self, what: str, command: Mapping[str, Any]) -> Any:
        if self.run is None and what in _OF_ACTIVE:
            hint = "run it again, or continue it from a time"
            raise InputError(Fault("the run has ended", hint=hint))
        if what == "breakpoints":
            self.stepping.watch(command["conditions"], self.run)
            self._send_status()
        elif what == "pause":
            if self.run is not None:
                self.stepping.halt(self.run)
            self._set_state("paused")
        elif what in ("resume", "step") and self.run is not None:
            stepping, run = self.stepping, self.run
            stays = stepping.go(run, command) if what == "step" else stepping.let_go(run)
            self.pace.starts(self.t, self.now())
            self._set_state("paused" if stays else "running")
        elif what == "stop":
            self.stopping = True
        elif what == "speed":
            self.pace.speed = command["speed"]
            if self.run is not None:
                self.stepping.apply(self.run)
            self.pace.starts(self.t, self.now())
            self._send_status()
        elif what == "tune":
            if self.setting is None:
                text = "this run has no parameters: it has failed before it began"
                raise InputError(Fault(text, hint="run it again"))
            setting, name, text = self._latest(), command["name"], command["text"]
            with self._tracing() if needs_trace(setting, name, text) else nullcontext():
                self.next_setting = tuned(setting, name, text)
            self.pace.starts(self.t, self.now())  # the change may have taken long
            self._send_status()
        elif what == "kept":
            self._keep()
        elif what == "push":
            self._push(command)
        else:
            raise InputError(f"a run does not know {what!r}")
        return None

    def _keep(self) -> None:
        """The file has the tuned values now."""
        setting = self._latest()
        kept = replace(setting, given=dict(setting.texts))
        if self.next_setting is None:
            self.setting = kept
        else:
            self.next_setting = kept
        self._send_status()

    def _latest(self) -> Tuned:
        """The setting that the next change applies to: the pending one, otherwise the present
        one."""
        found = self.next_setting or self.setting
        assert found is not None
        return found

    def _push(self, command: Mapping[str, Any]) -> None:
        from spart_blocks.studio.runs.pushes import pushed

        assert self.run is not None
        setting = self._latest()
        with self._tracing() if setting.extended is None else nullcontext():
            self.next_setting = pushed(setting, self.run, command)
        self.pace.starts(self.t, self.now())  # the change may have taken long

    # --- the record -----------------------------------------------------------------------

    def known_parts(self) -> list[RecordPart]:
        """The parts so far, including the active one."""
        if self.run is None or self.setting is None:
            return self.parts
        run = self.run
        at = len(self.parts), run.stats.steps, run.t, run.events.total, run.settled
        if self._snapshot is None or self._snapshot_at != at:
            self._snapshot = RecordPart(self.setting.engine, self.start, so_far(self.run))
            self._snapshot_at = at
        return [*self.parts, self._snapshot]

    def parts_at(self, t: float) -> list[RecordPart]:
        """The parts needed for values at time t [s]. If the last rows of the active part suffice,
        only these, so that the whole record need not be copied."""
        if self.run is not None and self.setting is not None:
            first = max(0, row_count(self.run) - LAST_ROWS)
            results = so_far(self.run, first)
            if len(results.t) and results.t[0] <= t:
                return [RecordPart(self.setting.engine, self.start, results)]
        return self.known_parts()


def _labels(engine: Engine, name: str) -> list[str]:
    for scope in engine.display.scopes:
        if scope.signals == (name,) and scope.labels:
            return list(scope.labels)
    return []


def _bytes(table: Floats) -> bytes:
    return np.ascontiguousarray(table, dtype="<f8").tobytes()


def file_of_job(job: Mapping[str, Any]) -> DiagramFile:
    """The diagram file of a job, with its overrides, variants and packages of blocks."""
    file = job["file"]
    return DiagramFile(
        Path(file["path"]),
        tuple(file.get("overrides", ())),
        root=Path(file["root"]),
        variants=tuple(file["variants"]),
        blocks=tuple(file["blocks"]),
    )


_OF_ACTIVE = ("pause", "resume", "step", "stop", "push", "speed")
"""Commands to a run that goes on."""
Answer = tuple[Any, bytes]
Query = Callable[[Runner, Mapping[str, Any]], Answer]

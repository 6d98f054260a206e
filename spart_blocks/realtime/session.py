"""One real-time run: its code, links, watchdog, loop and report."""

from __future__ import annotations

import gc
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import ValidationError

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.sections.realtime_options import RealtimeOptions
from spart_blocks.export.step import StepCode, step_code
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.library import check_machine, model_library, runtime
from spart_blocks.realtime.links import open_links
from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.recorder import LoopRecorder
from spart_blocks.realtime.report import Counts, Report, report_of
from spart_blocks.realtime.ros_services import RosServices
from spart_blocks.realtime.watchdog import Watchdog
from spart_blocks.recordings.record import checked_recording
from spart_blocks.transports.ros_node import NODE

MOMENT = 0.1  # s, between two polls of a running loop

Floats = np.ndarray[Any, np.dtype[np.float64]]
Attend = Callable[[Loop], None]


@dataclass(frozen=True)
class Prepared:
    """A prepared run: the diagram, the C of its subdiagram, and the options of the loop."""

    diagram: Diagram
    code: StepCode
    options: RealtimeOptions


def prepare(
    diagram: Diagram | str | Path | Any,
    *,
    part: Sequence[str] = (),
    outputs: Sequence[str] = (),
    rate: float | None = None,
    method: str | None = None,
    **changes: Any,
) -> Prepared:
    """Trace a subdiagram and compile it.

    Options not given are read from the file, under `export:` and `realtime:`. diagram: a path,
    a loaded diagram or a bdsim BlockDiagram. part: names of blocks and subsystems. outputs:
    signals to stream in addition to the outputs of the subdiagram. rate [Hz]. method: one of
    FIXED_STEP. changes: T, policy, watchdog, wait, priority, cpu.
    Raises InputError for invalid options or without a compiler, DiagramError for a block that
    cannot be traced.
    """
    check_machine()
    loaded = as_diagram(diagram)
    options = _changed(loaded.realtime, {k: v for k, v in changes.items() if v is not None})
    asked = loaded.export
    _check_processor(options.cpu)
    code = step_code(
        subdiagram_of(loaded, part, outputs),
        rate=asked.rate if rate is None else rate,
        method=method or asked.method,
        real=asked.precision,
    )
    model_library(code), runtime()  # compiled before any link is open
    return Prepared(loaded, code, options)


def _check_processor(cpu: int | None) -> None:
    there = sorted(os.sched_getaffinity(0))
    if cpu is not None and cpu not in there:
        hint = f"there are {', '.join(map(str, there))}"
        raise InputError(Fault(f"there is no processor {cpu} to run on", hint=hint))


def _changed(options: RealtimeOptions, changes: Mapping[str, Any]) -> RealtimeOptions:
    unknown = [name for name in changes if name not in RealtimeOptions.model_fields]
    if unknown:
        hint = did_you_mean(unknown[0], RealtimeOptions.model_fields)
        raise InputError(Fault(f"no option {unknown[0]!r} of a real-time run", hint=hint))
    try:
        return RealtimeOptions.model_validate({**options.model_dump(), **changes})
    except ValidationError as error:
        raise InputError(
            Fault(f"{'.'.join(map(str, e['loc']))}: {e['msg'].lower()}, not {e['input']!r}")
            for e in error.errors(include_url=False)
        ) from None


class Session:
    """A run, as a context manager. The loop runs while the context is entered.

    loop: the running loop, whose parameters can be changed. asked: whether it was asked to end.
    record: keep the signals of every step, or the path of an MCAP file that they go to.
    """

    def __init__(self, prepared: Prepared, *, record: bool | str | Path = False) -> None:
        self.prepared = prepared
        self.record = record is True
        self.path = None if isinstance(record, bool) else checked_recording(record)
        self.asked = False
        self._rows: list[Floats] = []
        self._kept = ExitStack()
        self._problems: list[str] = []
        self._recorder: LoopRecorder | None = None
        self._counts: Counts | None = None

    def __enter__(self) -> Session:
        prepared, options = self.prepared, self.prepared.options
        with ExitStack() as kept:
            self.links = kept.enter_context(open_links(prepared.diagram, prepared.code.part))
            senders = self.links.senders
            self.watchdog = kept.enter_context(Watchdog(options.watchdog, senders))
            self.loop = Loop(
                prepared.code, options, self.links.receivers, senders, self.watchdog.heartbeat
            )
            self.loop.recorded.streaming = self.record
            if self.path is not None:
                self._recorder = LoopRecorder(self.path, self.loop, prepared.diagram)
                self._recorder.start()
                kept.callback(self._finish_recording)
            if self.asked:  # while the links were being opened
                self.loop.stop()
            kept.enter_context(_still())
            self.links.discard()
            kept.enter_context(self.loop)
            if (node := self.links.shared.get(NODE)) is not None:
                recorded = self.record or self.path is not None
                kept.enter_context(RosServices(node, self.loop, recorded=recorded))
            self._kept = kept.pop_all()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        self.loop.wait()
        self._attend()
        self._counts = self.links.counts()
        self._kept.close()

    def _finish_recording(self) -> None:
        """Complete the recording once the loop has ended; without a report if it could not run."""
        assert self._recorder is not None
        self._recorder.finish(None if self._counts is None else self.report())
        self._problems += [self._recorder.problem] if self._recorder.problem else []

    def stop(self) -> None:
        """Ask the loop to end. May be called before it runs, and from a signal handler."""
        self.asked = True
        if hasattr(self, "loop"):
            self.loop.stop()

    def moments(self) -> Iterator[Loop]:
        """Yield the loop every 0.1 s until it has ended; in between, collect its rows and update
        the watchdog.
        """
        while not self.loop.wait(MOMENT):
            self._attend()
            yield self.loop

    def _attend(self) -> None:
        if self.record:
            self._rows.append(self.loop.recorded.drain())
        if not self.watchdog.tend() and not self._problems:
            self._problems.append("the watchdog's process ended before the loop did")

    def report(self) -> Report:
        """The report, once the run is over."""
        return report_of(self.loop, self._counts, self._problems)

    def signals(self) -> dict[str, Floats]:
        """Time `t` [s] and each signal (steps, ...) of a recorded run."""
        width = self.loop.recorded.width
        rows = np.concatenate([np.zeros((0, width)), *self._rows])
        return {"t": rows[:, 0], **self.loop.recorded.parted(rows)}


@contextmanager
def _still() -> Iterator[None]:
    """A context in which Python's garbage collection is paused and existing objects are frozen."""
    with collector_paused():
        gc.collect()
        gc.freeze()
        try:
            yield
        finally:
            gc.unfreeze()


def run(
    diagram: Diagram | Prepared | str | Path | Any,
    *,
    attend: Attend | None = None,
    record: str | Path | None = None,
    **options: Any,
) -> Report:
    """Run a diagram, or some of its blocks, in real time, and return the report.

    diagram: a `Prepared`, or the first argument of `prepare`. options: its other arguments.
    attend: is called every 0.1 s with the loop, whose parameters it may change. record: an MCAP
    file that the run is recorded to. Ctrl-C ends the run; the report is still returned.
    """
    prepared = diagram if isinstance(diagram, Prepared) else prepare(diagram, **options)
    with Session(prepared, record=record or False) as session:
        try:
            for loop in session.moments():
                if attend is not None:
                    attend(loop)
        except KeyboardInterrupt:
            session.stop()
    return session.report()

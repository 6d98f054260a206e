"""`spart realtime`: a diagram, or some of its blocks, in real time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import typer

from spart_blocks.base.errors import InputError
from spart_blocks.base.interrupts import requests_go_to
from spart_blocks.base.tableaus import FixedStepMethod
from spart_blocks.cli.commands import (
    FILE,
    QUIET,
    Loading,
    Texts,
    check_diagram,
    command,
    diagram_file,
    option,
    refuse_given,
)
from spart_blocks.cli.ending import Once, interrupt, writing
from spart_blocks.cli.export import METHOD, PART, RATE
from spart_blocks.cli.outputs import (
    REPORT,
    Written,
    attempt,
    checked_files,
    checked_recording,
    complain_of,
)
from spart_blocks.cli.terminal import FAILED, Ticker, complain, say, warn

if TYPE_CHECKING:
    from spart_blocks.realtime import Prepared, Report, Session

SUFFIXES = (".json", ".png")


Policy = Literal["skip", "catch-up", "stop"]
"""Action if a step is not finished at the next deadline."""


@command(
    "spart realtime diagrams/arm_computed_torque.yaml --part ctrl --rate 1000 --t 10",
    "spart realtime diagrams/arm_computed_torque.yaml --part ctrl --t 60 --policy stop "
    "--report report.json --report report.png",
    "spart realtime diagrams/arm_computed_torque.yaml --t 10 --record run.mcap",
    "spart realtime diagrams/arm_computed_torque.yaml --replay run.mcap",
)
def realtime(
    *,
    file: Path = FILE,
    part: Texts = PART,
    rate: float | None = RATE,
    end: float | None = option("--t -t SECONDS", "Duration of the run; by default until Ctrl-C."),
    policy: Policy | None = option(
        "--policy",
        "If a step is not finished at the next deadline: skip the missed "
        "deadlines (skip, the default), execute the missed steps at once "
        "(catch-up), or end the run (stop).",
    ),
    method: FixedStepMethod | None = METHOD,
    cpu: int | None = option("--cpu N", "Pin the loop to this processor."),
    reports: list[Path] | None = option(
        "--report FILE", "Write the report: .json or .png. May be repeated."
    ),
    recording: Path | None = option(
        "--record FILE.mcap",
        "Record every step: signals, robots, parameters and missed deadlines, as an MCAP file.",
    ),
    replayed: Path | None = option(
        "--replay FILE.mcap",
        "Compute the steps of this recording again, from its inputs and parameters, and compare "
        "the outputs bit for bit. Nothing is received or sent.",
    ),
    loading: Loading,
    quiet: bool = QUIET,
) -> int:
    """Run a diagram, or some of its blocks, in real time, and report on its deadlines. The safe
    values of its links are sent when inputs become stale, and when the loop ends, for any reason.
    Ctrl-C ends it.
    """
    files = checked_files(reports, SUFFIXES, REPORT)
    recording = checked_recording(recording)
    if replayed is not None:
        hint = "leave out --t, --policy, --cpu, --report and --record"
        given = (end, policy, cpu, reports, recording)
        refuse_given(given, "steps are computed again as they were recorded", hint)
        check_diagram(replayed)
    diagram = diagram_file(file, loading, quiet).load()
    from spart_blocks.realtime import Session, prepare

    say(f"compiling {', '.join(part) if part else diagram.name}", unless=quiet)
    prepared = prepare(
        diagram,
        part=part or (),
        rate=rate,
        method=method,
        T=end,
        policy=policy,
        cpu=cpu,
    )
    if replayed is not None:
        return _replay(prepared, replayed, quiet)
    session = Session(prepared, record=recording or False)
    _run(session, prepared, quiet)
    with writing():
        return _tell(session.report(), files, quiet, recording)


def _replay(prepared: Prepared, path: Path, quiet: bool) -> int:
    """Compute the steps of a recording again; returns the exit code."""
    from spart_blocks.realtime.replay import replay

    say(f"computing the steps of {path} again", unless=quiet)
    found = replay(prepared, path)
    if found.first is not None:
        complain(found.message)
        return FAILED
    say(found.message, unless=quiet)
    return 0


def _run(session: Session, prepared: Prepared, quiet: bool) -> None:
    with _ended_gently(session), session, _reachable(session, prepared, quiet):
        if not quiet:
            _describe(session, prepared)
        with Ticker(wanted=not quiet) as ticker:
            for loop in session.moments():
                ticker(_state(loop.phase.name, loop.time, loop.overruns))


@contextmanager
def _reachable(session: Session, prepared: Prepared, quiet: bool) -> Iterator[None]:
    """Context manager in which `spart live` and `spart scope` can connect to the loop. If this
    cannot be set up, a warning is printed and the loop runs without it."""
    from spart_blocks.realtime.live import LiveServer

    with ExitStack() as kept:
        try:
            server = kept.enter_context(LiveServer(session.loop, prepared.code.part.program.name))
            say(f"spart live and spart scope reach it as {server.place.name}", unless=quiet)
        except InputError as error:
            warn(str(error))
        yield


def _ended_gently(session: Session) -> AbstractContextManager[Any]:
    """Context manager in which Ctrl-C and other requests stop the loop at any time, so that there
    is always a report. The second request aborts."""

    def end(which: int) -> None:
        if which:
            interrupt()
        session.stop()

    return requests_go_to(Once(end))


def _state(phase: str, time: float, overruns: int) -> str:
    if phase == "WAITING":
        return "waiting for a frame over every link"
    return f"t = {time:.1f} s, {overruns} deadlines missed"


_POLICIES = {
    "skip": "deadlines that pass within a step are left out",
    "catch-up": "missed steps are done at once",
    "stop": "a missed deadline ends it",
}


def _describe(session: Session, prepared: Prepared) -> None:
    """Print what runs, at which rate, and its links."""
    code, options = prepared.code, prepared.options
    until = f"for {options.T:g} s" if options.T else "until Ctrl-C"
    rate = float(code.schedule.rate)
    say(f"running {code.part.program.name} at {rate:g} Hz {until}; {_POLICIES[options.policy]}")
    for link in (*session.links.receivers, *session.links.senders):
        does = "receives at" if link.way == "receive" else "sends to"
        say(f"  {link.name} {does} {link.live.link.endpoint}")
    if options.wait and session.links.receivers:
        names = ", ".join(link.name for link in session.links.receivers)
        say(f"  time stands still until a frame has come over {names}")
    unlinked = sorted(session.loop.parameters.inputs)
    if unlinked:
        say(f"  no link brings {', '.join(unlinked)}: held as at the start of the diagram")


def _tell(report: Report, files: Sequence[Path], quiet: bool, recording: Path | None = None) -> int:
    """Print and write the report; returns the exit code. The command fails if the run ended early,
    or if a report cannot be written; the others are still written.
    """
    if not quiet:
        typer.echo(report.summary())
    written = Written([recording] if recording is not None else [])
    for path in files:
        attempt(written, lambda path=path: [report.save(path)])  # type: ignore[misc]
    for path in written.paths:
        say(f"written: {path}", unless=quiet)
    complain_of(written)
    if not report.complete:
        complain(f"the run ended early: {report.why}")
    return FAILED if not report.complete or written.problems else 0

"""`spart scope`: watch the signals of a running loop."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.base.interrupts import requests_go_to
from spart_blocks.cli.commands import Texts, argument, check_seconds, command, option, switch
from spart_blocks.cli.ending import Once
from spart_blocks.cli.live import LOOP, connected
from spart_blocks.cli.outputs import Outputs, checked_files, complain_of
from spart_blocks.cli.terminal import FAILED, has_display, headed_table, put, say, warn

if TYPE_CHECKING:
    from spart_blocks.realtime.live_client import LiveClient, SignalRecording, WatchedSignals
    from spart_blocks.realtime.live_protocol import Floats

RATE = 200.0  # Hz, more than an eye or a screen can follow
_PATIENCE = 0.05  # s, for rows to come
_LINES = 4.0  # Hz, of lines of text
_COLUMNS = 8  # numbers in such a line
_ROUNDING = 1e-9

Shown = Callable[["Floats"], bool]
"""Takes rows, possibly none; returns whether to continue."""


@command(
    "spart scope",
    "spart scope ctrl.tau plant.qm[0]",
    "spart scope --t 10 --out run.npz",
)
def scope(
    *,
    signals: Texts = argument(
        "SIGNAL",
        "Signals to watch: ctrl.tau, plant.qm[0], plant.qm[0:2]. By default the outputs.",
        None,
    ),
    loop: str | None = LOOP,
    end: float | None = option(
        "--t -t SECONDS", "Duration; by default until the loop ends or Ctrl-C."
    ),
    out: list[Path] | None = option(
        "--out -o FILE", "Record the signals: .npz, .csv or .mat. May be repeated."
    ),
    rate: float | None = option(
        "--rate HZ", "Rows per second: by default 200, and with --out every step."
    ),
    window: float = option("--window SECONDS", "Time span of the plot.", 10.0),
    headless: bool = switch("--headless", "Open no window, as without a display."),
    listed: bool = switch("--list", "List the signals and end."),
) -> int:
    """Plot signals of a loop while it runs, and record them.

    Without a window they are printed as lines of numbers, or with --out only recorded. Ctrl-C ends
    it; the loop is not affected.
    """
    files = checked_files(out)
    check_seconds("--t", end)
    check_seconds("--window", window)
    from spart_blocks.realtime.live_client import SignalRecording

    with connected(loop) as client:
        if listed:
            rows = (
                (row["name"], " x ".join(map(str, row["shape"])), row["unit"], row["kind"])
                for row in client.describe()["signals"]
            )
            put(headed_table(("signal", "shape", "unit", ""), rows, left=4))
            return 0
        if rate is None and not files:
            rate = RATE
        watched = _watched(client, signals or (), rate)
        say(f"watching {watched.loop} at {watched.rate:g} Hz; Ctrl-C ends it")
        if client.hello["phase"] == "waiting":
            say("it waits for its links, and tells nothing until they are heard")
        show = _shown(watched, window, headless, bool(files))
        kept = SignalRecording(watched) if files or end is not None else None
        failure = _watch(client, show, kept, end)
        code = _finish(client, kept, files)
        if failure is not None:
            raise failure
    return code


def _watched(client: LiveClient, signals: Sequence[str], rate: float | None) -> WatchedSignals:
    """Start watching signals. If one of them is the name of a loop, the error says so."""
    from spart_blocks.realtime.live_places import running

    try:
        return client.watch(signals, rate)
    except InputError:
        for word in signals:
            if any(word in (place.name, str(place.pid)) for place in running()):
                hint = f"write --loop {word}, and the signals after it"
                text = f"{word!r} is a loop, and no signal of it"
                raise InputError(Fault(text, hint=hint)) from None
        raise


def _shown(watched: WatchedSignals, window: float, headless: bool, recorded: bool) -> Shown:
    """The function that displays rows: in a window, otherwise as lines, or not at all if they are
    recorded."""
    if has_display() and not headless:
        from spart_blocks.cli.live_plot import LivePlot

        plot = LivePlot(watched, window)
        if plot.open():
            return plot.show
        say("no window can be opened here")
    return _nothing if recorded else _Lines(watched).show


def _nothing(rows: Floats) -> bool:
    return True


class _Lines:
    """Prints rows as lines of numbers, a few per second."""

    def __init__(self, watched: WatchedSignals) -> None:
        self.due = 0.0
        labels: Sequence[str] = ["t [s]", *watched.labels[:_COLUMNS]]
        if len(watched.labels) > _COLUMNS:
            say(f"the first {_COLUMNS} of {len(watched.labels)} numbers are shown; --out keeps all")
        self.widths = [max(11, len(label)) for label in labels]
        self._put(labels)

    def _put(self, texts: Sequence[str]) -> None:
        cells = (f"{text:>{width}}" for text, width in zip(texts, self.widths, strict=True))
        typer.echo("  ".join(cells))

    def show(self, rows: Floats) -> bool:
        now = time.monotonic()
        if len(rows) and now >= self.due:
            self.due = now + 1 / _LINES
            t, *values = rows[-1, : len(self.widths)]
            self._put([f"{t:.3f}", *(f"{value:.5g}" for value in values)])
        return True


def _watch(
    client: LiveClient, show: Shown, kept: SignalRecording | None, end: float | None
) -> RunError | None:
    """Show and record rows until the end or Ctrl-C. Returns the error, if any."""
    until = math.inf
    with _interrupts() as interrupted:
        while client.ended is None and not (kept and kept.full) and not interrupted:
            try:
                rows = client.rows(_PATIENCE)
            except RunError as error:
                return error
            if len(rows) and end is not None and math.isinf(until):
                until = rows[0, 0] + end
            over = len(rows) > 0 and rows[-1, 0] >= until * (1 - _ROUNDING)
            rows = rows[rows[:, 0] <= until * (1 + _ROUNDING)]
            if kept is not None:
                kept.add(rows)
            if not show(rows) or over:
                break
    return None


@contextmanager
def _interrupts() -> Iterator[list[int]]:
    """Context manager that appends requests to end to a list. Exceptions in the callbacks of a
    window would be printed and ignored."""
    came: list[int] = []
    with requests_go_to(Once(came.append)):
        yield came


def _finish(client: LiveClient, kept: SignalRecording | None, files: tuple[Path, ...]) -> int:
    """Print why it ended, and save the recording; returns the exit code."""
    if client.ended is not None:
        say(f"the loop has ended: {client.ended}")
    if client.lost:
        warn(f"{client.lost} steps are missing: they came faster than they were taken")
    if kept is None:
        return 0
    if kept.full:
        warn(f"the recording is full after {kept.count} rows; --rate takes fewer per second")
    if not kept.count:
        raise RunError("nothing came from the loop, so nothing is recorded")
    results = kept.results(client.lost)
    typer.echo(results.summary())
    written = Outputs(files, None, True).write(results)
    for file in written.paths:
        say(f"written: {file}")
    complain_of(written)
    return FAILED if written.problems else 0

"""Progress bars on stderr, for long runs in a terminal."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

from spart_blocks.cli.terminal import console

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

_PATIENCE = 1.0  # s before the bar appears
_PERIOD = 0.1  # s between updates


class ProgressBar:
    """The progress bar of a run, called with (t, T); invisible if stderr is not a terminal."""

    def __init__(self, *, wanted: bool) -> None:
        self.due = time.perf_counter() + _PATIENCE if wanted and _watched() else float("inf")
        self.start: float | None = None
        self.bar: Progress | None = None
        self.task: TaskID | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.end()

    def end(self) -> None:
        """Remove the bar, so that another can be shown."""
        self.due = float("inf")
        if self.bar is not None:
            self.bar.stop()
            self.bar = None

    def __call__(self, t: float, end: float) -> None:
        if self.start is None:
            self.start = t
            self._begin()
        now = time.perf_counter()
        if now < self.due:
            return
        self.due = now + _PERIOD
        if self.bar is None or self.task is None:
            self.bar = _bar()
            self.task = self.bar.add_task("running", total=end - self.start, time="")
            self.bar.start()
        self.bar.update(self.task, completed=t - self.start, time=self._text(t, end))
        self.bar.refresh()

    def _begin(self) -> None:
        """Called at the first report."""

    def _text(self, t: float, end: float) -> str:
        return f"t = {t:.4g} of {end:g} s"


class RunsBar(ProgressBar):
    """The progress bar of a sweep, called with (completed runs, all runs)."""

    begun = 0.0

    def _begin(self) -> None:
        self.begun = time.perf_counter()

    def _text(self, t: float, end: float) -> str:
        done = t - (self.start or 0.0)
        rate = done / max(time.perf_counter() - self.begun, 1e-9)
        return f"{t:,.0f} of {end:,.0f} runs, {rate:,.3g} runs/s"


class Ticker:
    """The status line of a run without a fixed end. Each call replaces the previous line; invisible
    if stderr is not a terminal."""

    def __init__(self, *, wanted: bool) -> None:
        self.due = time.perf_counter() + _PATIENCE if wanted and _watched() else float("inf")
        self.width = 0

    def __enter__(self) -> Ticker:
        return self

    def __exit__(self, *error: object) -> None:
        if self.width:
            self._write("")

    def __call__(self, line: str) -> None:
        if time.perf_counter() >= self.due:
            self._write(line)

    def _write(self, line: str) -> None:
        sys.stderr.write(f"\r{line:<{self.width}}\r")
        sys.stderr.flush()
        self.width = len(line)


def _watched() -> bool:
    return sys.stderr.isatty() and console(err=True).is_interactive


def _bar() -> Progress:
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn
    from rich.progress import TimeRemainingColumn as Remaining

    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[time]}"),
        Remaining(compact=True),
        TextColumn("left"),
        console=console(err=True),
        auto_refresh=False,
        transient=True,
        redirect_stdout=sys.stdout.isatty(),
    )

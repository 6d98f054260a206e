"""Output of the commands: results and their tables on stdout, messages, errors and progress on
stderr.
"""

from __future__ import annotations

import io
import os
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING, Any, ClassVar, Self

import typer

from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress, TaskID
    from rich.table import Table

    from spart_blocks.analysis import LinearSystem
    from spart_blocks.analysis.system import Pole

_PAGE = 120  # columns of a page that goes to a file or another program
_LINE = 10_000  # columns that no line of a list reaches


def never_fail_on_encoding() -> None:
    """Print '?' for characters that the terminal's encoding lacks, instead of raising an
    exception."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")


def discard_stdout() -> None:
    """Redirect stdout to nowhere after its reader has closed it, so that Python's flush at exit
    does not fail."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def say(text: str, *, unless: bool = False) -> None:
    """Print a progress message. unless: print nothing if True, as with --quiet."""
    if not unless:
        typer.echo(text, err=True)


def warn(text: str) -> None:
    """Print a warning."""
    say(f"{_painted('warning:', 'yellow')} {text}")


def complain(text: str) -> None:
    """Print an error."""
    say(f"{_painted('error:', 'red')} {text}")


def _painted(text: str, colour: str) -> str:
    """Coloured text. Typer's echo removes the colour if the output is no terminal."""
    return text if os.environ.get("NO_COLOR") else typer.style(text, fg=colour, bold=True)


def console(*, err: bool = False, piped_width: int = _PAGE) -> Console:
    """A Rich console that prints texts unchanged, without markup or highlighting."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    width = None if stream.isatty() else piped_width
    return Console(stderr=err, markup=False, highlight=False, emoji=False, width=width)


def put(*renderables: Any, as_list: bool = False) -> None:
    """Print Rich tables and texts on stdout, without trailing blanks.

    as_list: each entry is one line if the output goes to another program.
    """
    target = console(piped_width=_LINE if as_list else _PAGE)
    with target.capture() as captured:
        target.print(*renderables, sep="\n")
    lines = captured.get().splitlines()
    typer.echo("\n".join(line.rstrip() for line in lines))


def has_display() -> bool:
    """Whether windows can probably be opened, without trying."""
    if sys.platform.startswith(("linux", "freebsd")):
        return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
    return True


# --- tables ---------------------------------------------------------------------------------------


_SHOWN = 12  # rows and columns of a matrix that fit a page


def matrix_lines(
    name: str, matrix: Any, rows: tuple[str, ...], columns: tuple[str, ...]
) -> list[Any]:
    """A matrix as a table if it fits on a page, otherwise its nonzero entries, one row per line."""
    heading = f"{name} ({len(rows)} x {len(columns)})"
    if not matrix.any():
        return [f"{heading}: zero"]
    if len(columns) > _SHOWN:
        lines = []
        for row, values in zip(rows, matrix, strict=True):
            entries = [f"{v:.6g} {c}" for v, c in zip(values, columns, strict=True) if v]
            lines.append(f"  {row}: {' + '.join(entries) if entries else '0'}".replace("+ -", "- "))
        return [f"{heading}, entries that are not zero", *lines]
    cells = ((row, *(f"{v:.6g}" for v in some)) for row, some in zip(rows, matrix, strict=True))
    return [heading, headed_table(("", *columns), cells)]


def pole_lines(system: LinearSystem) -> list[Any]:
    """A table of the poles with frequency, damping and time constant; equal ones are one row."""
    if not system.states:
        return ["  none"]
    table = headed_table(("pole", "frequency [rad/s]", "damping", "time constant [s]"))
    for row, equal in groupby(map(_pole_row, system.damping())):
        times = len(list(equal))
        table.add_row(row[0] if times == 1 else f"{row[0]}  ({times} times)", *row[1:])
    return [table]


def _pole_row(pole: Pole) -> tuple[str, ...]:
    value = f"{pole.value.real:.6g}"
    if pole.value.imag:
        value += f" {'+' if pole.value.imag > 0 else '-'} {abs(pole.value.imag):.6g}j"
    damping = "" if pole.frequency == 0 else f"{pole.damping:.4g}"
    return value, f"{pole.frequency:.6g}", damping, f"{pole.time_constant:.6g}"


def headed_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]] = (), left: int = 1
) -> Table:
    """A table with bold headings and without lines. left: number of leading text columns; the other
    columns are right-aligned numbers."""
    from rich.table import Table

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, column in enumerate(columns):
        table.add_column(column, justify="left" if number < left else "right", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


def grid(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> Table:
    """A table without headings and lines; its last column is as wide as the terminal allows."""
    from rich.table import Table

    table = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        table.add_column(column, no_wrap=column == "name", overflow="fold")
    for row in rows:
        table.add_row(*row)
    return table


# --- errors and warnings as messages, and exit codes ----------------------------------------------


FAILED, WRONG_INPUT = 1, 2
MOST_TOLD = 100
"""Largest number of mistakes that are listed."""


@contextmanager
def reporting(debug: bool) -> Iterator[None]:
    """Context manager for the body of a command: any exception becomes a message and typer.Exit."""
    debug = debug or os.environ.get("SPART_DEBUG", "0") not in ("", "0")
    try:
        with _warnings_as_lines(debug):
            yield
    except (typer.Exit, BrokenPipeError):
        raise
    except SpartError as error:
        _trace(debug)
        code = report(error)
        if not debug and _unforeseen(error.__cause__):
            say(_SEE)
        raise typer.Exit(code) from None
    except KeyboardInterrupt:
        _trace(debug)
        complain("interrupted")
        raise typer.Exit(FAILED) from None
    except Exception as error:
        _trace(debug)
        _report_bug(error, debug)
        raise typer.Exit(FAILED) from None


_SEE = "  add --debug (or set SPART_DEBUG=1) to see where"


def _unforeseen(cause: BaseException | None) -> bool:
    """Whether the cause of an error is an unexpected exception of other code."""
    return isinstance(cause, Exception) and not isinstance(cause, SpartError | OSError)


def report(error: SpartError) -> int:
    """Print the error; returns the exit code."""
    if not isinstance(error, InputError):
        complain(str(error))
        return FAILED
    faults = [_as_typed(fault) for fault in error.faults]
    if len(faults) == 1:
        complain(str(faults[0]))
    else:
        for fault in faults[:MOST_TOLD]:
            say(str(fault))
        told = f", of which the first {MOST_TOLD} are listed" if len(faults) > MOST_TOLD else ""
        complain(f"{len(faults):,} mistakes{told}")
    return WRONG_INPUT


def _as_typed(fault: Fault) -> Fault:
    """A fault in an override or a variant, with the option that the user typed as its place."""
    what, blank, written = fault.place.file.partition(" ") if fault.place else ("", "", "")
    option = {"override": "--set", "variant": "--variant"}.get(what)
    if fault.place is None or not blank or option is None:
        return fault
    return replace(fault, place=replace(fault.place, file=f"{option} {written}"))


def _report_bug(error: Exception, debug: bool) -> None:
    text = str(error).strip() or "no message"
    complain(f"this should not have happened: {type(error).__name__}: {text}")
    if not debug:
        say(_SEE)
    say("  please report it, with the command and its files, to the makers of spart_blocks")


def _trace(debug: bool) -> None:
    if debug:
        say(traceback.format_exc().rstrip())


@contextmanager
def _warnings_as_lines(debug: bool) -> Iterator[None]:
    """Context manager that prints each SpartWarning once; Python's other warnings only with
    --debug."""
    told: set[str] = set()

    def show(message: Warning | str, category: type[Warning], *where: Any, **more: Any) -> None:
        text = str(message)
        if text not in told:
            told.add(text)
            warn(text if issubclass(category, SpartWarning) else f"{category.__name__}: {text}")

    with warnings.catch_warnings():
        warnings.simplefilter("default" if debug else "ignore")
        warnings.simplefilter("always", SpartWarning)
        warnings.showwarning = show
        yield


# --- progress of long runs ------------------------------------------------------------------------


_PATIENCE = 1.0  # s before the bar appears
_PERIOD = 0.1  # s between updates


class ProgressBar:
    """The progress bar of a run, called with (t, T); invisible if stderr is not a terminal. heard:
    functions that are called with (done, all, unit) too, where a process shows it elsewhere."""

    heard: ClassVar[list[Callable[[float, float, str], None]]] = []
    unit: ClassVar[str] = "s"

    def __init__(self, *, wanted: bool) -> None:
        self.due = time.perf_counter() + _PATIENCE if wanted and _watched() else float("inf")
        self.start: float | None = None
        self.begun = 0.0
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
        now = time.perf_counter()
        if self.start is None:
            self.start, self.begun = t, now
        for listener in self.heard:
            listener(t - self.start, end - self.start, self.unit)
        if now < self.due:
            return
        self.due = now + _PERIOD
        if self.bar is None or self.task is None:
            self.bar = _bar()
            self.task = self.bar.add_task("running", total=end - self.start, time="")
            self.bar.start()
        self.bar.update(self.task, completed=t - self.start, time=self._text(t, end))
        self.bar.refresh()

    def _text(self, t: float, end: float) -> str:
        return f"t = {t:.4g} of {end:g} s"


class RunsBar(ProgressBar):
    """The progress bar of a sweep, called with (completed runs, all runs)."""

    unit = "runs"

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

"""Output of the commands: results on stdout, everything else on stderr."""

from __future__ import annotations

import io
import os
import sys
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from rich.console import Console

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

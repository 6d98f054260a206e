"""Converts exceptions and warnings to messages on stderr and an exit code."""

from __future__ import annotations

import os
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import typer

from spart_blocks.base.errors import Fault, InputError, SpartError, SpartWarning
from spart_blocks.cli.terminal import complain, say, warn

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

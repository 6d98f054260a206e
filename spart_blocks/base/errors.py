"""The family of errors. An error says what is wrong, where, and how to correct it.

Input errors collect every fault of a file and are raised once (exit code 2 of
the command); run errors name block, port and time (exit code 1).
"""

from __future__ import annotations

import difflib
import re
import reprlib
import sys
import traceback
import warnings
from bisect import bisect
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

MOST_SHOWN = 2000
"""Largest number of characters of a message."""
MOST_COMPARED = 2000
LONGEST_COMPARED = 60
"""Limits on the count and length of names searched for a near one; the cost of comparing is
quadratic in the length.
"""

# Characters that move a terminal's cursor, or change the direction of the following text.
_UNSEEN = re.compile(
    "[\x00-\x09\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)


def readable(text: str) -> str:
    """A text that can be shown anywhere: control characters, direction marks and lone surrogates
    are escaped, and the middle of a very long text is left out.
    """
    if len(text) > MOST_SHOWN:
        text = f"{text[: MOST_SHOWN // 2]} ... {text[-MOST_SHOWN // 4 :]}"
    return _UNSEEN.sub(lambda found: ascii(found[0])[1:-1], text)


_BRIEF = reprlib.Repr()
_BRIEF.maxlist = _BRIEF.maxtuple = _BRIEF.maxdict = 20
_BRIEF.maxlevel = 4
_BRIEF.maxstring = _BRIEF.maxother = 100


def brief(value: object, most: int = 60) -> str:
    """The repr of a value that was read, shortened, at a bounded cost."""
    text = repr(value[:most]) if isinstance(value, str) else _BRIEF.repr(value)
    cut = len(text) > most or (isinstance(value, str) and len(value) > most)
    return f"{text[: most - 3]}..." if cut else text


def counted(count: int, noun: str) -> str:
    """A number of things as text: '1 run', '2,000 runs'."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


class SpartWarning(UserWarning):
    """Something doubtful that the user should check, such as an implausible inertia."""


_BETWEEN = {"spart_blocks", "bdsim", "contextlib", "functools", "importlib", "pydantic"}
"""Packages whose stack frames may lie between the user's line and the warning."""


def warn(message: str) -> None:
    """Issue a SpartWarning that points at the user's line from which this package was called."""
    frame, level = sys._getframe(1), 2
    while frame.f_back and frame.f_globals.get("__name__", "").partition(".")[0] in _BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, SpartWarning, stacklevel=level)


@contextmanager
def overheard() -> Iterator[list[str]]:
    """A context that collects the package's warnings; they are still given."""
    told: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            yield told
        finally:
            told += [str(w.message) for w in caught if issubclass(w.category, SpartWarning)]
            found = list(caught)
    for w in found:
        warnings.warn_explicit(w.message, w.category, w.filename, w.lineno)


class SpartError(Exception):
    """Base class of all errors that this package raises."""


@dataclass(frozen=True)
class Place:
    """A place in a file: 1-based line and column, either of which may be unknown."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, self.line, self.column]
        return readable(":".join(str(part) for part in parts if part is not None))


@dataclass(frozen=True)
class Fault:
    """One fault of the input, with a hint how to correct it; its texts are readable.

    edit: words of an operation of `spart edit` that corrects it: ("wrap", "ctrl.pd", ...).
    """

    message: str
    place: Place | None = None
    hint: str | None = None
    edit: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "message", readable(self.message))
        if self.hint is not None:
            object.__setattr__(self, "hint", readable(self.hint))

    def __str__(self) -> str:
        text = f"{self.place}: {self.message}" if self.place else self.message
        return f"{text}\n  {self.hint}" if self.hint else text


class InputError(SpartError):
    """The input is wrong: a file, a parameter, an option. Lists every fault found."""

    def __init__(self, faults: Iterable[Fault] | Fault | str) -> None:
        if isinstance(faults, str):
            faults = Fault(faults)
        self.faults = (faults,) if isinstance(faults, Fault) else tuple(faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Fault, ...]]]:
        return type(self), (self.faults,)


class RobotError(InputError):
    """A robot description that cannot be a kinematic tree of rigid bodies."""


class DiagramError(InputError):
    """A diagram that cannot run: its text, its blocks, its wires or its shapes."""


class RunError(SpartError):
    """A run that failed, with the block (and port, as 'block.port') and the time. results: the
    results so far, if the run had begun.
    """

    results: Any = None

    def __init__(
        self,
        message: str,
        *,
        block: str | None = None,
        time: float | None = None,
        hint: str | None = None,
        place: Place | None = None,
    ) -> None:
        """place: where the block is written."""
        message = readable(message)
        if place is not None:
            written = f"the block is written at {place}"
            hint = f"{hint}\n  {written}" if hint else written
        self.message, self.block, self.time, self.hint = message, block, time, hint
        super().__init__(self._text())

    def add_hint(self, hint: str) -> None:
        """Add a hint, for callers that see the whole run."""
        self.hint = f"{self.hint}\n  {hint}" if self.hint else hint
        self.args = (self._text(),)

    def _text(self) -> str:
        message, block, time, hint = self.message, self.block, self.time, self.hint
        parts = [f"block {block}" if block else None, message]
        text = ": ".join(part for part in parts if part)
        if time is not None:
            text += f" at t = {time:.9g} s"
        return f"{text}\n  {hint}" if hint else text


class SingularInertiaError(SpartError):
    """An inertia matrix that cannot be inverted; names the joint or base concerned."""


SOURCES = Path(__file__).resolve().parents[2]
"""The folder of the clone, if the package is used from one."""


def pip_install(extra: str) -> str:
    """The command that installs an extra: of the clone where the package is used from one, since
    pip would else replace it by a release."""
    if not (SOURCES / "hatch_build.py").is_file():
        return f"pip install 'spart_blocks[{extra}]'"
    where = "." if Path.cwd() == SOURCES else SOURCES
    return f"pip install -e '{where}[{extra}]'"


class MissingExtraError(InputError):
    """An optional dependency is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        self._given = package, extra, purpose
        text = f"{purpose} needs the package {package}, which is not installed"
        super().__init__(Fault(text, hint=pip_install(extra)))

    def __reduce__(self) -> tuple[type[MissingExtraError], tuple[str, str, str]]:  # type: ignore[override]
        return type(self), self._given


def optional(module: str, package: str, extra: str, purpose: str) -> Any:
    """A module of an optional dependency. Raises MissingExtraError, with the other arguments, if it
    is not installed."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(package, extra, purpose) from None


def told(error: BaseException) -> str:
    """An exception of a library as one line: its type and the first line of its text."""
    text = str(error).strip().split("\n")[0]
    return f"{type(error).__name__}: {text}" if text else type(error).__name__


def raised_in(error: BaseException) -> str:
    """The line of code that an exception comes from, as a hint."""
    frame = traceback.extract_tb(error.__traceback__)[-1]
    return f"raised in {frame.filename}:{frame.lineno}"


@contextmanager
def refusing(kind: type[InputError], place: Place | None, problem: str) -> Iterator[None]:
    """Context manager that turns unexpected exceptions into an error of this type at the place. It
    is the last resort for input; known faults are reported better where they are detected.
    """
    try:
        yield
    except SpartError:
        raise
    except Exception as error:
        raise kind(Fault(f"{problem}: {told(error)}", place, raised_in(error))) from error


def near_names(name: str, choices: Iterable[str]) -> str | None:
    """A hint that names the nearest valid choices; None if none is near."""
    near = _nearest(name, _meant(choices))
    return "did you mean " + " or ".join(map(repr, near)) + "?" if near else None


def did_you_mean(name: str, choices: Iterable[str]) -> str | None:
    """A hint that names the nearest valid choices, or all of them when few."""
    known = _meant(choices)
    near = near_names(name, known)
    if near or not known:
        return near
    few = known if len(known) <= 24 else known[:24]
    shown = [c if len(c) <= LONGEST_COMPARED else f"{c[:LONGEST_COMPARED]}..." for c in few]
    if len(known) > len(few):
        shown.append(f"... ({len(known)} in all)")
    return "it has " + ", ".join(shown)


def _meant(choices: Iterable[str]) -> list[str]:
    """The choices that a user may mean, sorted."""
    known = sorted(set(map(str, choices)))
    return [choice for choice in known if not _BY_NUMBER.search(choice)] or known


_BY_NUMBER = re.compile(r"\.\d+$|=")
"""Ports by number, and constants at inputs, which no user means."""
SHORT = 3
"""Length of short names, which are near others that share half their letters in order."""


def _nearest(name: str, known: list[str]) -> list[str]:
    if len(name) > LONGEST_COMPARED:
        return []
    candidates = [choice for choice in known if len(choice) <= LONGEST_COMPARED]
    if len(candidates) > MOST_COMPARED:  # of very many names, those with the same beginning
        at = max(bisect(candidates, name) - MOST_COMPARED // 2, 0)
        candidates = candidates[at : at + MOST_COMPARED]
    folded = name.casefold()
    same = [choice for choice in candidates if choice.casefold() == folded]
    ends = [choice for choice in candidates if choice.casefold().endswith(f".{folded}")]
    if same or ends:
        return (same or ends)[:3]
    begun = [c for c in candidates if c.casefold().startswith(folded)] if len(name) >= SHORT else []
    if begun:
        return begun[:3]
    short = len(name) <= SHORT and name.isalpha()  # j7 is not a typing error for j6
    return difflib.get_close_matches(name, candidates, n=3, cutoff=0.5 if short else 0.6)

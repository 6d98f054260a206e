"""One family of errors: what was wrong, where, and what would be right.

Input errors collect every fault of a file and are raised once (exit code 2 of
the command); run errors name block, port and time (exit code 1).
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


class SpartWarning(UserWarning):
    """Something doubtful that the user should look at, such as a strange inertia."""


class SpartError(Exception):
    """The root of every error this package raises on purpose."""


@dataclass(frozen=True)
class Place:
    """Where in a file: 1-based line and column, either of which may be unknown."""

    file: str
    line: int | None = None
    column: int | None = None

    def __str__(self) -> str:
        parts = [self.file, self.line, self.column]
        return ":".join(str(part) for part in parts if part is not None)


@dataclass(frozen=True)
class Fault:
    """One thing that is wrong in the input, and how to mend it."""

    message: str
    place: Place | None = None
    hint: str | None = None

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
    """A run that failed: at which block (and port, as 'block.port'), and when.

    results: what was computed before, where a run had begun.
    """

    results: Any = None

    def __init__(
        self,
        message: str,
        *,
        block: str | None = None,
        time: float | None = None,
        hint: str | None = None,
    ) -> None:
        self.message, self.block, self.time, self.hint = message, block, time, hint
        parts = [f"block {block}" if block else None, message]
        text = ": ".join(part for part in parts if part)
        if time is not None:
            text += f" at t = {time:.9g} s"
        super().__init__(f"{text}\n  {hint}" if hint else text)


class SingularInertiaError(SpartError):
    """An inertia matrix that cannot be inverted; names the joint or base concerned."""


class MissingExtraError(SpartError):
    """An optional dependency is not installed; the message names the extra."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package}, which is not installed\n"
            f"  pip install 'spart_blocks[{extra}]'"
        )


def did_you_mean(name: str, choices: Iterable[str]) -> str | None:
    """A hint that names the nearest valid choices, or all of them when few."""
    known = sorted(set(choices))
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        return "did you mean " + " or ".join(repr(choice) for choice in near) + "?"
    if not known:
        return None
    shown = known if len(known) <= 24 else [*known[:24], f"... ({len(known)} in all)"]
    return "it has " + ", ".join(shown)

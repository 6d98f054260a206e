"""The outcome of a test: the failed claims, and the baseline to record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spart_blocks.errors import Fault, Place
from spart_blocks.regression.files import Case


@dataclass(frozen=True)
class Failure:
    """A claim that a run violates. kind: 'settles', 'baseline' etc., or 'run' if the run itself
    failed. signal: the worst element, 'plant.qm[1]'; t [s], got, expected, low and high there, if
    the claim has them. place: of the claim in the file.
    """

    kind: str
    message: str
    signal: str = ""
    t: float | None = None
    got: float | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    place: Place | None = None
    picture: Path | None = None

    def __str__(self) -> str:
        what = " ".join(part for part in (self.kind, self.signal) if part)
        text = f"{what}: {self.message}"
        if self.place is not None:
            text = f"{self.place}: {text}"
        return f"{text}\n  picture: {self.picture}" if self.picture else text


@dataclass(frozen=True)
class Change:
    """A baseline that is missing or differs from the file: its path, its new text, and the
    changes, a line each.
    """

    path: Path
    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """The outcome of a test. faults: errors of the file, which prevent a check. claims: number of
    checked claims. slow: message on a missed speed, if that is not a failure. change: the baseline
    to record. interrupted: whether the run was interrupted, so nothing was checked.
    """

    case: Case
    failures: tuple[Failure, ...] = ()
    faults: tuple[Fault, ...] = ()
    claims: int = 0
    slow: str | None = None
    warnings: tuple[str, ...] = ()
    change: Change | None = None
    interrupted: bool = False
    seconds: float = field(default=0.0, compare=False)

    @property
    def passed(self) -> bool:
        return not self.failures and not self.faults and not self.interrupted

    @property
    def troubles(self) -> tuple[str, ...]:
        """The reasons against a pass, each as text."""
        return (*map(str, self.faults), *map(str, self.failures))

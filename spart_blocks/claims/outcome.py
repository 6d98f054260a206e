"""The outcome of a test: the findings for each claim, and the baseline to record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, Place
from spart_blocks.claims.files import ClaimCase


@dataclass(frozen=True)
class Finding:
    """The result for a claim, or for one signal of a baseline. kind: 'settles', 'baseline' etc., or
    'run' for the run itself. signal: the element that violates the limit most, or comes closest to
    it, such as 'plant.qm[1]'; t [s], got, expected, low, high: values there, if the claim has them.
    place: position of the claim in the file. claim: its path in `expect:`, such as ('final', 1)."""

    kind: str
    message: str
    signal: str = ""
    t: float | None = None
    got: float | None = None
    expected: float | None = None
    low: float | None = None
    high: float | None = None
    place: Place | None = None
    claim: Keys = ()


@dataclass(frozen=True)
class Failure(Finding):
    """A violated claim. picture: file with the picture of the signal and its limits."""

    picture: Path | None = None

    def __str__(self) -> str:
        what = " ".join(part for part in (self.kind, self.signal) if part)
        text = f"{what}: {self.message}"
        if self.place is not None:
            text = f"{self.place}: {text}"
        return f"{text}\n  picture: {self.picture}" if self.picture else text


@dataclass(frozen=True)
class Change:
    """A baseline to be written, since it is missing or differs. lines: the differences, a line
    each."""

    path: Path
    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class CaseOutcome:
    """The outcome of a test. held: findings for the claims that hold. faults: errors of the file,
    which prevented the check. claims: number of checked claims. slow: message about too low a
    speed, if that is no failure. change: the baseline to record. interrupted: whether the run was
    interrupted, so that nothing was checked."""

    case: ClaimCase
    failures: tuple[Failure, ...] = ()
    held: tuple[Finding, ...] = ()
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
        """The faults and failures, each as text."""
        return (*map(str, self.faults), *map(str, self.failures))

"""The outcome of a test: what it has found of each claim, and the baseline to record."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, Place
from spart_blocks.claims.files import ClaimCase


@dataclass(frozen=True)
class Finding:
    """What a run shows of a claim, or of one of the signals of a baseline. kind: 'settles',
    'baseline' etc., or 'run' for the run itself. signal: the element that is farthest beyond the
    limit, or comes closest to it, 'plant.qm[1]'; t [s], got, expected, low and high there, if the
    claim has them. place: of the claim in the file. claim: its path in `expect:`, ('final', 1).
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
    claim: Keys = ()


@dataclass(frozen=True)
class Failure(Finding):
    """A claim that a run violates. picture: of the signal and its limits."""

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
    """The outcome of a test. held: what was found of the claims that hold. faults: errors of the
    file, which prevent a check. claims: number of checked claims. slow: message on a missed speed,
    if that is not a failure. change: the baseline to record. interrupted: whether the run was
    interrupted, so nothing was checked.
    """

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
        """The reasons against a pass, each as text."""
        return (*map(str, self.faults), *map(str, self.failures))

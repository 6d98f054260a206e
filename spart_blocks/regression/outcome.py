"""What came of a test: the claims that failed, and the baseline that could be recorded."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from spart_blocks.errors import Fault, Place
from spart_blocks.regression.files import Case


@dataclass(frozen=True)
class Failure:
    """A claim that a run does not keep.

    kind: 'settles', 'baseline' and the like, or 'run' for a run that failed itself.
    signal: the element that is worst, 'plant.qm[1]'; t [s], got, expected, low and high
    there, where the claim has them. place: where the claim is written.
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
    """A baseline that differs from what is on disk, or is not there: its file, its new
    text, and what changes, a line each."""

    path: Path
    text: str
    lines: tuple[str, ...]


@dataclass(frozen=True)
class Outcome:
    """A test that was run.

    faults: what is wrong with the file, so that it could not be judged. claims: how many
    were judged. slow: a speed that was missed, where that is no failure. change: the
    baseline to record. interrupted: the run was, so nothing was judged.
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
        """What stands in the way of a pass, each as text."""
        return (*map(str, self.faults), *map(str, self.failures))

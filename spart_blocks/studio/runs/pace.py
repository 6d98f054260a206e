"""Pace of a run: keeps its time at a given speed relative to real time."""

from __future__ import annotations

from dataclasses import dataclass

PERIOD = 1 / 60
"""Time between two reports of a run [s], that of a screen's refresh."""
LATE = 0.25
"""A run that is later than this [s] does not run faster to catch up."""
MOST_STEPS = 20_000
"""Largest number of steps between two reports."""


@dataclass
class Pace:
    """Speed of a run. speed: simulated seconds per second of real time; None for as fast as
    possible. wall, t [s]: real and simulated time of the instant from which the pace is counted."""

    speed: float | None
    wall: float = 0.0
    t: float = 0.0

    def starts(self, t: float, wall: float) -> None:
        """Count the pace from this instant: at the start, after a pause, or at a new speed."""
        self.t, self.wall = t, wall

    def left(self, t: float, wall: float) -> float:
        """How long the run must wait at time t [s]; 0 if it is not ahead. wall: real time [s]."""
        if self.speed is None:
            return 0.0
        due = self.wall + (t - self.t) / self.speed
        if wall - due > LATE:
            self.starts(t, wall)
        return max(0.0, due - wall)


@dataclass
class Strides:
    """Adapts the number of steps between two reports, so that they are about PERIOD apart in real
    time, and for a paced run also in displayed time."""

    steps: int = 1
    _last: tuple[int, float, float] | None = None

    def next(self, taken: int, t: float, wall: float, speed: float | None) -> int:
        """The number of steps until the next report. taken: steps so far; t, wall [s]: simulated
        and real time."""
        if self._last is not None and taken > self._last[0]:
            steps = taken - self._last[0]
            passed = [wall - self._last[2]]
            if speed is not None:
                passed.append((t - self._last[1]) / speed)
            wanted = min(steps * PERIOD / max(one, 1e-9) for one in passed)
            self.steps = int(min(max(wanted, 1), 2 * self.steps, MOST_STEPS))
        return self.steps

    def rested(self, taken: int, t: float, wall: float) -> None:
        """Record the instant after a report, from which the next interval is counted."""
        self._last = taken, t, wall

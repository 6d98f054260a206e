"""The pace of a run: when the time that it has reached is due on the clock on the wall."""

from __future__ import annotations

from dataclasses import dataclass

PERIOD = 1 / 60
"""Time between two looks at a run [s], as a screen shows them."""
LATE = 0.25
"""A run that is later than this [s] does not hurry to catch up."""
MOST_STEPS = 20_000
"""Steps between two looks."""


@dataclass
class Pace:
    """How fast a run goes. speed: seconds of the run in one of the wall; None for as fast as it
    goes. wall, t [s]: when the run was last on time, and where."""

    speed: float | None
    wall: float = 0.0
    t: float = 0.0

    def starts(self, t: float, wall: float) -> None:
        """Begin anew from here, as at the start, after a pause, and with another speed."""
        self.t, self.wall = t, wall

    def left(self, t: float, wall: float) -> float:
        """How long the run must wait at t until it is due [s]; 0 if it need not."""
        if self.speed is None:
            return 0.0
        due = self.wall + (t - self.t) / self.speed
        if wall - due > LATE:
            self.starts(t, wall)
        return max(0.0, due - wall)


@dataclass
class Strides:
    """How many steps a run takes between two looks, so that they are a PERIOD apart: on the wall,
    and for a paced run in the time that it shows."""

    steps: int = 1
    _last: tuple[int, float, float] | None = None

    def next(self, taken: int, t: float, wall: float, speed: float | None) -> int:
        """The number of steps until the next look. taken: steps so far; t, wall [s]: the time
        reached, and that on the wall."""
        if self._last is not None and taken > self._last[0]:
            steps = taken - self._last[0]
            passed = [wall - self._last[2]]
            if speed is not None:
                passed.append((t - self._last[1]) / speed)
            wanted = min(steps * PERIOD / max(one, 1e-9) for one in passed)
            self.steps = int(min(max(wanted, 1), 2 * self.steps, MOST_STEPS))
        return self.steps

    def rested(self, taken: int, t: float, wall: float) -> None:
        """Told after each look: the run goes on from here."""
        self._last = taken, t, wall

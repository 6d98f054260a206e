"""The times at which a run keeps samples: k * every, walked once."""

from __future__ import annotations

from fractions import Fraction


class Samples:
    """The grid of sample times k * every, walked once."""

    def __init__(self, start: Fraction, every: Fraction) -> None:
        self.every = every
        self.k = -(-start // every)  # the first grid time at or after start

    def due_at(self, t: Fraction) -> bool:
        return self.k * self.every == t

    def pass_by(self, t: Fraction) -> None:
        self.k = t // self.every + 1

    def within(self, a: Fraction, b: Fraction) -> list[Fraction]:
        """The grid times in [a, b) not yet passed; they count as passed from here on."""
        times = []
        while self.k * self.every < b:
            times.append(self.k * self.every)
            self.k += 1
        return times

    def back_to(self, t: Fraction) -> None:
        """Samples at t and after it are due again."""
        self.k = min(self.k, -(-t // self.every))

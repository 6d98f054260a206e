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

    def before(self, b: Fraction) -> list[Fraction]:
        """The grid times below b not yet passed; they count as passed from here on."""
        times = []
        while self.k * self.every < b:
            times.append(self.k * self.every)
            self.k += 1
        return times

    def within(self, a: Fraction, b: Fraction) -> list[Fraction]:
        """All grid times between a and b, passed or not."""
        first, last = a // self.every + 1, -(-b // self.every)
        return [k * self.every for k in range(first, last)]

"""The derivative of the largest distance of an attitude or position from its first value.

d = |r - r0|; of attitudes the angle a with |R - R0|_F = 2 sqrt(2) sin(a / 2) (see
`gauges.FromStart`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from spart_blocks.gradients.forward import Look
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.signal_tangents import SignalTangents
from spart_blocks.gradients.tangents import Floats

_NEAR = 1e-9
"""Sine and cosine of half the angle below which an attitude counts as not turned, or as turned by
half a turn."""


@dataclass
class Distance:
    """Collects the change of the distance. rotation: whether the signal is an attitude."""

    signal: SignalTangents
    rotation: bool
    _first: Floats = field(init=False)
    _dfirst: Floats = field(init=False)
    _way: Floats = field(init=False)
    _dway: Floats = field(init=False)
    _t: float = field(init=False)

    def begin(self, looks: list[Look]) -> None:
        """Note where it begins."""
        self._first, self._dfirst = self.signal.value(looks[-1]), self.signal.change(looks[-1])

    def farthest(self, looks: list[Look], fixed: bool) -> None:
        """Note where it is farthest. fixed: whether this time was given, and does not move."""
        ways = [self.signal.value(look) - self._first for look in looks]
        which = max(range(len(looks)), key=lambda k: (float(ways[k] @ ways[k]), k))
        look = looks[which]
        self._t, self._way = look.at.t, ways[which]
        self._dway = (self.signal.change if fixed else self.signal.moving)(look) - self._dfirst

    def change(self, largest: float) -> Floats:
        """The change (m,) of the distance. Raises NoGradientError where it has none."""
        chord = float(np.linalg.norm(self._way))
        size = float(np.abs(self._first).max(initial=0.0)) + chord
        half = 0.5 * largest if self.rotation else 0.0
        if chord <= _NEAR * size or math.cos(half) <= _NEAR:
            if not self._dway.any():
                return np.zeros(self._dway.shape[1])
            what = "turned by half a turn" if chord > _NEAR * size else "at its first value"
            text = f"{self.signal.signal} is {what} where it is farthest from it"
            raise NoGradientError(f"{text}: this distance has no derivative", time=self._t)
        by_chord = np.asarray(self._way @ self._dway / chord)
        return by_chord / (math.sqrt(2.0) * math.cos(half)) if self.rotation else by_chord

"""Norm and bandwidth of a linear system from its inputs to its outputs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spart_blocks.analysis.frequency.crossings import gain_crossings
from spart_blocks.analysis.frequency.peaks import norm
from spart_blocks.analysis.frequency.reading import Largest, Reading
from spart_blocks.analysis.frequency.response import Changes, Matrices
from spart_blocks.base.errors import RunError

DROP = 10 ** (-3 / 20)
"""The gain at the bandwidth, relative to that at 0: -3 dB."""


@dataclass(frozen=True, eq=False)
class Transfer:
    """A linear system from its inputs to its outputs, with its changes along m directions."""

    of: Matrices
    changes: Changes

    @cached_property
    def minimal(self) -> Matrices:
        return self.of.minimal

    def norm(self) -> Reading:
        """The largest gain over all frequencies (H-infinity norm)."""
        largest, w = norm(self.minimal)
        G, change = self.minimal.at(np.array([w]))[0], self.changes.at(self.of, w)
        changes, kink = Largest.of(G).changes(change)
        return Reading(largest, changes, w, kink)

    def bandwidth(self) -> Reading:
        """The lowest frequency [rad/s] at which the gain falls 3 dB below that at 0."""
        if self.of.D.shape != (1, 1):
            raise RunError("a bandwidth is that of one input and one output")
        G0 = complex(self.minimal.at(np.zeros(1))[0, 0, 0])
        if G0 == 0:
            raise RunError("the gain at frequency 0 is zero, and there is no bandwidth")
        crossings = gain_crossings(self.minimal, DROP * abs(G0))
        if not len(crossings):
            raise RunError("the gain never falls 3 dB below that at frequency 0")
        w = float(crossings[0])
        G = complex(self.minimal.at(np.array([w]))[0, 0, 0])
        rate = (complex(self.minimal.slope(w)[0, 0]) / G).real
        here = (self.changes.at(self.of, w)[:, 0, 0] / G).real
        there = (self.changes.at(self.of, 0.0)[:, 0, 0] / G0).real
        return Reading(w, (there - here) / rate, w)

"""The claims of `expect:` about signals, as a page judges them: limits of readings of a run."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.analysis.claims import gauge_of
from spart_blocks.diagram import Diagram
from spart_blocks.diagram.sections.expectations import OF_ANSWERS
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run.lane_meters import Meters
from spart_blocks.sweeps.verdicts import Verdicts

FREE = 1e300
"""Stands for no limit."""


@dataclass(frozen=True)
class PageClaim:
    """A claim. name: as in a sweep. judged: what is compared with low and high (m,): the `extremes`
    of each element, its `last` value, its `extent`, how far it went `back`, or the rise_time,
    settling_time or overshoot of its answer.
    """

    name: str
    signal: str
    judged: str
    gauge: Gauge
    low: tuple[float, ...]
    high: tuple[float, ...]

    def data(self, meters: Meters) -> dict[str, Any]:
        """The claim for a page; at: where the readings of each element begin, none
        where the step to be answered has another shape than the signal.
        """
        rows = meters.rows[meters.of[self.gauge]] if self.gauge in meters.of else ()
        return {
            "name": self.name,
            "signal": self.signal,
            "judged": self.judged,
            "falls": self.gauge.kind == "rising_back",
            "at": [row.at for row in rows],
            "low": list(self.low),
            "high": list(self.high),
        }


def claims_of(diagram: Diagram, program: Program) -> Iterator[PageClaim]:
    """The claims about signals of a diagram's section. Raises InputError for those that do not fit
    the signals.
    """
    section = diagram.sections.expect
    if section is None:
        return
    names = Verdicts(section, program).names
    for name, (keys, claim) in zip(names, section.claims(), strict=True):
        kind = str(keys[0])
        shape = entries(program, claim.signal).shape
        judged, low, high = _limits(kind, claim)
        yield PageClaim(
            name, claim.signal, judged, gauge_of(kind, claim), _wide(low, shape), _wide(high, shape)
        )


def _limits(kind: str, claim: Any) -> tuple[str, Any, Any]:
    """What a kind of claim is about, and its least and greatest values; None without."""
    if kind in ("settles", "final"):
        middle = np.asarray(claim.to if kind == "settles" else claim.value, dtype=float)
        judged = "extremes" if kind == "settles" else "last"
        return judged, middle - claim.within, middle + claim.within
    if kind == "stays_within":
        return "extremes", claim.low, claim.high
    if kind == "never_exceeds":
        limit = np.asarray(claim.limit, dtype=float)
        return "extremes", -limit, limit
    if kind in OF_ANSWERS:
        return kind, None, claim.limit
    return ("back" if kind == "monotone" else "extent"), None, claim.within


def _wide(value: Any, shape: tuple[int, ...]) -> tuple[float, ...]:
    """A value for each element of a signal of this shape."""
    if value is None:
        return ()
    given = np.broadcast_to(np.asarray(value, dtype=float), shape)
    limited = (math.copysign(min(abs(one), FREE), one) for one in given.ravel().tolist())
    return tuple(limited)

"""The structs of sb_loop.h, field by field, and the histograms of durations that they hold."""

from __future__ import annotations

import ctypes
import math
from dataclasses import dataclass
from enum import IntEnum
from functools import cache

import numpy as np
from numpy.typing import NDArray

BINS = 2304
MOST_WATCHED = 64
CAUSES = ("step", "links", "wake-up", "interrupt")
"""Causes of missed deadlines, in the order of sb_loop's counters."""
POLICIES = ("skip", "catch-up", "stop")

_WHOLE, _REAL, _POINTER = ctypes.c_longlong, ctypes.c_double, ctypes.c_void_p


class Phase(IntEnum):
    """The phase of a loop."""

    WAITING, RUNNING, ENDED = range(3)


class Ended(IntEnum):
    """The reason why a loop has ended."""

    NOT, DONE, ASKED, OVERRUN, MODEL_STOPPED, NOT_FINITE, TRIPPED, UNHEARD, FAULT = range(9)


WHY = {
    Ended.DONE: "it ran to its end",
    Ended.ASKED: "it was interrupted",
    Ended.OVERRUN: "a deadline was missed, and its policy is to stop",
    Ended.MODEL_STOPPED: "a STOP block ended it",
    Ended.NOT_FINITE: "a result was not a number",
    Ended.TRIPPED: "the watchdog saw no heartbeat and sent the safe outputs",
    Ended.UNHEARD: "no frame was received over a link while it waited",
    Ended.FAULT: "a block reported a fault",
    Ended.NOT: "it was not run",
}


def end_text(ended: Ended, fault: str) -> str:
    """The reason of an end, as text. fault: message of a fault that a block has reported."""
    return fault or WHY[ended]


class ModelStruct(ctypes.Structure):
    _fields_ = (
        *((name, _WHOLE) for name in ("nu", "ny", "np")),
        ("period_s", _REAL),
        *((name, _POINTER) for name in ("state", "output", "update", "init")),
    )


class HistogramStruct(ctypes.Structure):
    _fields_ = (("count", _WHOLE), ("max", _WHOLE), ("bins", _WHOLE * BINS))


class HeartbeatStruct(ctypes.Structure):
    _fields_ = (
        *((name, _WHOLE) for name in ("at_ns", "phase", "tripped")),
        ("sequences", _WHOLE * MOST_WATCHED),
    )


class RingStruct(ctypes.Structure):
    _fields_ = (
        ("data", _POINTER),
        *((name, _WHOLE) for name in ("rows", "streaming", "tail", "head", "dropped")),
    )


class LoopStruct(ctypes.Structure):
    _fields_ = (
        ("model", ModelStruct),
        *((name, _WHOLE) for name in ("nin", "nout")),
        *((name, _POINTER) for name in ("in_", "out", "heard", "u", "y")),
        ("tuned", _POINTER * 3),
        ("nfree", _WHOLE),
        ("free_inputs", _POINTER),
        *((name, RingStruct) for name in ("watched", "recorded")),
        *((name, _WHOLE) for name in ("policy", "ticks", "wait")),
        ("heartbeat", _POINTER),
        *((name, _WHOLE) for name in ("stop", "held", "anew", "phase", "ended")),
        *((name, _WHOLE) for name in ("tick", "steps", "skipped", "stale")),
        ("missed", _WHOLE * len(CAUSES)),
        *((name, _WHOLE) for name in ("begun_ns", "ended_ns", "cpu_ns")),
        *((name, _WHOLE) for name in ("cause", "front", "middle", "back", "tuning")),
        ("tunings", _WHOLE * 3),
        *((name, HistogramStruct) for name in ("latency", "shorter", "longer", "step", "response")),
    )


class MeansStruct(ctypes.Structure):
    _fields_ = tuple(
        (name, _WHOLE) for name in ("priority", "lock", "priority_error", "lock_error")
    )


MIRRORS: dict[str, type[ctypes.Structure]] = {
    "sb_model": ModelStruct,
    "sb_histogram": HistogramStruct,
    "sb_heartbeat": HeartbeatStruct,
    "sb_ring": RingStruct,
    "sb_loop": LoopStruct,
    "sb_means": MeansStruct,
}


# --- Histograms of durations ----------------------------------------------------------------------


NANO = 1e-9


@cache
def edges() -> NDArray[np.float64]:
    """The lower edges of the bins, and the upper edge of the last [s]: (BINS + 1,)."""
    starts = [b if b < 64 else (64 + b % 64) << (b // 64 - 1) for b in range(BINS + 1)]
    return np.array(starts, dtype=float) * NANO


@dataclass(frozen=True)
class Durations:
    """A histogram of durations. counts (BINS,): number of durations in each bin. longest: the
    longest duration [s].
    """

    counts: NDArray[np.int64]
    longest: float

    @staticmethod
    def of(struct: HistogramStruct) -> Durations:
        return Durations(np.array(struct.bins, dtype=np.int64), struct.max * NANO)

    @property
    def count(self) -> int:
        return int(self.counts.sum())

    def percentile(self, percent: float) -> float:
        """Percentile of the durations [s], within 1.6 %.

        NaN if there are none.
        """
        total = self.count
        if not total:
            return math.nan
        rank = max(1, math.ceil(total * percent / 100))
        bin_ = int(np.searchsorted(np.cumsum(self.counts), rank))
        return min(float(edges()[bin_ + 1]), self.longest)

    def together(self, other: Durations) -> Durations:
        """The durations of both, in one histogram."""
        return Durations(self.counts + other.counts, max(self.longest, other.longest))

    def between(self, low: float, high: float) -> int:
        """Number of durations in the bins whose lower edge is in [low, high) [s]."""
        starts = edges()[:-1]
        return int(self.counts[(starts >= low) & (starts < high)].sum())

    def rows(self) -> list[tuple[float, float, int]]:
        """(lower edge [s], upper edge [s], count) of each bin that is not empty."""
        bounds = edges()
        found = np.flatnonzero(self.counts).tolist()
        return [(float(bounds[b]), float(bounds[b + 1]), int(self.counts[b])) for b in found]

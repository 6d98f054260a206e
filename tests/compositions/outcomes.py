"""What an execution of a diagram gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np


@dataclass(frozen=True)
class Outcome:
    """What an execution gave. t (N,): times of rows, of which both sides of an instant are two.
    signals, final: arrays by name. readings: metrics. error: why it ended early. seconds: what it
    took."""

    name: str
    t: np.ndarray = field(default_factory=lambda: np.zeros(0))
    signals: Mapping[str, np.ndarray] = field(default_factory=dict)
    events: tuple[tuple[float, str, str], ...] = ()
    final: Mapping[str, np.ndarray] = field(default_factory=dict)
    readings: Mapping[str, float] = field(default_factory=dict)
    error: str = ""
    seconds: float = 0.0

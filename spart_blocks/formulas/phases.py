"""The phases of a condition: those of subsystems that are enabled, triggered or reset.

An enabling condition is on from STARTS to STOPS. A trigger goes from OFF to STOPS, where what it
runs is computed, and on to STEPS, where states take their new values. A reset goes to STARTS, and,
if states stay at their start, to ON. The functions work on numbers and symbols.
"""

from __future__ import annotations

from typing import Any

import numpy as np

OFF, STARTS, ON, STOPS, STEPS = 0.0, 1.0, 2.0, 3.0, 4.0


def is_phase(phase: Any, which: float) -> Any:
    """Whether a signal is this phase."""
    return np.abs(phase - which) < 0.5


def is_on(phase: Any) -> Any:
    """Whether a condition with this phase is on."""
    return np.logical_and(phase > OFF + 0.5, phase < STOPS + 0.5)

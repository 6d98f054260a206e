"""Time scalings: path parameter, rate and acceleration of a reference. Each works on numbers and on
symbols: segments are selected without branching.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.curves.piecewise import quintic
from spart_blocks.formulas.crossings import settled


class Scaling(NamedTuple):
    """s from 0 to 1, its rate [1/s] and its acceleration [1/s^2]."""

    s: Any
    rate: Any
    acceleration: Any


def rest_to_rest(t: Any, T: Any, duration: Any) -> Scaling:
    """A quintic from rest to rest between T and T + duration, with continuous acceleration."""
    s, rate, acceleration = quintic(np.clip((t - T) / duration, 0.0, 1.0))
    return Scaling(s, rate / duration, acceleration / (duration * duration))


def trapezoid(t: Any, marks: tuple[Any, Any, Any, Any]) -> Scaling:
    """Constant acceleration, cruise, and as much braking. marks [s]: where it starts, cruises,
    brakes and rests. Source: K. Lynch and F. Park, "Modern Robotics" (2017), 9.2.2.2."""
    t = settled(t)
    start, cruise, brake, end = marks
    rate = 1 / (brake - start)
    acceleration = rate / (cruise - start)
    x, left = np.maximum(t - start, 0.0), np.maximum(end - t, 0.0)
    speeding, cruising, braking = t < cruise, t < brake, t < end

    def chosen(first: Any, second: Any, third: Any, rest: Any) -> Any:
        return np.where(speeding, first, np.where(cruising, second, np.where(braking, third, rest)))

    started = np.where(t >= start, acceleration, 0.0)
    return Scaling(
        chosen(
            acceleration * x * x / 2,
            rate * (x - (cruise - start) / 2),
            1 - acceleration * left * left / 2,
            1.0,
        ),
        chosen(acceleration * x, rate, acceleration * left, 0.0),
        chosen(started, 0.0, -acceleration, 0.0),
    )


def run_up(t: Any, T: Any, rise: float) -> Scaling:
    """Time [s] since T, whose rate rises from 0 to 1 within rise [s] like `rest_to_rest`, so that
    its acceleration is continuous; it jumps for rise 0.
    """
    x = t - T
    if not rise:
        going = np.where(x >= 0, 1.0, 0.0)
        return Scaling(x * going, going, 0.0 * going)
    s = rest_to_rest(t, T, rise)
    part = np.clip(x / rise, 0.0, 1.0)
    risen = ((part - 3) * part + 2.5) * part * part * part * part
    return Scaling(rise * risen + np.maximum(x - rise, 0.0), s.s, s.rate)

"""How well a signal follows its reference, what a control costs, how a base is disturbed.

Functions of time t (N,) [s], a signal y (N,) and its reference r (N,), sampled at the same
times. Between samples a signal is taken as straight, so that integrals are trapezoids and
crossings are interpolated. A number that does not exist is NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

BAND = 0.02
"""Half the width of the settling band, as a part of the step."""
RISE = (0.1, 0.9)
"""The parts of the step between which the rise is timed."""
LEAST_STEP = 1e-3
"""A response that begins nearer to its reference than this part of its peak error has no
step of its own to answer."""


def integral(t: Floats, y: Floats, *, held: bool = False) -> float:
    """The integral of y over time, by trapezoids; held: y keeps each value until the next
    sample, as a zero-order hold does."""
    if held:
        return float(np.sum(y[:-1] * np.diff(t)))
    return float(np.sum(0.5 * (y[:-1] + y[1:]) * np.diff(t)))


def rms_error(t: Floats, y: Floats, r: Floats) -> float:
    """The root of the mean over time of (y - r)^2, in the unit of y. NaN where the times
    span nothing."""
    span = float(t[-1] - t[0]) if len(t) else 0.0
    return math.sqrt(integral(t, (y - r) ** 2) / span) if span > 0 else math.nan


def peak_error(y: Floats, r: Floats) -> float:
    """The largest |y - r|, in the unit of y."""
    return float(np.max(np.abs(y - r), initial=0.0))


def control_effort(t: Floats, u: Floats, *, held: bool = False) -> float:
    """The integral of u^2 over time, in (unit of u)^2 s.

    Source: the quadratic cost of the control in the linear regulator, with unit weight;
    Astrom and Murray, Feedback Systems (2nd ed.), section 7.5.
    """
    return integral(t, u**2, held=held)


def peak(u: Floats) -> float:
    """The largest |u|, in the unit of u."""
    return float(np.max(np.abs(u), initial=0.0))


def largest_rotation(R: Floats) -> float:
    """The largest angle [rad], in [0, pi], of the turn from the attitude R[0] to R[k].

    R (N,3,3): attitudes, body to inertial. By the chord |R - R[0]|_F = 2 sqrt(2)
    |sin(angle / 2)|, which is exact for small angles, where the arc cosine of the trace is not.
    Source: Hartley et al., Rotation Averaging, Int. J. Computer Vision 103 (2013), section 4.
    """
    if not len(R):
        return math.nan
    chord = np.sqrt(np.sum((R - R[0]) ** 2, axis=(1, 2)))
    return float(2.0 * np.arcsin(np.clip(np.max(chord) / math.sqrt(8.0), 0.0, 1.0)))


def largest_displacement(r: Floats) -> float:
    """The largest distance [m] from the position r[0]; r (N,3) [m]."""
    return float(np.max(np.linalg.norm(r - r[0], axis=1))) if len(r) else math.nan


# --- the answer to a step -------------------------------------------------------------------


@dataclass(frozen=True)
class StepResponse:
    """How a signal answers a step of its reference.

    rise_time [s]: from 10 % to 90 % of the step, each when first reached.
    settling_time [s]: from the step until the signal is within 2 % of the step around the
    reference and stays there; NaN where it does not by the end.
    overshoot_percent: how far it goes beyond the reference, in % of the step; 0 if it does
    not.
    The step is from the signal's value when the reference changes to the reference's value
    after it. A lasting error is thus no settling; MATLAB's stepinfo takes the signal's
    last value by default, and this with stepinfo(y, t, r_final, y_initial).

    Source: Astrom and Murray, Feedback Systems (2nd ed.), section 6.3 (step response, with
    10 to 90 % and 2 %); MATLAB's stepinfo.
    """

    rise_time: float
    settling_time: float
    overshoot_percent: float


NO_STEP = StepResponse(math.nan, math.nan, math.nan)


def step_response(t: Floats, y: Floats, r: Floats) -> StepResponse:
    """The answer of y to the last step of r, all NaN where there is no step.

    The step is where the reference jumps from one constant value to its last, or the first
    sample where the reference is constant and the signal starts elsewhere. A reference that
    still moves at the end, or that glides to its last value, has no step. The jump is seen
    at the first sample that has it: the step's time is known to one sampling interval.
    """
    start = last_jump(r)
    if start is None:
        return NO_STEP
    t, y, final = t[start:] - t[start], y[start:], float(r[-1])
    step = final - float(y[0])
    if abs(step) <= LEAST_STEP * peak_error(y, np.full_like(y, final)):
        return NO_STEP
    part = (y - y[0]) / step  # 0 at the step, 1 at the reference
    low, high = (_first_reach(t, part, level) for level in RISE)
    return StepResponse(
        rise_time=high - low,
        settling_time=_stays(t, part),
        overshoot_percent=100.0 * max(float(np.max(part)) - 1.0, 0.0),
    )


def last_jump(r: Floats) -> int | None:
    """The index of the first sample of the reference's last constant value, 0 where it never
    changes; None where it does not jump there from another constant value."""
    if not len(r) or not np.isfinite(r).all():
        return None
    moves = np.flatnonzero(np.abs(np.diff(r)) > 1e-9 * np.max(np.abs(r)))
    if not len(moves):
        return 0
    last = int(moves[-1])
    glides = last - 1 in moves
    at_the_end = last == len(r) - 2
    return None if glides or at_the_end else last + 1


def _first_reach(t: Floats, part: Floats, level: float) -> float:
    """When part first reaches the level, NaN if never."""
    above = np.flatnonzero(part >= level)
    if not len(above):
        return math.nan
    k = int(above[0])
    return float(t[0]) if k == 0 else _between(t, part, k - 1, level)


def _stays(t: Floats, part: Floats) -> float:
    """When part enters the band around 1 for good, NaN if it is outside at the end."""
    outside = np.flatnonzero(np.abs(part - 1.0) > BAND)
    if not len(outside):
        return float(t[0])
    k = int(outside[-1])
    if k == len(t) - 1:
        return math.nan
    return _between(t, part, k, 1.0 + math.copysign(BAND, part[k] - 1.0))


def _between(t: Floats, y: Floats, k: int, level: float) -> float:
    """The time between samples k and k + 1 at which the straight line meets the level."""
    part = (level - y[k]) / (y[k + 1] - y[k])
    return float(t[k] + part * (t[k + 1] - t[k]))

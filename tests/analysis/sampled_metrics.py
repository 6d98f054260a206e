"""Metrics by the gauges of a run, from samples: functions of time t (N,) [s], a signal y (N,) and
its reference r (N,), sampled at the same times. Between samples a signal is interpolated linearly.
Undefined metrics are NaN.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spart_blocks.analysis.comparison import rms
from spart_blocks.run.measure.gauges import NODES, FromStart, Integral, Panels, Readings, straight
from spart_blocks.run.measure.step_meter import StepAnswer

Floats = NDArray[np.float64]


def rms_error(t: Floats, y: Floats, r: Floats) -> float:
    """The root mean square of y - r over time, in the unit of y. NaN if the time span is zero."""
    return float(rms(_square(straight(t, (y - r)[:, None]))).item())


def peak_error(y: Floats, r: Floats) -> float:
    """The largest |y - r|, in the unit of y."""
    return float(np.max(np.abs(y - r), initial=0.0))


def control_effort(t: Floats, u: Floats, *, held: bool = False) -> float:
    """The integral of u^2 over time, in (unit of u)^2 s. held: u is constant between samples
    (zero-order hold).

    Source: the quadratic cost of the control in the linear regulator, with unit weight; Astrom and
    Murray, Feedback Systems (2nd ed.), section 7.5.
    """
    panels = straight(t, u[:, None])
    if held:
        panels = Panels(panels.start, panels.end, np.repeat(panels.y[:, :1], len(NODES), axis=1))
    return float(_square(panels)["integral"].item())


def _square(panels: Panels) -> Readings:
    meter = Integral(1, 2)
    meter.take(panels)
    return meter.read()


def peak(u: Floats) -> float:
    """The largest |u|, in the unit of u."""
    return float(np.max(np.abs(u), initial=0.0))


def largest_rotation(R: Floats) -> float:
    """The largest angle [rad], in [0, pi], of the rotation from R[0] to R[k]. R (N,3,3): attitudes,
    body to inertial; NaN without samples.
    """
    return _from_start(R.reshape(len(R), 9), rotation=True)


def largest_displacement(r: Floats) -> float:
    """The largest distance [m] from the position r[0]; r (N,3) [m]."""
    return _from_start(r, rotation=False)


def _from_start(y: Floats, *, rotation: bool) -> float:
    meter = FromStart(rotation)
    nodes = np.repeat(y[:, None], len(NODES), axis=1)  # the samples alone count
    times = np.arange(len(y), dtype=float)
    meter.take(Panels(times, times + 1.0, nodes))
    return float(meter.read()["largest"].item())


# --- the answer to a step -------------------------------------------------------------------


@dataclass(frozen=True)
class StepResponse:
    """Response of a signal to a step of its reference.

    rise_time [s]: from 10 % to 90 % of the step, each when first reached.
    settling_time [s]: from the step until the signal is within 2 % of the step around the
    reference and stays there; NaN where it does not by the end.
    overshoot_percent: largest excursion beyond the reference, in % of the step; at least 0.
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
    """The response of y to the last step of r, all NaN if there is no step. The step is where the
    reference jumps from one constant value to its last, or the first sample if the reference is
    constant and the signal starts elsewhere. A reference that still moves at the end, or approaches
    its last value continuously, has no step. The jump is seen
    at the first sample that has it: the step's time is known to one sampling interval.
    """
    if len(t) < 2 or not np.isfinite(r).all():
        return NO_STEP
    moves = np.abs(np.diff(r)) > 1e-9 * np.max(np.abs(r))
    if moves[-1]:
        return NO_STEP
    alone = moves & ~np.append(False, moves[:-1]) & ~np.append(moves[1:], False)
    panels, reference = straight(t, y[:, None]), straight(t, r[:, None]).y
    jumps = alone[np.flatnonzero(np.diff(t) > 0)]
    reference[jumps] = reference[jumps][:, :1]
    meter = StepAnswer(1)
    meter.take(Panels(panels.start, panels.end, np.concatenate([panels.y, reference], axis=2)))
    found = meter.read()
    return StepResponse(**{name: float(value.item()) for name, value in found.items()})

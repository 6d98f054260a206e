"""Metrics against closed forms, with bounds that follow from the sampling interval."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sampled_metrics import (
    control_effort,
    largest_displacement,
    largest_rotation,
    peak,
    peak_error,
    rms_error,
    step_response,
)

from spart_blocks.base.spatial import axis_angle_rotation


def sampled(y, end, step_at=0.0, n=20_001):
    """Times, y(t - step_at) after the step and 0 before, and the reference that jumps to 1."""
    t = np.linspace(0.0, end, n)
    after = t >= step_at
    return t, np.where(after, y(np.maximum(t - step_at, 0.0)), 0.0), np.where(after, 1.0, 0.0)


def first_order(tau):
    return lambda t: 1 - np.exp(-t / tau)


def second_order(zeta, omega=1.0):
    """The unit step response of omega^2 / (s^2 + 2 zeta omega s + omega^2), zeta < 1."""
    wd = omega * math.sqrt(1 - zeta**2)
    return lambda t: (
        1 - np.exp(-zeta * omega * t) * (np.cos(wd * t) + zeta * omega / wd * np.sin(wd * t))
    )


@given(st.floats(0.05, 2.0), st.floats(0.0, 3.0))
def test_a_first_order_lag_rises_in_ln9_and_settles_in_ln50_time_constants(tau, step_at):
    t, y, r = sampled(first_order(tau), step_at + 10 * tau, step_at)
    found = step_response(t, y, r)
    dt = t[1] - t[0]
    assert found.rise_time == pytest.approx(math.log(9) * tau, rel=1e-5)
    assert found.settling_time == pytest.approx(math.log(50) * tau, abs=1.01 * dt)
    assert found.overshoot_percent == 0


@given(st.floats(0.1, 0.9))
def test_a_second_order_response_overshoots_as_its_damping_says(zeta):
    found = step_response(*sampled(second_order(zeta), 60.0))
    expected = 100 * math.exp(-math.pi * zeta / math.sqrt(1 - zeta**2))
    assert found.overshoot_percent == pytest.approx(expected, rel=1e-4)


def test_settling_is_when_the_last_swing_enters_the_band():
    """zeta 0.5: the extremum at pi k / wd lies exp(-zeta pi k / sqrt(1 - zeta^2)) from 1:
    16 %, 2.7 %, 0.4 %. So the band is entered between the second and the third."""
    found = step_response(*sampled(second_order(0.5), 40.0))
    wd = math.sqrt(0.75)
    assert 2 * math.pi / wd < found.settling_time < 3 * math.pi / wd
    assert abs(second_order(0.5)(np.array(found.settling_time)) - 1) == pytest.approx(
        0.02, rel=1e-4
    )


@given(st.floats(-5, 5), st.floats(0.1, 10), st.sampled_from([-1, 1]))
def test_a_step_response_does_not_depend_on_offset_size_or_sign(offset, size, sign):
    t, y, r = sampled(second_order(0.4), 40.0, n=4001)
    plain = step_response(t, y, r)
    found = step_response(t, offset + sign * size * y, offset + sign * size * r)
    assert found.rise_time == pytest.approx(plain.rise_time, rel=1e-9)
    assert found.settling_time == pytest.approx(plain.settling_time, rel=1e-9)
    assert found.overshoot_percent == pytest.approx(plain.overshoot_percent, rel=1e-9)


def test_a_lasting_error_outside_the_band_is_no_settling():
    t, y, r = sampled(first_order(0.5), 10.0)
    found = step_response(t, 0.95 * y, r)
    assert math.isnan(found.settling_time)
    assert found.rise_time == pytest.approx(
        0.5 * math.log((1 - 0.1 / 0.95) / (1 - 0.9 / 0.95)), rel=1e-4
    )


def test_a_response_that_never_comes_near_has_no_rise():
    t, y, r = sampled(first_order(0.5), 10.0)
    assert math.isnan(step_response(t, 0.5 * y, r).rise_time)


T = np.linspace(0.0, 10.0, 1001)


@pytest.mark.parametrize(
    "reference",
    [
        np.sin(T),
        np.minimum(T, 5.0),  # glides to its last value
        np.where(T < 9.999, 0.0, 1.0),  # jumps at the last sample
        np.full_like(T, np.nan),
    ],
    ids=["sine", "ramp", "late", "nan"],
)
def test_a_reference_that_is_no_step_has_no_step_response(reference):
    found = step_response(T, 0.9 * np.nan_to_num(reference) + 0.01 * T, reference)
    assert math.isnan(found.rise_time)
    assert math.isnan(found.settling_time)
    assert math.isnan(found.overshoot_percent)


def test_a_signal_that_starts_at_its_constant_reference_has_no_step_to_answer():
    disturbed = 1e-6 + 0.1 * np.sin(T) ** 2
    assert math.isnan(step_response(T, disturbed, np.zeros_like(T)).overshoot_percent)


def test_a_constant_reference_is_a_step_from_where_the_signal_starts():
    y = 3.0 + 2.0 * np.exp(-T)
    found = step_response(T, y, np.full_like(T, 3.0))
    assert found.rise_time == pytest.approx(math.log(9), rel=1e-4)


def test_only_the_last_of_several_steps_counts():
    t, y, r = sampled(first_order(0.2), 10.0, 6.0)
    earlier = np.where((t >= 1.0) & (t < 6.0), -1.0, 0.0)
    found = step_response(t, y, r + earlier)
    assert found == step_response(t, y, r)
    assert found.settling_time == pytest.approx(0.2 * math.log(50), abs=2e-3)


def test_the_rms_of_a_sine_is_its_amplitude_over_root_two():
    t = np.linspace(0.0, 4 * math.pi, 5001)
    y = 3.0 * np.sin(t)
    assert rms_error(t, y, np.zeros_like(t)) == pytest.approx(3 / math.sqrt(2), rel=1e-6)
    assert peak_error(y, np.zeros_like(t)) == pytest.approx(3.0, rel=1e-6)


def test_the_rms_weighs_by_time_not_by_samples():
    t = np.concatenate([np.linspace(0, 1, 1001), np.linspace(1.001, 10, 101)])
    y = np.where(t <= 1, 1.0, 0.0)
    assert rms_error(t, y, np.zeros_like(t)) == pytest.approx(math.sqrt(0.1), rel=1e-3)


@given(st.floats(0.1, 10), st.floats(0.1, 5))
def test_the_effort_of_a_ramp_is_the_integral_of_its_square(slope, end):
    t = np.linspace(0, end, 2001)
    assert control_effort(t, slope * t) == pytest.approx(slope**2 * end**3 / 3, rel=1e-6)
    assert peak(-slope * t) == slope * t[-1]


def test_a_held_signal_keeps_each_value_until_the_next_sample():
    t, u = np.array([0.0, 1.0, 3.0]), np.array([2.0, -1.0, 5.0])
    assert control_effort(t, u, held=True) == 2.0**2 * 1 + 1.0**2 * 2
    # The squares of two straight lines: (a^2 + a b + b^2) / 3 times the length.
    straight = (4 - 2 + 1) / 3 * 1 + (1 - 5 + 25) / 3 * 2
    assert control_effort(t, u) == pytest.approx(straight, rel=1e-12)


@given(
    st.floats(1e-9, math.pi - 1e-3),
    st.tuples(*[st.floats(-1, 1)] * 3).filter(lambda v: np.linalg.norm(v) > 0.1),
    st.floats(-3, 3),
)
def test_the_largest_rotation_is_the_angle_turned_from_the_first_attitude(angle, axis, start):
    axis = np.array(axis) / np.linalg.norm(axis)
    first = axis_angle_rotation(np.array([0.0, 0.6, 0.8]), np.array([start]))
    turns = [first @ axis_angle_rotation(axis, np.array([part * angle])) for part in (0, 1, 0.4)]
    assert largest_rotation(np.array(turns)) == pytest.approx(angle, rel=1e-6, abs=1e-15)


def test_the_largest_displacement_is_from_the_first_position():
    r = np.array([[1.0, 1, 1], [1, 4, 5], [2, 1, 1]])
    assert largest_displacement(r) == 5.0

"""Filters by coefficients, averages, extremes, samples and counts: their recursions by hand."""

from __future__ import annotations

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy import signal

from spart_blocks.base.errors import InputError

CLOCK = bdsim.Clock(0.05)
SOS = signal.butter(3, 0.3, output="sos")
CASES = [
    ("FIR", {"coefficients": [0.5, 0.3, -0.2]}, [None]),
    ("FIR", {"coefficients": [0.5, 0.3], "u0": [0.1, 0.2]}, [2]),
    ("IIR", {"sections": SOS.tolist(), "width": 2}, [2]),
    ("MOVING_AVERAGE", {"N": 4, "u0": 0.5}, [None]),
    ("CUMULATIVE_MIN", {"width": 2}, [2, None]),
    ("CUMULATIVE_MAX", {}, [None, None]),
    ("SAMPLE_HOLD", {"initial": [0.1, 0.2]}, [2, None]),
    ("COUNTER", {"upper": 5}, [None, None]),
    ("COUNTER", {"upper": 9, "lower": -3, "overflow": "saturate"}, [None, None]),
]
U = np.random.default_rng(3).normal(size=40)


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_agrees_back_to_back(real, tmp_path):
    check_c(CASES, tmp_path, real)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def stepped(block, *columns):
    """What a block gives at the ticks for these inputs."""
    x, out = np.asarray(block._x0, dtype=float), []
    for inputs in zip(*columns, strict=True):
        after = np.asarray(block.next(0.0, list(inputs), x), dtype=float)
        out.append(block.output(0.0, list(inputs), x if block._feedthrough else after)[0])
        x = after
    return np.array(out)


def test_filters_are_those_of_scipy():
    taps = signal.firwin(7, 0.4)
    got = stepped(made("FIR", CLOCK, coefficients=taps), U)
    np.testing.assert_allclose(got, signal.lfilter(taps, 1.0, U), atol=1e-14)
    got = stepped(made("IIR", CLOCK, sections=SOS), U)
    np.testing.assert_allclose(got, signal.sosfilt(SOS, U), atol=1e-13)
    got = stepped(made("MOVING_AVERAGE", CLOCK, N=5), U)
    np.testing.assert_allclose(got, signal.lfilter(np.ones(5) / 5, 1.0, U), atol=1e-14)


def test_extremes_are_those_since_the_start_or_the_last_clear():
    clear = np.zeros(40)
    np.testing.assert_array_equal(
        stepped(made("CUMULATIVE_MAX", CLOCK), U, clear), np.maximum.accumulate(U)
    )
    clear[20] = 1.0
    want = [*np.minimum.accumulate(U[:20]), *np.minimum.accumulate(U[20:])]
    np.testing.assert_array_equal(stepped(made("CUMULATIVE_MIN", CLOCK), U, clear), want)


def test_a_sample_is_taken_where_the_trigger_rises():
    trigger = [0.0, 1.0, 2.0, 0.0, -1.0, 1.0]
    got = stepped(made("SAMPLE_HOLD", CLOCK, initial=9.0), np.arange(6.0), trigger)
    np.testing.assert_array_equal(got, [9.0, 1.0, 1.0, 1.0, 1.0, 5.0])


def test_a_counter_wraps_or_saturates_and_is_cleared():
    up, down = [1.0] * 5 + [0.0] * 5, [0.0] * 6 + [1.0] * 4
    clear = [0.0] * 10
    got = stepped(made("COUNTER", CLOCK, upper=3), up, down, clear)
    np.testing.assert_array_equal(got, [1, 2, 3, 0, 1, 1, 0, 3, 2, 1])
    clear[8] = 1.0
    got = stepped(made("COUNTER", CLOCK, upper=3, overflow="saturate"), up, down, clear)
    np.testing.assert_array_equal(got, [1, 2, 3, 3, 3, 3, 2, 1, 0, 0])


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("FIR", {"coefficients": [1.0]}, "coefficients must be 2 to 1000 numbers"),
        ("IIR", {"sections": [1.0, 2.0]}, "rows of six numbers"),
        ("IIR", {"sections": [1.0, 0.0, 0.0, 0.0, 1.0, 0.0]}, "a0, the fourth number"),
        ("MOVING_AVERAGE", {"N": 1}, "N must be a whole number from 2"),
        ("CUMULATIVE_MIN", {"width": -1}, "width must be a whole number"),
        ("SAMPLE_HOLD", {"initial": [1.0], "width": 2}, "initial has 1 entries and width has 2"),
        ("COUNTER", {"lower": 2}, "above initial"),
        ("COUNTER", {"upper": 1.5}, "upper must be a whole number"),
        ("COUNTER", {"overflow": "wrp"}, "did you mean 'wrap'"),
    ],
)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)

"""SECOND_ORDER_INTEGRATOR: where it meets and leaves its limits, in closed form, and in C."""

from __future__ import annotations

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError

KIND = "SECOND_ORDER_INTEGRATOR"
CASES = [
    (KIND, {"x0": 0.1, "v0": -0.2}, [None]),
    (KIND, {"upper": 0.4, "v_upper": 0.9, "v_lower": -0.5}, [None]),
    (KIND, {"lower": [-0.1, -0.2], "upper": 0.5, "v0": [0.2, -0.3]}, [2]),
    (KIND, {"v_upper": 0.5, "width": 2}, [2]),
]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_agrees_back_to_back(real, tmp_path):
    check_c(CASES, tmp_path, real)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_it_stays_at_its_limits_until_u_points_back(engine, bdsim_runtime):
    """u = 1 - t: v meets 0.375 at t = 0.5, x meets 0.25 before t = 1, where both leave."""
    bd = bdsim_runtime.blockdiagram(name="limited")
    u = bd.RAMP(0.0, slope=-1.0, off=1.0, name="u")
    both = bd.SECOND_ORDER_INTEGRATOR(v_upper=0.375, upper=0.25, lower=0.1, x0=0.1, name="both")
    rate = bd.SECOND_ORDER_INTEGRATOR(v_upper=0.375, name="rate")
    bd.connect(u, both, rate)
    log = ["both.x", "both.v", "rate.x", "rate.v"]
    results = sb.simulate(bd, T=2.0, engine=engine, log=log, every=0.01, rtol=1e-10, atol=1e-12)
    t = results.t
    back = np.maximum(t - 1.0, 0.0)
    free = t <= 0.5 + 1e-9
    v = np.where(free, t - t**2 / 2, 0.375 - back**2 / 2)
    at = 0.5**2 / 2 - 0.5**3 / 6
    x = np.where(free, t**2 / 2 - t**3 / 6, at + 0.375 * (t - 0.5) - back**3 / 6)
    np.testing.assert_allclose(results["rate.v"].ravel(), v, atol=1e-8)
    np.testing.assert_allclose(results["rate.x"].ravel(), x, atol=1e-8)
    met = 0.5 + (0.15 - at) / 0.375  # x from 0.1 to 0.25
    left = 1.0 + 0.9 ** (1 / 3)  # x back at 0.1
    inside = (t < met - 1e-6) | ((t > 1.0) & (t < left - 1e-6))
    v = np.where(t < met, v, -(back**2) / 2)
    x = np.where(t < met, 0.1 + x, 0.25 - back**3 / 6)
    np.testing.assert_allclose(results["both.v"].ravel()[inside], v[inside], atol=1e-8)
    np.testing.assert_allclose(results["both.x"].ravel()[inside], x[inside], atol=1e-8)
    for past, limit in (((t > met + 1e-6) & (t < 1.0 - 1e-6), 0.25), (t > left + 1e-6, 0.1)):
        assert past.any()
        np.testing.assert_array_equal(results["both.x"].ravel()[past], limit)
        np.testing.assert_array_equal(results["both.v"].ravel()[past], 0.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"lower": 1.0, "upper": 0.0}, "lower is 1.0, above upper"),
        ({"x0": 2.0, "upper": 1.0}, "x0 is 2.0, above upper"),
        ({"v0": -2.0, "v_lower": -1.0}, "v_lower is -1.0, above v0"),
        ({"upper": 1.0, "v_upper": 0.0}, "v_upper must be above 0 where x is limited"),
        ({"x0": [0.0, 0.0], "width": 3}, "x0 has 2 entries and width has 3"),
        ({"v0": "fast"}, "v0 must be a number"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(KIND, None, **given)

"""VARIABLE_DELAY: what comes out when, on both engines, in C and as an FMU."""

from __future__ import annotations

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu

import spart_blocks as sb
from spart_blocks.diagram.build.registry import find_type

ENGINES = ("interpreter", "native")
CASES = [
    ("VARIABLE_DELAY", {"max_delay": 0.33, "initial": 0.2}, [None, None]),
    ("VARIABLE_DELAY", {"max_delay": 0.5, "initial": [0.1, 0.2]}, [2, None]),
]


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


@pytest.fixture
def delayed(bdsim_runtime):
    """delayed(delay): t and sin(t) behind a formula of the delay, T = 0.1, at most 1.5 s."""

    def run(formula_of_delay, engine="native", kind="VARIABLE_DELAY", T=6.0, **given):
        bd = bdsim_runtime.blockdiagram(name="delays")
        block = getattr(bd, kind)(bd.clock(0.1, offset=0.03, name="clock"), initial=-3.0,
                                  name="delay", **given)  # fmt: skip
        time = bd.TIME(name="time")
        for k, text in enumerate(("sin(u)", formula_of_delay)[: block.nin]):
            formula = bd.FCN(f"{text} + 0*u", name=f"f{k}")
            bd.connect(time, formula)
            bd.connect(formula, block[k])
        results = sb.simulate(bd, T=T, engine=engine, every=0.0173, log=["delay"])
        return results.t, results["delay"]

    return run


@pytest.mark.parametrize("engine", ENGINES)
def test_a_constant_delay_is_a_transport_delay(delayed, engine):
    t, got = delayed("0.734", engine, max_delay=1.5)
    _, want = delayed("", engine, kind="TRANSPORT_DELAY", delay=0.734)
    away = np.abs((t - 0.03 - 0.734) / 0.1 - np.round((t - 0.03 - 0.734) / 0.1)) > 1e-6
    np.testing.assert_allclose(got[away], want[away], atol=1e-12)


@pytest.mark.parametrize("rate", [0.5, -0.3])
def test_a_delay_that_varies_is_within_its_bound(delayed, rate):
    t, got = delayed(f"1.0 + {rate}*sin(u)", max_delay=1.5)
    delay = 1.0 + rate * np.sin(t)
    later = t - delay > 0.03 + abs(rate) * 0.1
    error = np.abs(got - np.sin(t - delay))[later].max()
    assert error <= 0.1**2 / 8 + abs(rate) * 0.1
    assert error > 0.3 * abs(rate) * 0.1


def test_the_delay_is_limited_to_a_period_and_the_largest(delayed):
    for given, want in ((-1.0, 0.1), (0.0, 0.1), (99.0, 0.5)):
        t, got = delayed(str(given), max_delay=0.5)
        later = t > 0.03 + want + 1e-6
        assert np.abs(got - np.sin(t - want))[later].max() < 0.1**2 / 8
        np.testing.assert_array_equal(got[t < 0.03 + want - 1e-6], -3.0)


WRONG = {
    "max_delay must be at least its clock's period": {"max_delay": 0.05},
    "max_delay must be finite": {"max_delay": float("nan")},
    "it would hold": {"max_delay": 1e5},
    "initial must be finite": {"max_delay": 1.0, "initial": float("inf")},
}


@pytest.mark.parametrize("problem", WRONG)
def test_wrong_parameters_are_refused(bdsim_runtime, problem):
    clock = bdsim_runtime.blockdiagram(name="d").clock(0.1, name="clock")
    with pytest.raises(ValueError, match=problem):
        find_type("VARIABLE_DELAY").cls(clock, **WRONG[problem])

"""PID_2DOF and PID_2DOF_S: linear responses, windup and bumpless transfer in closed form."""

from __future__ import annotations

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy import signal

import spart_blocks as sb
from spart_blocks.base.errors import InputError

CLOCK = bdsim.Clock(0.05)
KINDS = ("PID_2DOF", "PID_2DOF_S")
GAINS = {"P": 1.5, "I": 2.0, "D": 0.3, "N": 8.0, "b": 0.6, "c": 0.2}
CASES = [
    case
    for kind in KINDS
    for case in (
        (kind, GAINS, [None, None]),
        (kind, {**GAINS, "lower": -0.7, "upper": [0.8, 0.5]}, [2, 2]),
        (kind, {**GAINS, "upper": 0.9, "lower": -3, "anti_windup": "clamping", "i0": 0.1},
         [None, None]),
        (kind, {"P": 0.5, "I": [1.0, 0.0], "upper": 2.0, "tracking": True, "Kt": 5.0}, [2, 2, 2]),
        (kind, {"I": 1.0, "lower": -0.5, "anti_windup": "none", "width": 2}, [2, 2]),
    )
]  # fmt: skip


def test_both_engines_run_alike(tmp_path):
    """To the tolerance of a step in which v grazes a limit, there and back."""
    check_engines(CASES, tmp_path, rel=1e-6)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_agrees_back_to_back(real, tmp_path):
    check_c(CASES, tmp_path, real)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


def loop(bdsim_runtime, plant, **given):
    """A step of the reference into a controller and a plant; the names r, pid, plant."""
    bd = bdsim_runtime.blockdiagram(name="loop")
    reference = bd.CONSTANT(1.0, name="r")
    pid = bd.PID_2DOF(**given, name="pid")
    process = plant(bd)
    bd.connect(reference, pid.r)
    bd.connect(process, pid.y)
    bd.connect(pid, process)
    return bd


def under_error(bdsim_runtime, e, **given):
    """A controller alone, under a constant error."""
    bd = bdsim_runtime.blockdiagram(name="alone")
    pid = bd.PID_2DOF(**given, name="pid")
    bd.connect(bd.CONSTANT(e, name="r"), pid.r)
    bd.connect(bd.CONSTANT(0.0, name="y"), pid.y)
    return bd


def test_a_step_of_the_reference_is_answered_as_scipy_has_it(bdsim_runtime):
    """y / r = C_r G / (1 + C_y G) with G = 1 / (s + 1)."""
    bd = loop(bdsim_runtime, lambda bd: bd.PT1(1.0, 1.0, name="plant"), **GAINS)
    results = sb.simulate(bd, T=6.0, log=["plant"], every=0.05, rtol=1e-10, atol=1e-12)
    P, I, D, N, b, c = GAINS.values()

    def numerator(b, c):  # of P b + I / s + D c N s / (s + N), over s (s + N)
        return np.array([P * b + D * N * c, P * b * N + I, I * N])

    closed = np.polyadd(np.polymul([1, N, 0], [1, 1]), numerator(1, 1))
    _, want = signal.step((numerator(b, c), closed), T=results.t)
    np.testing.assert_allclose(results["plant"].ravel(), want, atol=1e-8)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_the_integral_of_a_limited_output_goes_where_the_back_calculation_leads(
    engine, bdsim_runtime
):
    """i' = I e + Kb (upper - P e - i) under a constant error e."""
    P, I, Kb, upper, e = 2.0, 3.0, 4.0, 1.0, 1.5
    bd = under_error(bdsim_runtime, e, P=P, I=I, Kb=Kb, upper=upper)
    results = sb.simulate(bd, T=2.0, engine=engine, log=["pid"], every=0.1, rtol=1e-10, atol=1e-12)
    want = (upper - P * e + I * e / Kb) * (1 - np.exp(-Kb * results.t))
    np.testing.assert_allclose(results.states["pid"][:, 0], want, atol=1e-8)
    np.testing.assert_array_equal(results["pid"].ravel(), upper)


def test_clamping_stops_the_integral_and_never_turns_it_round(bdsim_runtime):
    """Until v is upper i = I e t; v then exceeds it by I e / Kb (1 - exp(-Kb t))."""
    given = {"P": 0.5, "I": 2.0, "upper": 1.0, "anti_windup": "clamping", "Kb": 50.0}
    bd = under_error(bdsim_runtime, 1.0, **given)
    results = sb.simulate(bd, T=2.0, log=["pid"], every=0.05, rtol=1e-10, atol=1e-12)
    later = np.maximum(results.t - 0.25, 0.0)
    want = np.minimum(2.0 * results.t, 0.5) + 2.0 / 50.0 * (1 - np.exp(-50.0 * later))
    np.testing.assert_allclose(results.states["pid"][:, 0], want, atol=1e-8)
    block = made("PID_2DOF", None, **given)
    assert block.deriv(0.0, [1.0, 0.0], np.array([9.0, 0.0]))[0] == 0.0
    assert block.deriv(0.0, [-1.0, 0.0], np.array([9.0, 0.0]))[0] == -2.0
    block = made("PID_2DOF_S", CLOCK, P=0.5, I=2.0, upper=1.0, anti_windup="clamping")
    assert block.next(0.0, [1.0, 0.0], np.array([9.0, 0.0]))[0] == 9.0
    assert block.next(0.0, [-1.0, 0.0], np.array([9.0, 0.0]))[0] == 8.9


def test_no_overshoot_grows_by_windup(bdsim_runtime):
    """An integrator as plant, an output limited to 0.1 (Advanced PID Control, ch. 3)."""
    peaks = {}
    for how in ("none", "back-calculation", "clamping"):
        given = {"P": 1.0, "I": 1.0, "lower": -0.1, "upper": 0.1, "anti_windup": how}
        bd = loop(bdsim_runtime, lambda bd: bd.INTEGRATOR(name="plant"), **given)
        peaks[how] = sb.simulate(bd, T=60.0, log=["plant"], rtol=1e-8)["plant"].max()
    free = loop(bdsim_runtime, lambda bd: bd.INTEGRATOR(name="plant"), P=1.0, I=1.0)
    linear = sb.simulate(free, T=60.0, log=["plant"], rtol=1e-8)["plant"].max()
    assert linear == pytest.approx(1.2984, abs=1e-2)
    assert peaks["none"] > 1.6
    assert peaks["back-calculation"] < linear
    assert peaks["clamping"] < linear


@pytest.mark.parametrize("kind", KINDS)
def test_it_takes_over_from_a_person_without_a_bump(kind):
    """While it tracks, v - tr settles at I e / Kt: so much is the bump."""
    given = {"P": 2.0, "I": 0.4, "Kt": 10.0, "tracking": True}
    block = made(kind, CLOCK, **given)
    x, manual, inputs = np.zeros(2), 0.7, [1.0, 0.5, 0.7]
    for _ in range(400):
        if kind.endswith("_S"):
            x = block.next(0.0, inputs, x)
        else:
            x = x + 0.01 * block.deriv(0.0, inputs, x)
    (u,) = block.output(0.0, inputs, x)
    assert u - manual == pytest.approx(0.4 * 0.5 / 10.0, abs=1e-12)
    bare = made(kind, CLOCK, P=2.0, I=0.4)
    assert abs(bare.output(0.0, inputs[:2], np.zeros(2))[0] - manual) == pytest.approx(0.3)


MANUAL = """
clocks: {{c: {{T: 0.05}}}}
blocks:
  r: {{type: CONSTANT, value: 1}}
  hand: {{type: CONSTANT, value: 0.7}}
  auto: {{type: STEP, T: 4.01, on: 1}}
  pid: {{type: PID_2DOF_S, clock: c, P: 2, I: 0.4, Kt: 10, tracking: {tracking}}}
  applied: {{type: SWITCH, threshold: 0.5}}
  before: {{type: UNIT_DELAY, clock: c}}
  plant: {{type: PT1, gain: 1, tau: 1}}
wires: [r -> pid.r, plant -> pid.y, pid -> applied.a, auto -> applied.control, hand -> applied.b,
        applied -> plant, applied -> before{wire}]
run: {{T: 20, every: 0.05, log: [applied, plant]}}
"""


def test_a_loop_is_closed_without_a_bump(tmp_path):
    bumps = {}
    for tracking, wire in (("true", ", before -> pid.tr"), ("false", "")):
        (tmp_path / "manual.yaml").write_text(MANUAL.format(tracking=tracking, wire=wire))
        results = sb.simulate(tmp_path / "manual.yaml", engine="interpreter")
        at = np.searchsorted(results.t, 4.01)
        u = np.ravel(results["applied"])
        bumps[tracking] = abs(u[at + 2] - u[at - 1])
        assert u[at - 1] == 0.7
        assert results["plant"][-1] == pytest.approx(1.0, abs=0.05)
    assert bumps["true"] < 0.03
    assert bumps["false"] > 0.3


def test_the_sampled_one_is_its_recursion():
    r, y = np.random.default_rng(5).normal(size=(2, 30))
    block, x, got = made("PID_2DOF_S", CLOCK, **GAINS, upper=0.8, Kb=3.0), np.zeros(2), []
    P, I, D, N, b, c = GAINS.values()
    i, z, want = 0.0, 0.0, []
    for one, other in zip(r, y, strict=True):
        got += block.output(0.0, [one, other], x)
        x = block.next(0.0, [one, other], x)
        d = (c * one - other - z) / (0.05 + 1 / N)
        v = P * (b * one - other) + i + D * d
        want.append(min(v, 0.8))
        i += 0.05 * (I * (one - other) + 3.0 * (want[-1] - v))
        z += 0.05 * d
    np.testing.assert_allclose(got, want, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("PID_2DOF", {"lower": 1.0, "upper": 0.0}, "lower is 1.0, above upper"),
        ("PID_2DOF", {"N": 0.0}, "N must be above zero"),
        ("PID_2DOF", {"Kb": -1.0}, "Kb must not be negative"),
        ("PID_2DOF", {"anti_windup": "clampng"}, "did you mean 'clamping'"),
        ("PID_2DOF", {"tracking": 1}, "tracking must be true or false"),
        ("PID_2DOF", {"P": [1.0, 2.0], "b": [1.0]}, "P has 2 entries and b has 1"),
        ("PID_2DOF", {"P": None}, "P must be finite"),
        ("PID_2DOF_S", {"Kb": 30.0}, "Kb must be at most 20 1/s"),
        ("PID_2DOF_S", {"Kt": 30.0, "tracking": True}, "Kt must be at most 20 1/s"),
    ],
)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)

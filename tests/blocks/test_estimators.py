"""Observers and Kalman filters of linear plants: their poles, the Riccati equation, and the noise
that they are made for.
"""

from __future__ import annotations

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy import linalg

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.block_support.estimation import packed, unpacked

T = 0.05
CLOCK = bdsim.Clock(T)
A, B, C = np.array([[0.0, 1.0], [-2.0, -0.3]]), np.array([[0.0], [1.5]]), np.array([[1.0, 0.2]])
PLANT = {"A": A.tolist(), "B": [0.0, 1.5], "C": [1.0, 0.2]}
NOISE = {"Q": [0.1, 0.3], "R": 0.05}
START = {"x0": [0.3, -0.2], "P0": [[2.0, 0.5], [0.5, 1.0]]}
TWO = {"C": [[1.0, 0.2], [0.0, 1.0]]}
CASES = [
    ("LUENBERGER", {**PLANT, "poles": ["-3+2j", "-3-2j"]}, [None, None]),
    ("LUENBERGER", {**PLANT, "D": 0.4, "L": [3.0, 4.0]}, [None, None]),
    ("LUENBERGER_S", {**PLANT, **TWO, "poles": [-3, -5]}, [None, 2]),
    ("DISTURBANCE_OBSERVER", {**PLANT, "poles": -4}, [None, None]),
    ("DISTURBANCE_OBSERVER_S", {**PLANT, "poles": -4, "d0": 0.3}, [None, None]),
    ("KALMAN", {**PLANT, **NOISE, **START}, [None, None]),
    ("KALMAN_S", {**PLANT, **NOISE, **START}, [None, None, None]),
    ("KALMAN_S", {**PLANT, **TWO, **START, "Q": 0.1, "R": [[0.1, 0.02], [0.02, 0.2]],
                  "D": [0.3, 0.0], "current": False}, [None, 2, None]),
]  # fmt: skip


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


# --- observers --------------------------------------------------------------------------------


def error_matrix(block, n):
    """How the error of an estimate moves: that of x^ with no inputs."""
    move = getattr(block, "next", getattr(block, "deriv", None))
    zero = [0.0, np.zeros(len(block.C)), 0.0][: block.nin]
    return np.array([move(0.0, zero, e) for e in np.eye(n)]).T


def test_the_poles_are_those_asked_for():
    poles = ["-3+2j", "-3-2j"]
    want = np.sort_complex(np.array([-3 + 2j, -3 - 2j]))
    got = np.linalg.eigvals(error_matrix(made("LUENBERGER", CLOCK, **PLANT, poles=poles), 2))
    np.testing.assert_allclose(np.sort_complex(got), want, atol=1e-12)
    got = np.linalg.eigvals(error_matrix(made("LUENBERGER_S", CLOCK, **PLANT, poles=poles), 2))
    np.testing.assert_allclose(np.sort_complex(got), np.sort_complex(np.exp(want * T)), atol=1e-12)
    several = made("LUENBERGER", CLOCK, **(PLANT | TWO), poles=[-3, -5])
    got = np.sort(np.linalg.eigvals(error_matrix(several, 2)).real)
    np.testing.assert_allclose(got, [-5, -3], atol=1e-10)


def test_repeated_poles_make_a_power_of_one_factor():
    """All poles at -4: (s + 4)^3."""
    block = made("DISTURBANCE_OBSERVER", CLOCK, **PLANT, poles=-4)
    np.testing.assert_allclose(np.poly(error_matrix(block, 3)), [1, 12, 48, 64], rtol=1e-12)
    block = made("DISTURBANCE_OBSERVER_S", CLOCK, **PLANT, poles=-4)
    want = np.poly(np.exp([-4 * T] * 3))
    np.testing.assert_allclose(np.poly(error_matrix(block, 3)), want, atol=1e-12)
    direct = made("LUENBERGER_S", CLOCK, **PLANT, poles=[0.5], method="none")
    np.testing.assert_allclose(np.poly(error_matrix(direct, 2)), [1, -1, 0.25], atol=1e-12)


PLANT_TEXT = """
clocks: {c: {T: 0.05}}
blocks:
  u: {type: WAVEFORM, wave: sine, freq: 0.3}
  d: {type: CONSTANT, value: 0.7}
  sum: {type: SUM, signs: "++"}
  plant: {type: STATE_SPACE, A: [[0, 1], [-2, -0.3]], B: [0, 1.5], C: [1, 0.2], x0: [1, -1]}
  hold: {type: ZOH, clock: c}
  x: {type: STATE_SPACE, A: [[0, 1], [-2, -0.3]], B: [0, 1.5], C: [[1, 0], [0, 1]], x0: [1, -1]}
  seen: {type: OBSERVER, A: [[0, 1], [-2, -0.3]], B: [0, 1.5], C: [1, 0.2], poles: -4}
wires: [u -> hold, hold -> sum.0, d -> sum.1, sum -> plant, sum -> x, INPUT -> seen.u,
        plant -> seen.y]
run: {T: 8, rtol: 1e-10, atol: 1e-12, every: 0.05, log: [x, seen.x_hat, seen.d_hat]}
"""


@pytest.mark.parametrize(
    ("kind", "source"), [("DISTURBANCE_OBSERVER", "hold"),
                         ("DISTURBANCE_OBSERVER_S, clock: c", "u")]
)  # fmt: skip
def test_the_disturbance_and_the_state_are_found(kind, source, tmp_path):
    text = PLANT_TEXT.replace("OBSERVER", kind).replace("INPUT", source)
    (tmp_path / "d.yaml").write_text(text)
    results = sb.simulate(tmp_path / "d.yaml", engine="interpreter")
    late = results.t > 6
    assert np.abs(results["seen.d_hat"][late] - 0.7).max() < 1e-6
    assert np.abs(results["seen.x_hat"][late] - results["x"][late]).max() < 1e-6


# --- Kalman filters -----------------------------------------------------------------------------


def test_the_covariance_ends_at_that_of_the_riccati_equation():
    block = made("KALMAN_S", CLOCK, **PLANT, **NOISE, **START)
    x = block._x0
    for _ in range(600):
        x = block.next(0.0, [0.0, 0.0, 0.0], x)
    Ad, _, _, _ = block.A, block.B, block.C, block.D
    want = linalg.solve_discrete_are(Ad.T, C.T, block.Q, block.R)
    np.testing.assert_allclose(unpacked(x[2:], 2), want, rtol=1e-10)
    steady = made("KALMAN_S", CLOCK, **PLANT, **NOISE, x0=[0.3, -0.2])
    late, ready = (
        b.output(0.0, [0.2, 0.7, 0.0], np.concatenate([[0.1, 0.2], x[2:]])[: b._x0.size])
        for b in (block, steady)
    )
    for a, b in zip(late, ready, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10)


def test_the_rate_of_the_covariance_vanishes_at_the_solution_of_the_riccati_equation():
    block = made("KALMAN", CLOCK, **PLANT, **NOISE, **START)
    P = linalg.solve_continuous_are(A.T, C.T, block.Q, block.R)
    rate = block.deriv(0.0, [0.0, 0.3], np.concatenate([[0.1, 0.2], packed(P)]))
    np.testing.assert_allclose(rate[2:], 0.0, atol=1e-13)
    steady = made("KALMAN", CLOCK, **PLANT, **NOISE)
    np.testing.assert_allclose(steady.deriv(0.0, [0.0, 0.3], np.array([0.1, 0.2])), rate[:2])


def test_the_process_noise_is_integrated_between_ticks():
    """A double integrator under white acceleration: Gelb (1974), sec. 3.5."""
    q = 0.7
    block = made("KALMAN_S", CLOCK, A=[[0, 1], [0, 0]], C=[1, 0], Q=[0.0, q], R=1.0)
    want = q * np.array([[T**3 / 3, T**2 / 2], [T**2 / 2, T]])
    np.testing.assert_allclose(block.Q, want, rtol=1e-12, atol=1e-18)


def test_innovations_are_white_and_of_their_covariance():
    """Of 1,500 samples of the plant with its noise, as of the theory: white, unit in the metric of
    C P C' + R, and the error of x within P (Bar-Shalom et al. (2001), sec. 5.4).
    """
    rng, count = np.random.default_rng(5), 1500
    block = made("KALMAN_S", CLOCK, **PLANT, **NOISE, **START)
    root_q, root_r = np.linalg.cholesky(block.Q), np.sqrt(block.R[0, 0])
    state, x, scaled, errors = np.array([0.3, -0.2]), block._x0, [], []
    for _ in range(count):
        S = (C @ unpacked(x[2:], 2) @ C.T + block.R)[0, 0]
        u = [rng.normal(), (C @ state)[0] + root_r * rng.normal(), 0.0]
        mean, P, e = block.output(0.0, u, x)
        scaled.append(e / np.sqrt(S))
        errors.append((state - mean) @ np.linalg.solve(P, state - mean))
        x = block.next(0.0, u, x)
        state = block.A @ state + block.B[:, 0] * u[0] + root_q @ rng.normal(size=2)
    scaled = np.array(scaled)
    bound = 4 / np.sqrt(count)  # four standard deviations
    assert abs(scaled.mean()) < bound
    assert abs(scaled.var() - 1) < bound * np.sqrt(2)
    assert abs(np.mean(scaled[1:] * scaled[:-1])) < bound
    assert abs(np.mean(errors) - 2) < 0.3  # errors of neighbouring ticks are related


def test_a_tick_without_a_measurement_only_predicts():
    block = made("KALMAN_S", CLOCK, **PLANT, **NOISE, **START)
    mean, P, e = block.output(0.0, [0.4, np.nan, 1.0], block._x0)
    np.testing.assert_array_equal(mean, START["x0"])
    np.testing.assert_array_equal(P, START["P0"])
    assert e == 0.0
    assert np.isfinite(block.next(0.0, [0.4, np.nan, 1.0], block._x0)).all()


def test_the_prediction_is_what_the_estimate_becomes():
    now = made("KALMAN_S", CLOCK, **PLANT, **NOISE, **START)
    before = made("KALMAN_S", CLOCK, **PLANT, **NOISE, **START, current=False)
    u = [0.4, 0.9, 0.0]
    x, z = now.next(0.0, u, now._x0), before.next(0.0, u, before._x0)
    mean, P, e = before.output(0.0, [None] * 3, z)
    np.testing.assert_array_equal(np.concatenate([mean, packed(P)]), x)
    assert e == now.output(0.0, u, now._x0)[2]


LOOP = """
clocks: {c: {T: 0.05}}
blocks:
  plant: {type: STATE_SPACE, A: [[0, 1], [2, 0]], B: [0, 1], C: [1, 0], x0: [0.3, 0]}
  seen: {type: KALMAN_S, clock: c, A: [[0, 1], [2, 0]], B: [0, 1], C: [1, 0], Q: 0.1, R: 0.01,
         current: false}
  ctrl: {type: LQR, K: [6, 4]}
wires: [plant -> seen.y, seen.x_hat -> ctrl.x, ctrl -> seen.u, ctrl -> plant]
run: {T: 3, every: 0.05, rtol: 1e-11, atol: 1e-13, log: [plant, seen.x_hat]}
"""


def test_a_filter_that_predicts_closes_a_loop(tmp_path):
    """As the matrices have it: u(k) = -K x^(k|k-1), held until the next tick."""
    (tmp_path / "loop.yaml").write_text(LOOP)
    results = sb.simulate(tmp_path / "loop.yaml")
    assert results.info["engine"] == "native"
    system = {"A": [[0, 1], [2, 0]], "B": [0, 1], "C": [1, 0]}
    block = made("KALMAN_S", CLOCK, **system, Q=0.1, R=0.01, current=False)
    state, x = np.array([0.3, 0.0]), block._x0
    for k in range(60):
        np.testing.assert_allclose(results["plant"][k], state[0], atol=1e-9)
        u = -np.array([6.0, 4.0]) @ x[:2]
        x = block.next(0.0, [u, state[0], 0.0], x)
        state = block.A @ state + block.B[:, 0] * u


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("LUENBERGER", PLANT, "it takes L or poles"),
        ("LUENBERGER", {**PLANT, "L": [1.0, 2.0], "poles": -1}, "it takes L or poles"),
        ("LUENBERGER", {**PLANT, "L": [1.0, 2.0, 3.0]}, r"L must have shape \(2, 1\)"),
        ("LUENBERGER", {**PLANT, "poles": [-1, -2, -3]}, "poles has 3 entries"),
        ("LUENBERGER", {**PLANT, "poles": ["-1+2j", -2]}, "conjugate pairs"),
        ("LUENBERGER", {"A": np.eye(2), "C": [1, 0], "poles": -1}, "cannot be placed"),
        ("LUENBERGER", {"A": np.eye(3), "C": np.eye(2, 3), "poles": -1}, "cannot be placed"),
        ("LUENBERGER_S", {**PLANT, "poles": -1, "method": "tustin"}, "method must be one of"),
        ("DISTURBANCE_OBSERVER", {"A": A, "C": C, "poles": -1}, "it takes B or E"),
        ("DISTURBANCE_OBSERVER", {**PLANT, "E": [1, 2, 3], "poles": -1}, "E must have 2 rows"),
        ("DISTURBANCE_OBSERVER", {**PLANT, "d0": [1, 2], "poles": -1}, "d0 has shape"),
        ("KALMAN", {**PLANT, "Q": -1.0, "R": 1.0}, "Q is not positive semidefinite"),
        ("KALMAN", {**PLANT, "Q": 1.0, "R": 0.0}, "R is not positive definite"),
        ("KALMAN", {**PLANT, "Q": [[1, 2], [3, 4]], "R": 1.0}, "Q is not symmetric"),
        ("KALMAN", {**PLANT, "Q": [1, 2, 3], "R": 1.0}, "Q has shape"),
        ("KALMAN_S", {"A": np.eye(2), "C": [1, 0], "Q": 0.1, "R": 1.0}, "no steady filter"),
        ("KALMAN", {"A": np.zeros((2, 2)), "C": [1, 0], "Q": 0.1, "R": 1.0}, "no steady filter"),
        ("KALMAN_S", {"A": np.eye(101), "C": np.eye(101), "Q": 1, "R": 1}, "at most 100"),
    ],
)  # fmt: skip
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)

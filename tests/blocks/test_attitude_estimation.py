"""Estimators of attitude: Riccati's equation, the errors that their covariance predicts, and
convergence from wrong attitudes and biases.
"""

from __future__ import annotations

import bdsim
import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made
from scipy.integrate import solve_ivp
from scipy.linalg import expm, solve_discrete_are
from scipy.spatial.transform import Rotation

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.estimation import unpacked
from spart_blocks.blocks.attitude_estimation import _transition

T = 0.1
CLOCK = bdsim.Clock(T)
MEKF = {"gyro_noise": 1e-3, "bias_noise": 1e-4, "q_noise": [1e-3, 1e-3, 5e-3]}
REFERENCES = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.3]]
CASES = [
    ("MEKF_S", {"gyro_noise": 0.1, "bias_noise": 0.2, "q_noise": [0.1, 0.2, 0.1], "P0": 0.5,
                "bias0": [0.1, 0.0, -0.1]}, [3, 4, None, 3, 3]),
    ("MAHONY_FILTER", {"references": REFERENCES, "weights": [1.0, 0.5]}, [3, 3, 3]),
    ("MAHONY_FILTER_S", {"references": REFERENCES[:1]}, [3, 3, 3]),
    ("COMPLEMENTARY_FILTER", {"tau": 0.5}, [None, None]),
    ("COMPLEMENTARY_FILTER", {"tau": [0.5, 0.2], "y0": 0.3}, [2, 2]),
    ("COMPLEMENTARY_FILTER_S", {"tau": 0.5}, [None, None]),
]  # fmt: skip


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path, rel=1e-6)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


# --- the multiplicative filter ------------------------------------------------------------------


def test_errors_move_as_the_matrix_exponential_says():
    """delta' = -omega x delta - beta, beta' = 0: Markley and Crassidis (2014), eq. 6.74."""
    for omega in (np.array([0.3, -1.2, 0.5]), np.zeros(3), np.array([1e-9, 0, 0])):
        a, b, c = omega
        rate = np.zeros((6, 6))
        rate[:3, :3] = -np.array([[0, -c, b], [c, 0, -a], [-b, a, 0]])
        rate[:3, 3:] = -np.eye(3)
        np.testing.assert_allclose(_transition(omega, T), expm(rate * T), atol=1e-12)


def test_at_rest_its_covariance_ends_at_that_of_the_riccati_equation():
    block = made("MEKF_S", CLOCK, **MEKF)
    x, nothing = block._x0, [np.zeros(3), np.array([0.0, 0, 0, 1]), 1.0, np.zeros(3), np.zeros(3)]
    for _ in range(1200):
        x = block.next(0.0, nothing, x)
    C, R = np.eye(3, 6), np.diag(np.array(MEKF["q_noise"]) ** 2)
    want = solve_discrete_are(_transition(np.zeros(3), T).T, C.T, block._noise(T), R)
    np.testing.assert_allclose(unpacked(x[7:], 6), want, rtol=1e-8, atol=1e-20)


def measured(rng, count, sigma_q, gyro_noise, bias_noise):
    """A turning body: true rotations, and what a gyro and a star tracker say of it."""
    R, bias, rows = Rotation.from_rotvec([0.3, -0.2, 0.5]), np.array([0.01, -0.02, 0.015]), []
    for k in range(count):
        omega = np.array([0.1 * np.sin(0.05 * k), 0.05, -0.08 * np.cos(0.03 * k)])
        seen = omega + bias + gyro_noise / np.sqrt(T) * rng.normal(size=3)
        q = (R * Rotation.from_rotvec(sigma_q * rng.normal(size=3))).as_quat()
        rows.append((R, bias, seen, q * (-1) ** k))
        R = R * Rotation.from_rotvec(omega * T)
        bias = bias + bias_noise * np.sqrt(T) * rng.normal(size=3)
    return rows


@pytest.mark.parametrize("instrument", ["tracker", "vectors"])
def test_its_errors_are_those_that_its_covariance_says(instrument):
    """The normalised error squared of 6 states is 6 in the mean (Bar-Shalom et al. (2001), 5.4)."""
    rng = np.random.default_rng(7)
    sigma = np.array(MEKF["q_noise"])
    block = made("MEKF_S", CLOCK, **MEKF, vector_noise=2e-3, q0=[0.1, -0.05, 0.2, 0.9734],
                 P0=[0.1] * 3 + [1e-3] * 3)  # fmt: skip
    x, found = block._x0, []
    for k, (R, bias, omega, q) in enumerate(measured(rng, 400, sigma, 1e-3, 1e-4)):
        reference = np.eye(3)[k % 3] * 5.0
        body = R.as_matrix().T @ reference + 5.0 * 2e-3 * rng.normal(size=3)
        if instrument == "tracker":
            inputs = [omega, q, float(k % 2), np.zeros(3), np.zeros(3)]
        else:
            inputs = [omega, np.zeros(4), 0.0, body, reference]
        R_hat, rate, drift, variance = block.output(0.0, inputs, x)
        np.testing.assert_allclose(R_hat @ R_hat.T, np.eye(3), atol=1e-14)
        np.testing.assert_allclose(rate + drift, omega, atol=1e-15)
        P = block._corrected(inputs, x)[2]
        np.testing.assert_allclose(variance, np.diag(P), atol=1e-18)
        error = np.concatenate([(Rotation.from_matrix(R_hat).inv() * R).as_rotvec(), bias - drift])
        found.append(error @ np.linalg.solve(P, error))
        x = block.next(0.0, inputs, x)
    assert 4.5 < np.mean(found[100:]) < 7.5


def test_without_a_measurement_it_follows_the_gyro():
    block = made("MEKF_S", CLOCK, **MEKF)
    x, omega = block._x0, np.array([0.3, -0.2, 0.4])
    for _ in range(20):
        x = block.next(0.0, [omega, np.zeros(4), 0.0, np.zeros(3), np.zeros(3)], x)
    want = Rotation.from_rotvec(omega * 20 * T).as_quat()
    np.testing.assert_allclose(x[:4], want, atol=1e-12)
    assert np.diag(unpacked(x[7:], 6))[0] > 0.01  # it has grown


# --- complementary filters ----------------------------------------------------------------------


def test_attitude_and_bias_are_found_from_two_vectors():
    """From 1 rad off, with a bias, on a body that turns; both errors decay."""
    block = made("MAHONY_FILTER", CLOCK, references=REFERENCES, kp=2.0, ki=1.0,
                 q0=Rotation.from_rotvec([1.0, 0, 0]).as_quat())  # fmt: skip
    bias, spin = np.array([0.1, -0.05, 0.2]), np.array([0.2, 0.3, -0.1])

    def seen(t):
        back = Rotation.from_rotvec(-spin * t)
        return [spin + bias, *(3.0 * back.apply(row) for row in REFERENCES)]

    run = solve_ivp(lambda t, x: block.deriv(t, seen(t), x), (0, 40), block._x0, rtol=1e-9,
                    atol=1e-11)  # fmt: skip
    R, omega, drift = block.output(40.0, seen(40.0), run.y[:, -1])
    np.testing.assert_allclose(R, Rotation.from_rotvec(spin * 40).as_matrix(), atol=1e-5)
    np.testing.assert_allclose(drift, bias, atol=1e-5)
    np.testing.assert_allclose(omega, spin, atol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(block.project(run.y[:, -1])[:4]), 1.0, atol=1e-15)


def test_the_sampled_filter_finds_them_too_and_is_exact_without_errors():
    given = {"references": REFERENCES, "kp": 2.0, "ki": 1.0}
    block = made("MAHONY_FILTER_S", CLOCK, **given, q0=Rotation.from_rotvec([1, 0, 0]).as_quat())
    true = made("MAHONY_FILTER_S", CLOCK, **given)
    bias, spin = np.array([0.1, -0.05, 0.2]), np.array([0.2, 0.3, -0.1])
    x, z = block._x0, true._x0
    for k in range(500):
        back = Rotation.from_rotvec(-spin * T * k)
        vectors = [back.apply(row) for row in REFERENCES]
        x = block.next(0.0, [spin + bias, *vectors], x)
        z = true.next(0.0, [spin, *vectors], z)
    want = Rotation.from_rotvec(spin * T * 500).as_matrix()
    np.testing.assert_allclose(block.output(0, [spin, *vectors], x)[0], want, atol=1e-6)
    np.testing.assert_allclose(x[4:], bias, atol=1e-6)
    np.testing.assert_allclose(true.output(0, [spin, *vectors], z)[0], want, atol=1e-11)


def test_an_error_about_one_axis_decays_as_the_linear_filter():
    """Of a small angle about x, with one vector along z: angle' = -kp angle."""
    block = made("MAHONY_FILTER", CLOCK, references=[0, 0, 1], kp=2.0, ki=0.0)
    turned = Rotation.from_rotvec([1e-4, 0, 0]).as_matrix().T @ [0, 0, 1]
    rate, _ = block._rates([np.zeros(3), turned, np.zeros(3)], block._x0[:4], np.zeros(3))
    np.testing.assert_allclose(rate, [2e-4, 0, 0], atol=1e-10)
    rate, _ = block._rates([np.zeros(3)] * 3, block._x0[:4], np.zeros(3))
    np.testing.assert_array_equal(rate, 0.0)


def test_an_offset_of_the_rate_leaves_tau_times_it():
    block = made("COMPLEMENTARY_FILTER", CLOCK, tau=0.5)
    assert abs(block.deriv(0, [0.2, 3.0], np.array([3.0 + 0.5 * 0.2]))) < 1e-15
    sampled = made("COMPLEMENTARY_FILTER_S", CLOCK, tau=0.5)
    x = np.array([0.0])
    for _ in range(400):
        x = sampled.next(0, [0.2, 3.0], x)
    np.testing.assert_allclose(x, 3.1, atol=1e-12)
    ramp = np.array([0.0])
    for k in range(1, 50):  # a rate and a value that belong together pass unchanged
        ramp = sampled.next(0, [2.0, 2.0 * k * T], ramp)
    np.testing.assert_allclose(ramp, 2.0 * 49 * T, atol=1e-12)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("MEKF_S", {**MEKF, "gyro_noise": -1.0}, "gyro_noise must not be negative"),
        ("MEKF_S", {**MEKF, "q_noise": 0.0}, "q_noise must be above zero"),
        ("MEKF_S", {**MEKF, "q0": [1, 1, 0, 0]}, "q0 has length 1.41"),
        ("MEKF_S", {**MEKF, "P0": [1, 2, 3]}, "P0 has shape"),
        ("MAHONY_FILTER", {"references": [[0, 0, 0]]}, "references takes one or two rows"),
        ("MAHONY_FILTER", {"references": [1, 2]}, "references takes one or two rows"),
        ("MAHONY_FILTER", {"references": [0, 0, 1], "kp": 0.0}, "kp must be above zero"),
        ("COMPLEMENTARY_FILTER", {"tau": 0.0}, "tau must be above zero"),
        ("COMPLEMENTARY_FILTER_S", {"tau": [1.0, 2.0], "y0": [1.0]}, "tau has 2 entries"),
    ],
)
def test_wrong_parameters_are_refused(kind, given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(kind, CLOCK, **given)

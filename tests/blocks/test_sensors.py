"""Sensors: their errors by statistics and by formulas, latency and outages, on every engine."""

from __future__ import annotations

import dynamic_blocks
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base.errors import InputError

ENGINES = ("native", "interpreter")
STILL = np.zeros(6)


class Clock:
    """What a sensor needs of bdsim's clock."""

    def __init__(self, T):
        self.T, self.offset = T, 0.0


def records(kind, inputs, ticks, T=0.1, **given):
    """Outputs (ticks, ...) after each tick of a sensor on its own; inputs: constant, or of t."""
    import bdsim

    block = dynamic_blocks.made(kind, bdsim.Clock(T), **given)
    x, found = block._x0.copy(), []
    for k in range(ticks):
        at = inputs(k * T) if callable(inputs) else inputs
        x = block.next(k * T, at, x)
        found.append([np.copy(y) for y in block.output(k * T, at, x)])
    return [np.array(column) for column in zip(*found, strict=True)]


def allan(rates, T, m):
    """The overlapping Allan variance of rates (ticks,) after the time m T: IEEE 952, eq. C.4."""
    angle = T * np.append(0.0, np.cumsum(rates))
    second = angle[2 * m :] - 2 * angle[m:-m] + angle[: -2 * m]
    return np.mean(second**2) / (2 * (m * T) ** 2)


TICKS = 6_000
MANY = np.random.default_rng(0).normal(size=(20, 3))
"""So many gyros at once. A test on numbers of a fixed seed holds or not, today and always."""


def test_a_gyro_has_the_allan_variance_of_its_coefficients():
    T, N, K, G, Tc = 0.1, 2e-3, 1e-4, 4e-3, 20.0
    given = {
        "axes": MANY,
        "noise": N,
        "random_walk": K,
        "instability": G,
        "correlation_time": Tc,
        "seed": 3,
    }
    y, valid = records("GYRO", [STILL, 0.0], TICKS, T, **given)
    assert valid.all()
    for m in (1, 5, 20, 100, 400):
        tau = m * T
        markov = 1 - Tc / (2 * tau) * (3 - 4 * np.exp(-tau / Tc) + np.exp(-2 * tau / Tc))
        want = N**2 / tau + K**2 * tau / 3 + 2 * G**2 * Tc / tau * markov
        got = np.mean([allan(rates, T, m) for rates in y.T])
        assert got == pytest.approx(want, rel=3.5 * np.sqrt(2 * m / y.size) + 0.01), tau


def test_angle_random_walk_falls_with_the_root_of_time_and_rate_random_walk_grows():
    (walk, _) = records("GYRO", [STILL, 0.0], TICKS, axes=MANY, random_walk=1e-3)
    (white, _) = records("GYRO", [STILL, 0.0], TICKS, axes=MANY, noise=1e-3)
    for y, slope in ((walk, 0.5), (white, -0.5)):
        deviation = [np.sqrt(np.mean([allan(a, 0.1, m) for a in y.T])) for m in (4, 256)]
        assert np.log(deviation[1] / deviation[0]) / np.log(64) == pytest.approx(slope, abs=0.05)


def test_a_gyro_has_its_bias_scale_misalignment_range_and_resolution():
    E = np.array([[0, 0.01, -0.02], [0.03, 0, 0.01], [0, -0.01, 0]])
    w = np.array([0.1, -0.2, 0.3])
    given = {"bias": [0.01, 0.02, -0.03], "scale": 0.1, "misalignment": E}
    (y, _) = records("GYRO", [np.append(w, np.zeros(3)), 0.0], 1, **given)
    np.testing.assert_allclose(y[0], 1.1 * (np.eye(3) + E) @ w + given["bias"], atol=1e-15)
    (y, _) = records("GYRO", [np.append(w, np.zeros(3)), 0.0], 1, resolution=0.07, limit=0.25)
    np.testing.assert_allclose(y[0], [0.07, -0.21, 0.28])
    (y, _) = records("GYRO", [np.append(w, np.zeros(3)), 0.0], 1, axes=[[1, 1, 1]])
    np.testing.assert_allclose(y[0], [w.sum() / np.sqrt(3)])


def test_an_accelerometer_measures_what_a_point_of_the_base_feels():
    R0 = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    rng = np.random.default_rng(0)
    u0, u0dot, g, p = rng.normal(size=6), rng.normal(size=6), rng.normal(size=3), rng.normal(size=3)
    (y, _) = records("ACCELEROMETER", [R0, u0, u0dot, g, 0.0], 1, position=p)
    # The second derivative of r0 + R0(t) p, by differences.
    w, a = R0 @ u0[:3], R0 @ u0dot[:3]

    def at(t):
        turn = Rotation.from_rotvec(w * t + a * t * t / 2).as_matrix()
        return u0dot[3:] * t * t / 2 + turn @ R0 @ p

    h = 1e-3
    second = (at(h) - 2 * at(0) + at(-h)) / h**2
    np.testing.assert_allclose(y[0], R0.T @ (second - g), atol=1e-5)


def test_an_imu_is_a_gyro_and_an_accelerometer():
    rng = np.random.default_rng(1)
    R0 = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    inputs = [R0, rng.normal(size=6), rng.normal(size=6), rng.normal(size=3), 0.0]
    E = 0.01 * rng.normal(size=(6, 3))
    same = {"resolution": 0.01, "latency": 1, "outages": [[0.25, 0.35]]}
    pairs = {"bias": (0.1, 0.3), "scale": (0.01, 0.02), "limit": (0.5, 2.0)}
    given = {name: list(pair) for name, pair in pairs.items()} | {"misalignment": E, **same}
    rate, force, valid = records("IMU", inputs, 6, position=[1, 2, 3], **given)
    one = [{name: pair[k] for name, pair in pairs.items()} | same for k in (0, 1)]
    gyro, seen = records("GYRO", [inputs[1], 0.0], 6, misalignment=E[:3], **one[0])
    given = {"position": [1, 2, 3], "misalignment": E[3:]}
    accelerometer, _ = records("ACCELEROMETER", inputs, 6, **given, **one[1])
    np.testing.assert_allclose(rate, gyro, atol=1e-14)
    np.testing.assert_allclose(force, accelerometer, atol=1e-14)
    np.testing.assert_array_equal(valid, seen)


def test_noise_and_drifts_of_an_imu_are_of_each_of_its_sensors():
    given = {"noise": [1e-3, 1e-2], "instability": [2e-3, 3e-2], "correlation_time": [5.0, 0.5]}
    inputs = [np.eye(3), STILL, STILL, np.zeros(3), 0.0]
    rate, force, _ = records("IMU", inputs, 20_000, seed=5, **given)
    for y, N, G, Tc in ((rate, 1e-3, 2e-3, 5.0), (force, 1e-2, 3e-2, 0.5)):
        assert y.var() == pytest.approx(N**2 / 0.1 + G**2, rel=0.05)
        later = np.mean(y[1:] * y[:-1])
        assert later == pytest.approx(G**2 * np.exp(-0.1 / Tc), rel=0.1)


def test_a_magnetometer_measures_the_field_in_base_axes():
    R0 = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    field = np.array([1e-5, -2e-5, 3e-5])
    (y, _) = records("MAGNETOMETER", [field, R0, 0.0], 4_000, noise=1e-7, seed=1)
    np.testing.assert_allclose(y.mean(axis=0), R0.T @ field, atol=4 * 3.2e-7 / np.sqrt(4_000))
    np.testing.assert_allclose(y.std(axis=0), 1e-7 / np.sqrt(0.1), rtol=0.04)


def test_a_star_tracker_is_worse_about_its_boresight():
    R0 = Rotation.from_rotvec([2.0, -1.5, 0.8])
    boresight = np.array([0.6, 0.0, 0.8])
    given = {"across": 1e-4, "about": 1e-3, "boresight": 2 * boresight, "seed": 2}
    quat, _ = records("STAR_TRACKER", [R0.as_matrix(), STILL, np.zeros(3), 0.0], 5_000, **given)
    assert quat[:, 3].min() >= 0
    turn = (R0.inv() * Rotation.from_quat(quat)).as_rotvec()
    about = turn @ boresight
    across = turn - about[:, None] * boresight
    assert about.std() == pytest.approx(1e-3, rel=0.05)
    assert np.sqrt((across**2).sum(axis=1).mean() / 2) == pytest.approx(1e-4, rel=0.05)


@pytest.mark.parametrize(
    ("rate", "sun", "valid"),
    [(0.01, [0, 0, 0], 1), (0.03, [0, 0, 0], 0), (0.0, [1, 0, 1], 1), (0.0, [0.4, 0, 1], 0)],
)
def test_a_star_tracker_is_blind_in_fast_turns_and_near_the_sun(rate, sun, valid):
    inputs = [np.eye(3), np.array([0, rate, 0, 1, 1, 1.0]), np.array(sun, float), 0.0]
    found = records("STAR_TRACKER", inputs, 1, rate_limit=0.02, exclusion=0.5)
    assert found[1][0] == valid


def test_a_sun_sensor_sees_within_its_field_and_with_its_noise():
    R0 = Rotation.from_rotvec([0.3, -0.2, 0.5]).as_matrix()
    sun = np.array([3.0, -4.0, 5.0])
    want = R0.T @ sun / np.linalg.norm(sun)
    direction, valid = records("SUN_SENSOR", [sun, R0, 0.0], 5_000, noise=1e-3, seed=4)
    assert valid.all()
    np.testing.assert_allclose(np.linalg.norm(direction, axis=1), 1.0, atol=1e-14)
    off = np.linalg.norm(direction - want, axis=1)
    assert np.sqrt(np.mean(off**2) / 2) == pytest.approx(1e-3, rel=0.05)
    angle = np.arccos(want[2])
    for field, sees in ((angle + 0.01, 1), (angle - 0.01, 0)):
        assert records("SUN_SENSOR", [sun, R0, 0.0], 1, field_of_view=field)[1][0] == sees
    assert records("SUN_SENSOR", [0 * sun, R0, 0.0], 1)[1][0] == 0


def test_a_receiver_has_its_noise_and_its_drift():
    r, u0 = np.array([7e6, 0.0, 0.0]), np.array([0, 0, 0, 0.0, 7500.0, 0.0])
    given = {"noise_r": 2.0, "noise_v": [0.1, 0.2, 0.3], "drift": 5.0, "correlation_time": 2.0}
    found, v, _ = records("GNSS", [r, u0, 0.0], 8_000, seed=6, **given)
    off = (found - r)[1000:]
    np.testing.assert_allclose(off.std(axis=0), np.sqrt(29), rtol=0.08)
    later = np.mean(off[20:] * off[:-20])
    assert later == pytest.approx(25 * np.exp(-1.0), rel=0.2)
    np.testing.assert_allclose((v - u0[3:]).std(axis=0), [0.1, 0.2, 0.3], rtol=0.04)


def test_an_encoder_counts():
    y, rate, count, _ = records(
        "ENCODER", lambda t: [0.3 * t - 0.5, 0.0], 40, resolution=0.01, offset=0.003
    )
    q = 0.3 * np.arange(40) * 0.1 - 0.5
    np.testing.assert_array_equal(count, np.floor((q - 0.003) / 0.01))
    np.testing.assert_allclose(y, 0.003 + 0.01 * count, atol=1e-15)
    assert rate[0] == 0
    np.testing.assert_allclose(rate[1:], np.diff(y) / 0.1, atol=1e-12)


def test_latency_and_outages_hold_the_value_and_say_so():
    def inputs(t):
        return [np.array([t, 0, 0, 0, 0, 0]), 1.0 if 1.35 < t < 1.55 else 0.0]

    y, valid = records("GYRO", inputs, 20, latency=2, outages=[[0.45, 0.75]])
    t = 0.1 * np.arange(20)
    out = ((t >= 0.45) & (t < 0.75)) | ((t > 1.35) & (t < 1.55))
    last = np.array([t[: k + 1][~out[: k + 1]][-1] for k in range(20)])
    np.testing.assert_allclose(y[2:, 0], last[:-2], atol=1e-14)
    np.testing.assert_array_equal(valid, np.append([0, 0], np.where(out, 0, 1)[:-2]))


# --- every engine, and what is wrong -----------------------------------------------------------

CASES = [
    ("GYRO", {"noise": 1e-2, "random_walk": 1e-2, "instability": 1e-2, "correlation_time": 2,
              "resolution": 1e-3, "latency": 2, "outages": [[0.3, 0.6]]}, [6, None]),
    ("ACCELEROMETER", {"position": [1, 2, 3], "noise": 0.1, "limit": 5, "axes": [[1, 0, 1]]},
     ["R0", 6, 6, 3, None]),
    ("IMU", {"position": [1, 2, 3], "noise": [0.1, 0.2], "instability": 0.1, "scale": [0.1, 0.2],
             "correlation_time": [1, 2], "latency": 1, "misalignment": [[0.0, 0.1, 0.2]] * 6},
     ["R0", 6, 6, 3, None]),
    ("MAGNETOMETER", {"noise": 0.1, "bias": 0.1, "axes": [[0, 1, 1]]}, [3, "R0", None]),
    ("STAR_TRACKER", {"across": 0.1, "about": 0.2, "rate_limit": 2.5, "exclusion": 0.5},
     ["R0", 6, 3, None]),
    ("SUN_SENSOR", {"noise": 0.1, "field_of_view": 2.0}, [3, "R0", None]),
    ("GNSS", {"noise_r": 1.0, "drift": 1.0, "correlation_time": 1.0}, [3, 6, None]),
    ("ENCODER", {"resolution": [0.1, 0.2]}, [2, None]),
]  # fmt: skip


def test_both_engines_exported_c_and_an_fmu_give_the_same(tmp_path):
    (tmp_path / "cases.yaml").write_text(dynamic_blocks.diagram_of(CASES))
    diagram = sb.load(tmp_path / "cases.yaml")
    native, blocks = (sb.simulate(diagram, engine=engine) for engine in ENGINES)
    for name in native.signals:
        assert np.ptp(native[name], axis=0).min() > 1e-3, name
    dynamic_blocks.assert_same_results(native, blocks, rel=1e-9)
    part = dynamic_blocks.subdiagram_of(tmp_path / "cases.yaml", [])
    dynamic_blocks.check_exports(part, tmp_path)


@pytest.mark.parametrize(
    ("kind", "given", "told"),
    [
        ("GYRO", {"noise": -1.0}, "noise must not be negative"),
        ("GYRO", {"noise": [1.0, 2.0]}, "one for each of 3"),
        ("GYRO", {"instability": 1.0}, "give correlation_time"),
        ("GYRO", {"resolution": 0.0}, "resolution must be above zero"),
        ("GYRO", {"latency": 1.5}, "whole number from 0 to 1000"),
        ("GYRO", {"outages": [1.0, 2.0]}, "pairs of times"),
        ("GYRO", {"outages": [[2.0, 1.0]]}, "pairs of times"),
        ("IMU", {"noise": [1.0, 2.0, 3.0]}, "one for each of 6"),
        ("GYRO", {"seed": -1}, "seed must be a whole number"),
        ("STAR_TRACKER", {"exclusion": 4.0}, "at most 3.14159"),
        ("STAR_TRACKER", {"boresight": [0, 0, 0]}, "it has no direction"),
        ("SUN_SENSOR", {"field_of_view": 0.0}, "above zero"),
        ("GNSS", {"drift": 1.0}, "come together"),
        ("ENCODER", {"resolution": 0.0}, "resolution must be above zero"),
    ],
)
def test_wrong_parameters_are_told(kind, given, told):
    with pytest.raises((ValueError, InputError)) as caught:
        dynamic_blocks.made(kind, Clock(0.1), **given)
    assert told in str(caught.value)

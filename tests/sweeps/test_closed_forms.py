"""Sweeps against closed forms: covariances of linear systems, and Ishigami's Sobol indices."""

from __future__ import annotations

import math

import numpy as np
from scipy import linalg, stats

import spart_blocks as sb
from spart_blocks.sweeps.statistics import ConfidenceSequence

RUNS, POINTS = 500, 128

# Released at rest with random states: x(T) = exp(A T) x(0).
RELEASED = """
name: released
blocks:
  A: {type: GAIN, K: [[0, 1, 0], [-4, -0.4, 1], [0, -0.5, -0.2]], premul: true}
  x: {type: INTEGRATOR, x0: [0, 0, 0]}
wires: [x -> A, A -> x]
run: {T: 2, solver: RK45, rtol: 1.0e-8, log: [x]}
"""
# An oscillator driven by numbers that are drawn and held at 10 Hz, until it is stationary.
DRIVEN = """
name: driven
clocks: {computer: {rate: 10}}
blocks:
  w: {type: NOISE, clock: computer, std: 2.0}
  spring: {type: GAIN, K: -4.0}
  damper: {type: GAIN, K: -0.8}
  force: {type: SUM, signs: "+++"}
  v: {type: INTEGRATOR}
  q: {type: INTEGRATOR}
wires:
  - w -> force.0
  - spring -> force.1
  - damper -> force.2
  - force -> v
  - v -> q, damper
  - q -> spring
run: {T: 15, solver: RK45, rtol: 1.0e-7, log: [q, v]}
"""
# y(1) = sin(x1) + 7 sin(x2)^2 + 0.1 x3^4 sin(x1), the sines by oscillators of frequencies x1, x2.
ISHIGAMI = """
name: ishigami
blocks:
  x1: {type: CONSTANT, value: 0}
  x2: {type: CONSTANT, value: 0}
  x3: {type: CONSTANT, value: 0}
  s1: {type: INTEGRATOR}
  c1: {type: INTEGRATOR, x0: 1}
  s2: {type: INTEGRATOR}
  c2: {type: INTEGRATOR, x0: 1}
  ds1: {type: PROD, ops: "**"}
  dc1: {type: PROD, ops: "**"}
  ds2: {type: PROD, ops: "**"}
  dc2: {type: PROD, ops: "**"}
  back1: {type: GAIN, K: -1}
  back2: {type: GAIN, K: -1}
  square: {type: POW, p: 2}
  a: {type: GAIN, K: 7}
  fourth: {type: POW, p: 4}
  both: {type: PROD, ops: "**"}
  b: {type: GAIN, K: 0.1}
  y: {type: SUM, signs: "+++"}
wires:
  - x1 -> ds1.0, dc1.0
  - x2 -> ds2.0, dc2.0
  - c1 -> ds1.1
  - s1 -> dc1.1, y.0, both.0
  - c2 -> ds2.1
  - s2 -> dc2.1, square
  - ds1 -> s1
  - dc1 -> back1
  - back1 -> c1
  - ds2 -> s2
  - dc2 -> back2
  - back2 -> c2
  - square -> a
  - a -> y.1
  - x3 -> fourth
  - fourth -> both.1
  - both -> b
  - b -> y.2
run: {T: 1, solver: RK45, rtol: 1.0e-8, log: [y]}
"""


def written(folder, text):
    path = folder / "diagram.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def unlikely(samples, covariance):
    """The probability of samples (n, d) as far from this covariance, and a mean of zero, by the
    likelihood ratio, whose distribution is known for large n (Anderson, An Introduction to
    Multivariate Statistical Analysis, 3rd ed., 10.9)."""
    n, d = samples.shape
    mean = samples.mean(axis=0)
    spread = (samples - mean).T @ (samples - mean) / n
    ratio = np.linalg.solve(covariance, spread)
    far = np.trace(ratio) - np.linalg.slogdet(ratio)[1] - d
    far += mean @ np.linalg.solve(covariance, mean)
    return stats.chi2.sf(n * far, d * (d + 1) / 2 + d)


def test_random_initial_states_spread_as_the_transition_matrix_says(tmp_path):
    start = np.array([[1.0, 0.3, 0.0], [0.3, 0.5, -0.2], [0.0, -0.2, 0.4]])
    found = sb.sweep(
        written(tmp_path, RELEASED),
        {"x.x0": {"normal": {"mean": [0, 0, 0], "covariance": start.tolist()}}},
        runs=RUNS,
        seed=3,
        metrics={f"x{k}": f"final(x[{k}])" for k in range(3)},
    )
    samples = np.column_stack([found[f"x{k}"] for k in range(3)])
    move = linalg.expm(2 * np.array([[0, 1, 0], [-4, -0.4, 1], [0, -0.5, -0.2]]))
    begun = np.column_stack([found[f"x.x0[{k}]"] for k in range(3)])
    np.testing.assert_allclose(samples, begun @ move.T, rtol=1e-5, atol=1e-6)
    assert unlikely(samples, move @ start @ move.T) > 0.01
    assert unlikely(samples, 1.4 * move @ start @ move.T) < 0.001  # a negative control


def test_sampled_noise_spreads_states_as_lyapunovs_equation_says(tmp_path):
    found = sb.sweep(
        written(tmp_path, DRIVEN),
        runs=RUNS,
        seed=4,
        metrics={"q": "final(q)", "v": "final(v)"},
    )
    samples = np.column_stack([found["q"], found["v"]])
    A, B = np.array([[0.0, 1.0], [-4.0, -0.8]]), np.array([[0.0], [1.0]])
    held = linalg.expm(0.1 * np.block([[A, B], [np.zeros((1, 3))]]))
    move, push = held[:2, :2], held[:2, 2:]
    covariance = linalg.solve_discrete_lyapunov(move, 4.0 * push @ push.T)
    left = np.linalg.matrix_power(move, 150)  # of the state at rest, after 150 numbers
    assert np.linalg.norm(left) < 0.01
    assert unlikely(samples, covariance) > 0.01
    assert unlikely(samples, 1.4 * covariance) < 0.001


def test_ishigamis_indices_through_a_diagram(tmp_path):
    uniform = {"uniform": {"low": -math.pi, "high": math.pi}}
    found = sb.sweep(
        written(tmp_path, ISHIGAMI),
        {f"x{k}.value": uniform for k in (1, 2, 3)},
        runs=POINTS,
        design="saltelli",
        seed=5,
        metrics={"y": "final(y)"},
    )
    assert len(found) == POINTS * 5
    x = np.column_stack([found[f"x{k}.value"] for k in (1, 2, 3)])
    value = np.sin(x[:, 0]) * (1 + 0.1 * x[:, 2] ** 4) + 7 * np.sin(x[:, 1]) ** 2
    np.testing.assert_allclose(found["y"], value, atol=1e-5)
    got = found.sobol("y")
    first = 0.5 * (1 + 0.1 * math.pi**4 / 5) ** 2
    second, both = 49 / 8, 8 * 0.01 * math.pi**8 / 225
    variance = first + second + both
    for ends, parts in (
        (got.first_interval, (first, second, 0.0)),
        (got.total_interval, (first + both, second, both)),
    ):
        low, high = ends.T
        assert np.all((low <= np.array(parts) / variance) & (np.array(parts) / variance <= high))
    assert got.points == POINTS


def test_a_sweep_stops_when_its_interval_is_narrow(tmp_path):
    """x(0) is normal and y = x: with |x| < 1.2816 a run passes with a probability of 0.8."""
    text = """
name: threshold
blocks:
  zero: {type: CONSTANT, value: 0}
  x: {type: INTEGRATOR, x0: 0}
wires: [zero -> x]
run: {T: 0.1, log: [x]}
expect:
  stays_within: [{signal: x, low: -1.2815516, high: 1.2815516}]
"""
    found = sb.sweep(
        written(tmp_path, text),
        {"x.x0": {"normal": {"mean": 0, "sd": 1}}},
        runs=5000,
        seed=6,
        until=0.16,
    )
    passed = found["passed"].astype(bool)
    np.testing.assert_array_equal(passed, np.abs(found["x.x0"]) < 1.2815516)
    assert 100 < len(found) < 600
    end = ConfidenceSequence(aim=0.16).update(passed.sum(), len(passed) - passed.sum())
    assert end.low < 0.8 < end.high
    assert end.width <= 0.16

"""Rodas3, linearly implicit in equal steps, in every engine: its order, what is stiff, events."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import expm

import spart_blocks as sb

RODAS = {"solver": "Rodas3"}
PENDULUM = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  v: {type: INTEGRATOR, x0: 0.3}
  f: {type: FCN, expression: "-sin(x)*(1 + cos(t)) - v**3", arguments: [x, v]}
wires: [x -> f.x, v -> f.v, f -> v, v -> x]
run: {T: 2}
"""


def end(results):
    return np.array([results["states.x"][-1, 0], results["states.v"][-1, 0]])


def test_its_order_is_three_where_rates_depend_on_time_and_bend(load, engine):
    best = end(sb.simulate(load(PENDULUM), solver="DOP853", rtol=1e-13, atol=1e-13, every=2))
    errors = [
        np.abs(end(sb.simulate(load(PENDULUM), engine=engine, max_step=h, every=2, **RODAS)) - best)
        for h in (0.05, 0.025)
    ]
    assert np.log2(errors[0].max() / errors[1].max()) == pytest.approx(3, abs=0.2)


def test_stiff_linear_systems_agree_with_the_matrix_exponential(load):
    """Of eight states, with rates from 1 to 1e7 per second and an oscillation, in steps of 2 ms."""
    n, T = 8, 0.5
    zeros = np.zeros((n, n)).tolist()
    text = (
        "blocks:\n"
        "  zero: {type: CONSTANT, value: 0.0}\n"
        f"  plant: {{type: STATE_SPACE, A: {zeros}, B: {[[0.0]] * n}, C: {np.eye(n).tolist()}, "
        f"x0: {[1.0] * n}}}\n"
        "wires: [zero -> plant]\n"
    )
    program = sb.trace(load(text))
    for seed in range(20):
        random = np.random.default_rng(seed)
        V = random.normal(size=(n, n)) + 3 * np.eye(n)
        D = np.diag([-1.0, -1.0, *-(10.0 ** random.uniform(0, 7, n - 2))])
        D[0, 1], D[1, 0] = 9.0, -9.0
        A, x0 = V @ D @ np.linalg.inv(V), random.normal(size=n)
        one = program.with_parameters({"plant.A": A, "plant.x0": x0})
        results = sb.simulate(one, T=T, max_step=0.002, every=T, **RODAS)
        off = results["states.plant"][-1] - expm(A * T) @ x0
        assert np.abs(off).max() < 2e-7 * np.linalg.cond(V) * np.linalg.norm(x0), seed
        assert results.info["steps"] == 250


DECAY = """
blocks:
  x: {type: INTEGRATOR, x0: 2.0}
  f: {type: FCN, expression: "-1.0e+6*(x - cos(t)) - sin(t)", arguments: [x]}
wires: [x -> f.x, f -> x]
run: {T: 1}
"""


def test_between_the_ends_of_a_step_states_go_between_what_they_are_there(load, engine):
    """x = cos t + exp(-1e6 t): a cubic with the slope at the start would reach -12000."""
    for h in (0.1, 0.05):
        results = sb.simulate(load(DECAY), engine=engine, max_step=h, every=h / 10, **RODAS)
        x, t = results["states.x"][:, 0], results.t
        assert (np.diff(x[t < h * (1 + 1e-9)]) < 0).all()
        line = h**2 / 8  # what a straight line between the ends misses
        assert np.abs(x - np.cos(t))[t > 0.299].max() < 0.7 * line


EVENTFUL = """
blocks:
  x: {type: INTEGRATOR, x0: 1.0}
  clock: {type: TIME}
  relay: {type: RELAY, on: 0.1234, off: 0.0, on_value: 1.0, off_value: 0.0}
  f: {type: FCN, expression: "-1.0e+6*(x - cos(t) - u) - sin(t)", arguments: [x, u]}
wires: [clock -> relay, relay -> f.u, x -> f.x, f -> x]
run: {T: 0.3}
"""


def test_a_step_cut_at_a_crossing_leaves_stiff_states_where_they_are(load, engine):
    results = sb.simulate(load(EVENTFUL), engine=engine, max_step=0.05, every=0.01, **RODAS)
    x, t = results["states.x"][:, 0], results.t
    assert np.abs(x - np.cos(t))[t < 0.1234].max() < 1e-3
    settled = 0.1234 + (0.3 - 0.1234) / 4  # after one of four equal steps
    assert (np.diff(x[(t > 0.1234) & (t < settled)]) > 0).all()
    assert np.abs(x - 1 - np.cos(t))[t > settled].max() < 1e-3
    assert x[-1] == pytest.approx(1 + np.cos(0.3), abs=1e-6)


def test_steps_that_end_at_ticks_and_limits_are_those_of_other_methods(load, engine):
    text = """
clocks: {c: {T: 0.1}}
blocks:
  y: {type: INTEGRATOR, x0: 0.0, max: 0.4, min: -0.2}
  z: {type: INTEGRATOR, x0: 0.0}
  f: {type: FCN, expression: "-300*(z - 4*cos(5*t) - u)", arguments: [z, u]}
  hold: {type: ZOH, clock: c}
wires: [f -> z, z -> f.z, z -> y, y -> hold, hold -> f.u]
run: {T: 2}
"""
    found = sb.simulate(load(text), engine=engine, every=0.05, max_step=0.005, **RODAS)
    other = sb.simulate(load(text), every=0.05, solver="RK45", rtol=1e-9, atol=1e-11)
    assert np.abs(found["states.y"] - other["states.y"]).max() < 1e-4
    assert len(found.events) == len(other.events)


def test_a_gradient_refuses_it(load):
    with pytest.raises(sb.InputError, match="repeats explicit steps"):
        sb.gradient(load(PENDULUM), of="final(x)", by="x.x0", **RODAS)

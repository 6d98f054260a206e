"""Limits are met exactly: a saturating integrator and a CLIP bend where they should."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

# The input is 1 up to t = 3, then -1: x = t up to its limit at 1.5, leaves it at once.
LIMITED = """
blocks:
  u: {type: STEP, T: 3.0, on: -1.0, off: 1.0}
  x: {type: INTEGRATOR, x0: 0.0, max: 1.5, min: -0.25}
wires: [u -> x]
"""

# x = sin t, clipped at 0.5, and its integral.
CLIPPED = """
blocks:
  s: {type: WAVEFORM, wave: sine, freq: 1.0, unit: rad/s}
  clip: {type: CLIP, min: -0.5, max: 0.5}
  area: {type: INTEGRATOR}
wires: [s -> clip, clip -> area]
"""


ENGINES = [("native", "RK45"), ("native", "CVODES"), ("native", "RK4"), ("interpreter", "RK45"),
           ("interpreter", "BDF")]  # fmt: skip


@pytest.mark.parametrize(("engine", "solver"), ENGINES)
def test_an_integrator_stays_at_its_limit_and_leaves_it(load, engine, solver):
    options = {"T": 6, "every": 0.25, "rtol": 1e-8, "atol": 1e-10}
    results = sb.simulate(load(LIMITED), engine=engine, solver=solver, **options)
    t = results.t
    want = np.maximum(np.where(t <= 3, np.minimum(t, 1.5), 1.5 - (t - 3)), -0.25)
    assert np.abs(results["states.x"][:, 0] - want).max() < 1e-7
    assert not results.events


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(("solver", "step"), [("RK4", 0.5), ("heun", 0.5), ("RK4", 0.3)])
def test_no_stage_beyond_a_limit_shortens_a_fixed_step(load, engine, solver, step):
    results = sb.simulate(load(LIMITED), engine=engine, solver=solver, T=6, every=step)
    t = results.t
    want = np.maximum(np.where(t <= 3, np.minimum(t, 1.5), 1.5 - (t - 3)), -0.25)
    assert np.abs(results["states.x"][:, 0] - want).max() < 1e-8


@pytest.mark.parametrize(("engine", "solver"), ENGINES)
def test_a_switch_is_taken_whole_although_its_time_is_rounded(load, engine, solver):
    # 0.4 = 0.9 - 0.5 periods rounds down: the wave's value there is still the old one.
    text = """
blocks:
  wave: {type: WAVEFORM, wave: square, freq: 1.0, phase: 0.9}
  area: {type: INTEGRATOR}
wires: [wave -> area]
"""
    options = {"T": 1.7, "every": 0.5, "rtol": 1e-10, "atol": 1e-12}
    results = sb.simulate(load(text), engine=engine, solver=solver, **options)
    # It is 1 in [-0.1, 0.4) and every period on, -1 between.
    assert results["area"][-1] == pytest.approx(0.4 - 0.5 + 0.5 - 0.3, abs=1e-9)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_limit_is_never_exceeded(load, engine):
    results = sb.simulate(load(LIMITED), engine=engine, T=6, every=0.01)
    x = results["states.x"]
    # 1e-10 s past the crossing at rate 1.
    assert x.max() <= 1.5 + 1e-9
    assert x.min() >= -0.25 - 1e-9


@pytest.mark.parametrize(("engine", "solver"), ENGINES)
def test_no_step_passes_over_the_bend_of_a_clip(load, engine, solver):
    options = {"T": 2 * np.pi, "every": np.pi / 20, "rtol": 1e-9, "atol": 1e-11, "max_step": 0.1}
    results = sb.simulate(load(CLIPPED), engine=engine, solver=solver, **options)
    half = int(np.argmin(np.abs(results.t - np.pi)))
    # Twice the rise from 0 to pi/6, and 0.5 between.
    area = 2 * (1 - np.cos(np.pi / 6)) + 0.5 * (np.pi - np.pi / 3)
    assert results["area"][half] == pytest.approx(area, abs=2e-7)
    assert results["area"][-1] == pytest.approx(0.0, abs=4e-7)


def test_a_limit_is_a_parameter(load):
    program = sb.trace(load(LIMITED)).with_parameters({"x.max": 0.75})
    results = sb.simulate(program, T=2)
    assert results["states.x"][-1, 0] == pytest.approx(0.75, abs=1e-12)


def test_a_table_by_time_stops_the_solver_at_its_points():
    # A pulse of area 0.2 between 4 and 4.3 s, after a long time without any change.
    d = sb.new_diagram("pulse")
    u = d.INTERPOLATE(x=(0, 4, 4.1, 4.2, 4.3, 10), y=(0, 0, 1, 1, 0, 0), time=True, name="u")
    x = d.INTEGRATOR(x0=0, name="x")
    d.connect(u, x)
    for engine, solver in ENGINES:
        results = sb.simulate(d, T=10, engine=engine, solver=solver)
        assert results["states.x"][-1, 0] == pytest.approx(0.2, abs=1e-6)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("kind", ["INTEGRATOR", "CLIP"])
def test_limits_without_room_between_them_are_refused(load, engine, kind):
    text = f"""
blocks:
  u: {{type: STEP, T: 1.0}}
  x: {{type: {kind}, min: 2.0, max: 1.0}}
wires: [u -> x]
"""
    with pytest.raises(sb.DiagramError, match=r"diagram.yaml:4:.*min .*2.*above its max"):
        sb.simulate(load(text), engine=engine)

"""Sliding modes against closed forms: when they begin, how they go on, when they end."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb

TIGHT = {"rtol": 1e-9, "atol": 1e-11, "max_step": 0.04, "every": 0.04}
RUNS = [("native", s) for s in ("RK45", "RK4", "CVODES", "Radau")]
RUNS += [("interpreter", s) for s in ("RK45", "RK4", "Radau")]
WITHIN = {"CVODES": 1e-7}

SIGN = """
blocks:
  f: {type: FCN, expression: "-sign(u)"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f]
run: {T: 2}
"""
SWITCH = """
blocks:
  down: {type: CONSTANT, value: -1}
  up: {type: CONSTANT, value: 1}
  f: {type: SWITCH}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [down -> f.a, up -> f.b, x -> f.control, f -> x]
run: {T: 2}
"""
RELAY = """
blocks:
  f: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1, initial: auto}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f]
run: {T: 2}
"""
COMPARE = """
blocks:
  c: {type: COMPARE, operator: ">", constant: 0}
  f: {type: FCN, expression: "1 - 2*u"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [x -> c, c -> f, f -> x]
run: {T: 2}
"""
DIAGRAMS = {"sign": SIGN, "switch": SWITCH, "relay": RELAY, "compare": COMPARE}
FEW = [("native", "RK45"), ("native", "RK4"), ("interpreter", "RK45")]
CASES = [("sign", *run) for run in [*RUNS, ("native", "LSODA"), ("native", "BDF")]]
CASES += [(name, *run) for name in ("switch", "relay", "compare") for run in FEW]


@pytest.mark.parametrize(("name", "engine", "solver"), CASES)
def test_chattering_is_told_with_block_time_and_remedy(engine, solver, name, load):
    with pytest.raises(sb.RunError, match="a sliding mode") as caught:
        sb.simulate(load(DIAGRAMS[name]), engine=engine, solver=solver)
    error = caught.value
    assert error.block == ("c" if name == "compare" else "f")
    assert error.time == pytest.approx(0.5, abs=1e-5)
    assert "sliding: filippov" in error.hint
    assert "hysteresis" in error.hint
    got = error.results
    assert not got.complete
    assert np.ravel(got["x"]) == pytest.approx(np.maximum(0.5 - got.t, 0), abs=1e-5)


@pytest.mark.parametrize(("name", "engine", "solver"), CASES)
def test_it_reaches_zero_and_stays_exactly(engine, solver, name, load):
    got = sb.simulate(
        load(DIAGRAMS[name]), engine=engine, solver=solver, sliding="filippov", **TIGHT
    )
    assert got.complete
    (event,) = [event for event in got.events if event.what == "slides along zero"]
    assert event.t == pytest.approx(0.5, abs=1e-7)
    x = np.ravel(got["x"])
    assert x == pytest.approx(np.maximum(0.5 - got.t, 0), abs=1e-7)
    assert np.all(x[got.t > 0.51] == 0.0)


DOUBLE = """
blocks:
  f: {type: FCN, expression: "-sign(x + v)", arguments: [x, v]}
  v: {type: INTEGRATOR, x0: 0.5}
  x: {type: INTEGRATOR, x0: 1}
wires: [f -> v, v -> x, x -> f.x, v -> f.v]
run: {T: 4}
"""


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_a_double_integrator_slides_as_x_dot_is_minus_x(engine, solver, load):
    got = sb.simulate(load(DOUBLE), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    # Before: v = 0.5 - t and x = 1 + 0.5 t - t^2 / 2 until x + v = 0.
    start = (-0.5 + np.sqrt(0.25 + 3)) / 1.0
    assert 1 + 0.5 * start - start**2 / 2 + 0.5 - start == pytest.approx(0, abs=1e-12)
    (event,) = got.events
    assert (event.block, event.what) == ("f", "slides along zero")
    assert event.t == pytest.approx(start, abs=1e-6)
    at = 1 + 0.5 * start - start**2 / 2
    late = got.t > start
    want = at * np.exp(-(got.t[late] - start))
    assert np.ravel(got["x"])[late] == pytest.approx(want, abs=WITHIN.get(solver, 1e-8) * 10)
    assert np.ravel(got["v"])[late] == pytest.approx(-want, abs=WITHIN.get(solver, 1e-8) * 10)


LEAVES = """
blocks:
  f: {type: FCN, expression: "-sign(x) + t/2", arguments: [x]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> f.x]
run: {T: 4}
"""


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_it_leaves_where_a_coefficient_reaches_one(engine, solver, load):
    got = sb.simulate(load(LEAVES), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    # x = 0.25 - t + t^2/4 meets zero at t = 2 - sqrt 3; it leaves at t/2 = 1.
    first, left = (event for event in got.events)
    assert (first.what, left.what) == ("slides along zero", "leaves zero")
    assert first.t == pytest.approx(2 - np.sqrt(3), abs=1e-6)
    assert left.t == pytest.approx(2, abs=1e-6)
    assert got.final_state.continuous["x"] == pytest.approx([1.0], abs=1e-6)


JUMPS_OFF = """
blocks:
  push: {type: STEP, T: 1.5, on: -3}
  f: {type: FCN, expression: "-sign(x) + p", arguments: [x, p]}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [f -> x, x -> f.x, push -> f.p]
run: {T: 2}
"""


def test_it_leaves_where_an_input_jumps(load):
    for engine in ("native", "interpreter"):
        got = sb.simulate(load(JUMPS_OFF), engine=engine, sliding="filippov", **TIGHT)
        assert [event.what for event in got.events] == ["slides along zero", "leaves zero"]
        assert got.events[1].t == pytest.approx(1.5)
        assert got.final_state.continuous["x"] == pytest.approx([-2 * 0.5], abs=1e-8)


def test_a_switch_that_is_passed_through_is_passed_through(load):
    text = """
blocks:
  f: {type: FCN, expression: "-2 if u > 0 else -1"}
  x: {type: INTEGRATOR, x0: 1}
wires: [f -> x, x -> f]
run: {T: 1}
"""
    for sliding in ("error", "filippov"):
        got = sb.simulate(load(text), sliding=sliding, **TIGHT)
        assert got.final_state.continuous["x"] == pytest.approx([-0.5], abs=1e-8)
        assert not got.events


JUMPS = """
blocks:
  x: {type: INTEGRATOR, x0: 10}
  v: {type: INTEGRATOR}
  pull: {type: GAIN, K: -1}
  f: {type: FCN, expression: "atan2(-0.1, 9.4 - x - 0.1*v)", arguments: [x, v]}
wires: [v -> x, x -> pull, pull -> v, x -> f.x, v -> f.v]
run: {T: 8}
"""


@pytest.mark.parametrize("sliding", ["error", "filippov"])
@pytest.mark.parametrize(("engine", "solver"), FEW)
def test_a_jump_of_a_zero_crossing_function_leaves_the_state_where_it_is(
    engine, solver, sliding, load
):
    # atan2's function jumps with the sign of its abscissa. Differences over a jump are no gradient:
    # along them the motion seems to lead back.
    got = sb.simulate(load(JUMPS), engine=engine, solver=solver, sliding=sliding, **TIGHT)
    assert not got.events
    late = {"RK4": 5e-6}.get(solver, 1e-8)
    assert np.abs(np.ravel(got["x"]) - 10 * np.cos(got.t)).max() < late


INDEPENDENT = """
blocks:
  f: {type: FCN, expression: "-sign(u)"}
  g: {type: FCN, expression: "-2*sign(u) + 1"}
  x: {type: INTEGRATOR, x0: 0.5}
  y: {type: INTEGRATOR, x0: 1}
  z: {type: INTEGRATOR}
  h: {type: FCN, expression: "a + 2*b", arguments: [a, b]}
wires: ["f -> x, h.a", x -> f, "g -> y, h.b", y -> g, h -> z]
run: {T: 2}
"""
COUPLED = """
blocks:
  f: {type: FCN, expression: "-sign(x) + 0.5*sign(y)", arguments: [x, y]}
  g: {type: FCN, expression: "-0.5*sign(x) - sign(y) + 0.2", arguments: [x, y]}
  h: {type: FCN, expression: "1 + sign(x)*sign(y) + sign(x)", arguments: [x, y]}
  x: {type: INTEGRATOR, x0: 0.3}
  y: {type: INTEGRATOR, x0: 0.2}
  z: {type: INTEGRATOR}
wires: [f -> x, g -> y, h -> z, "x -> f.x, g.x, h.x", "y -> f.y, g.y, h.y"]
run: {T: 3}
"""


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_two_independent_surfaces_are_slid_along_together(engine, solver, load):
    got = sb.simulate(load(INDEPENDENT), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    x, y = np.ravel(got["x"]), np.ravel(got["y"])
    assert x == pytest.approx(np.maximum(0.5 - got.t, 0), abs=1e-7)
    assert y == pytest.approx(np.maximum(1 - got.t, 0), abs=1e-7)
    late = got.t > 1.01
    assert np.all(x[late] == 0)
    assert np.abs(y[late]).max() < 1e-12
    # z' is x' + 2 y', also along both surfaces.
    assert got.final_state.continuous["z"] == pytest.approx([-0.5 - 2.0], abs=1e-6)


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_coupled_surfaces_give_the_bilinear_motion(engine, solver, load):
    got = sb.simulate(load(COUPLED), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    begin = max(event.t for event in got.events)
    late = got.t > begin + 0.01
    x, y, z = (np.ravel(got[name]) for name in "xyz")
    assert begin < 2
    assert np.abs(x[late]).max() < 1e-12
    assert np.abs(y[late]).max() < 1e-12
    # The mean signs u, v hold -u + v/2 = 0 and -u/2 - v + 1/5 = 0; of their product too.
    v = 0.2 / 1.25
    u = v / 2
    slope = np.diff(z[late]) / np.diff(got.t[late])
    assert slope == pytest.approx(1 + u * v + u, abs=1e-6)


def test_from_a_surface_to_the_meeting_of_two_and_off_again(load):
    # On y = 0 it slides with x' = -1 + t / 2 to the meeting with x = 0, and off it at t = 2.
    text = """
blocks:
  f: {type: FCN, expression: "-sign(x) + t/2 - 0.0*y", arguments: [x, y]}
  g: {type: FCN, expression: "-sign(u)"}
  x: {type: INTEGRATOR, x0: 0.75}
  y: {type: INTEGRATOR, x0: 0.1}
wires: [f -> x, g -> y, "x -> f.x", "y -> g, f.y"]
run: {T: 4}
"""
    for engine in ("native", "interpreter"):
        got = sb.simulate(load(text), engine=engine, sliding="filippov", **TIGHT)
        told = [(e.block, e.what, e.t) for e in got.events]
        assert [(b, w) for b, w, _ in told] == [
            ("g", "slides along zero"),
            ("f", "slides along zero"),
            ("f", "leaves zero"),
        ]
        assert [t for *_, t in told] == pytest.approx([0.1, 1.0, 2.0], abs=1e-6)
        assert got.final_state.continuous["x"] == pytest.approx([1.0], abs=1e-6)
        assert got.final_state.continuous["y"] == pytest.approx([0.0], abs=1e-12)


@pytest.mark.parametrize(("engine", "solver"), RUNS)
def test_coulomb_friction_sticks_and_slips_at_its_closed_form_times(engine, solver, load):
    # v' = 2 sin t - sign v from rest: it starts where 2 sin t = 1.
    text = """
blocks:
  f: {type: FCN, expression: "2*sin(t) - sign(v)", arguments: [v]}
  v: {type: INTEGRATOR, x0: 0.1}
wires: [f -> v, v -> f]
run: {T: 2}
"""
    got = sb.simulate(load(text), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    # 0.1 + 2 (1 - cos t) - t = 0 first, then it sticks until t = pi / 6.
    stuck, left = (event.t for event in got.events)
    assert 0.1 + 2 * (1 - np.cos(stuck)) - stuck == pytest.approx(0, abs=1e-6)
    assert left == pytest.approx(np.pi / 6, abs=1e-6)
    want = 2 * (np.cos(left) - np.cos(2.0)) - (2.0 - left)
    assert got.final_state.continuous["v"] == pytest.approx([want], abs=1e-6)


@pytest.mark.parametrize("solver", ["RK45", "Radau", "BDF", "LSODA"])
@pytest.mark.parametrize("x0", [0.2, 0.243, 0.271])
def test_a_surface_is_reached_with_loose_tolerances_too(x0, solver, load):
    # Steps with stages on both sides would stay on their own side, as short as they are.
    text = LEAVES.replace("x0: 0.25", f"x0: {x0}")
    got = sb.simulate(load(text), solver=solver, sliding="filippov", rtol=1e-6, atol=1e-8)
    assert [event.what for event in got.events] == ["slides along zero", "leaves zero"]
    assert [event.t for event in got.events] == pytest.approx(
        [2 - 2 * np.sqrt(1 - x0), 2], abs=1e-5
    )
    assert got.final_state.continuous["x"] == pytest.approx([1.0], abs=1e-5)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("side", [1, -1])
def test_a_relay_that_leaves_is_on_the_side_that_it_moves_to(side, engine, load):
    text = f"""
blocks:
  t: {{type: TIME}}
  r: {{type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1, initial: auto}}
  f: {{type: FCN, expression: "a + {side}*s/2", arguments: [a, s]}}
  x: {{type: INTEGRATOR, x0: 0.25}}
wires: [f -> x, x -> r, r -> f.a, t -> f.s]
run: {{T: 4}}
"""
    got = sb.simulate(load(text), engine=engine, sliding="filippov", **TIGHT)
    (left,) = (event for event in got.events if event.what == "leaves zero")
    assert left.t == pytest.approx(2, abs=1e-6)
    assert got.final_state.continuous["x"] == pytest.approx([side], abs=1e-6)


@pytest.mark.parametrize(("engine", "solver"), [("native", "RK45"), ("interpreter", "RK4")])
def test_a_surface_that_jumps_away_is_left_and_met_anew(engine, solver, load):
    text = """
blocks:
  r: {type: STEP, T: 1, on: 1}
  f: {type: FCN, expression: "-sign(x - r)", arguments: [x, r]}
  x: {type: INTEGRATOR, x0: 0.25}
wires: [f -> x, x -> f.x, r -> f.r]
run: {T: 3}
"""
    got = sb.simulate(load(text), engine=engine, solver=solver, sliding="filippov", **TIGHT)
    told = [event.what for event in got.events]
    assert told == ["slides along zero", "leaves zero", "slides along zero"]
    assert [event.t for event in got.events] == pytest.approx([0.25, 1, 2], abs=1e-6)
    x = np.interp(got.t, [0, 0.25, 1, 2, 3], [0.25, 0, 0, 1, 1])
    assert np.ravel(got["x"]) == pytest.approx(x, abs=1e-6)

"""Gradients through events are those of closed forms: at bounces, stops, resets, ticks, edges."""

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb

FALLING = """
params: {g: 10, e: 0.5}
blocks:
  ball:
    type: HYBRID_SYSTEM
    states: [y, v]
    x0: [1, 0]
    f: [v, -g]
    jumps: [{when: y < 0, set: {v: -r*v}}]
    params: {g: $g, r: $e}
  twin:
    type: HYBRID_SYSTEM
    states: [y, v]
    x0: [1, 0]
    f: [v, -g]
    jumps: [{when: y < 0, set: {v: -r*v}}]
    params: {g: $g, r: 0.8}
  s: {type: SCOPE}
wires: [ball.y -> s]
run: {T: 0.7}
"""


def height(T, g, e, h=1.0):
    """Of a ball after its first bounce."""
    t = np.sqrt(2 * h / g)
    return e * g * t * (T - t) - g * (T - t) ** 2 / 2


def speed(T, g, e, h=1.0):
    t = np.sqrt(2 * h / g)
    return e * g * t - g * (T - t)


def area(T, g, e):
    t = np.sqrt(2 / g)
    s = T - t
    return t - g * t**3 / 6 + e * g * t * s**2 / 2 - g * s**3 / 6


AT = {"g": 10.0, "e": 0.5}


@pytest.mark.parametrize(
    ("metric", "closed"),
    [
        ("final(ball.y)", lambda g, e: height(0.7, g, e)),
        ("final(ball.v)", lambda g, e: speed(0.7, g, e)),
        ("integral(ball.y)", lambda g, e: area(0.7, g, e)),
        ("mean(ball.y)", lambda g, e: area(0.7, g, e) / 0.7),
        ("time_of(ball)", lambda g, e: np.sqrt(2 / g)),
        ("most(ball.v)", lambda g, e: e * np.sqrt(2 * g)),
        ("least(ball.v)", lambda g, e: -np.sqrt(2 * g)),
        ("most(ball.y, since=0.5)", lambda g, e: e**2),
        ("time_of_most(ball.y, since=0.5)", lambda g, e: (1 + e) * np.sqrt(2 / g)),
        ("integral(ball.y, until=0.3)", lambda g, e: 0.3 - g * 0.3**3 / 6),
        ("final(ball.y)**2 * g + final(twin.v)",
         lambda g, e: height(0.7, g, e) ** 2 * g + speed(0.7, g, 0.8)),
    ],
)  # fmt: skip
def test_the_gradient_of_a_bouncing_ball_is_that_of_its_closed_form(agrees, metric, closed):
    """Its twin bounces at the same instant, with other rates: neither moves the other."""
    agrees(FALLING, metric, closed, AT)


def test_without_a_compiler_it_is_the_same(agrees, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    agrees(FALLING, "final(ball.y)", lambda g, e: height(0.7, g, e), AT)


@pytest.mark.parametrize("solver", ["RK4", "heun"])
def test_a_method_of_fixed_steps_passes_events_too(agrees, solver):
    agrees(FALLING, "final(ball.v)", lambda g, e: speed(0.7, g, e), AT, 1e-7,
           solver=solver, max_step=1e-2)  # fmt: skip


def test_it_is_also_taken_by_initial_states(written):
    found = sb.gradient(written(FALLING), of="final(ball.y)", by="ball.x0", rtol=1e-11, atol=1e-13)
    by_height = np.imag(height(0.7, 10, 0.5, 1 + 1e-30j)) / 1e-30
    assert found["ball.x0"].shape == (2,)
    assert found["ball.x0"][0] == pytest.approx(by_height, rel=1e-9)


def test_a_reset_of_the_state_that_triggers_it(agrees):
    """x = a (1 - exp(-t)) up to `limit`, then again from r limit."""
    text = """
params: {a: 2, limit: 1, r: 0.25}
blocks:
  x:
    type: HYBRID_SYSTEM
    states: [x]
    f: ["a - x"]
    jumps: [{when: x > limit, set: {x: r*x}}]
    params: {a: $a, limit: $limit, r: $r}
  s: {type: SCOPE}
wires: [x -> s]
run: {T: 1}
"""

    def closed(a, limit, r):
        first = -np.log(1 - limit / a)
        return a + (r * limit - a) * np.exp(-(1 - first))

    agrees(text, "final(x)", closed, {"a": 2.0, "limit": 1.0, "r": 0.25})


def test_an_event_that_another_sets_off_moves_with_it(agrees):
    """The bounce counts, and its count adds to w what the speed is after it."""
    text = """
params: {g: 10, e: 0.5, k: 3}
blocks:
  ball:
    type: HYBRID_SYSTEM
    states: [y, v, n, w]
    x0: [1, 0, 0, 0]
    f: [v, -g, "0", v]
    jumps:
      - {when: y < 0, set: {v: -r*v, n: n + 1}}
      - {when: n > 0.5, set: {w: w + k*v, n: n - 10}}
    params: {g: $g, r: $e, k: $k}
  s: {type: SCOPE}
wires: [ball.y -> s]
run: {T: 0.7}
"""

    def closed(g, e, k):
        return -1 + k * e * np.sqrt(2 * g) + height(0.7, g, e)

    agrees(text, "final(ball.w)", closed, {"g": 10.0, "e": 0.5, "k": 3.0})


def test_a_stop_ends_the_run_where_the_parameters_put_it(agrees, written):
    text = """
params: {g: 10}
blocks:
  g: {type: CONSTANT, value: $g}
  v: {type: INTEGRATOR}
  way: {type: INTEGRATOR}
  left: {type: FCN, expression: "way - 0.2", arguments: [way]}
  end: {type: STOP}
  s: {type: SCOPE}
wires: [g -> v, v -> way, way -> left, left -> end, way -> s]
run: {T: 3}
"""
    agrees(text, "final(v)", lambda g: np.sqrt(0.4 * g), {"g": 10.0})
    agrees(text, "duration", lambda g: np.sqrt(0.4 / g), {"g": 10.0})
    agrees(text, "final(way)", lambda g: 0.2 + 0 * g, {"g": 10.0})
    agrees(text, "integral(v)", lambda g: 0.2 + 0 * g, {"g": 10.0})
    agrees(text, "mean(v)", lambda g: np.sqrt(0.4 * g) / 2, {"g": 10.0})


def test_an_event_at_a_tick_stands_still_with_the_tick(agrees):
    """The ramp, held every 0.1 s, passes 0.35 at the tick at 0.4 s, which resets z by it."""
    text = """
clocks: {c: {rate: 10}}
params: {slope: 1}
blocks:
  ramp: {type: RAMP, slope: $slope, T: 0}
  held: {type: ZOH, clock: c}
  x:
    type: HYBRID_SYSTEM
    states: [z]
    arguments: [u]
    f: ["u"]
    jumps: [{when: u > 0.35, set: {z: z + 5*u}}]
  s: {type: SCOPE}
wires: [ramp -> held, held -> x.u, x -> s]
run: {T: 0.45}
"""
    agrees(text, "final(x)", lambda slope: slope * (0.1 * (0.1 + 0.2 + 0.3) + 0.05 * 0.4 + 2.0),
           {"slope": 1.0})  # fmt: skip


def test_the_time_of_a_step_is_a_parameter(agrees):
    text = """
params: {when: 0.3, on: 2}
blocks:
  step: {type: STEP, T: $when, on: $on}
  x: {type: INTEGRATOR}
  s: {type: SCOPE}
wires: [step -> x, x -> s]
run: {T: 1}
"""
    at = {"when": 0.3, "on": 2.0}
    agrees(text, "final(x)", lambda when, on: on * (1 - when), at)
    agrees(text, "integral(step)", lambda when, on: on * (1 - when), at)
    agrees(text, "integral(x**2)", lambda when, on: on**2 * (1 - when) ** 3 / 3, at)


def test_a_bend_at_which_rates_jump_moves(agrees):
    """sign(x - c) turns the slope from 1 + a to 1 - a where x, that begins at -1, passes c."""
    text = """
params: {a: 0.5, c: 0}
blocks:
  x:
    type: HYBRID_SYSTEM
    states: [x]
    x0: [-1]
    f: ["where(x > c, 1 - a, 1 + a)"]
    params: {a: $a, c: $c}
  s: {type: SCOPE}
wires: [x -> s]
run: {T: 1.5}
"""
    agrees(text, "final(x)", lambda a, c: c + (1 - a) * (1.5 - (c + 1) / (1 + a)),
           {"a": 0.5, "c": 0.0})  # fmt: skip


# --- where there is none --------------------------------------------------------------------------


def test_a_crossing_that_grazes_has_none(written):
    """y = (t - 1)^3 passes zero at rest."""
    text = """
params: {k: 1}
blocks:
  y:
    type: HYBRID_SYSTEM
    states: [y, v, z]
    x0: [-1, 3, 0]
    f: [v, 6*k*(t - 1), "0"]
    jumps: [{when: y > 0, set: {z: z + 1}}]
    params: {k: $k}
  s: {type: SCOPE}
wires: [y.y -> s]
run: {T: 2}
"""
    with pytest.raises(
        sb.NoGradientError, match=r"block y: .*grazes zero.*at t = 0.9999"
    ) as raised:
        sb.gradient(written(text), of="final(y.z)", by="k")
    assert raised.value.block == "y"


def test_a_source_that_switches_at_a_tick_has_none_by_its_time(written):
    text = """
clocks: {c: {rate: 10}}
params: {when: 0.3}
blocks:
  step: {type: STEP, T: $when}
  held: {type: ZOH, clock: c}
  s: {type: SCOPE}
wires: [step -> held, held -> s]
run: {T: 1}
"""
    with pytest.raises(sb.NoGradientError, match=r"step: .*at a tick.*t = 0.3"):
        sb.gradient(written(text), of="final(held)", by="when")


def test_a_source_that_switches_at_the_start_has_none_by_its_time(written):
    text = """
blocks:
  step: {type: STEP, T: 0}
  x: {type: INTEGRATOR}
  s: {type: SCOPE}
wires: [step -> x, x -> s]
run: {T: 1}
"""
    assert sb.gradient(written(text), of="final(x)", by="step.on")["step.on"] == pytest.approx(1)
    with pytest.raises(sb.NoGradientError, match=r"step: .*at the start"):
        sb.gradient(written(text), of="final(x)", by="step.T")


def test_sources_that_switch_at_once_have_one_by_a_time_that_they_share(written):
    text = """
params: {when: 0.5, other: 0.5}
blocks:
  a: {type: STEP, T: $when}
  b: {type: STEP, T: $other}
  ab: {type: PROD, ops: "**"}
  x: {type: INTEGRATOR}
  s: {type: SCOPE}
wires: [a -> ab.0, b -> ab.1, ab -> x, x -> s]
run: {T: 1}
"""
    shared = written(text.replace("$other", "$when"))
    assert sb.gradient(shared, of="final(x)", by="when")["when"] == pytest.approx(-1)
    with pytest.raises(sb.NoGradientError, match=r"b: .*at which a does, and each may be first"):
        sb.gradient(written(text), of="final(x)", by=["when", "other"])


STEPPED = """
params: {at: 1.0}
blocks:
  step: {type: STEP, T: $at}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [step -> x]
run: {T: 1}
"""
"""x = max(t - at, 0)."""


def test_a_source_that_switches_at_the_end_has_none_by_its_time(written):
    path = written(STEPPED)
    for asked in ({"of": "final(x)"}, {"of": "final(x)", "method": "adjoint"}):
        with pytest.raises(sb.NoGradientError, match="step: it switches at the end of the run"):
            sb.gradient(path, by="at", **asked)
    assert sb.gradient(path, of="final(x)", by="step.on")["step.on"] == 0
    assert sb.gradient(path, of="final(x)", by="at", T=1.5)["at"] == pytest.approx(-1, rel=1e-9)


UNSEEN = """
params: {at: WHEN}
blocks:
  step: {type: STEP, T: $at}
  shown: {type: SCOPE}
  rate: {type: GAIN, K: 2}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [step -> shown, rate -> x, x -> rate]
run: {T: 1}
"""


@pytest.mark.parametrize(("at", "which"), [("0.0", "start"), ("1.0", "end")])
def test_the_integral_of_a_source_that_switches_at_either_end_has_none_by_its_time(
    written, at, which
):
    """No state sees the step: its integral does."""
    path = written(UNSEEN.replace("WHEN", at))
    assert sb.gradient(path, of="integral(x)", by="at")["at"] == pytest.approx(0, abs=1e-12)
    with pytest.raises(sb.NoGradientError, match=f"step: it switches at the {which} of the run"):
        sb.gradient(path, of="integral(step)", by="at")


def test_a_table_over_time_that_begins_with_the_run_has_its_gradient(agrees):
    """It has no value before. x' = k t - x."""
    text = """
params: {k: 2.0}
blocks:
  table: {type: INTERPOLATE, x: [0, 5], y: [0, 5], time: true}
  rate: {type: FCN, expression: "k*u - x", arguments: [u, x], params: {k: $k}}
  x: {type: INTEGRATOR}
wires: [table -> rate.u, rate -> x, x -> rate.x]
run: {T: 1}
"""
    agrees(text, "final(x)", lambda k: k * np.exp(-1), {"k": 2.0})


def test_a_source_that_switches_at_the_end_leaves_what_does_not_see_it(written):
    """The end of the run stands still: y = t + 1 is 2 there."""
    more = (
        "  y: {type: INTEGRATOR, x0: 1.0}\n  one: {type: CONSTANT, value: 1}\nwires: [one -> y]\n"
    )
    text = STEPPED.replace("  x: {type: INTEGRATOR, x0: 0.0}\nwires: [step -> x]\n", more)
    found = sb.gradient(written(text), of=["final(y)", "duration"], by="at")
    assert found.values["metric_0"] == pytest.approx(2, rel=1e-9)
    assert found["metric_0"]["at"] == 0
    assert found["metric_1"]["at"] == 0


def test_modes_at_the_start_do_not_move_with_a_source_that_begins_there():
    """The first value holds before the first time, too: nothing depends on it."""
    path = Path(sb.__file__).parents[1] / "diagrams" / "joints" / "friction.yaml"
    found = sb.gradient(path, of="final(plant.um[2])", by="push.t[0]", T=0.2)
    assert found["push.t[0]"] == 0

"""Gradients of the answer to a step, of distances and of falls are those of closed forms."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.gradients.forward import Forward
from spart_blocks.gradients.gradient import GradientRuns
from spart_blocks.gradients.readings import ReadChanges
from spart_blocks.gradients.tangents import Directions
from spart_blocks.gradients.taped_run import taped
from spart_blocks.run.measure.gauges import Gauge

SECOND = """
params: {zeta: 0.3, w: 4, on: 2}
blocks:
  r: {type: STEP, T: 0.1, on: $on, off: 0.5}
  y:
    type: HYBRID_SYSTEM
    states: [y, v]
    arguments: [u]
    x0: [0.5, 0]
    f: [v, "w*w*(u - y) - 2*z*w*v"]
    params: {z: $zeta, w: $w}
  s: {type: SCOPE}
wires: [r -> y.u, y.y -> s]
run: {T: 6}
"""
AT = {"zeta": 0.3, "w": 4.0, "on": 2.0}


def answer(t, zeta, w):
    """Of a second-order lag to a unit step. Source: K. Ogata, Modern Control Engineering, 5-3."""
    s = np.sqrt(1 - zeta**2)
    return 1 - np.exp(-zeta * w * t) * (np.cos(w * s * t) + zeta / s * np.sin(w * s * t))


def time_at(level, zeta, w, guess):
    """When it passes a level, by Newton's method, which complex steps pass through."""
    t = guess
    for _ in range(30):
        s = np.sqrt(1 - zeta**2)
        t = t - (answer(t, zeta, w) - level) / (w / s * np.exp(-zeta * w * t) * np.sin(w * s * t))
    return t


def test_overshoot_is_that_of_the_damping_alone(agrees):
    """exp(-pi zeta / sqrt(1 - zeta^2)), whatever the frequency and the size of the step."""

    def closed(zeta, w, on):
        return 100 * np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2)) + 0 * (w + on)

    agrees(SECOND, "overshoot(y.y, r)", closed, AT, 1e-7)


def test_rise_time_moves_with_both_its_levels(agrees):
    def closed(zeta, w, on):
        return time_at(0.9, zeta, w, 0.4) - time_at(0.1, zeta, w, 0.12) + 0 * on

    agrees(SECOND, "rise_time(y.y, r)", closed, AT, 1e-7)


def test_settling_time_is_when_the_band_is_left_last(agrees):
    def closed(zeta, w, on):
        return time_at(1.02, zeta, w, 2.8) + 0 * on

    agrees(SECOND, "settling_time(y.y, r)", closed, AT, 1e-7)


def test_levels_are_relative_to_where_the_answer_starts(agrees):
    """Between its start and a constant reference: the start moves the levels, and the run."""
    text = """
params: {tau: 0.5, start: 0.2, goal: 1}
blocks:
  r: {type: CONSTANT, value: $goal}
  y: {type: INTEGRATOR, x0: $start}
  f: {type: FCN, expression: "(u*u - y)/tau", arguments: [u, y], params: {tau: $tau}}
  s: {type: SCOPE}
wires: [r -> f.u, y -> f.y, f -> y, y -> s]
run: {T: 6}
"""

    def closed(tau, start, goal):
        """y = g^2 + (start - g^2) exp(-t/tau) passes start + 0.9 (g - start)."""
        left = (goal**2 - start - 0.9 * (goal - start)) / (goal**2 - start)
        late = -tau * np.log(left)
        left = (goal**2 - start - 0.1 * (goal - start)) / (goal**2 - start)
        return late + tau * np.log(left)

    agrees(text, "rise_time(y, r)", closed, {"tau": 0.5, "start": 0.2, "goal": 1.0}, 1e-6)


def test_an_answer_that_only_approaches_its_reference_has_no_overshoot_to_change(written):
    """It is at the reference but for rounding in the end."""
    text = SECOND.replace("zeta: 0.3", "zeta: 1.2").replace("T: 6", "T: 60, rtol: 1.0e-9")
    asked = {"over": "overshoot(y.y, r)", "rise": "rise_time(y.y, r)"}
    found = sb.gradient(written(text), of=asked, by="zeta")
    assert found.values["over"] < 1e-6
    assert abs(found["over"]["zeta"]) < 1e-5
    assert found["rise"]["zeta"] > 0


@pytest.mark.parametrize("of", ["overshoot(y.y, r)", "rise_time(y.y, r)", "settling_time(y.y, r)"])
def test_adjoints_of_answers_are_their_forward_derivatives(written, of):
    path, by = written(SECOND), ["zeta", "w", "on", "r.T", "y.x0"]
    found = [sb.gradient(path, of=of, by=by, method=method, rtol=1e-10, atol=1e-12)
             for method in ("forward", "adjoint")]  # fmt: skip
    for name in by:
        np.testing.assert_allclose(found[1][name], found[0][name], rtol=1e-9, atol=1e-9)


HELD = """
clocks: {c: {rate: 10}}
params: {tau: 0.25}
blocks:
  r: {type: STEP, T: 0.05, on: 1}
  y:
    type: HYBRID_SYSTEM
    states: [y]
    arguments: [u]
    f: ["(u - y)/tau"]
    params: {tau: $tau}
  held: {type: ZOH, clock: c}
  s: {type: SCOPE}
wires: [r -> y.u, y -> held, held -> s]
run: {T: 3}
"""


def test_an_answer_that_jumps_past_its_levels_at_ticks_has_times_that_stand_still(written):
    found = sb.gradient(written(HELD), of={"rise": "rise_time(held, r)",
                                           "settle": "settling_time(held, r)",
                                           "over": "overshoot(held, r)"}, by="tau")  # fmt: skip
    assert found.values["rise"] == pytest.approx(0.6)
    assert not any(found[name]["tau"] for name in ("rise", "settle"))
    # It ends at 1 - exp(-(2.95 s) / tau), below 1: no overshoot, whatever tau.
    assert found["over"]["tau"] == 0


JUMPS = """
params: {a: 2, limit: 0.5, to: 0.95}
blocks:
  r: {type: CONSTANT, value: 1}
  y:
    type: HYBRID_SYSTEM
    states: [y]
    x0: [0]
    f: ["a*(1 - y)"]
    jumps: [{when: y > limit, set: {y: to}}]
    params: {a: $a, limit: $limit, to: $to}
  s: {type: SCOPE}
wires: [y -> s]
run: {T: 4}
"""


def test_a_level_that_an_event_jumps_past_moves_with_the_event(agrees):
    """1 - exp(-a t) up to the limit, where it jumps past 90 %."""
    at = {"a": 2.0, "limit": 0.5, "to": 0.95}

    def rise(a, limit, to):
        return (np.log(0.9) - np.log(1 - limit)) / a + 0 * to

    def settling(a, limit, to):
        return (np.log((1 - to) / 0.02) - np.log(1 - limit)) / a

    text = JUMPS.replace("y > limit", "y - limit > 0").replace("to: $to}", "to: $to}", 1)
    once = text.replace("states: [y]\n    x0: [0]", "states: [y, n]\n    x0: [0, 0]")
    once = once.replace('f: ["a*(1 - y)"]', 'f: ["a*(1 - y)", "0"]')
    once = once.replace("y - limit > 0, set: {y: to}", "y - limit > 10*n, set: {y: to, n: 1}")
    once = once.replace("wires: [y -> s]", "wires: [y.y -> s]")
    agrees(once, "rise_time(y.y, r)", rise, at, 1e-7)
    agrees(once, "settling_time(y.y, r)", settling, at, 1e-7)


@pytest.mark.parametrize(
    ("metric", "change", "text"),
    [
        ("settling_time(y.y, r)", ("T: 6", "T: 2"), "outside its band of 2 %.*at t = 2"),
        ("rise_time(y.y, r)", ("T: 6", "T: 0.3"), "does not reach 90 %.*at t = 0.3"),
        ("rise_time(y.y, r)", ("T: 0.1", "T: 7"), "answers no step of r.*at t = 6"),
    ],
)
def test_what_has_no_derivative_is_named_with_its_time(written, metric, change, text):
    path = written(SECOND.replace(*change))
    with pytest.raises(sb.NoGradientError, match=text):
        sb.gradient(path, of=metric, by="zeta")
    sb.gradient(path, of="final(y.y)", by="zeta")


def test_an_answer_that_grazes_its_band_has_no_settling_time_to_derive(written):
    """0.98 + 0.98 (t - 1)^3 enters it at rest."""
    text = """
params: {k: 1}
blocks:
  r: {type: CONSTANT, value: 1}
  y:
    type: HYBRID_SYSTEM
    states: [y, age]
    x0: [0, 0]
    f: ["3*0.98*k*(1 - age)**2", "1"]
    params: {k: $k}
  s: {type: SCOPE}
wires: [y.y -> s]
run: {T: 1.25, max_step: 0.01}
"""
    with pytest.raises(sb.NoGradientError, match=r"y.y grazes.*at t = (0.99|1.00)"):
        sb.gradient(written(text), of="settling_time(y.y, r)", by="k")


def test_a_reference_that_is_constant_by_chance_has_none(written):
    text = SECOND.replace("[r -> y.u", "[ramp -> r, r -> y.u").replace(
        "r: {type: STEP, T: 0.1, on: $on, off: 0.5}",
        "ramp: {type: RAMP, T: 0, slope: 1}\n  r: {type: GAIN, K: 0}",
    )
    with pytest.raises(sb.NoGradientError, match="r is constant here, and moves"):
        sb.gradient(written(text), of="rise_time(y.y, r)", by="r.K")


# --- distances, falls and windows -----------------------------------------------------------------


CIRCLE = """
params: {w: 1.5, z: 0.3}
blocks:
  p:
    type: HYBRID_SYSTEM
    states: [x, y, z]
    x0: [2, 0, 0]
    f: [-w*y, w*x, k]
    params: {w: $w, k: $z}
  m: {type: MUX, nin: 3}
  s: {type: SCOPE}
wires: [p.x -> m.0, p.y -> m.1, p.z -> m.2, m -> s]
run: {T: 1.2}
"""


def test_the_largest_displacement_moves_with_both_its_ends(agrees):
    def closed(w, z, T=1.2):
        return np.sqrt((4 * np.sin(w * T / 2)) ** 2 + (z * T) ** 2)

    at = {"w": 1.5, "z": 0.3}
    agrees(CIRCLE, "largest_displacement(m)", closed, at, 1e-8)
    agrees(CIRCLE, "largest_displacement(m, since=0.3)",
           lambda w, z: closed(w, z, 0.9), at, 1e-8)  # fmt: skip


def test_a_displacement_of_nothing_has_none(written):
    still = CIRCLE.replace("w: 1.5, z: 0.3", "w: 0, z: 0")
    with pytest.raises(sb.NoGradientError, match=r"m is at its first value.*no derivative"):
        sb.gradient(written(still), of="largest_displacement(m)", by="z")
    found = sb.gradient(written(still), of="largest_displacement(m)", by="p.x0")
    assert not found["p.x0"].any()


def test_the_largest_rotation_is_the_turned_angle(written):
    """Of the matrix of a turn at a rate w, which turns by w T."""
    text = """
params: {w: 0.7}
blocks:
  a:
    type: HYBRID_SYSTEM
    states: [c, s]
    x0: [1, 0]
    f: [-w*s, w*c]
    params: {w: $w}
  minus: {type: GAIN, K: -1}
  o: {type: CONSTANT, value: 0}
  i: {type: CONSTANT, value: 1}
  m: {type: MUX, nin: 9}
  s: {type: SCOPE}
wires:
  [a.c -> m.0, a.s -> minus, minus -> m.1, o -> m.2, a.s -> m.3, a.c -> m.4, o -> m.5,
   o -> m.6, o -> m.7, i -> m.8, m -> s]
run: {T: 2, rtol: 1.0e-11, atol: 1.0e-13}
"""
    found = sb.gradient(written(text), of="largest_rotation(m)", by="w")
    assert found.values["metric"] == pytest.approx(1.4, rel=1e-9)
    assert found["w"] == pytest.approx(2.0, rel=1e-8)
    over = sb.gradient(written(text.replace("T: 2,", "T: 5,").replace("w: 0.7", "w: 0.5")),
                       of="largest_rotation(m, until=4)", by="w")  # fmt: skip
    assert over["w"] == pytest.approx(4.0, rel=1e-8)


def test_at_the_edge_of_its_window_the_time_of_an_extreme_stands_still(agrees):
    at = {"zeta": 0.3, "w": 4.0}

    def value(zeta, w):
        return 0.5 + 1.5 * answer(0.2, zeta, w)

    agrees(SECOND, "most(y.y, until=0.3)", value, at, 1e-8)
    agrees(SECOND, "time_of_most(y.y, until=0.3)", lambda zeta, w: 0.3 + 0 * (zeta + w), at, 1e-8)


@pytest.mark.parametrize("kind", ["falling_back", "rising_back"])
def test_the_largest_fall_moves_with_both_its_ends(written, kind):
    """Of a damped swing from its first top to the bottom after it."""
    on = "on: 1" if kind == "falling_back" else "on: -1"
    text = SECOND.replace("on: 2", on).replace("off: 0.5", "off: 0").replace("[0.5, 0]", "[0, 0]")
    asked = {"of": "final(y.y)", "by": "zeta", "rtol": 1e-11, "atol": 1e-13}
    runs, gauge = GradientRuns.of(written(text), **asked), Gauge(kind, "y.y")
    run, directions = taped(runs.engine, [gauge]), Directions(runs.engine, runs.changes)
    used = {gauge: {"back"}}
    found = ReadChanges(run, run.readings, directions, runs.sums, used)
    found.collect(Forward(run, directions).looks)

    def closed(zeta):
        over = np.exp(-np.pi * zeta / np.sqrt(1 - zeta**2))
        return over + over**2

    assert run.readings[gauge]["back"][0] == pytest.approx(closed(0.3), rel=1e-6)
    slope = np.imag(closed(0.3 + 1e-30j)) / 1e-30
    assert found.changes[gauge]["back"][0, 0] == pytest.approx(slope, rel=1e-7)

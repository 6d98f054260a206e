"""Gradients along surfaces and at rest are those of closed forms, and of differences of runs."""

import numpy as np
import pytest

import spart_blocks as sb

ALONG = """
params: {k: 1.0, c: 1.0, x0: 1.0, v0: 0.5}
blocks:
  u: {type: FCN, expression: "-k*sign(x + c*v)", arguments: [x, v], params: {k: $k, c: $c}}
  v: {type: INTEGRATOR, x0: $v0}
  x: {type: INTEGRATOR, x0: $x0}
wires: [u -> v, v -> x, x -> u.x, v -> u.v]
run: {T: 4, sliding: filippov}
"""
"""From x + c v = 0 on it slides as x' = -x/c."""
AT = {"k": 1.0, "c": 1.0, "x0": 1.0, "v0": 0.5}


def begins(k, c, x0, v0):
    """When it slides, and where."""
    a, b = -k / 2, v0 - c * k
    t = (-b - np.sqrt(b * b - 4 * a * (x0 + c * v0))) / (2 * a)
    return t, x0 + v0 * t - k * t**2 / 2


def slid(k, c, x0, v0, T=4):
    t, x = begins(k, c, x0, v0)
    return x * np.exp(-(T - t) / c)


def area(k, c, x0, v0):
    t, x = begins(k, c, x0, v0)
    return x0 * t + v0 * t**2 / 2 - k * t**3 / 6 + c * x * (1 - np.exp(-(4 - t) / c))


@pytest.mark.parametrize("method", ["forward", "adjoint"])
@pytest.mark.parametrize(
    ("metric", "closed"),
    [
        ("final(x)", slid),
        ("final(v)", lambda k, c, x0, v0: -slid(k, c, x0, v0) / c),
        ("integral(x)", area),
        ("least(v)", lambda k, c, x0, v0: -begins(k, c, x0, v0)[1] / c),
        ("final(x, until=3)", lambda **at: slid(**at, T=3)),
    ],
)
def test_the_gradient_along_a_surface_is_that_of_its_closed_form(agrees, metric, closed, method):
    agrees(ALONG, metric, closed, AT, within=1e-8, method=method)


@pytest.mark.parametrize(("solver", "within"), [("RK4", 1e-7), ("heun", 1e-4)])
def test_methods_without_error_control_slide_with_their_gradients(agrees, solver, within):
    agrees(ALONG, "final(x)", slid, AT, within=within, solver=solver, max_step=0.02)


LEAVES = """
params: {a: 1.0, b: 0.8, x0: 0.3}
blocks:
  pushed: {type: RAMP, T: 0, slope: $b}
  rate: {type: FCN, expression: "p - a*sign(x)", arguments: [p, x], params: {a: $a}}
  x: {type: INTEGRATOR, x0: $x0}
wires: [pushed -> rate.p, rate -> x, x -> rate.x]
run: {T: 2, sliding: filippov}
"""
"""x' = b t - a sign(x) slides along x = 0 until b t = a."""


@pytest.mark.parametrize("method", ["forward", "adjoint"])
def test_where_the_rates_turn_the_motion_leaves_the_surface_with_its_gradient(agrees, method):
    def closed(a, b, x0):
        t = a / b
        return b * (4 - t**2) / 2 - a * (2 - t) + 0 * x0

    agrees(LEAVES, "final(x)", closed, {"a": 1.0, "b": 0.8, "x0": 0.3}, within=1e-7, method=method)


PUSHED = """
params: {a: 1.0, h: 3.0, when: 1.2}
clocks: {ticks: {rate: 4}}
blocks:
  push: {type: STEP, T: $when, on: $h}
  rate: {type: FCN, expression: "p - a*sign(x)", arguments: [p, x], params: {a: $a}}
  x: {type: INTEGRATOR, x0: 0.3}
  other: {type: INTEGRATOR_S, clock: ticks}
wires: [push -> rate.p, rate -> x, x -> rate.x, x -> other]
run: {T: 2, sliding: filippov}
"""


def test_a_source_that_switches_pushes_it_off_the_surface_with_its_gradient(agrees):
    at = {"a": 1.0, "h": 3.0, "when": 1.2}
    agrees(PUSHED, "final(x)", lambda a, h, when: (h - a) * (2 - when), at)
    agrees(
        PUSHED,
        "4*final(other)",
        lambda a, h, when: 0.6 - a / 4 + (h - a) * (4.5 - 3 * when),  # x at seven ticks
        at,
    )


@pytest.fixture
def differenced(written):
    """differenced(text, metric, at): the gradient of a metric is the difference of runs."""

    def check(text, metric, at, apart=1e-4, within=1e-6):
        program = sb.trace(written(text))
        tight = {"rtol": 1e-11, "atol": 1e-13}
        found = sb.gradient(program, of=metric, by=list(at), **tight)
        for name, number in at.items():
            ends = [
                sb.gradient(
                    program.with_parameters({name: number + side}), of=metric, by=name, **tight
                ).values["metric"]
                for side in (apart, -apart)
            ]
            difference = (ends[0] - ends[1]) / (2 * apart)
            assert found[name].item() == pytest.approx(difference, rel=within, abs=within), name

    return check


RELAYED = """
params: {s: 0.5, c: 0.2}
clocks: {ticks: {rate: 4}}
blocks:
  off: {type: FCN, expression: "x - s", arguments: [x], params: {s: $s}}
  valve: {type: RELAY, on: 0, off: 0, on_value: -1, off_value: 1}
  rate: {type: FCN, expression: "u + c", arguments: [u], params: {c: $c}}
  x: {type: INTEGRATOR}
wires: [off -> valve, valve -> rate, rate -> x, x -> off]
run: {T: 2, sliding: filippov}
"""


def test_a_relay_without_a_gap_slides_with_its_gradient(agrees):
    def area(s, c):
        t = s / (1 + c)
        return s * t / 2 + s * (2 - t)

    agrees(RELAYED, "integral(x)", area, {"s": 0.5, "c": 0.2}, within=1e-7)


TWO = """
params: {p: 0.3, q: -0.2, d: 0.1}
blocks:
  m:
    type: FCN
    arguments: [x, y]
    params: {p: $p, q: $q, d: $d}
    expression:
      - p - sign(x) + d*sign(x)*sign(y)
      - q - sign(y) + 0.3*d*sign(x)*sign(y) + 0.1*x
      - 1 + sign(x)*sign(y) - 2*sign(x) + y
  xy: {type: INTEGRATOR, x0: [0.4, -0.9, 0]}
  parts: {type: DEMUX, nout: 3}
wires: [m -> xy, xy -> parts, parts.0 -> m.x, parts.1 -> m.y]
run: {T: 2, sliding: filippov}
"""


def test_along_two_surfaces_the_gradient_is_the_difference_of_runs(differenced):
    differenced(TWO, "final(xy[2])", {"p": 0.3, "q": -0.2, "d": 0.1})


def test_a_motion_that_begins_on_a_surface_has_none_by_what_moves_it_off(written):
    """From either side it comes to the surface at another rate."""
    path = written(LEAVES.replace("x0: 0.3", "x0: 0.0"))
    assert sb.gradient(path, of="final(x)", by="a")["a"].item() == pytest.approx(-0.75, rel=1e-7)
    with pytest.raises(sb.NoGradientError, match="rate: it stands where it switches"):
        sb.gradient(path, of="final(x)", by="x0")


PUT = """
params: {to: 0.0, b: 0.4}
blocks:
  mass:
    type: HYBRID_SYSTEM
    states: [x, clock, z]
    x0: [1, 0, 0]
    f: [b - sign(x), "1", x + b]
    jumps: [{when: clock > 0.5, set: {x: to, clock: -9}}]
    params: {to: $to, b: $b}
  s: {type: SCOPE}
wires: [mass.x -> s]
run: {T: 1, sliding: filippov}
"""


def test_a_motion_that_is_put_on_a_surface_has_none_by_where_it_is_put(agrees, written):
    closed = lambda b: 0.5 + (b - 1) / 8 + b  # noqa: E731
    agrees(PUT, "final(mass.z)", closed, {"b": 0.4})
    with pytest.raises(sb.NoGradientError, match="mass: it switches as soon as it begins"):
        sb.gradient(written(PUT), of="final(mass.z)", by="to")


STANDS = """
params: {b: 0.0, on: 2.0}
blocks:
  push: {type: STEP, T: 1, on: $on}
  rate: {type: FCN, expression: "p + b - FRICTION", arguments: [p, v], params: {b: $b}}
  v: {type: INTEGRATOR}
wires: [push -> rate.p, rate -> v, v -> rate.v]
run: {T: 2}
"""


@pytest.mark.parametrize("method", ["forward", "adjoint"])
def test_a_mass_that_stands_where_its_friction_jumps_has_none_by_a_force(written, method):
    """It would stick, or slide to either side. What acts later has one, and so has drag."""
    path = written(STANDS.replace("FRICTION", "sign(v)"))
    with pytest.raises(sb.NoGradientError, match="rate: it switches as soon as it begins"):
        sb.gradient(path, of="final(v)", by="b", method=method)
    with pytest.raises(sb.NoGradientError, match="rate: it stands where it switches"):
        sb.gradient(path, of="final(v)", by="b", method=method, T=0.8)
    assert sb.gradient(path, of="final(v)", by="on", method=method)["on"] == pytest.approx(1)
    drag = written(STANDS.replace("FRICTION", "0*v*abs(v)"))
    assert sb.gradient(drag, of="final(v)", by="b", method=method)["b"] == pytest.approx(2)


def test_without_a_compiler_it_slides_with_the_same_gradient(agrees, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    agrees(ALONG, "final(x)", slid, AT, within=1e-8)


RESTING = """
params: {g: 10.0, r: 0.5, c: 20.0}
blocks:
  lift: {type: RAMP, T: 2, slope: $c}
  ball:
    type: HYBRID_SYSTEM
    arguments: [u]
    states: [y, v]
    x0: [1, 0]
    f: [v, u - g]
    jumps: [{when: y < 0, set: {v: -r*v}}]
    params: {g: $g, r: $r}
wires: [lift -> ball]
run: {T: 3, sliding: filippov}
"""
"""A ball rests from sqrt(2/g) (1 + r)/(1 - r) on, until u > g."""
BALL = {"g": 10.0, "r": 0.5, "c": 20.0}


def bounced(g, r, c):
    """The integral of its height until it rests."""
    t = np.sqrt(2 / g)
    v = g * t
    return 2 / 3 * t + 2 / 3 * v**3 / g**2 * r**3 / (1 - r**3) + 0 * c


@pytest.mark.parametrize("method", ["forward", "adjoint"])
@pytest.mark.parametrize(
    ("metric", "closed"),
    [
        ("final(ball.y)", lambda g, r, c: c * (1 - g / c) ** 3 / 6 + 0 * r),
        ("final(ball.v)", lambda g, r, c: c * (1 - g / c) ** 2 / 2 + 0 * r),
        ("integral(ball.y, until=2)", bounced),
        ("final(ball.y, until=2)", lambda **at: 0 * sum(at.values())),
    ],
)
def test_a_ball_that_comes_to_rest_and_is_lifted_has_its_gradient(agrees, metric, closed, method):
    """No change of its bounces outlives its rest."""
    agrees(RESTING, metric, closed, BALL, within=2e-7, method=method)


TURNED = """
params: {r: 0.5, m: 0.3}
blocks:
  ball:
    type: HYBRID_SYSTEM
    states: [y, v, w]
    x0: [1, 0, 0]
    f: [v, "-10", "0"]
    jumps: [{when: y < 0, set: {v: -r*v, w: w + m*v}}]
    params: {r: $r, m: $m}
  s: {type: SCOPE}
wires: [ball.y -> s]
run: {T: 2, sliding: filippov}
"""
"""An oblique ground: what holds the ball acts in the direction of its resets, (1 + r, -m)."""


def test_the_direction_of_what_holds_it_has_a_gradient_too(agrees):
    def closed(r, m):
        t = np.sqrt(0.2)
        rests = t * (1 + r) / (1 - r)
        return -m * 10 * t / (1 - r) - 10 * m / (1 + r) * (2 - rests)

    agrees(TURNED, "final(ball.w)", closed, {"r": 0.5, "m": 0.3}, within=1e-6)


def test_a_ball_that_rests_by_two_signals_at_once_is_told_to_have_none(written):
    twice = "set: {v: -r*v}}, {when: 3*y < 0, set: {v: 1.1*v}}"
    path = written(RESTING.replace("set: {v: -r*v}}", twice))
    with pytest.raises(sb.NoGradientError, match="not independent"):
        sb.gradient(path, of="final(ball.y)", by="c")

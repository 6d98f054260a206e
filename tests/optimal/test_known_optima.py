"""Optima are those of closed forms."""

import numpy as np
import pytest
from scipy.optimize import brentq

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning


def test_least_time_of_a_cart_is_that_of_full_thrust_and_full_brake(cart):
    """T = 2 sqrt(d/a): A. E. Bryson, Y.-C. Ho, "Applied Optimal Control", 1975, sec. 3.9."""
    found = sb.optimize(cart)
    assert found.ended
    assert pytest.approx(2, rel=1e-6) == found.T
    assert found.objective == found.T
    early, late = found.t < 0.99, found.t > 1.01
    np.testing.assert_allclose(found["u"][early], 1, atol=1e-4)
    np.testing.assert_allclose(found["u"][late], -1, atol=1e-4)
    assert found.rerun.worst < 1e-5


def test_least_effort_of_a_cart_is_a_straight_line(cart):
    """The integral of u**2 is 12 d**2 / T**3, with u = (6 - 12 t/T) d / T**2."""
    found = sb.optimize(cart, minimize="integral(u**2)", T=1.0, controls={"u": None})
    assert found.objective == pytest.approx(12, rel=1e-6)
    np.testing.assert_allclose(found["u"], 6 - 12 * found.t, atol=1e-3)
    assert found.rerun.worst < 1e-4


def test_a_limit_along_the_path_holds(cart):
    """With v <= w the cart takes d/w + w/a: 2.5 s for w = 0.5."""
    found = sb.optimize(cart, path={"v": {"max": 0.5}})
    assert pytest.approx(2.5, rel=1e-5) == found.T
    assert found.states["v"].max() <= 0.5 + 1e-6


def test_phases_have_their_own_bounds_and_durations(cart):
    """With thrust 1 and brake 0.5 it takes 3 sqrt(2/3) s, of which a third is thrust."""
    phases = {
        "thrust": {"T": [0.1, 5], "controls": {"u": [0, 1]}},
        "brake": {"T": [0.1, 5], "controls": {"u": [-0.5, 0]}},
    }
    section = {"minimize": "duration", "controls": {"u": [-1, 1]}, "end": {"p": 1, "v": 0}}
    text = cart.read_text().partition("optimize:")[0]
    cart.write_text(text, encoding="utf-8")
    found = sb.optimize(cart, phases=phases, **section)
    assert pytest.approx(3 * np.sqrt(2 / 3), rel=1e-6) == found.T
    first, second = found.motion.phases
    assert pytest.approx(2 * first.T, rel=1e-4) == second.T
    assert found.rerun.worst < 1e-4


def test_a_phase_sets_parameters(tmp_path):
    """A rocket of two stages: v is the sum of c log(m0/m) of both, in closed form."""
    path = tmp_path / "rocket.yaml"
    path.write_text(
        """
params: {c: 2.0}
blocks:
  rate: {type: CONSTANT, value: 0.5}
  rocket: {type: HYBRID_SYSTEM, states: [v, m], arguments: [q], params: {c: $c},
           f: [c*q/m, -q], x0: [0, 2]}
wires: [rate -> rocket.q]
run: {T: 2}
optimize:
  maximize: final(rocket.v)
  controls: {rate: [0, 1]}
  phases:
    first: {T: 1, end: {rocket.m: 1.5}}
    second: {T: 1, set: {c: 3}, end: {rocket.m: {min: 1}}}
""",
        encoding="utf-8",
    )
    found = sb.optimize(path)
    assert found.objective == pytest.approx(2 * np.log(2 / 1.5) + 3 * np.log(1.5), rel=3e-5)
    assert len(found.rerun.results) == 2
    assert found.rerun.worst < 1e-4
    with pytest.raises(sb.InputError, match="its phases set parameters"):
        found.write(path)


def test_parameters_and_initial_states_are_chosen(tmp_path):
    """x = x0 exp(-k t) is 1.5 after 1 s with the least k**2 + x0**2: k = log(x0/1.5)."""
    path = tmp_path / "decay.yaml"
    path.write_text(
        """
params: {k: 1.0}
blocks:
  gain: {type: GAIN, K: $k}
  flip: {type: GAIN, K: -1}
  x: {type: INTEGRATOR, x0: 2.0}
wires: [x -> gain, gain -> flip, flip -> x]
run: {T: 1}
optimize:
  minimize: k**2 + initial(x)**2
  parameters: {k: [-5, 5], x.x0: [0.1, 10]}
  end: {x: 1.5}
""",
        encoding="utf-8",
    )
    found = sb.optimize(path)
    x0 = brentq(lambda x: np.log(x / 1.5) / x + x, 0.5, 1.6, xtol=1e-13)
    assert found["x.x0"] == pytest.approx(x0, rel=1e-6)
    assert found["k"] == pytest.approx(np.log(x0 / 1.5), rel=1e-5, abs=1e-6)


def test_the_brachistochrone_is_a_cycloid(tmp_path):
    """From rest down to (1, 1) m: Johann Bernoulli, Acta Eruditorum, 1696."""
    path = tmp_path / "bead.yaml"
    path.write_text(
        """
blocks:
  angle: {type: CONSTANT, value: 0.8}
  bead: {type: HYBRID_SYSTEM, states: [x, y, v], arguments: [a], params: {g: 9.81},
         f: [v*cos(a), v*sin(a), g*sin(a)], x0: [0, 0, 0]}
wires: [angle -> bead.a]
run: {T: 0.6}
optimize:
  minimize: duration
  controls: {angle: {min: -1.6, max: 1.6}}
  T: [0.1, 3]
  end: {bead.x: 1, bead.y: 1}
""",
        encoding="utf-8",
    )
    phi = brentq(lambda a: (a - np.sin(a)) / (1 - np.cos(a)) - 1, 0.1, 6.2)
    r = 1 / (1 - np.cos(phi))
    found = sb.optimize(path)
    assert pytest.approx(phi * np.sqrt(r / 9.81), rel=1e-6) == found.T
    angle = found.t / found.T * phi
    np.testing.assert_allclose(found.states["bead"][:, 0], r * (angle - np.sin(angle)), atol=1e-4)


def test_gains_are_those_of_the_regulator_far_from_the_end(cart):
    """For Q = 1, R = 1 they are 1 and sqrt(3), of which A'S + SA - SBB'S + Q = 0 has S."""
    found = sb.optimize(cart, minimize="integral(u**2)", T=20.0, controls={"u": None})
    gains = found.gains(Q=1.0, R=1.0)
    np.testing.assert_allclose(gains.K[0], [[np.sqrt(3), 1.0]], rtol=1e-4)
    with pytest.raises(sb.InputError, match="Q does not fit 2 entries"):
        found.gains(Q=[1, 2, 3])
    with pytest.raises(sb.InputError, match="R is not positive definite"):
        found.gains(R=0.0)


def test_gains_keep_a_disturbed_run_near_the_optimum(cart, tmp_path):
    found = sb.optimize(cart, minimize="integral(u**2)", T=2.0, controls={"u": None})
    found.save(tmp_path / "follow.npz")
    follow = tmp_path / "follow.yaml"
    follow.write_text(
        """
blocks:
  way: {type: DATA, file: follow.npz, signals: [x, u, K]}
  off: {type: SUM, signs: "+-"}
  states: {type: MUX, nin: 2}
  back: {type: PROD, ops: "**", matrix: true}
  sum: {type: SUM, signs: "+-"}
  v: {type: INTEGRATOR, x0: 0.0}
  p: {type: INTEGRATOR, x0: 0.1}
wires:
  - v -> states.0, p
  - p -> states.1
  - states -> off.0
  - way.x -> off.1
  - way.K -> back.0
  - off -> back.1
  - way.u -> sum.0
  - back -> sum.1
  - sum[0] -> v
run: {T: 2}
""",
        encoding="utf-8",
    )
    end = sb.simulate(follow).final_state.continuous["p"]
    assert abs(end[0] - 1) < 0.05  # without gains it would end 0.1 away


def test_a_mesh_has_a_border_where_a_source_switches(cart):
    """p'' = u + d with a step d at 0.37 s, from rest back to rest: u is a straight line."""
    text = cart.read_text().partition("optimize:")[0]
    text = text.replace(
        "  v: {", '  d: {type: STEP, T: 0.37}\n  s: {type: SUM, signs: "++"}\n  v: {'
    )
    text = text.replace("  - u -> v\n", "  - u -> s.0\n  - d -> s.1\n  - s -> v\n")
    cart.write_text(text, encoding="utf-8")
    asked = {"minimize": "integral(u**2)", "controls": {"u": None}, "end": {"p": 0, "v": 0}}
    found = sb.optimize(cart, **asked)
    left = 1 - 0.37
    a, b = np.linalg.solve([[1, 1 / 2], [1 / 2, 1 / 3]], [-left, -(left**2) / 2])
    assert found.objective == pytest.approx(a * a + a * b + b * b / 3, rel=1e-7)
    assert {*found.search.intervals} == {17}  # nothing is to be divided
    assert found.rerun.worst < 1e-5
    with pytest.warns(SpartWarning, match=r"d switches at 0.37 s, which no mesh of a free time"):
        sb.optimize(
            cart, **asked | {"minimize": "duration", "controls": {"u": [-2, 2]}}, T=[0.5, 5]
        )

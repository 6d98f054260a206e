"""Adjoints are the transposes of what goes forward: through steps, events, modes and ticks."""

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.tableaus import PAIRS
from spart_blocks.gradients.gradient import GradientRuns, _backward
from spart_blocks.gradients.signals import signal_changes
from spart_blocks.run.simulate import begin
from tests.gradients.test_gradients_of_events import FALLING

DIAGRAMS = Path(sb.__file__).parents[1] / "diagrams"
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


@pytest.fixture
def equal(monkeypatch):
    """equal(path, of, by): adjoints, which are there, are the derivatives forward."""

    def check(path, of, by, within=1e-9, **options):
        taken = []

        def noted(*asked):
            taken.append(_backward(*asked))
            return taken[-1]

        monkeypatch.setattr("spart_blocks.gradients.gradient._backward", noted)
        asked = {"of": of, "by": by, **TIGHT, **options}
        forward = sb.gradient(path, method="forward", **asked)
        assert not taken
        adjoint = sb.gradient(path, method="adjoint", **asked)
        assert taken
        for name, found in forward.derivatives.items():
            size = max(np.abs(one).max() for one in found.values())
            assert size > 0
            for by, value in found.items():
                np.testing.assert_allclose(
                    adjoint[name][by] if len(forward.derivatives) > 1 else adjoint[by],
                    value, rtol=within, atol=within * size, err_msg=f"{name} by {by}",
                )  # fmt: skip

    return check


SWING = """
params: {w: 3, zeta: 0.1, on: 0.6}
blocks:
  step: {type: STEP, T: 0.1, on: $on}
  y:
    type: HYBRID_SYSTEM
    states: [y, v]
    arguments: [u]
    x0: [0.3, 0]
    f: [v, w**2*(u - sin(y)) - 2*zeta*w*v]
    params: {w: $w, zeta: $zeta}
  s: {type: SCOPE}
wires: [step -> y.u, y.y -> s]
run: {T: 2}
"""

METRICS = {
    "end": "final(y.y)", "most": "most(y.y)", "when": "time_of_most(y.y)", "rms": "rms(y.v)",
    "part": "integral(y.y, since=0.4, until=1.3)", "both": "final(y.y)*mean(y.v) + peak(y.v)",
}  # fmt: skip


@pytest.mark.parametrize("solver", [*PAIRS, "RK4", "heun"])
def test_of_a_smooth_run_they_are_the_derivatives_forward(equal, written, solver):
    options = {"solver": solver} | ({} if solver in PAIRS else {"max_step": 0.01})
    equal(written(SWING), METRICS, ["w", "zeta", "on", "step.T", "y.x0"], **options)


def test_through_bounces(equal, written):
    of = {"end": "final(ball.y)", "hit": "time_of(ball)", "area": "integral(ball.y)",
          "after": "most(ball.y, since=0.5)", "twin": "final(twin.v)"}  # fmt: skip
    equal(written(FALLING), of, ["g", "e", "ball.x0", "twin.x0"], T=1.2)


def test_through_an_end_that_moves(equal, written):
    text = """
params: {g: 10, c: 0.1}
blocks:
  v: {type: HYBRID_SYSTEM, states: [v, way], f: [g - c*v, v], params: {g: $g, c: $c}}
  left: {type: FCN, expression: "way - 0.2", arguments: [way]}
  end: {type: STOP}
  s: {type: SCOPE}
wires: [v.way -> left, left -> end, v.v -> s]
run: {T: 3}
"""
    of = {"speed": "final(v.v)", "time": "duration", "mean": "mean(v.v)"}
    equal(written(text), of, ["g", "c", "v.x0"])


SAMPLED = """
clocks: {c: {rate: 20}}
params: {k: 4, goal: 1}
blocks:
  goal: {type: CONSTANT, value: $goal}
  error: {type: SUM, signs: "+-"}
  held: {type: ZOH, clock: c}
  gain: {type: GAIN, K: $k}
  x: {type: INTEGRATOR, x0: 0.2}
  s: {type: SCOPE}
wires: [goal -> error.0, x -> error.1, error -> held, held -> gain, gain -> x, x -> s]
run: {T: 1}
"""


def test_through_ticks(equal, written):
    equal(written(SAMPLED), {"end": "final(x)", "rms": "rms(error)"}, ["k", "goal", "x.x0"])


TWO_CLOCKS = SAMPLED.replace("{rate: 20}}", "{rate: 20}, d: {rate: 30}}").replace(
    "wires: [", "wires: [x -> slow, slow -> w, w -> z, "
).replace("  s: {", """  slow: {type: ZOH, clock: d}
  w: {type: HYBRID_SYSTEM, states: [w], arguments: [u], f: ["u - w"]}
  z: {type: SCOPE}
  s: {""")  # fmt: skip


def test_through_ticks_of_clocks_that_meet(equal, written):
    of = {"end": "final(w)", "held": "rms(slow)", "at": "integral(x, since=0.3, until=0.5)"}
    equal(written(TWO_CLOCKS), of, ["k", "goal", "x.x0", "w.x0"])


SHIPPED = {
    "signals/bouncing_ball": ({"end": "final(ball.y)", "hit": "time_of(ball)"},
                              ["e", "g", "ball.x0"], 1.1),
    "signals/thrusters": ({"end": "final(attitude[2])", "rms": "rms(attitude[2])"},
                          ["torque", "valves.on"], 3),
    "signals/delayed_loops": ({"level": "final(level)", "rate": "rms(rate)"},
                              ["rate.x0", "law.K", "valve.K"], 1.5),
    "joints/friction": ({"end": "final(plant.qm[1])"}, ["gravity.gravity", "plant.x0"], 0.5),
    "spacecraft_pd": ({"effort": "rms(ctrl.tau[0])"}, ["kp", "kd", "qd.T"], 1.5),
    "spacecraft_sampled": ({"end": "final(plant.qm[0])"}, ["kp", "kd"], 1.5),
    "loops/five_bar": ({"end": "final(arm.qm[2])"}, ["ctrl.kp", "ctrl.ki", "goal"], 0.5),
}  # fmt: skip


@pytest.mark.parametrize("name", SHIPPED)
def test_of_shipped_diagrams(equal, name):
    """Through bounces, relays, ticks, stiction, edges, normalised attitudes and closed loops."""
    of, by, T = SHIPPED[name]
    equal(DIAGRAMS / f"{name}.yaml", of, by, T=T, rtol=1e-12, atol=1e-14)


def test_steps_that_are_projected_are_so_in_the_compiled_loop(monkeypatch):
    asked = {"of": "final(arm.qm[2])", "by": ["ctrl.kp", "goal"], "T": 0.3, "method": "forward"}
    path = DIAGRAMS / "loops" / "five_bar.yaml"
    compiled = sb.gradient(path, **asked)
    monkeypatch.setattr("spart_blocks.gradients.loops.loaded_library", lambda *_: None)
    plain = sb.gradient(path, **asked)
    for name, found in compiled.derivatives["metric"].items():
        np.testing.assert_allclose(plain[name], found, rtol=1e-9, atol=1e-12)


def test_samples_between_ticks_are_read_in_the_compiled_loop(written, monkeypatch):
    """At a tick what is read is what holds after it."""
    asked = begin(written(TWO_CLOCKS), engine="native", solver="RK45").engine
    changes = np.zeros((len(asked.program.p), 2))
    changes[asked.program.parameter_places("k")[0], 0] = 1
    changes[asked.program.parameter_places("goal")[0], 1] = 1
    times = np.unique(np.concatenate([np.linspace(0, 1, 41), [0.123, 0.6543]]))
    found = signal_changes(asked, ["x", "held", "slow"], changes, times)
    monkeypatch.setattr("spart_blocks.gradients.loops.loaded_library", lambda *_: None)
    asked = begin(written(TWO_CLOCKS), engine="native", solver="RK45").engine
    plain = signal_changes(asked, ["x", "held", "slow"], changes, times)
    np.testing.assert_allclose(found.values, plain.values, rtol=1e-12, atol=1e-14)
    np.testing.assert_allclose(found.changes, plain.changes, rtol=1e-10, atol=1e-12)
    np.testing.assert_allclose(found.rates, plain.rates, rtol=1e-10, atol=1e-12)


def test_through_modes(equal, written):
    text = """
params: {a: 0.5, c: 0, u: 1}
blocks:
  x:
    type: HYBRID_SYSTEM
    states: [x, y]
    x0: [-1, 0]
    f: ["where(x > c, u - a, u + a)", "x*y + u"]
    params: {a: $a, c: $c, u: $u}
  s: {type: SCOPE}
wires: [x.x -> s]
run: {T: 1.5}
"""
    equal(written(text), {"end": "final(x.x)", "y": "rms(x.y)"}, ["a", "c", "u", "x.x0"])


@pytest.mark.parametrize("lanes", ["1", "2", "8"])
def test_in_any_number_of_lanes(equal, written, monkeypatch, lanes):
    monkeypatch.setenv("SPART_LANES", lanes)
    equal(written(SWING), METRICS, ["w", "zeta", "on", "y.x0"])


def test_in_calls_of_few_rows(equal, written, monkeypatch):
    whole = sb.gradient(written(SWING), of="final(y.y)", by=["w", "y.x0"], **TIGHT)
    for module in ("forward", "backward"):
        monkeypatch.setattr(f"spart_blocks.gradients.{module}.MOST_ROWS", 7)
    found = sb.gradient(written(SWING), of="final(y.y)", by=["w", "y.x0"], **TIGHT)
    np.testing.assert_allclose(found["y.x0"], whole["y.x0"], rtol=1e-12)
    equal(written(SWING), METRICS, ["w", "y.x0"])
    equal(written(TWO_CLOCKS), {"end": "final(w)"}, ["k", "x.x0"])


def test_a_fast_mode_at_rest_gets_short_steps_backwards_too(written):
    """The run is at rest and takes long steps; a change of its start decays at 2,000 a second."""
    text = """
params: {k: 2000}
blocks:
  x: {type: HYBRID_SYSTEM, states: [x, y], f: [-k*x, "-y + x"], params: {k: $k}}
  s: {type: SCOPE}
wires: [x.y -> s]
run: {T: 2}
"""
    found = sb.gradient(written(text), of="final(x.y)", by="x.x0", method="adjoint")
    slow, fast = np.exp(-2), np.exp(-4000)
    np.testing.assert_allclose(found["x.x0"], [(slow - fast) / 1999, slow], rtol=1e-5)


def test_few_numbers_by_many_parameters_are_derived_backwards(written, monkeypatch):
    count, taken = 24, []
    goals = [1 + 0.1 * i for i in range(count)]
    text = f"""
params: {{goals: {goals}}}
blocks:
  x: {{type: INTEGRATOR, x0: {[1.0] * count}}}
  goal: {{type: CONSTANT, value: $goals}}
  way: {{type: SUM, signs: "+-"}}
  s: {{type: SCOPE}}
wires: [goal -> way.0, x -> way.1, way -> x, x -> s]
run: {{T: 1}}
"""
    monkeypatch.setattr(
        "spart_blocks.gradients.gradient._backward",
        lambda *asked: taken.append(_backward(*asked)) or taken[-1],
    )
    asked = {"rtol": 1e-8, "atol": 1e-10, "max_step": 2e-3}
    found = sb.gradient(written(text), of="final(norm(x))", by="goals", **asked)["goals"]
    assert len(taken) == 1
    left = np.exp(-1)
    x = np.array(goals) * (1 - left) + left
    closed = x / np.linalg.norm(x) * (1 - left)
    np.testing.assert_allclose(found, closed, rtol=1e-6)
    sb.gradient(written(text), of="final(x)", by="goals[0]", **asked)
    assert len(taken) == 1


def test_an_unknown_method_is_refused(written):
    with pytest.raises(sb.InputError, match=r"method is 'reverse'\n  it is one of auto, forward"):
        sb.gradient(written(SWING), of="final(y.y)", by="w", method="reverse")


def test_without_a_compiler_it_goes_forward(written, monkeypatch):
    monkeypatch.setattr("spart_blocks.gradients.loops.loaded_library", lambda *_: None)
    found = sb.gradient(written(SWING), of="final(y.y)", by="w", method="adjoint")
    other = sb.gradient(written(SWING), of="final(y.y)", by="w", method="forward")
    assert found["w"] == other["w"]


def test_runs_with_gradients_keep_their_method(written):
    runs = GradientRuns.of(written(SWING), "final(y.y)", "w")
    assert runs.method == "auto"

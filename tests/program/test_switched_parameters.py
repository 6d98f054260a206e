"""Parameters that switch within a run, against two runs of which one continues the other."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.program.storage import from_text, to_text
from spart_blocks.program.tracing.switched_parameters import switched_parameters

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
AT, T = 0.4567, 1.0

LOOP = """\
clocks: {fast: {T: 0.05}, slow: {T: 0.1}}
blocks:
  wave: {type: WAVEFORM, wave: square, freq: 3, amplitude: 1}
  ref: {type: STEP, T: 0.3, on: 1}
  sum: {type: SUM, signs: "++-"}
  hold: {type: ZOH, clock: fast, x0: 0}
  gain: {type: GAIN, K: 2}
  clip: {type: CLIP, min: -1, max: 1}
  plant: {type: INTEGRATOR, x0: 0, min: -2, max: 2}
  delay: {type: UNIT_DELAY, clock: slow, initial: 0}
  n: {type: "NULL"}
wires:
  - wave -> sum.0
  - ref -> sum.1
  - plant -> sum.2
  - sum -> hold
  - hold -> gain
  - gain -> clip
  - clip -> plant
  - plant -> delay
  - delay -> n
run: {T: 1}
"""


@pytest.fixture(params=["compiled", "none"])
def engine(request, monkeypatch):
    """With the compiled loop, and without any compiler."""
    if request.param == "none":
        monkeypatch.setenv("SPART_COMPILER", "none")
    return request.param


@pytest.fixture
def loop(tmp_path):
    path = tmp_path / "loop.yaml"
    path.write_text(LOOP, encoding="utf-8")
    return sb.load(path)


def continued(program, values, at, **options):
    """A run to a time, and its continuation with other parameters."""
    first = sb.simulate(program, T=at, **options)
    end = program.run.T
    return sb.simulate(program.with_parameters(values), T=end, initial=first.final_state, **options)


def switched(program, values, at):
    given = {f"after.{name}": value for name, value in values.items()}
    return switched_parameters(program, values).with_parameters({**given, "fault.at": at})


def assert_same_end(a, b, rtol=1e-9):
    for states in ("continuous", "discrete"):
        mine, theirs = getattr(a.final_state, states), getattr(b.final_state, states)
        assert mine.keys() == theirs.keys()
        for name, value in theirs.items():
            np.testing.assert_allclose(mine[name], value, rtol=rtol, atol=rtol, err_msg=name)


@pytest.mark.parametrize("solver", ["RK45", "DOP853", "Radau", "CVODES", "RK4"])
@pytest.mark.parametrize("values", [{"gain.K": -1.0}, {"clip.max": 0.2}, {"ref.on": 3.0}])
def test_it_is_two_runs_one_after_the_other(loop, engine, solver, values):
    program = sb.trace(loop)
    options = {"solver": solver, "rtol": 1e-10, "atol": 1e-12}
    if solver == "RK4":
        options["max_step"] = 1e-3
    a = sb.simulate(switched(program, values, AT), **options)
    assert_same_end(a, continued(program, values, AT, **options), 1e-7)
    assert AT in a.t, "the time is met exactly"


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("spacecraft_pd", {"ctrl.kp": np.zeros(3)}),
        ("spacecraft_sampled", {"ctrl.kp": np.zeros(3), "ctrl.kd": np.zeros(3)}),
        ("joints/friction", {"gravity.gravity": np.array([0, 0, -3.0])}),
        ("signals/limited_servo", {"range.upper": 0.1, "drive.k": 0.5, "high.constant": 0.2}),
        ("signals/thrusters", {"thrust.F": 0.0}),
    ],
)
def test_plants_controllers_and_modes(name, values, engine):
    program = sb.trace(sb.load(DIAGRAMS / f"{name}.yaml", overrides={"run.T": T}))
    values = {k: np.broadcast_to(v, program.parameter(k).shape) for k, v in values.items()}
    options = {"rtol": 1e-9, "atol": 1e-11}
    a = sb.simulate(switched(program, values, AT), **options)
    assert_same_end(a, continued(program, values, AT, **options), 1e-6)


def test_without_a_fault_it_is_the_program(loop, engine):
    program = sb.trace(loop)
    plain, same = sb.simulate(program), sb.simulate(switched_parameters(program, ["gain.K"]))
    assert_same_end(same, plain, 0)
    assert same.info["steps"] == plain.info["steps"]
    late = sb.simulate(switched(program, {"gain.K": 9.0}, T + 1))
    assert_same_end(late, plain, 0)


def test_from_the_start_it_is_the_program_with_the_other_values(loop, engine):
    program = sb.trace(loop)
    begun = sb.simulate(switched(program, {"gain.K": 9.0}, 0.0))
    assert_same_end(begun, sb.simulate(program.with_parameters({"gain.K": 9.0})), 1e-12)


def test_a_tick_at_that_time_reads_the_new_values_as_it_does_of_a_step(tmp_path, engine):
    text = """\
clocks: {c: {T: 0.1}}
blocks:
  gain: {type: STEP, T: 0.3, off: 2, on: 5}
  own: {type: CONSTANT, value: 2}
  a: {type: ZOH, clock: c, x0: 0}
  b: {type: ZOH, clock: c, x0: 0}
  n: {type: "NULL"}
  m: {type: "NULL"}
wires:
  - gain -> a
  - own -> b
  - a -> n
  - b -> m
run: {T: 1, every: 0.05, log: [a, b]}
"""
    path = tmp_path / "ticks.yaml"
    path.write_text(text, encoding="utf-8")
    program = sb.trace(sb.load(path))
    results = sb.simulate(switched(program, {"own.value": 5.0}, 0.3))
    np.testing.assert_array_equal(results["b"], results["a"])


def test_switching_times_of_sources_follow_the_values_in_force(loop, engine):
    """A step that a fault moves to a later time, and a wave that it makes faster."""
    program = sb.trace(loop)
    options = {"rtol": 1e-10, "atol": 1e-12}
    for values in ({"ref.T": 0.8}, {"wave.freq": 7.0}):
        a = sb.simulate(switched(program, values, AT), **options)
        assert_same_end(a, continued(program, values, AT, **options), 1e-8)
    assert 0.8 in sb.simulate(switched(program, {"ref.T": 0.8}, AT)).t


def test_masses_switch_too(engine):
    path = DIAGRAMS / "spacecraft_pd.yaml"
    program = sb.trace(sb.load(path, overrides={"tunable": ["sc.mass"], "run.T": T}))
    values = {"sc.mass": 2 * program.parameter("sc.mass")}
    options = {"rtol": 1e-9, "atol": 1e-11}
    a = sb.simulate(switched(program, values, AT), **options)
    b = continued(program, values, AT, **options)
    np.testing.assert_allclose(
        a.final_state.continuous["plant"], b.final_state.continuous["plant"], rtol=1e-7, atol=1e-9
    )


def test_it_may_be_stored_and_read(loop):
    program = switched(sb.trace(loop), {"gain.K": 9.0}, AT)
    again = from_text(to_text(program))
    np.testing.assert_array_equal(again.p, program.p)
    assert_same_end(sb.simulate(again), sb.simulate(program), 0)
    endless = from_text(to_text(switched_parameters(sb.trace(loop), ["gain.K"])))
    assert endless.p[-1] == np.inf


def test_what_cannot_switch_is_told(loop):
    program = sb.trace(loop)
    with pytest.raises(InputError, match=r"no parameter 'gain\.k'\n  did you mean 'gain\.K'"):
        switched_parameters(program, ["gain.k"])
    with pytest.raises(InputError, match=r"plant\.x0 is an initial state"):
        switched_parameters(program, ["plant.x0"])
    with pytest.raises(InputError, match="already has parameters that switch"):
        switched_parameters(switched_parameters(program, ["gain.K"]), ["gain.K"])

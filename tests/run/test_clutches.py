"""A guard and a jump on one surface, to which rates lead back from both sides: the transition comes
first. Slipping, a clutch has we' = 4 - 8 sign(we - wv) and wv' = 8/5 sign(we - wv); locked, both
rise by 2/3 per second. From 20 and 0 it locks at t = 25/7."""

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name

LOCKS = 25 / 7
COMMON = 20 - 4 * LOCKS

SPEEDS = """
name: clutch
blocks:
{blocks}
  fe: {{type: FCN, expression: "(4 - 8*sign(we - wv)) if l < 0.5 else 4/6", arguments: [we, wv, l]}}
  fv: {{type: FCN, expression: "8*sign(we - wv)/5 if l < 0.5 else 4/6", arguments: [we, wv, l]}}
  we: {{type: INTEGRATOR, x0: {start}}}
  wv: {{type: INTEGRATOR}}
wires:
  - fe -> we
  - fv -> wv
  - we -> fe.we, fv.we, {we}
  - wv -> fe.wv, fv.wv, {wv}
{wires}
run: {{T: 5, log: [we, wv]}}
"""
MACHINE = """
  {name}:
    type: STATE_MACHINE
    arguments: [{arguments}]
    outputs: {{l: 0}}
    initial: slips
    states: {{slips: {{}}, locked: {{entry: {{l: 1}}}}}}
    transitions: [{{from: slips, to: locked, when: "{when}"}}]
"""


def machine(when, arguments="we, wv", name="lock"):
    return MACHINE.format(name=name, arguments=arguments, when=when)


def clutch(blocks, we="lock.we", wv="lock.wv", wires="  - lock.l -> fe.l, fv.l", start=20):
    return SPEEDS.format(blocks=blocks, we=we, wv=wv, wires=wires, start=start)


CLUTCH = clutch(machine("we - wv <= 0"))
BY_SIGNAL = "  - seen -> lock\n  - lock.l -> fe.l, fv.l"
GUARDS = {
    "at most": CLUTCH,
    "below": clutch(machine("we < wv")),
    "scaled": clutch(machine("not 3*we/7 > 3*wv/7 and t > 1")),
    "compare": clutch(
        '  seen: {type: COMPARE, operator: "<="}\n' + machine("u > 0.5", "u"),
        "seen.a",
        "seen.b",
        BY_SIGNAL,
    ),
    "switch": clutch(
        "  slip: {type: SUM, signs: '+-'}\n  one: {type: CONSTANT, value: 1}\n"
        "  none: {type: CONSTANT, value: 0}\n"
        "  seen: {type: SWITCH, threshold: 0, criterion: '>'}\n" + machine("u > 0.5", "u"),
        "slip.0",
        "slip.1",
        "  - slip -> seen.control\n  - none -> seen.a\n  - one -> seen.b\n" + BY_SIGNAL,
    ),
    "relay": clutch(
        "  seen: {type: SUM, signs: '-+'}\n"
        "  lock: {type: RELAY, on: 0, off: -1000, on_value: 1, off_value: 0}\n",
        "seen.0",
        "seen.1",
        "  - seen -> lock\n  - lock -> fe.l, fv.l",
    ),
    "crossing": clutch(
        "  slip: {type: SUM, signs: '+-'}\n"
        "  seen: {type: HIT_CROSSING, direction: falling}\n" + machine("n > 0.5", "n"),
        "slip.0",
        "slip.1",
        "  - slip -> seen\n  - seen.count -> lock\n  - lock.l -> fe.l, fv.l",
    ),
    "two machines": clutch(
        machine("we <= wv") + machine("we - wv <= 0", name="other"),
        "lock.we, other.we",
        "lock.wv, other.wv",
        "  - lock.l -> fe.l\n  - other.l -> fv.l",
    ),
    "friction": clutch(
        machine("we - wv <= 0") + "  push: {type: RAMP, T: 0, slope: 0.28}\n"
        "  mass: {type: FRICTION_MASS, mass: 1, coulomb: 0.5, static: 1}\n",
        wires="  - lock.l -> fe.l, fv.l\n  - push -> mass.f",
    ),
}
SOLVERS = ["RK45", "RK23", "DOP853", "BDF", "Radau", "LSODA", "CVODES", "euler", "heun", "RK4"]


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "clutch.yaml"
        path.write_text(text)
        return path

    return write


def check(results, locks=LOCKS, common=COMMON, within=1e-9):
    """That it locks at this time and speed, once, and goes on together."""
    (event,) = (e for e in results.events if e.block == "lock")
    assert abs(event.t - locks) < within
    end = common + (5 - locks) * 2 / 3
    assert np.allclose([results["we"][-1], results["wv"][-1]], end, rtol=0, atol=10 * within)
    late = results.t > event.t
    assert np.abs(results["we"] - results["wv"])[late].max() < 10 * within


@pytest.mark.parametrize("engine", ["interpreter", "native"])
@pytest.mark.parametrize("solver", SOLVERS)
def test_a_clutch_locks_where_its_speeds_meet_with_every_solver(solver, engine, written):
    if (solver, engine) == ("CVODES", "interpreter"):
        pytest.skip("needs a program")
    check(sb.simulate(written(CLUTCH), engine=engine, solver=solver))


@pytest.mark.parametrize("solver", ["RK45", "DOP853", "RK4", "CVODES"])
def test_a_clutch_locks_without_a_compiler(solver, written, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert compiler_name() is None
    check(sb.simulate(written(CLUTCH), engine="native", solver=solver))


@pytest.mark.parametrize("sliding", ["error", "filippov"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "BDF", "CVODES"])
@pytest.mark.parametrize("guard", GUARDS)
def test_a_transition_comes_before_sliding_by_whatever_it_is_seen(guard, solver, sliding, written):
    check(sb.simulate(written(GUARDS[guard]), solver=solver, sliding=sliding))


@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES"])
def test_a_guard_that_no_motion_reaches_does_not_act(solver, written):
    """Beyond the surface of the jump, even by little, motions do not get."""
    results = sb.simulate(
        written(clutch(machine("we - wv <= -0.01"))), solver=solver, sliding="filippov"
    )
    (event,) = results.events
    assert event.what == "slides along zero"
    assert abs(event.t - LOCKS) < 1e-6
    assert abs(results["we"][-1] - COMMON - (5 - LOCKS) * 2 / 3) < 1e-6


@pytest.mark.parametrize("known", ["tick", "edge", "neither"])
@pytest.mark.parametrize("solver", ["RK45", "RK4", "CVODES"])
def test_a_surface_met_at_a_known_time_lets_the_transition_act_there(solver, known, written):
    """From 14 it locks at t = 2.5, where a clock ticks or a source switches."""
    extra = {
        "tick": "  tick: {type: ZOH, clock: c}\n",
        "edge": "  step: {type: STEP, T: 2.5}\n  gain: {type: GAIN, K: 1}\n",
        "neither": "",
    }[known]
    wires = {"tick": "  - we -> tick\n", "edge": "  - step -> gain\n", "neither": ""}[known]
    text = clutch(
        machine("we - wv <= 0") + extra, wires=wires + "  - lock.l -> fe.l, fv.l", start=14
    )
    if known == "tick":
        text = text.replace("blocks:", "clocks: {c: {T: 0.5}}\nblocks:")
    check(sb.simulate(written(text), solver=solver), 2.5, 4.0)


def test_a_stop_on_the_surface_of_a_jump_ends_the_run(written):
    text = (
        "blocks:\n  f: {type: FCN, expression: '-sign(u)'}\n  x: {type: INTEGRATOR, x0: 1}\n"
        "  below: {type: GAIN, K: -1}\n  end: {type: STOP}\n"
        "wires: [f -> x, x -> f, x -> below, below -> end]\nrun: {T: 3}\n"
    )
    for solver in ("RK45", "DOP853", "RK4", "CVODES"):
        results = sb.simulate(written(text), solver=solver)
        assert abs(results.t[-1] - 1) < 1e-9
        assert "end" in results.stopped

"""Runs one by one are those of `simulate`, bit for bit, at little cost each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.measures.work import COMPLETE, FAILED, STATUSES, STOPPED, FileWork, Work, joined
from spart_blocks.run import DiagramFile
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run.one_by_one import each_run, failed

DIAGRAMS = Path(__file__).parents[2] / "diagrams"

OSCILLATOR = """
name: oscillator
params: {{k: 4.0}}
blocks:
  spring: {{type: GAIN, K: -4.0}}
  v: {{type: INTEGRATOR, x0: 0.0}}
  x: {{type: INTEGRATOR, x0: 1.0}}
  scope: {{type: SCOPE}}
wires: [spring -> v, v -> x, x -> spring, x -> scope]
run: {{T: 3.0, {options}}}
"""

STOPPING = """
name: falling
blocks:
  g: {type: CONSTANT, value: -10.0}
  v: {type: INTEGRATOR, x0: 0.0}
  y: {type: INTEGRATOR, x0: 1.0}
  below: {type: GAIN, K: -1.0}
  ground: {type: STOP}
wires: [g -> v, v -> y, y -> below, below -> ground]
run: {T: 1.0}
"""

DIVERGING = """
name: diverging
blocks:
  square: {type: PROD, ops: "**"}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [x -> square.0, x -> square.1, square -> x]
run: {T: 2.0}
"""


def status_of(done):
    return [STATUSES[k] for k in done.status]


def only(parts):
    """All parts as one."""
    return joined(list(parts))


def reached(results, program):
    """The final states of results as the vectors x and xd."""
    final = results.final_state
    parts = ((program.states, final.continuous), (program.discrete, final.discrete))
    return [np.concatenate([np.zeros(0), *(of[s.name] for s in slots)]) for slots, of in parts]


def assert_as_simulated(work):
    """Each run is what `simulate` gives with its parameters, which records all the while."""
    done = only(each_run(work))
    for k, p in enumerate(work.p):
        program = replace(work.program, p=p)
        results = sb.simulate(program)
        x, xd = reached(results, program)
        np.testing.assert_array_equal(done.x[k], x)
        np.testing.assert_array_equal(done.xd[k], xd)
        assert done.steps[k] == results.info["steps"]
        assert done.t[k] == results.final_state.t
    return done


OPTIONS = ["solver: RK45", "solver: DOP853", "solver: RK4", "solver: RK4, max_step: 0.01"]
OPTIONS += ["solver: CVODES", "solver: BDF", "solver: auto, sliding: filippov"]


@pytest.mark.parametrize("options", OPTIONS)
def test_each_run_is_that_of_simulate(options, diagram_file, work_of):
    path = diagram_file(OSCILLATOR.format(options=options))
    done = assert_as_simulated(work_of(path, {"spring.K": [-4.0, -1.0, -9.0], "x.x0": [1.0, 2, 3]}))
    assert status_of(done) == [COMPLETE] * 3
    assert not done.messages


@pytest.mark.parametrize("options", ["solver: auto", "solver: RK4"])
def test_so_is_each_without_a_compiler(options, diagram_file, work_of, monkeypatch):
    monkeypatch.setenv("SPART_COMPILER", "none")
    path = diagram_file(OSCILLATOR.format(options=options))
    assert_as_simulated(work_of(path, {"spring.K": [-4.0, -1.0]}))


@pytest.mark.parametrize(
    "name", ["spacecraft_sampled", "signals/limited_servo", "signals/thrusters"]
)
def test_so_is_each_of_diagrams_with_clocks_and_crossings(name, work_of):
    program = sb.trace(sb.load(DIAGRAMS / f"{name}.yaml"))
    program = replace(program, run=program.run.model_copy(update={"T": 1.0}))
    work = Work(program, np.arange(2), np.array([program.p, program.p]))
    assert_as_simulated(work)


def test_a_run_has_the_same_bits_in_whatever_part(diagram_file, work_of):
    path = diagram_file(OSCILLATOR.format(options="solver: CVODES"))
    work = work_of(path, {"spring.K": -np.arange(1.0, 6.0)})
    whole = only(each_run(work))
    alone = only(each_run(work.part(slice(3, 4))))
    np.testing.assert_array_equal(alone.x[0], whole.x[3])
    np.testing.assert_array_equal(alone.runs, [3])


def test_a_stop_ends_a_run_and_its_time_is_that_of_its_event(diagram_file, work_of):
    work = work_of(diagram_file(STOPPING), {"y.x0": [0.2, 5.0, 7.0, 0.8]}, blocks=("ground",))
    done = only(each_run(work))
    assert status_of(done) == [STOPPED, COMPLETE, COMPLETE, STOPPED]
    fall = np.sqrt([0.04, 0.16])
    np.testing.assert_allclose(done.events["ground"], [fall[0], np.nan, np.nan, fall[1]], rtol=1e-9)
    np.testing.assert_array_equal(done.t[[0, 3]], done.events["ground"][[0, 3]])


def test_a_run_that_diverges_is_told_with_its_block_and_time(diagram_file, work_of):
    gauge = Gauge("extremes", "x")
    work = work_of(diagram_file(DIVERGING), {"x.x0": [0.1, 1.0, 0.2]}, gauges=(gauge,))
    done = only(each_run(work))
    assert status_of(done) == [COMPLETE, FAILED, COMPLETE]
    assert list(done.messages) == [1]
    assert "x" in done.messages[1]
    assert "t = 1" in done.messages[1]
    assert "\n" not in done.messages[1]
    assert done.t[1] == pytest.approx(1.0, abs=1e-3)
    assert done.readings[gauge]["most"].shape == (3, 1)


def test_a_run_that_cannot_begin_is_told_and_others_go_on(diagram_file, work_of):
    gauge = Gauge("extremes", "x")
    work = work_of(diagram_file(DIVERGING), {"x.x0": [0.1, 1e200]}, gauges=(gauge,))
    done = only(each_run(work))
    assert status_of(done) == [COMPLETE, FAILED]
    assert np.isnan(done.readings[gauge]["least"][1]).all()
    assert done.readings[gauge]["least"][0] == pytest.approx(0.1)


def test_states_are_kept_at_an_interval_up_to_the_end_of_each_run(diagram_file, work_of):
    work = work_of(diagram_file(STOPPING), {"y.x0": [0.2, 6.0]}, every=0.1)
    done = only(each_run(work))
    np.testing.assert_allclose(done.times, np.linspace(0, 1, 11), rtol=1e-12)
    assert done.rows.shape == (2, 11, 2)
    y = [slot.name for slot in work.program.states].index("y")
    np.testing.assert_allclose(done.rows[1, :, y], 6 - 5 * done.times**2, rtol=1e-6)
    np.testing.assert_allclose(done.rows[0, :3, y], 0.2 - 5 * done.times[:3] ** 2, atol=1e-6)
    assert np.isnan(done.rows[0, 3:]).all()


@pytest.mark.parametrize("solver", ["RK4", "CVODES", "RK45"])
def test_keeping_states_changes_no_run(solver, diagram_file, work_of):
    path = diagram_file(OSCILLATOR.format(options=f"solver: {solver}"))
    work = work_of(path, {"spring.K": [-4.0, -1.0]})
    kept = only(each_run(replace(work, every=0.7)))
    np.testing.assert_array_equal(kept.x, only(each_run(work)).x)
    np.testing.assert_array_equal(kept.rows[:, -1], np.hstack([kept.x, kept.xd]))


def test_gauges_measure_as_in_a_run_alone(diagram_file, work_of):
    gauges = (Gauge("extremes", "x"), Gauge("square", "v"))
    path = diagram_file(OSCILLATOR.format(options="solver: auto"))
    done = only(each_run(work_of(path, {"spring.K": [-4.0, -1.0]}, gauges=gauges)))
    np.testing.assert_allclose(done.readings[gauges[0]]["least"][:, 0], [-1.0, np.cos(3.0)], 1e-5)
    speed = 0.5 * 4 * (3 - np.sin(12) / 4)  # the integral of (2 sin 2t)^2
    assert done.readings[gauges[1]]["integral"][0, 0] == pytest.approx(speed, rel=1e-5)


def test_a_diagram_without_a_program_runs_by_its_blocks(diagram_file):
    path = diagram_file(OSCILLATOR.format(options="solver: RK45"))
    values = [("spring.K=-4.0",), ("spring.K=oops",), ("spring.K=-1.0",)]
    work = FileWork(DiagramFile(path), np.arange(3), tuple(values), every=1.0)
    done = only(each_run(work))
    assert status_of(done) == [COMPLETE, FAILED, COMPLETE]
    assert "spring" in done.messages[1]
    for k in (0, 2):
        results = sb.simulate(path, engine="interpreter", overrides=values[k])
        np.testing.assert_array_equal(
            done.x[k], np.concatenate(list(results.states.values()), 1)[-1]
        )
    assert np.isnan(done.x[1]).all()
    assert done.rows.shape == (3, 4, 2)
    np.testing.assert_array_equal(work.part(slice(2, 3)).overrides, values[2:])


def test_states_of_blocks_are_given_to_runs_without_a_program(diagram_file):
    path = diagram_file(OSCILLATOR.format(options="solver: RK45"))
    work = FileWork(DiagramFile(path), np.arange(2), ((), ()), start={"x": np.array([[1.0], [2]])})
    done = only(each_run(work))
    np.testing.assert_allclose(done.x[1], 2 * done.x[0], rtol=1e-5)


def test_what_no_run_can_do_is_raised_at_once(diagram_file, work_of):
    work = work_of(diagram_file(STOPPING), {"y.x0": [0.2]})
    run_options = work.program.run.model_copy(update={"max_step": 1e-12})
    with pytest.raises(InputError, match="max_step"):
        list(each_run(replace(work, program=replace(work.program, run=run_options))))


def test_an_interrupt_keeps_the_runs_that_had_ended(diagram_file, work_of, monkeypatch):
    from spart_blocks.run.engines.compiled import CompiledLoop

    work = work_of(diagram_file(STOPPING), {"y.x0": [0.2, 0.3, 0.4]})
    go, count = CompiledLoop.go, iter(range(3))

    def interrupted(loop):
        go(loop)
        if next(count) == 1:
            raise KeyboardInterrupt

    monkeypatch.setattr(CompiledLoop, "go", interrupted)
    parts = each_run(work)
    assert next(parts).runs.tolist() == [0]
    with pytest.raises(KeyboardInterrupt):
        next(parts)


def test_runs_that_never_began_are_told_in_the_shapes_of_others(diagram_file, work_of):
    gauge = Gauge("extremes", "x")
    work = work_of(diagram_file(DIVERGING), {"x.x0": [0.1, 0.2]}, gauges=(gauge,), blocks=("x",))
    done = failed(work, "its process ended")
    assert status_of(done) == [FAILED] * 2
    assert done.messages == {0: "its process ended", 1: "its process ended"}
    assert done.x.shape == (2, 1)
    assert done.readings[gauge]["least"].shape == (2, 1)
    assert np.isnan(done.events["x"]).all()

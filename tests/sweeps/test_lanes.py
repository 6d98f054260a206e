"""Runs in lanes have the same bits in any number of lanes and threads, and are those of
`simulate`."""

from __future__ import annotations

import ctypes
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from kernel_usage import usages
from lane_runs import RELAY, assert_lanes_as_alone, every_way, in_order, measured, nominal, spread

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.base.tableaus import FIXED_STEP, PAIRS
from spart_blocks.measures.work import STATUSES, Work, joined
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.dialects import FLAGS
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.card import cubin
from spart_blocks.sweeps.run.lane_setup import LaneSetup, WorkStruct
from spart_blocks.sweeps.run.lane_source import kernel_source
from spart_blocks.sweeps.run.one_by_one import each_run

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

DIAGRAMS = Path(__file__).parents[2] / "diagrams"

BALL = """
name: ball
params: {height: 1.0}
blocks:
  g: {type: CONSTANT, value: -9.81}
  v: {type: INTEGRATOR, x0: 0.0}
  y: {type: INTEGRATOR, x0: $height}
  floor: {type: GAIN, K: -1.0}
  late: {type: STEP, T: 0.9, off: -1.0, on: 1.0}
  end: {type: STOP}
wires: [g -> v, v -> y, y -> floor, late -> end]
run: {T: 3.0}
"""
NOISY = """
name: noisy
params: {pole: -1.0}
clocks: {c: {T: 0.05}}
blocks:
  w: {type: NOISE, clock: c, seed: 3}
  pole: {type: GAIN, K: $pole}
  sum: {type: SUM, signs: "++"}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [x -> pole, pole -> sum.0, w -> sum.1, sum -> x]
run: {T: 2.0}
"""
OSCILLATOR = """
name: oscillator
params: {k: 4.0}
blocks:
  spring: {type: GAIN, K: -4.0}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 1.0}
  goal: {type: STEP, T: 0.5, off: 0.0, on: 1.0}
wires: [spring -> v, v -> x, x -> spring]
run: {T: 3.0}
"""


@pytest.mark.parametrize("name", ["spacecraft_pd.yaml", "spacecraft_sampled.yaml"])
def test_lanes_and_threads_do_not_change_a_bit(name):
    program = sb.trace(DIAGRAMS / name)
    runs = np.arange(11)
    work = Work(program, runs, spread(program, 11), measured(program), every=program.run.T / 7)
    every_way(work)


@pytest.mark.parametrize("name", ["joints/friction", "signals/limited_servo", "four_bar"])
def test_lanes_of_a_shipped_diagram(name):
    """Those of all diagrams: tests/nightly/test_lanes_of_every_diagram.py."""
    assert_lanes_as_alone(sb.trace(next(DIAGRAMS.rglob(f"{name}.yaml"))))


@pytest.mark.parametrize("method", [*PAIRS, *FIXED_STEP])
def test_lanes_step_as_simulate_does(method, diagram_file, work_of):
    program = sb.trace(sb.load(diagram_file(OSCILLATOR)))
    options = {"solver": method, "max_step": 0.01}
    program = replace(program, run=program.run.model_copy(update=options))
    starts = np.linspace(0.5, 1.5, 9)
    work = work_of(program, {"x.x0": starts[:, None]}, gauges=measured(program))
    done = every_way(work)
    for k in (0, 8):
        results = sb.simulate(program.with_parameters({"x.x0": starts[k]}))
        assert abs(done.steps[k] - results.info["steps"]) <= 2
        np.testing.assert_allclose(done.x[k, 1], results.final_state.continuous["x"][0], rtol=1e-12)


def test_each_reading_is_that_of_simulate(diagram_file, work_of):
    program = sb.trace(sb.load(diagram_file(OSCILLATOR)))
    gauges = (*measured(program), Gauge("step", "x", "goal"), Gauge("square", "x", "goal"))
    done = every_way(work_of(program, {"x.x0": np.array([[0.4], [1.0]])}, gauges=gauges))
    for k, start in enumerate((0.4, 1.0)):
        _, readings, _ = nominal(program.with_parameters({"x.x0": start}), gauges)
        assert readings.keys() == done.readings.keys()
        for gauge, read in readings.items():
            for name, values in read.items():
                got = done.readings[gauge][name][k]
                np.testing.assert_allclose(
                    got, values, rtol=1e-7, atol=1e-9, err_msg=f"{gauge} {name}"
                )


QUANTIZED = """
params: {step: 0.25}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.2}
  q: {type: QUANTIZER, interval: $step}
wires: [wave -> q]
run: {T: 5}
"""


def test_jumps_without_states_are_located_in_lanes(diagram_file, work_of):
    """The integral of the square of the levels over a turn of the sine, in closed form."""
    steps, square = np.linspace(0.2, 0.4, 9), Gauge("square", "q")
    done = every_way(work_of(diagram_file(QUANTIZED), {"step": steps}, gauges=(square,)))
    for k, step in enumerate(steps):
        levels = step * np.arange(0.5, 1 / step)
        ends = np.array([0.0, *np.arcsin(levels), np.pi / 2]) / (0.4 * np.pi)
        want = 4 * (step * np.arange(len(levels) + 1)) ** 2 @ np.diff(ends)
        assert done.readings[square]["integral"][k][0] == pytest.approx(want, abs=1e-9)


def test_a_stop_ends_each_run_at_its_own_time(diagram_file, work_of):
    work = work_of(diagram_file(BALL), {"height": np.linspace(1.0, 2.0, 9)}, blocks=("end",))
    done = every_way(work)
    assert {STATUSES[k] for k in done.status} == {"stopped"}
    np.testing.assert_allclose(done.events["end"], 0.9)
    np.testing.assert_allclose(done.x[:, 1], np.linspace(1.0, 2.0, 9) - 9.81 / 2 * 0.81)


def test_relays_switch_in_each_lane_by_itself(diagram_file, work_of):
    drives = np.linspace(0.8, 1.4, 9)
    work = work_of(diagram_file(RELAY), {"drive": drives})
    done = every_way(work)
    for k in (0, 4, 8):
        results = sb.simulate(work.program.with_parameters({"drive": drives[k]}))
        np.testing.assert_allclose(done.x[k, 1], results["x"][-1], atol=1e-9)


def test_noise_is_that_of_the_run_whatever_the_lanes(diagram_file, work_of):
    work = work_of(diagram_file(NOISY), {"pole": np.linspace(-2.0, -0.5, 9)})
    done = every_way(work)
    results = sb.simulate(work.program.with_parameters({"pole": -0.5}))
    np.testing.assert_allclose(done.x[-1, 0], results["x"][-1], rtol=1e-9)


def test_a_run_that_diverges_fails_and_says_when(diagram_file, work_of):
    text = """
name: diverging
params: {start: 1.0}
blocks:
  square: {type: PROD, ops: "**"}
  x: {type: INTEGRATOR, x0: $start}
wires: [x -> square.0, x -> square.1, square -> x]
run: {T: 2.0}
"""
    starts = np.array([0.1, 0.2, 1.0, 0.3])
    work = work_of(diagram_file(text), {"start": starts})
    done = in_order(lanes.run(work))
    assert [STATUSES[k] for k in done.status] == ["complete", "complete", "failed", "complete"]
    assert list(done.messages) == [2]
    assert "t = " in done.messages[2] or done.messages[2]
    np.testing.assert_allclose(done.x[[0, 1, 3], 0], 1 / (1 / starts[[0, 1, 3]] - 2.0), rtol=1e-5)


NO_NUMBER = """
name: no-number
params: {inertia: 1.0}
blocks:
  accel: {type: FCN, params: {J: $inertia}, expression: -u / J}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [x -> accel, accel -> v, v -> x]
run: {T: 1.0}
"""


@pytest.mark.parametrize("method", ["RK45", "RK4"])
def test_rates_that_are_no_numbers_from_the_start_fail_at_once(method, diagram_file, work_of):
    text = NO_NUMBER.replace("{T: 1.0}", f"{{T: 1.0, solver: {method}, max_step: 0.1}}")
    work = work_of(diagram_file(text), {"inertia": [1.0, 0.0, 2.0]})
    done = in_order(lanes.run(work))
    assert [STATUSES[k] for k in done.status] == ["complete", "failed", "complete"]
    assert done.messages[1].endswith("at t = 0 s")


def test_rows_lie_on_the_grid_and_end_with_the_run(diagram_file, work_of):
    work = work_of(diagram_file(BALL), {"height": np.linspace(1.0, 2.0, 5)}, every=0.3)
    done = every_way(work)
    one = joined(list(each_run(work)))
    assert done.times.tolist() == one.times.tolist()
    np.testing.assert_array_equal(np.isnan(done.rows), np.isnan(one.rows))
    np.testing.assert_allclose(done.rows, one.rows, atol=1e-9)


def test_what_lanes_cannot_do_is_told(diagram_file, monkeypatch):
    program = sb.trace(sb.load(diagram_file(OSCILLATOR)))

    def why(program):
        return lanes.refusal(Work(program, np.arange(1), program.p[None]))

    assert why(program) is None
    implicit = replace(program, run=program.run.model_copy(update={"solver": "BDF"}))
    assert "BDF" in why(implicit)
    monkeypatch.setenv("SPART_COMPILER", "none")
    assert "no C compiler" in why(program)


def test_what_no_signal_has_is_not_measured(diagram_file, work_of):
    work = work_of(
        diagram_file(RELAY), {"drive": np.array([1.0])}, gauges=(Gauge("square", "x[7]"),)
    )
    assert lanes.refusal(work) is None
    assert in_order(lanes.run(work)).readings == {}


def by(solver, work):
    """Runs by another solver."""
    run = work.program.run.model_copy(update={"solver": solver})
    return replace(work, program=replace(work.program, run=run))


@pytest.mark.parametrize("solver", ["RK45", "Vern8", "Rodas5P"])
def test_the_kernel_of_a_card_compiled_as_c_has_the_bits_of_a_lane(diagram_file, work_of, solver):
    """Its text is that of CUDA, with its keywords defined away."""
    work = by(solver, work_of(diagram_file(RELAY), {"drive": np.linspace(0.8, 1.4, 5)}))
    ready = LaneSetup.of(work)
    library = loaded_library(kernel_source(ready.made), FLAGS)
    loop = lanes._OnThreads(ready, 1, 1)
    arrays = loop.arrays(work, ready.known_times(work.p)[0])
    struct = loop.struct(arrays)
    library.sb_runs.argtypes = [WorkStruct, ctypes.c_longlong, ctypes.c_void_p]
    queue = np.zeros(1, np.int64)
    library.sb_runs(struct, 5, queue.ctypes.data)
    whole = in_order(lanes.run(work, lanes=8))
    np.testing.assert_array_equal(arrays["x"], whole.x)
    np.testing.assert_array_equal(arrays["steps"], whole.steps)


@pytest.mark.parametrize("solver", ["RK45", "Rodas5P"])
@pytest.mark.parametrize("single", [False, True])
def test_the_kernel_compiles_for_a_card_that_is_not_there(single, solver, diagram_file, work_of):
    """That of a spacecraft: tests/nightly/test_kernels_of_a_spacecraft.py."""
    pytest.importorskip("cuda.bindings.nvrtc")
    work = by(solver, work_of(diagram_file(RELAY), {"drive": np.array([1.0])}))
    usage = usages(cubin(kernel_source(LaneSetup.of(work).made, single=single)).log)["sb_runs"]
    assert usage.registers <= 255
    assert usage.stored <= 256


def test_a_machine_without_a_card_says_so(diagram_file, work_of):
    pytest.importorskip("cuda.bindings.driver")
    if Path("/dev/nvidiactl").exists():
        pytest.skip("there is a card")
    work = work_of(diagram_file(RELAY), {"drive": np.array([1.0])})
    with pytest.raises(InputError, match="on this machine"):
        list(lanes.run(work, device="cuda"))


def test_a_run_that_switches_too_often_fails_alone(diagram_file):
    text = """
name: wave
params: {often: 1.0}
blocks:
  wave: {type: WAVEFORM, wave: square, freq: $often}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [wave -> x]
run: {T: 1.0}
"""
    found = sb.sweep(diagram_file(text), {"often": [1.0, 1e12, 2.0]}).table()
    assert found["status"].tolist() == ["complete", "failed", "complete"]
    assert "switches more than" in found["message"][1]

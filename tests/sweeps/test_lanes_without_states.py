"""Diagrams without continuous states go in lanes too, from stop to stop, as in `simulate`."""

from __future__ import annotations

import numpy as np
import pytest
from kernel_usage import usages
from lane_runs import every_way

import spart_blocks as sb
from spart_blocks.measures.work import STATUSES, joined
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.card import cubin
from spart_blocks.sweeps.run.lane_setup import LaneSetup
from spart_blocks.sweeps.run.lane_source import kernel_source
from spart_blocks.sweeps.run.one_by_one import each_run

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

LOOP = """
name: loop
params: {kp: 2.0, a: 0.9, std: 0.05, T: 0.52}
clocks:
  fast: {T: 0.02}
  slow: {T: 0.05, offset: 0.01}
blocks:
  goal: {type: STEP, T: $T, off: 0.0, on: 1.0}
  noise: {type: NOISE, clock: fast, std: $std, seed: 3}
  seen: {type: SUM, signs: "++"}
  error: {type: SUM, signs: "+-"}
  gain: {type: GAIN, K: $kp}
  hold: {type: ZOH, clock: slow}
  plant: {type: LTI_SISO_S, clock: fast, N: [0.02], D: [1, -0.98]}
wires:
  - goal -> error.0
  - plant -> seen.0
  - noise -> seen.1
  - seen -> error.1
  - error -> gain
  - gain -> hold
  - hold -> plant
run: {T: 3.0}
"""
WAVE = """
name: wave
params: {level: 0.5, amplitude: 1.0}
clocks: {c: {T: 0.25}}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.3, amplitude: $amplitude}
  held: {type: ZOH, clock: c}
  level: {type: CONSTANT, value: $level}
  over: {type: SUM, signs: "+-"}
  relay: {type: RELAY, off: -0.2, on: 0.3, on_value: 1.0, off_value: -1.0}
  end: {type: STOP}
wires: [wave -> held, wave -> relay, wave -> over.0, level -> over.1, over -> end]
run: {T: 3.0}
"""


def measures(*signals):
    kinds = ("extremes", "square", "integral", "falling_back")
    return tuple(Gauge(kind, name) for name in signals for kind in kinds)


def assert_as_alone(done, work):
    """The runs are those of `simulate`, and so is what is measured of them."""
    one = joined(list(each_run(work)))
    for name in ("status", "steps"):
        np.testing.assert_array_equal(getattr(done, name), getattr(one, name))
    np.testing.assert_allclose(done.t, one.t, rtol=0, atol=1e-10)
    np.testing.assert_allclose(done.xd, one.xd, rtol=1e-12, atol=1e-14)
    for block, times in one.events.items():
        np.testing.assert_allclose(done.events[block], times, rtol=0, atol=1e-10)
    assert one.readings.keys() == done.readings.keys()
    for gauge, quantities in one.readings.items():
        for name, expected in quantities.items():
            got = done.readings[gauge][name]
            np.testing.assert_allclose(
                got, expected, rtol=1e-6, atol=1e-9, err_msg=f"{gauge} {name}"
            )
    if work.every is not None:
        assert done.times.tolist() == one.times.tolist()
        np.testing.assert_allclose(done.rows, one.rows, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("solver", ["auto", "RK4", "BDF"])
def test_a_sampled_loop_with_noise_and_a_step(diagram_file, work_of, solver):
    gauges = (*measures("plant", "error", "goal"), Gauge("step", "plant", "goal"))
    values = {"kp": np.linspace(1, 4, 9), "T": np.linspace(0.3, 1.1, 9)}
    text = LOOP.replace("{T: 3.0}", f"{{T: 3.0, solver: {solver}}}")
    work = work_of(diagram_file(text), values, gauges=gauges, every=0.07)
    assert not len(work.program.x0)
    assert_as_alone(every_way(work), work)


def test_rows_that_are_kept_change_no_bit(diagram_file, work_of):
    program = sb.trace(sb.load(diagram_file(WAVE)))
    values = {"level": np.linspace(0.5, 0.99, 5)}
    without, kept = (
        joined(list(lanes.run(work_of(program, values, blocks=("end",), every=every))))
        for every in (None, 0.013)
    )
    for name in ("t", "xd", "steps"):
        np.testing.assert_array_equal(getattr(without, name), getattr(kept, name))
    np.testing.assert_array_equal(without.events["end"], kept.events["end"])


def test_crossings_between_stops_end_runs_at_their_times(diagram_file, work_of):
    levels = np.array([0.5, 0.7, 0.9, 0.99, 1.5])
    work = work_of(
        diagram_file(WAVE),
        {"level": levels},
        gauges=measures("wave", "held", "relay"),
        blocks=("end",),
        every=0.1,
    )
    done = every_way(work)
    assert [STATUSES[k] for k in done.status] == ["stopped"] * 4 + ["complete"]
    exact = np.arcsin(levels[:4]) / (0.6 * np.pi)
    np.testing.assert_allclose(done.events["end"][:4], exact, atol=1e-9)
    assert_as_alone(done, work)


def test_a_diagram_of_sources_alone(diagram_file, work_of):
    text = """
name: sources
params: {amplitude: 1.0}
blocks:
  wave: {type: WAVEFORM, wave: sine, freq: 0.4, amplitude: $amplitude}
  square: {type: WAVEFORM, wave: square, freq: 0.7}
  sum: {type: SUM, signs: "++"}
wires: [wave -> sum.0, square -> sum.1]
run: {T: 2.0}
"""
    amplitudes = np.linspace(0.5, 2.0, 9)
    gauges = measures("wave", "sum")
    work = work_of(diagram_file(text), {"amplitude": amplitudes}, gauges=gauges)
    done = every_way(work)
    np.testing.assert_allclose(
        done.readings[Gauge("extremes", "wave")]["most"][:, 0], amplitudes, rtol=1e-9
    )
    assert_as_alone(done, work)


def test_their_kernel_compiles_for_a_card_that_is_not_there(diagram_file, work_of):
    pytest.importorskip("cuda.bindings.nvrtc")
    work = work_of(diagram_file(WAVE), {"level": np.array([0.5])})
    usage = usages(cubin(kernel_source(LaneSetup.of(work).made)).log)["sb_runs"]
    print(usage)
    assert usage.registers < 256

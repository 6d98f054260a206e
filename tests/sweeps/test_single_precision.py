"""Runs in single precision: the kernel of a card, compiled as C, is near to lanes in double."""

from __future__ import annotations

import ctypes
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.measures.work import STATUSES, Work
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.dialects import FLAGS
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.plan.describing import description_of
from spart_blocks.sweeps.plan.sweep_job import Planned
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.sweeps.run.lane_setup import LaneSetup, WorkStruct
from spart_blocks.sweeps.run.lane_source import kernel_source

DIAGRAMS = Path(__file__).parents[2] / "diagrams"

SAMPLED = """
name: sampled
params: {kp: 4.0, height: 1.0}
clocks: {c: {T: 0.1}}
blocks:
  goal: {type: STEP, T: 0.3, off: 0.0, on: 1.0}
  error: {type: SUM, signs: "+-"}
  hold: {type: ZOH, clock: c}
  gain: {type: GAIN, K: $kp}
  damping: {type: GAIN, K: -3.0}
  force: {type: SUM, signs: "++"}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 0.0}
  fall: {type: INTEGRATOR, x0: $height}
  rate: {type: CONSTANT, value: -0.5}
  down: {type: GAIN, K: -1.0}
  end: {type: STOP}
wires:
  - goal -> error.0
  - x -> error.1
  - error -> hold
  - hold -> gain
  - gain -> force.0
  - v -> damping, x
  - damping -> force.1
  - force -> v
  - rate -> fall
  - fall -> down
  - down -> end
run: {T: 5.0}
"""
NOISY = """
name: noisy
clocks: {c: {T: 0.05}}
blocks:
  w: {type: NOISE, clock: c, seed: 3}
  x: {type: INTEGRATOR, x0: 0.5}
wires: [w -> x]
run: {T: 2.0}
"""

compiled = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")


def as_c(work, *, single):
    """What the kernel, compiled as C, writes of a work."""
    ready = LaneSetup.of(work)
    source = kernel_source(ready.made, single=single)
    library = loaded_library(source, FLAGS)
    loop = lanes._OnThreads(ready, 1, 1)
    if single:
        loop.numbers = lanes.numbers_of_single(ready.numbers)
    n = len(work.runs)
    arrays = loop.arrays(work, ready.known_times(work.p)[0])
    library.sb_runs.argtypes = [WorkStruct, ctypes.c_longlong, ctypes.c_void_p]
    library.sb_runs(loop.struct(arrays), n, np.zeros(1, np.int64).ctypes.data)
    return SimpleNamespace(**arrays), ready.made.meters.readings(arrays["meters"])


@compiled
def test_runs_with_clocks_steps_and_stops_are_near_to_double(diagram_file, work_of):
    gauges = (Gauge("extremes", "x"), Gauge("square", "v"), Gauge("integral", "hold"))
    values = {"height": np.linspace(1.02, 1.92, 5), "kp": np.linspace(3.0, 5.0, 5)}
    work = work_of(diagram_file(SAMPLED), values, gauges=gauges, blocks=("end",), every=0.5)
    (one, read), (other, exact) = as_c(work, single=True), as_c(work, single=False)
    np.testing.assert_array_equal(one.status, other.status)
    assert {STATUSES[k] for k in one.status} == {"stopped"}
    np.testing.assert_allclose(one.t, 2 * values["height"], rtol=1e-6)
    np.testing.assert_allclose(one.events[:, 0], 2 * values["height"], rtol=1e-6)
    np.testing.assert_allclose(one.x, other.x, atol=1e-5)
    np.testing.assert_allclose(one.rows, other.rows, atol=1e-5)
    np.testing.assert_allclose(one.xd, other.xd, atol=1e-5)
    for gauge, quantities in exact.items():
        for name, expected in quantities.items():
            if not name.startswith("when"):
                np.testing.assert_allclose(read[gauge][name], expected, rtol=1e-5, atol=1e-5)
    assert (one.steps < 2 * other.steps + 10).all()


@compiled
def test_rates_that_are_no_numbers_from_the_start_fail_at_once(diagram_file, work_of):
    text = """
name: no-number
params: {inertia: 1.0}
blocks:
  accel: {type: FCN, params: {J: $inertia}, expression: -u / J}
  x: {type: INTEGRATOR, x0: 0.0}
wires: [x -> accel, accel -> x]
run: {T: 1.0}
"""
    found, _ = as_c(work_of(diagram_file(text), {"inertia": [1.0, 0.0]}), single=True)
    assert [STATUSES[k] for k in found.status] == ["complete", "failed"]


@compiled
@pytest.mark.parametrize(
    "name", ["spacecraft_pd", "spacecraft_sampled", "signals/thrusters", "signals/recorded_motion"]
)
def test_shipped_diagrams_are_near_to_double(name):
    program = sb.trace(DIAGRAMS / f"{name}.yaml")
    work = Work(program, np.arange(1), program.p[None])
    (one, _), (other, _) = as_c(work, single=True), as_c(work, single=False)
    assert STATUSES[one.status[0]] == "complete"
    np.testing.assert_allclose(one.x, other.x, atol=1e-5 * np.abs(other.x).max())


def test_precision_is_refused_where_it_is_not_there(diagram_file, work_of):
    with pytest.raises(InputError, match=r"for a graphics card[\s\S]*--device cuda"):
        sb.sweep(diagram_file(SAMPLED), {"kp": [3, 4]}, precision="float")
    with pytest.raises(InputError, match="no precision 'half'"):
        Runner(device="cuda", precision="half")
    work = work_of(diagram_file(NOISY), {"x.x0": np.zeros((2, 1))})
    with pytest.raises(InputError, match=r"single precision: w draws[\s\S]*leave out precision"):
        list(Runner(device="cuda", precision="float")(work))


def test_a_sweep_in_single_precision_is_another_sweep(diagram_file):
    planned = Planned.of(diagram_file(SAMPLED), {"over": {"kp": [3, 4]}}, {})
    double, single = (description_of(planned, "cuda", p) for p in ("double", "float"))
    assert double.identity != single.identity
    assert single.facts["precision"] == "float"
    assert description_of(planned).identity == description_of(planned, None, "double").identity

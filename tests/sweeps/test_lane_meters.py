"""Each kind of gauge measures the same in lanes as on a single run: with references, and between
two times."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.measures.work import joined
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.sweeps.run import lanes
from spart_blocks.sweeps.run.one_by_one import each_run

pytestmark = pytest.mark.skipif(compiler_name() is None, reason="no C compiler")

SWING = """
name: swing
blocks:
  goal: {type: STEP, T: 0.5}
  back: {type: GAIN, K: -9.0}
  push: {type: GAIN, K: 9.0}
  damp: {type: GAIN, K: -1.0}
  sum: {type: SUM, signs: "+++"}
  v: {type: INTEGRATOR}
  x: {type: INTEGRATOR, x0: 0.2}
  two: {type: MUX, nin: 2}
  wave: {type: WAVEFORM, wave: sine, freq: 0.4}
  refs: {type: MUX, nin: 2}
  shown: {type: SCOPE, vector: 2}
  other: {type: SCOPE, vector: 2}
wires: [goal -> push, goal -> refs.0, x -> back, v -> damp, push -> sum.0, back -> sum.1,
  damp -> sum.2, sum -> v, v -> x, x -> two.0, v -> two.1, wave -> refs.1, two -> shown,
  refs -> other]
run: {T: 3, rtol: 1.0e-9, atol: 1.0e-11}
"""
KINDS = ("extremes", "integral", "square", "displacement", "rotation", "falling_back",
         "rising_back", "step")  # fmt: skip
WINDOWS = ((-np.inf, np.inf), (0.3, 1.7), (0.7, np.inf), (2.9, 2.95), (5.0, 6.0))


@pytest.mark.parametrize("kind", KINDS)
def test_references_and_times_count_in_lanes_as_on_a_single_run(diagram_file, work_of, kind):
    needs = kind == "step"
    pairs = [("x", "goal"), ("two", "refs"), ("two", "goal")]
    pairs += [] if needs else [("x", None), ("two", None)]
    gauges = tuple(Gauge(kind, *pair, *window) for pair in pairs for window in WINDOWS)
    work = work_of(diagram_file(SWING), {"x.x0": np.array([[0.2], [0.4]])}, gauges=gauges)
    want = joined(list(each_run(work)))
    got = joined(list(lanes.run(work, lanes=2)))
    assert got.readings.keys() == want.readings.keys() == set(gauges)
    for gauge, read in want.readings.items():
        for name, values in read.items():
            np.testing.assert_allclose(
                got.readings[gauge][name], values, rtol=1e-6, atol=1e-7, err_msg=f"{gauge} {name}"
            )

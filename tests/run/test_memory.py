"""Samples are in memory once: no copy of them is made on the way to the results."""

from __future__ import annotations

import gc
import tracemalloc

import numpy as np
import pytest

import spart_blocks as sb

SAMPLES, WIDTH = 40_000, 50


@pytest.fixture
def diagram(tmp_path):
    """Fifty signals: a vector of oscillators, scoped."""
    path = tmp_path / "wide.yaml"
    path.write_text(f"""
params: {{start: {np.linspace(0.1, 1, WIDTH).tolist()}}}
blocks:
  back: {{type: GAIN, K: -1.0}}
  x: {{type: INTEGRATOR, x0: $start}}
  scope: {{type: SCOPE}}
wires: [x -> back, back -> x, back -> scope]
run: {{T: 1.0, every: {1 / SAMPLES}}}
""")
    return sb.load(path)


@pytest.mark.parametrize("solver", ["RK45", "CVODES"])
def test_samples_are_in_memory_once(diagram, solver):
    program = sb.trace(diagram)
    sb.simulate(program, solver=solver, every=0.1)  # compiled, and all imported
    gc.collect()
    tracemalloc.start()
    results = sb.simulate(program, solver=solver)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    kept = sum(array.nbytes for array in (*results.signals.values(), *results.states.values()))
    assert kept == (SAMPLES + 1) * 2 * WIDTH * 8
    allowed = 1.15 if solver == "RK45" else 3.5  # CasADi hands its matrices over
    assert peak < allowed * kept
    np.testing.assert_allclose(
        results["back"][-1], -np.exp(-1.0) * np.linspace(0.1, 1, WIDTH), rtol=1e-4
    )

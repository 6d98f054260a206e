"""A million runs of a small diagram: all complete, in memory that is bounded."""

from __future__ import annotations

import resource

import numpy as np

import spart_blocks as sb

RUNS = 1_000_000
OSCILLATOR = """
name: oscillator
blocks:
  spring: {type: GAIN, K: -4.0}
  damper: {type: GAIN, K: -0.4}
  force: {type: SUM, signs: "++"}
  v: {type: INTEGRATOR, x0: 0.0}
  x: {type: INTEGRATOR, x0: 1.0}
wires: [x -> spring, v -> damper, spring -> force.0, damper -> force.1, force -> v, v -> x]
run: {T: 5.0}
"""
OVER = {
    "spring.K": {"uniform": {"low": -5.0, "high": -3.0}},
    "x.x0": {"uniform": {"low": 0.5, "high": 1.5}},
}


def test_a_million_runs(tmp_path):
    path = tmp_path / "oscillator.yaml"
    path.write_text(OSCILLATOR, encoding="utf-8")

    def sweep(runs):
        metrics = {"last": "final(x)", "top": "max(x)"}
        return sb.sweep(path, OVER, runs=runs, metrics=metrics, out=tmp_path / str(runs))

    sweep(RUNS // 4)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    found = sweep(RUNS)
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown < 100_000, f"{grown} KiB more for four times as many runs"
    table = found.table()
    assert len(table) == RUNS
    assert (table["status"] == "complete").all()
    k, start = -table["spring.K"], table["x.x0"]
    decay, omega = 0.2, np.sqrt(k - 0.04)
    exact = start * np.exp(-decay * 5.0)
    exact *= np.cos(omega * 5.0) + decay / omega * np.sin(omega * 5.0)
    np.testing.assert_allclose(table["last"], exact, atol=1e-4)
    np.testing.assert_allclose(table["top"], start, atol=1e-12)

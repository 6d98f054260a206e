"""Jumps that resets and switches at one time set off act at that time, in every execution."""

from __future__ import annotations

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

# A sawtooth falls at 0.7123 and 1.4246 s. `n` counts its falls, since they make x < 0.5 again, and
# `twice` the second of them. The RELAY is switched by x, and `on` counts that.
COUNT = "type: HYBRID_SYSTEM, states: [n], arguments: [u], f: [0*u]"
FALLS = f"""
blocks:
  saw:
    type: HYBRID_SYSTEM
    states: [x, n]
    f: [k, "0"]
    jumps: [{{when: x > 0.7123, set: {{x: 0}}}}, {{when: x < 0.5, set: {{n: n + 1}}}}]
    params: {{k: 1}}
  twice: {{{COUNT}, jumps: [{{when: u > 1.5, set: {{n: n + 1}}}}]}}
  relay: {{type: RELAY, on: 0.6, off: 0.3, on_value: 1, off_value: 0}}
  on: {{{COUNT}, jumps: [{{when: u > 0.5, set: {{n: n + 1}}}}]}}
wires: [saw.n -> twice.u, saw.x -> relay, relay -> on.u]
run: {{T: 2, log: [saw.x, saw.n, twice.n, on.n]}}
"""
WANTED = {"saw.x": 0.5754, "saw.n": 2, "twice.n": 1, "on.n": 2}
# The RELAY switches at the start, since its input contradicts it: that is no jump.
START = f"""
blocks:
  one: {{type: CONSTANT, value: 1}}
  relay: {{type: RELAY, on: 0.6, off: 0.3, on_value: 1, off_value: 0}}
  on: {{{COUNT}, jumps: [{{when: u > 0.5, set: {{n: n + 1}}}}]}}
wires: [one -> relay, relay -> on.u]
run: {{T: 1, log: [on.n]}}
"""


@pytest.fixture
def falls(tmp_path):
    (tmp_path / "falls.yaml").write_text(FALLS)
    return tmp_path / "falls.yaml"


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize("how", [{}, {"solver": "RK4", "max_step": 0.05}, {"solver": "Radau"}])
def test_a_run_acts_on_jumps_that_jumps_and_switches_set_off(engine, how, falls):
    results = sb.simulate(falls, engine=engine, **how)
    found = {name: float(np.ravel(results[name])[-1]) for name in WANTED}
    assert found == pytest.approx(WANTED, abs=1e-8)
    assert sum(event.block == "saw" for event in results.events) == 4


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_switch_at_the_start_sets_off_no_jump(engine, tmp_path):
    (tmp_path / "start.yaml").write_text(START)
    assert not np.any(sb.simulate(tmp_path / "start.yaml", engine=engine)["on.n"])
    part = subdiagram_of(sb.load(tmp_path / "start.yaml"))
    code = step_code(part, rate=10)
    assert verify(code, np.zeros((5, 0))).passed


def test_exported_c_acts_on_them(falls):
    diagram = sb.load(falls)
    code = step_code(subdiagram_of(diagram), rate=30)
    found = verify(code, recorded_inputs(diagram, code, 2.0))
    assert found.passed
    assert found.worst < 1e-9


def test_lanes_act_on_them(falls):
    metrics = {name.replace(".", "_"): f"final({name})" for name in WANTED}
    table = sb.sweep(falls, over={"saw.k": [1.0, 0.5]}, metrics=metrics)
    for name, wanted in {"saw_n": [2, 1], "twice_n": [1, 0], "on_n": [2, 1]}.items():
        np.testing.assert_array_equal(np.asarray(table[name], float), wanted)


def test_an_fmu_acts_on_them(falls, tmp_path):
    part = subdiagram_of(falls, [])
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=2.0)
    assert found.passed, (found.problems, found.errors)

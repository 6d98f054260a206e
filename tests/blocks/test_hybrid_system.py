"""HYBRID_SYSTEM: rates and jumps by formulas, in closed form, in lanes and as an FMU."""

from __future__ import annotations

import json

import numpy as np
import pytest
from dynamic_blocks import made

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import export_fmu, recorded_inputs, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

FALL = np.sqrt(0.2)
"""From 1 m at g = 10 m/s^2."""
BALL = {
    "type": "HYBRID_SYSTEM",
    "states": ["y", "v"],
    "x0": [1, 0],
    "f": ["v", "-g"],
    "jumps": [{"when": "y < 0", "set": {"v": "-r*v"}}],
    "params": {"g": 10, "r": 0.5},
}
BOX = {
    "type": "HYBRID_SYSTEM",
    "states": ["x", "v", "n"],
    "x0": [0.25, 1, 0],
    "f": ["v", "0", "0"],
    "jumps": [
        {"when": "x > 1", "set": {"v": "-v", "n": "n + 1"}},
        {"when": "x < 0", "set": {"v": "-v/2", "n": "n + 10"}},
    ],
}
ENGINES = ["native", "interpreter"]


def written(folder, block, wires=(), blocks=None, **run):
    log = [f"b.{name}" for name in block["states"]]
    run = {"T": 1.2, "rtol": 1e-9, "atol": 1e-11, "max_step": 0.04, "log": log, **run}
    blocks = {"b": block, "end": {"type": "NULL"}, **(blocks or {})}
    text = {"name": "hybrid", "blocks": blocks, "wires": [f"b.{block['states'][0]} -> end", *wires]}
    (folder / "d.yaml").write_text(json.dumps({**text, "run": run}))
    return folder / "d.yaml"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_ball_bounces_and_comes_to_rest(engine, tmp_path):
    file = written(tmp_path, BALL, T=2, sliding="filippov")
    results = sb.simulate(file, engine=engine)
    times = [event.t for event in results.events]
    bounces = FALL * (1 + 2 * np.cumsum(0.5 ** np.arange(1, 11)))
    assert times[1:11] == pytest.approx(bounces, abs=1e-8)
    assert results.events[-1].what == "rests at zero"
    assert times[-1] == pytest.approx(FALL * 3, abs=1e-6)
    assert abs(results["b.y"][-1]) < 1e-12
    with pytest.raises(sb.RunError, match=r"resets accumulate \(Zeno\)") as caught:
        sb.simulate(file, engine=engine, sliding="error")
    assert caught.value.block == "b"
    assert caught.value.time == pytest.approx(FALL * 3, abs=1e-6)


@pytest.mark.parametrize("engine", ENGINES)
def test_each_wall_has_a_jump_of_its_own(engine, tmp_path):
    """At 0.75 s back from 1, at 1.75 s half as fast from 0, at 3.75 s back from 1."""
    results = sb.simulate(written(tmp_path, BOX, T=4), engine=engine)
    assert [event.t for event in results.events] == pytest.approx([0.75, 1.75, 3.75], abs=1e-8)
    assert results["b.n"][-1] == 12
    assert results["b.v"][-1] == pytest.approx(-0.5)
    assert results["b.x"][-1] == pytest.approx(1 - 0.5 * 0.25, abs=1e-8)


@pytest.mark.parametrize("engine", ENGINES)
def test_all_states_of_a_jump_read_those_from_before(engine, tmp_path):
    """Two masses collide at 1 s: m1 v1 + m2 v2 and, with r = 1, the energy are kept."""
    block = {
        "type": "HYBRID_SYSTEM",
        "states": ["d", "v1", "v2"],
        "x0": [3, 2, -1],
        "f": ["v2 - v1", "0", "0"],
        "jumps": [{"when": "d <= 0", "set": {
            "v1": "(m1*v1 + m2*v2 + m2*r*(v2 - v1))/(m1 + m2)",
            "v2": "(m1*v1 + m2*v2 + m1*r*(v1 - v2))/(m1 + m2)"}}],
        "params": {"m1": 2, "m2": 1, "r": 1},
    }  # fmt: skip
    results = sb.simulate(written(tmp_path, block, T=2), engine=engine)
    v1, v2 = float(results["b.v1"][-1]), float(results["b.v2"][-1])
    assert (v1, v2) == pytest.approx((0.0, 3.0), abs=1e-12)


@pytest.mark.parametrize("engine", ENGINES)
def test_inputs_are_read_and_a_jump_of_one_acts(engine, tmp_path):
    """x' = u, and x becomes 5 where u jumps above zero at 0.5 s."""
    block = {
        "type": "HYBRID_SYSTEM", "states": "x", "f": "u", "arguments": "u",
        "jumps": [{"when": "u > 0", "set": {"x": 5}}],
    }  # fmt: skip
    blocks = {"u": {"type": "STEP", "T": 0.5, "off": -1.0, "on": 2.0}}
    results = sb.simulate(written(tmp_path, block, ["u -> b.u"], blocks, T=1), engine=engine)
    assert results["b.x"][-1] == pytest.approx(6.0)


@pytest.mark.parametrize("engine", ENGINES)
def test_in_a_subsystem_it_jumps_only_while_that_is_enabled(engine, tmp_path):
    """It stands still, without bounces, from 0.6 to 1.6 s."""
    text = {
        "subsystems": {"part": {
            "inputs": ["on"], "outputs": ["y"], "enabled": {"by": "on", "states": "held"},
            "blocks": {"b": BALL}, "wires": ["b.y -> out.y"]}},
        "blocks": {"clock": {"type": "TIME"}, "part": {"type": "part"}, "end": {"type": "NULL"},
                   "on": {"type": "FCN", "expression": "abs(u - 1.1) > 0.5"}},
        "wires": ["clock -> on", "on -> part.on", "part.y -> end"],
        "run": {"T": 2, "rtol": 1e-9, "atol": 1e-11, "max_step": 0.04},
    }  # fmt: skip
    (tmp_path / "d.yaml").write_text(json.dumps(text))
    results = sb.simulate(tmp_path / "d.yaml", engine=engine)
    times = [e.t for e in results.events if e.block == "part/b"]
    assert times == pytest.approx([FALL, 2 * FALL + 1], abs=1e-7)


def test_the_fmu_jumps_at_each_wall(tmp_path):
    part = subdiagram_of(written(tmp_path, BOX, T=4), [])
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=4.0)
    assert found.passed, (found.problems, found.errors)


def test_lanes_jump_at_each_wall(tmp_path):
    file = written(tmp_path, {**BOX, "f": ["v*k", "0", "0"], "params": {"k": 1.0}}, T=2)
    table = sb.sweep(file, over={"b.k": [1.0, 2.0]}, metrics={"n": "final(b.n)", "x": "final(b.x)"})
    np.testing.assert_allclose(np.asarray(table["n"], float), [11.0, 12.0])
    np.testing.assert_allclose(np.asarray(table["x"], float), [0.125, 0.875], atol=1e-7)


def test_exported_c_jumps_at_each_wall(tmp_path):
    diagram = sb.load(written(tmp_path, BOX, T=4))
    code = step_code(subdiagram_of(diagram), rate=40)
    found = verify(code, recorded_inputs(diagram, code, 4.0))
    assert found.passed
    assert found.worst < 1e-9


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"f": ["v"]}, "f is a formula for each of y, v"),
        ({"f": ["v", "-w"]}, "there is no 'w'|no name 'w'|w"),
        ({"x0": [1, 0, 0]}, "x0 has shape"),
        ({"jumps": [{"when": "y < 0"}]}, "a jump has `when` and `set`"),
        ({"jumps": [{"when": "y < 0", "set": {}}]}, "set takes formulas by the names of states"),
        ({"jumps": [{"when": "y < 0", "set": {"z": "1"}}]}, "set has 'z', which is not one of"),
        ({"jumps": {"when": "y < 0"}}, "jumps"),
        ({"params": {"y": 1.0}}, "y is an input and a parameter"),
        ({"arguments": ["v"]}, "has v twice"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    good = {name: value for name, value in BALL.items() if name != "type"}
    with pytest.raises((InputError, ValueError), match=told):
        made("HYBRID_SYSTEM", None, **{**good, **given})

"""RESET_INTEGRATOR: where it is reset, to what, and its limits, in closed form and in C."""

from __future__ import annotations

import json

import numpy as np
import pytest
from dynamic_blocks import check_c, check_engines, check_fmu, made

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

KIND = "RESET_INTEGRATOR"
CASES = [
    (KIND, {"x0": 0.1}, [None, None, None]),
    (KIND, {"edge": "falling", "x0": [0.1, -0.2]}, [2, None, 2]),
    (KIND, {"edge": "either", "upper": 0.5, "lower": [-0.4, -0.1], "width": 2}, [2, None, 2]),
]


def simulated(folder, engine, blocks, wires, **run):
    run = {"T": 3, "rtol": 1e-9, "atol": 1e-11, **run}
    (folder / "d.yaml").write_text(json.dumps({"blocks": blocks, "wires": wires, "run": run}))
    return sb.simulate(folder / "d.yaml", engine=engine)


def test_both_engines_run_alike(tmp_path):
    check_engines(CASES, tmp_path)


def test_the_c_agrees_back_to_back(tmp_path):
    check_c(CASES, tmp_path)


def test_the_fmu_agrees(tmp_path):
    check_fmu(CASES, tmp_path)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
@pytest.mark.parametrize(
    ("edge", "resets"), [("rising", [0.5, 2.5]), ("falling", [1.5]), ("either", [0.5, 1.5, 2.5])]
)
def test_it_becomes_the_value_at_its_edges(engine, edge, resets, tmp_path):
    """reset is above zero from 0.5 to 1.5 and from 2.5 s on; value is t + 1, the rate is -1."""
    blocks = {
        "clock": {"type": "TIME"},
        "wave": {"type": "FCN", "expression": "-cos(pi*u)"},
        "to": {"type": "FCN", "expression": "u + 1"},
        "down": {"type": "CONSTANT", "value": -1.0},
        "i": {"type": KIND, "edge": edge, "x0": 4.0},
    }
    wires = ["clock -> wave, to", "down -> i.u", "wave -> i.trigger", "to -> i.value"]
    results = simulated(tmp_path, engine, blocks, wires, log=["i"])
    told = [event for event in results.events if event.block == "i"]
    assert [event.t for event in told] == pytest.approx(resets, abs=1e-9)
    assert {event.what for event in told} == {"reset"}
    last = resets[-1]
    assert results["i"][-1] == pytest.approx(last + 1 - (3 - last), abs=1e-8)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_integrators_reset_at_once_exchange_their_states(engine, tmp_path):
    """Equal masses exchange their speeds in an elastic collision."""
    blocks = {
        "none": {"type": "CONSTANT", "value": 0.0},
        "v1": {"type": KIND, "edge": "falling", "x0": 2.0},
        "v2": {"type": KIND, "edge": "falling", "x0": -1.0},
        "x1": {"type": "INTEGRATOR"},
        "x2": {"type": "INTEGRATOR", "x0": 3.0},
        "gap": {"type": "SUM", "signs": "+-"},
    }
    wires = ["none -> v1.u, v2.u", "v1 -> x1, v2.value", "v2 -> x2, v1.value", "x2 -> gap.0",
             "x1 -> gap.1", "gap -> v1.trigger, v2.trigger"]  # fmt: skip
    results = simulated(tmp_path, engine, blocks, wires, log=["v1", "v2"])
    assert (results["v1"][-1], results["v2"][-1]) == (-1.0, 2.0)
    assert results["x1"][-1] == pytest.approx(2 * 1 - 2, abs=1e-8)


COUNTING = {
    "zero": {"type": "CONSTANT", "value": 0.0},
    "wave": {"type": "WAVEFORM", "wave": "square", "freq": 1, "phase": 0.25},
    "count": {"type": KIND, "edge": "either"},
    "more": {"type": "FCN", "expression": "u + 1"},
    "third": {"type": "FCN", "expression": "u - 2.5"},
    "sum": {"type": KIND},
    "both": {"type": "FCN", "expression": "a + b", "arguments": ["a", "b"]},
    "end": {"type": "NULL"},
}
COUNTED = [
    "zero -> count.u, sum.u", "wave -> count.trigger", "count -> more, third, both.a",
    "more -> count.value", "third -> sum.trigger", "sum -> both.b, end", "both -> sum.value",
]  # fmt: skip


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_resets_to_what_the_state_is_and_more_add_up(engine, tmp_path):
    """Edges are at 0.25, 0.75, ... s. The third sets off another reset at its instant, to the sum
    of both states, of which the first is 3 then."""
    results = simulated(tmp_path, engine, COUNTING, COUNTED, log=["count", "sum"])
    told = [(round(event.t, 9), event.block) for event in results.events]
    counts = [(0.25 + 0.5 * k, "count") for k in range(6)]
    assert told == [*counts[:3], (1.25, "sum"), *counts[3:]]
    assert results["count"][-1] == 6
    assert results["sum"][-1] == 3


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_reset_that_sets_off_another_of_its_own_is_followed_by_it(engine, tmp_path):
    """x' = 1. At x = 1 it becomes x - 1 = 0, by which the trigger falls: x becomes -1."""
    blocks = {
        "one": {"type": "CONSTANT", "value": 1.0},
        "less": {"type": "FCN", "expression": "u - 1"},
        "x": {"type": KIND, "edge": "either"},
    }
    wires = ["one -> x.u", "x -> less", "less -> x.trigger, x.value"]
    results = simulated(tmp_path, engine, blocks, wires, T=2.5, log=["x"])
    assert [event.t for event in results.events] == pytest.approx([1.0, 1.0], abs=1e-9)
    assert results["x"][-1] == pytest.approx(0.5, abs=1e-8)


def test_resets_that_add_up_do_so_in_exported_c_and_fmus(tmp_path):
    text = {"blocks": COUNTING, "wires": COUNTED, "run": {"T": 3}}
    (tmp_path / "d.yaml").write_text(json.dumps(text))
    part = subdiagram_of(sb.load(tmp_path / "d.yaml"), [])
    found = verify(step_code(part, rate=100), np.zeros((300, 0)))
    assert found.passed, found
    exchanged = verify_fmu(export_fmu(part, tmp_path), part, horizon=3.0)
    assert exchanged.passed, (exchanged.problems, exchanged.errors)


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_clocked_pulse_resets_it_within_its_limits(engine, tmp_path):
    """The value, 5 and -5, is beyond the limits; from the upper one the rate -2 leads back."""
    text = {
        "clocks": {"c": {"T": 1.0}},
        "blocks": {
            "clock": {"type": "TIME"},
            "late": {"type": "FCN", "expression": "u > 0.9"},
            "pulse": {"type": "ZOH", "clock": "c", "x0": 0.0},
            "down": {"type": "CONSTANT", "value": [-2.0, -2.0]},
            "to": {"type": "CONSTANT", "value": [5.0, -5.0]},
            "i": {"type": KIND, "x0": [0.5, 0.0], "lower": -1.0, "upper": 1.0},
        },
        "wires": ["clock -> late", "late -> pulse", "pulse -> i.trigger", "down -> i.u",
                  "to -> i.value"],
        "run": {"T": 1.25, "rtol": 1e-9, "atol": 1e-11, "log": ["i"]},
    }  # fmt: skip
    (tmp_path / "d.yaml").write_text(json.dumps(text))
    results = sb.simulate(tmp_path / "d.yaml", engine=engine)
    np.testing.assert_allclose(results["i"][-1], [0.5, -1.0], atol=1e-9)
    assert results["i"].min() >= -1 - 1e-9


def test_the_side_at_the_start_is_no_edge(tmp_path):
    blocks = {"one": {"type": "CONSTANT", "value": 1.0}, "i": {"type": KIND, "edge": "either"}}
    results = simulated(tmp_path, "native", blocks, ["one -> i.u, i.trigger"], log=["i"])
    assert results["i"][-1] == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"lower": 1.0, "upper": 0.0}, "lower is 1.0, above upper"),
        ({"x0": 2.0, "upper": 1.0}, "x0 is 2.0, above upper"),
        ({"edge": "level"}, "edge must be one of rising, falling, either"),
    ],
)
def test_wrong_parameters_are_refused(given, told):
    with pytest.raises((InputError, ValueError), match=told):
        made(KIND, None, **given)

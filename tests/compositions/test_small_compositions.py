"""A hundred small diagrams, each by the interpreter and as a program, row by row; sampled ones
also by the reference. `python tests/compositions` runs more of them, in more ways."""

from __future__ import annotations

import pytest

from compositions import reference
from compositions.comparing import from_reference
from compositions.executing import executed
from compositions.generating import diagram_of, is_pure
from compositions.judging import judged, placed
from compositions.shrinking import shrunk

HUNDRED = 100
TOGETHER = 4
ROWS = 16


@pytest.mark.parametrize("first", range(0, HUNDRED, TOGETHER))
def test_small_compositions_agree(first, tmp_path):
    for seed in range(first, first + TOGETHER):
        content = diagram_of(seed, small=True)
        every = round(content["run"]["T"] / ROWS, 10)
        path = placed(content, tmp_path, f"{seed}")
        found = judged(content, path, ("interpreter", "traced"), is_pure(seed), every)
        assert not found.error, (seed, found.error)
        assert found.known or not found.differ, (seed, found.differ)


def test_a_seed_gives_one_diagram():
    assert diagram_of(7) == diagram_of(7)
    assert diagram_of(7) != diagram_of(8)


def test_the_reference_finds_a_hold_that_is_late(tmp_path, monkeypatch):
    content = {
        "clocks": {"c": {"T": 0.1}},
        "blocks": {
            "step": {"type": "STEP", "T": 0.3, "on": 1.0, "off": 0.25},
            "held": {"type": "ZOH", "clock": "c", "x0": 0.0},
        },
        "wires": ["step -> held"],
        "run": {"T": 0.5, "log": ["held"]},
    }
    outcome = executed("traced", placed(content, tmp_path))
    assert from_reference(reference.Reference(content).run(), outcome) == []
    exact = reference.ticked

    def late(block, x, u, T):
        return (x[0], [u[0]]) if block["type"] == "ZOH" else exact(block, x, u, T)

    monkeypatch.setattr(reference, "ticked", late)
    assert from_reference(reference.Reference(content).run(), outcome)


def test_a_signal_that_is_equal_at_two_instants_need_not_be_constant(tmp_path):
    content = {
        "clocks": {},
        "blocks": {
            "line": {
                "type": "REPEATING",
                "times": [0.0, 0.3, 0.9],
                "values": [1.0, -0.75, 0.75],
                "interpolation": "linear",
            },
            "square": {"type": "PROD"},
        },
        "wires": ["line -> square.0", "line -> square.1"],
        "run": {"T": 0.95, "log": ["square"]},
    }
    outcome = executed("traced", placed(content, tmp_path))
    assert from_reference(reference.Reference(content).run(), outcome) == []


@pytest.mark.parametrize(("rounded", "tie"), [(True, 0), (False, 1)])
def test_the_reference_tells_which_comparison_rounding_decides(rounded, tie):
    """A gate that comes to 0 by sums of 0.1; a gate that is 0 in the file."""
    gate = {"type": "INTEGRATOR_S", "clock": "c", "x0": 0.3, "min": -1.0, "max": 1.0}
    content = {
        "clocks": {"c": {"T": 0.1}},
        "blocks": {
            "down": {"type": "CONSTANT", "value": -1.0},
            "gate": gate if rounded else {"type": "STEP", "T": 0.3, "on": 0.0, "off": 1.0},
            "held": {"type": "SAMPLE_HOLD", "clock": "c", "initial": 0.5},
        },
        "wires": ["gate -> held.0", "gate -> held.1", *(["down -> gate"] if rounded else [])],
        "run": {"T": 0.5, "log": ["held"]},
    }
    found = reference.Reference(content)
    found.run()
    assert found.tie == tie


def test_a_failure_shrinks_to_the_blocks_that_cause_it():
    """What fails here is any diagram with a DERIV_S behind a source."""
    drawn = (diagram_of(seed, small=True) for seed in range(0, 300, 3))
    content = next(c for c in drawn if "DERIV_S" in kinds(c))
    small = shrunk(content, lambda c: "DERIV_S" in kinds(c) and bool(c["wires"]), seconds=5)
    assert len(small["blocks"]) <= 2


def kinds(content):
    return [block["type"] for block in content["blocks"].values()]

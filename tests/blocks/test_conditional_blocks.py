"""IF, CASE and MERGE: against formulas, on both engines, in C and as an FMU."""

from __future__ import annotations

import json

import numpy as np
import pytest
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.blocks.conditional import Case, If, Merge
from spart_blocks.export import export_fmu, step_code, verify, verify_fmu
from spart_blocks.program.subdiagram import subdiagram_of

SCALED = {
    "params": {"k": 1.0, "c": 0.0},
    "inputs": ["u", "on"],
    "outputs": ["y"],
    "enabled": {"by": "on"},
    "blocks": {"y": {"type": "FCN", "expression": "k*u + c", "params": {"k": "$k", "c": "$c"}}},
    "wires": ["in.u -> y", "y -> out.y"],
}
TEXT = {
    "clocks": {"c": {"T": 0.1}},
    "subsystems": {"scaled": SCALED},
    "blocks": {
        "u": {"type": "WAVEFORM", "wave": "sine", "freq": 0.53, "amplitude": 3},
        "sampled": {"type": "ZOH", "clock": "c"},
        "which": {"type": "IF", "conditions": ["u > h", "u < -h"], "params": {"h": 0.5}},
        "high": {"type": "scaled", "c": -0.25},
        "low": {"type": "scaled", "c": 0.25},
        "near": {"type": "scaled", "k": 0.5},
        "y": {"type": "MERGE", "nin": 3},
        "number": {"type": "CASE", "cases": [[0, 1], 2]},
        "a": {"type": "scaled", "k": 2},
        "b": {"type": "scaled", "k": 3},
        "z": {"type": "MERGE", "initial": 7},
        "reader": {"type": "UNIT_DELAY", "clock": "c"},
    },
    "wires": [
        "u -> sampled, which, high.u, low.u, near.u",
        "which.if -> high.on", "which.elseif1 -> low.on", "which.else -> near.on",
        "high -> y.u1", "low -> y.u2", "near -> y.u3",
        "sampled -> number, a.u, b.u", "number.case1 -> a.on", "number.case2 -> b.on",
        "a -> z.u1", "b -> z.u2", "z -> reader",
    ],
    "run": {"T": 4, "every": 0.02, "log": ["u", "y", "z", "sampled", "reader"],
            "rtol": 1e-9, "atol": 1e-11},
}  # fmt: skip


@pytest.fixture
def diagram(tmp_path):
    (tmp_path / "choice.yaml").write_text(json.dumps(TEXT))
    return sb.load(tmp_path / "choice.yaml")


def merged(values, initial):
    """The output of CASE's subsystems for samples: held where neither runs."""
    out, last = [], initial
    for u in values:
        number = np.floor(u + 0.5)
        last = 2 * u if number in (0, 1) else 3 * u if number == 2 else last
        out.append(last)
    return np.array(out)


@pytest.mark.parametrize("engine", ["interpreter", "native"])
def test_subsystems_that_are_chosen_and_merged_give_one_formula(diagram, engine):
    results = sb.simulate(diagram, engine=engine)
    u, y, z, sampled = (results[name].ravel() for name in ("u", "y", "z", "sampled"))
    formula = np.where(np.abs(u) <= 0.5, u / 2, u - 0.25 * np.sign(u))
    np.testing.assert_allclose(y, formula, atol=1e-8)
    np.testing.assert_allclose(z[::5], merged(sampled[::5], 7.0), atol=1e-12)
    # A sampled block reads at a tick what is merged at this tick, of a ZOH that it reads late.
    late = merged(np.concatenate([[0.0], sampled[:-5:5]]), 7.0)
    np.testing.assert_allclose(results["reader"].ravel()[::5], late, atol=1e-12)


def test_engines_c_and_fmu_agree(diagram, tmp_path):
    native, blocks = (sb.simulate(diagram, engine=e) for e in ("native", "interpreter"))
    assert_same_results(native, blocks, rel=1e-8)
    part = subdiagram_of(diagram, [])
    assert verify(step_code(part, rate=100), np.zeros((300, 0))).passed
    found = verify_fmu(export_fmu(part, tmp_path), part, horizon=1.5)
    assert found.passed, (found.problems, found.errors)


def test_exactly_one_output_of_a_choice_is_true():
    rng = np.random.default_rng(0)
    first, case = If(["a > 0", "a + b > 0"], arguments=["a", "b"]), Case([1, [2, 5]])
    for a, b in rng.normal(size=(50, 2)):
        want = [a > 0, a <= 0 < a + b, a <= 0 and a + b <= 0]
        assert first.output(0.0, [a, b], None) == [float(one) for one in want]
        u = 4 * a
        number = np.floor(u + 0.5)
        want = [number == 1, number in (2, 5), number not in (1, 2, 5)]
        assert case.output(0.0, [u], None) == [float(one) for one in want]


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: If([]), "conditions is a formula or a list"),
        (lambda: If("v > 0"), "'v'"),
        (lambda: Case([]), "cases is a list"),
        (lambda: Case([1.5]), "a case is an integer"),
        (lambda: Case([1, [2, 1]]), "1.0 is in cases twice"),
        (lambda: Merge(nin=0), "nin must be a whole number"),
    ],
)
def test_wrong_parameters_are_refused(make, text):
    with pytest.raises(sb.InputError, match=text.replace("'", ".")):
        make()


def test_a_merge_takes_outputs_of_conditional_subsystems_only(tmp_path):
    wrong = json.loads(json.dumps(TEXT))
    wrong["wires"] = [w.replace("a -> z.u1", "u -> z.u1") for w in wrong["wires"]]
    (tmp_path / "wrong.yaml").write_text(json.dumps(wrong))
    with pytest.raises(sb.DiagramError, match=r"MERGE. gets u1 from u, which has no condition"):
        sb.simulate(tmp_path / "wrong.yaml")

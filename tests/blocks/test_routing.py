"""Blocks that select and arrange signals: values, symbols, runs, C, and the times of jumps."""

from __future__ import annotations

import numpy as np
import pytest
from output_cases import BlockCase, check_c, check_engines, check_symbols, check_values

import spart_blocks as sb
from spart_blocks.base.errors import SpartError

V, W = [0.6, -1.25, 2.2], [1.3, 0.4, -0.7]
M = [[1.5, 2.25, -3.3], [0.4, 5.5, 6.75]]

CASES = [
    BlockCase("SELECTOR", {"indices": [2, 0, 0, -1]}, (V,), [2.2, 0.6, 0.6, 2.2]),
    BlockCase("SELECTOR", {"indices": 1}, (V,), -1.25),
    BlockCase("SELECTOR", {"indices": [1, 0]}, (M,), M[::-1]),
    BlockCase("SELECTOR", {"indices": -1, "axis": 1}, (M,), [-3.3, 6.75]),
    BlockCase("RESHAPE", {"shape": 6}, (M,), np.ravel(M)),
    BlockCase("RESHAPE", {"shape": [3, 2]}, (M,), np.reshape(M, (3, 2))),
    BlockCase("RESHAPE", {"shape": [3, 2], "order": "columns"}, (M,),
              [[1.5, 5.5], [0.4, -3.3], [2.25, 6.75]]),
    BlockCase("RESHAPE", {"shape": [1, 1]}, (0.7,), [[0.7]]),
    BlockCase("RESHAPE", {"shape": []}, ([0.7],), 0.7),
    BlockCase("CONCATENATE", {"nin": 3}, (V, 0.3, W), [*V, 0.3, *W]),
    BlockCase("CONCATENATE", {"axis": 0}, (M, [V]), [*M, V]),
    BlockCase("CONCATENATE", {"axis": 1}, (M, [[0.1], [0.2]]), [[*M[0], 0.1], [*M[1], 0.2]]),
    BlockCase("STACK", {"nin": 2}, (V, W), [V, W]),
    BlockCase("STACK", {"nin": 3}, (0.2, [0.3], 0.4), [0.2, 0.3, 0.4]),
    BlockCase("STACK", {"nin": 1}, (V,), [V]),
    BlockCase("MULTIPORT_SWITCH", {"nin": 3}, (2.2, V, W, 0.5), W),
    BlockCase("MULTIPORT_SWITCH", {"nin": 3}, (7.0, V, W, 0.5), [0.5, 0.5, 0.5]),
    BlockCase("MULTIPORT_SWITCH", {"nin": 2}, (-3.0, 0.3, 0.4), 0.3),
    BlockCase("MULTIPORT_SWITCH", {"nin": 1}, (1.0, V), V),
    BlockCase("MANUAL_SWITCH", {}, (V, W), V),
    BlockCase("MANUAL_SWITCH", {"choice": 3, "nin": 3}, (M, 0.2, M), M),
]  # fmt: skip


def named(case):
    return f"{case.type} {case.given} {[np.shape(value) for value in case.inputs]}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_block_arranges_its_signals(case):
    check_values(case)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_traced_block_is_the_block(case):
    check_symbols(case)


def test_both_engines_give_the_same_signals(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_of_the_blocks_is_the_program_s(tmp_path, real):
    check_c(CASES, tmp_path, real)


SELECTED = """
blocks:
  t: {type: TIME}
  index: {type: FCN, expression: "3.4 - 3*u"}
  a: {type: CONSTANT, value: 1.0}
  b: {type: CONSTANT, value: -2.0}
  c: {type: CONSTANT, value: 4.0}
  select: {type: MULTIPORT_SWITCH, nin: 3}
  by_hand: {type: MANUAL_SWITCH, nin: 3, choice: 2}
  of: {type: INTEGRATOR}
  of_hand: {type: INTEGRATOR}
wires:
  - t -> index
  - index -> select.index
  - a -> select.u1, by_hand.u1
  - b -> select.u2, by_hand.u2
  - c -> select.u3, by_hand.u3
  - select -> of
  - by_hand -> of_hand
run: {T: 1, rtol: 1.0e-10, atol: 1.0e-12, log: [of, of_hand]}
"""


@pytest.mark.parametrize("engine", ["native", "interpreter"])
def test_a_step_ends_where_the_index_passes_to_another_signal(tmp_path, engine):
    (tmp_path / "selected.yaml").write_text(SELECTED)
    got = sb.simulate(tmp_path / "selected.yaml", engine=engine)
    first, second = 0.9 / 3, 1.9 / 3  # the index is 2.5, then 1.5
    want = 4 * first - 2 * (second - first) + (1 - second)
    assert got["of"][-1] == pytest.approx(want, abs=1e-7)
    assert got["of_hand"][-1] == pytest.approx(-2.0)


def test_the_choice_is_a_parameter_of_the_program(tmp_path):
    (tmp_path / "selected.yaml").write_text(SELECTED)
    program = sb.trace(sb.load(tmp_path / "selected.yaml"))
    for choice, value in ((1, 1.0), (2, -2.0), (3, 4.0)):
        got = sb.simulate(program.with_parameters({"by_hand.choice": choice}))
        assert got["of_hand"][-1] == pytest.approx(value)


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("SELECTOR, indices: []", "indices must be a whole number or a list"),
        ("SELECTOR, indices: [0.5]", "indices must be whole numbers"),
        ("SELECTOR, indices: [0], axis: 2", "axis must be 0 or 1"),
        ("SELECTOR, indices: [5]", "indices has 5, u has 3 entries"),
        ("SELECTOR, indices: [0], axis: 1", "u is (3,), it has no axis 1"),
        ("RESHAPE, shape: [2, 0]", "each entry of shape must be a whole number"),
        ("RESHAPE, shape: [2, 2]", "u is (3,) with 3 entries, shape [2, 2] has 4"),
        ("RESHAPE, shape: [200, 200]", "at most 3 axes and 10000 entries"),
        ("RESHAPE, shape: 3, order: C", "order must be one of rows, columns"),
        ("CONCATENATE, nin: 1, axis: 0", "u1 is (3,), it joins matrices"),
        ("MANUAL_SWITCH, choice: 3", "choice must be the number of an input, 1 to 2"),
        ("MANUAL_SWITCH, choice: 1.5", "choice must be the number of an input, 1 to 2"),
    ],
)
def test_what_cannot_be_arranged_is_refused(tmp_path, block, told):
    path = tmp_path / "diagram.yaml"
    path.write_text(
        f"blocks:\n  u: {{type: CONSTANT, value: [1, 2, 3]}}\n  b: {{type: {block}}}\n"
        "wires: [u -> b.0]\n"
    )
    with pytest.raises(SpartError) as refused:
        sb.simulate(path, T=0.1, engine="interpreter")
    assert told in str(refused.value)

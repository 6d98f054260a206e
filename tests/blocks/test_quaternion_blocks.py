"""Quaternion blocks against rotations of SciPy: values, symbols, runs and C."""

from __future__ import annotations

import numpy as np
import pytest
from output_cases import BlockCase, check_c, check_engines, check_symbols, check_values
from scipy.spatial.transform import Rotation, Slerp


def unit(*q):
    return (np.array(q) / np.linalg.norm(q)).tolist()


P, Q = unit(0.1, -0.4, 0.3, 0.8), unit(0.5, 0.2, -0.6, 0.4)
FAR = unit(-0.5, 0.3, 0.1, -0.9)
V = [1.0, -2.0, 0.5]
R = {name: Rotation.from_quat(q) for name, q in (("P", P), ("Q", Q), ("FAR", FAR))}


def near(want, q):
    """The quaternion of two that is next to the first."""
    q = np.asarray(q)
    return q if q @ want >= 0 else -q


def between(one, other, s):
    found = Slerp([0, 1], Rotation.concatenate([Rotation.from_quat(q) for q in (one, other)]))(s)
    return near(np.array(one), found.as_quat())


CASES = [
    BlockCase("QUAT_CONJUGATE", {}, (P,), [-P[0], -P[1], -P[2], P[3]]),
    BlockCase("QUAT_ROTATE", {}, (P, V), R["P"].apply(V)),
    BlockCase("QUAT_LOG", {}, (P,), R["P"].as_rotvec()),
    BlockCase("QUAT_LOG", {}, (FAR,), R["FAR"].as_rotvec()),
    BlockCase("QUAT_EXP", {}, (V,), Rotation.from_rotvec(V).as_quat(canonical=True)),
    BlockCase("SLERP", {}, (P, Q, 0.3), between(P, Q, 0.3)),
    BlockCase("SLERP", {}, (P, FAR, 0.8), between(P, FAR, 0.8)),
    BlockCase("SLERP", {}, (P, Q, 1.0), Q),
]


def named(case):
    return f"{case.type} {case.inputs}"


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_block_gives_what_scipy_gives(case):
    check_values(case)


@pytest.mark.parametrize("case", CASES, ids=named)
def test_a_traced_block_is_the_block(case):
    check_symbols(case)


def test_both_engines_give_the_same_signals(tmp_path):
    check_engines(CASES, tmp_path)


@pytest.mark.parametrize("real", ["double", "float"])
def test_the_c_of_the_blocks_is_the_program_s(tmp_path, real):
    check_c(CASES, tmp_path, real)


def output(kind, *inputs):
    block = BlockCase(kind, {}, (), 0.0).block
    return block.output(0.0, [np.asarray(value) for value in inputs], None)[0]


def test_logarithm_and_exponential_undo_each_other_down_to_no_turn():
    for size in (0.0, 1e-300, 1e-100, 1e-12, 1e-3, 1.0, 3.14159):
        turn = size * np.array([0.6, 0.0, -0.8])
        q = output("QUAT_EXP", turn)
        assert np.linalg.norm(q) == pytest.approx(1.0, abs=1e-15)
        np.testing.assert_allclose(output("QUAT_LOG", q), turn, rtol=1e-9, atol=1e-99)


def test_between_an_attitude_and_itself_there_is_that_attitude():
    np.testing.assert_allclose(output("SLERP", P, P, 0.4), P, atol=1e-15)
    np.testing.assert_allclose(output("SLERP", P, -np.array(P), 0.4), P, atol=1e-15)


def test_jumps_at_half_a_turn_are_watched():
    log, slerp = (BlockCase(kind, {}, (), 0.0).block for kind in ("QUAT_LOG", "SLERP"))
    none = np.array([0.0, 0.0, 0.0, 1.0])
    sides = [output("QUAT_EXP", np.array([angle, 0, 0])) for angle in (3.1, 3.2)]
    for block, inputs in ((log, ()), (slerp, (none,))):
        more = (0.5,) if inputs else ()
        before, after = (block.watch(0.0, [*inputs, q, *more], None)[0] for q in sides)
        assert before <= 0 < after

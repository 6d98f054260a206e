"""Derivatives by columns: groups, functions of their own for parts of the groups, and their C."""

import ctypes
import math
from pathlib import Path

import casadi as ca
import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.linearised import linearised
from spart_blocks.program.tracing.columns import by_columns, columns_called_by

DIAGRAMS = Path(__file__).parents[2] / "diagrams"
SHIPPED = {
    "a spacecraft with an arm": "spacecraft_pd.yaml",
    "closed loops": "loops/four_bar.yaml",
    "states that are limited": "control/scheduled_servo.yaml",
    "lookup tables": "optimal/arm_in_least_time.yaml",
    "friction": "joints/friction.yaml",
}


def both(name, monkeypatch):
    """The derivatives of a diagram written out and by columns, and arguments near its start."""
    program = sb.trace(sb.load(DIAGRAMS / SHIPPED[name]))
    written = linearised(program)
    monkeypatch.setattr("spart_blocks.program.linearised._length", lambda rates: math.inf)
    found = linearised(program)
    x = program.x0 + 0.01 * np.random.default_rng(1).normal(size=len(program.x0))
    arguments = [np.array([0.1]), x, program.xd0, program.p]
    return written, found, arguments + [x] * (program.held is not None)


def evaluated(function, arguments):
    return np.array(function(*arguments)).ravel()


@pytest.mark.parametrize("name", SHIPPED)
def test_they_are_those_that_are_written_out(name, monkeypatch):
    written, found, arguments = both(name, monkeypatch)
    assert columns_called_by([found.function])
    assert not columns_called_by([written.function])
    assert found.pattern == written.pattern
    expected = evaluated(written.function, arguments)
    assert np.abs(expected).max() > 0
    np.testing.assert_allclose(evaluated(found.function, arguments), expected, rtol=1e-12)


@pytest.mark.skipif(compiler_name() is None, reason="no C compiler")
@pytest.mark.parametrize("name", ["a spacecraft with an arm", "lookup tables"])
def test_their_c_gives_the_same(name, monkeypatch):
    _, found, arguments = both(name, monkeypatch)
    library = loaded_library(c_source([found.function]))
    out = np.zeros(found.function.numel_out(0))
    sizes = (found.function.sz_arg(), found.function.sz_res())
    arg, res = ((ctypes.c_void_p * size)() for size in sizes)
    arg[: len(arguments)] = [one.ctypes.data for one in arguments]
    res[0] = out.ctypes.data
    iw, w = np.zeros(found.function.sz_iw(), np.int64), np.zeros(found.function.sz_w())
    rooms = (ctypes.c_void_p(room.ctypes.data) for room in (iw, w))
    library.linearised(arg, res, *rooms, 0)
    expected = evaluated(found.function, arguments)
    np.testing.assert_allclose(out, expected, rtol=1e-12, atol=1e-12 * np.abs(expected).max())


def test_columns_without_a_common_row_are_found_together_and_cheap_ones_apart():
    """x1 and x2 act on rows of their own, x3 on all through a long function."""
    x = ca.SX.sym("x", 3)
    long = x[2]
    for _ in range(60):
        long = ca.sin(long) * ca.cos(0.1 * long)
    column = ca.vertcat(x[0] ** 2 + long, x[1] ** 3 + long)
    places = {(0, 0): 0, (1, 1): 1, (0, 2): 2, (1, 2): 3}
    found = ca.Function("f", [x], [by_columns(column, x, x, places, 5)])
    called = columns_called_by([found])[0]
    seeds = sorted(len(group) for part in called.parts for group in part.seeds)
    assert seeds == [1, 2]
    lengths = [part.along.n_instructions() for part in called.parts]
    assert len(lengths) == 1 or min(lengths) < max(lengths) / 10
    point = [0.3, -0.4, 0.5]
    J = np.array(ca.Function("J", [x], [ca.jacobian(column, x)])(point))
    expected = [J[0, 0], J[1, 1], J[0, 2], J[1, 2], 0]
    np.testing.assert_allclose(np.array(found(point)).ravel(), expected, rtol=1e-13)

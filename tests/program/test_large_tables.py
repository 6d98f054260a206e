"""Tables of more points than become choices: programs call them, wherever they run."""

from __future__ import annotations

import ctypes

import casadi as ca
import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks.export import step_code, verify
from spart_blocks.export.loaded import STRICT
from spart_blocks.program import trace
from spart_blocks.program.c.called import table_texts
from spart_blocks.program.c.compiler import strict_library
from spart_blocks.program.c.functions import c_function, vector
from spart_blocks.program.storage import from_text, to_text
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.program.tracing.lookup_tables import (
    LARGEST_TABLE,
    evenly_spaced,
    tables_called_by,
)

N = LARGEST_TABLE + 44
EVEN = np.linspace(-1.0, 6.0, N)
UNEVEN = -1.0 + 7.0 * np.linspace(0, 1, N) ** 1.5
POINTS = {"evenly spaced": EVEN, "unevenly spaced": UNEVEN}
KINDS = ("linear", "previous", "next", "nearest", "nearest-up", "quadratic", "cubic")


def table(bench, points, kind="linear"):
    """x' = table(t), with the table's values those of a sine."""
    time = bench.block("TIME")
    block = bench.block("INTERPOLATE", x=points, y=np.sin(points), kind=kind, wires=[time])
    bench.block("INTEGRATOR", wires=[block])
    return block


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("kind", KINDS)
def test_a_large_table_is_called_and_gives_what_its_block_gives(bench, assert_parity, points, kind):
    points = POINTS[points]
    table(bench, points, kind)
    middles = (points[1:] + points[:-1]) / 2
    times = [*points[::37], points[-1], *middles[::41]]
    program = assert_parity(bench.diagram, times=times, rel=1e-14)
    assert tables_called_by(program.rates)


def test_a_large_table_of_vectors_is_called(bench, assert_parity):
    y = np.column_stack([np.sin(EVEN), np.cos(EVEN)])
    block = bench.block("INTERPOLATE", x=EVEN, y=y, wires=[bench.block("TIME")])
    bench.block("INTEGRATOR", x0=[0, 0], wires=[block])
    assert tables_called_by(assert_parity(bench.diagram).rates)


def test_only_even_steps_are_found_without_a_search():
    assert evenly_spaced(EVEN)
    assert evenly_spaced(np.arange(100_001) * 1e-3)
    assert not evenly_spaced(UNEVEN)
    assert not evenly_spaced(np.append(EVEN[:-1], EVEN[-1] + 1e-9))


def test_np_interp_of_a_large_table_is_called_from_a_compiled_function():
    function = sb.compiled(lambda u: np.interp(u, UNEVEN, np.sin(UNEVEN)), 4)
    u = np.array([-3.0, 0.1, UNEVEN[17], 9.0])
    np.testing.assert_allclose(function(u), np.interp(u, UNEVEN, np.sin(UNEVEN)), rtol=1e-14)
    assert np.isnan(function(np.full(4, np.nan))).all()


def test_the_derivative_of_a_large_table_is_its_slope(bench):
    name = table(bench, UNEVEN).name
    program = trace(bench.diagram)
    k = 200
    slope = (np.sin(UNEVEN[k + 1]) - np.sin(UNEVEN[k])) / (UNEVEN[k + 1] - UNEVEN[k])
    t = (UNEVEN[k] + UNEVEN[k + 1]) / 2
    assert program.jacobian(name, "t", t=t) == pytest.approx(slope, rel=1e-12)


@pytest.mark.parametrize("compiler", ["", "none"])
@pytest.mark.parametrize("solver", ["RK45", "CVODES"])
def test_a_program_with_a_large_table_runs_after_storage(bench, monkeypatch, compiler, solver):
    table(bench, EVEN)
    if compiler:
        monkeypatch.setenv("SPART_COMPILER", compiler)
    program = from_text(to_text(trace(bench.diagram)))
    results = sb.simulate(program, T=5.0, solver=solver, rtol=1e-9, atol=1e-12)
    (state,) = results.states.values()
    # The error of lines through a sine's points: h^2 / 12 times the integral of |sin|.
    bound = (EVEN[1] - EVEN[0]) ** 2 / 12 * (3 + np.cos(5.0))
    assert abs(state[-1, 0] - (1 - np.cos(5.0))) <= bound


@pytest.mark.parametrize("points", POINTS)
@pytest.mark.parametrize("real", ["double", "float"])
def test_a_large_table_in_exported_c_gives_the_program_s_numbers(bench, points, real):
    table(bench, POINTS[points])
    code = step_code(subdiagram_of(bench.diagram, ["*"]), real=real)
    check = verify(code, np.zeros((5000, 0)))
    assert max(check.errors.values()) <= {"double": 1e-15, "float": 1e-6}[real]


@pytest.mark.parametrize("points", POINTS)
def test_derivatives_of_a_large_table_in_c_are_its_slopes(bench, points):
    """Forward and backward, as FMUs have them."""
    name = table(bench, POINTS[points]).name
    program = trace(bench.diagram)
    t, seed = ca.SX.sym("t"), ca.SX.sym("s")
    y = program.selected([name])(t, program.x0, [], program.p)
    both = ca.vertcat(y, ca.jtimes(y, t, seed), ca.jtimes(y, t, seed, True))
    function = ca.Function("f", [t, seed], [both])
    text = c_function("f", function, (vector("t", 1), vector("s", 1)))
    entry = "void entry(const double *t, const double *s, double *out)"
    source = "\n".join(
        [
            "#include <math.h>",
            *table_texts([function]),
            text,
            f"{entry};",
            f"{entry} {{ f(t, s, out); }}",
        ]
    )
    library = ctypes.CDLL(str(strict_library(source, STRICT)))
    for time in (0.0, 1.234, 4.9):
        arrays = [np.array([time]), np.array([2.0]), np.zeros(3)]
        library.entry(*(ctypes.c_void_p(a.ctypes.data) for a in arrays))
        np.testing.assert_allclose(arrays[2], np.array(function(time, 2.0)).ravel(), rtol=1e-13)
        assert arrays[2][1] == pytest.approx(2 * np.cos(time), abs=0.05)

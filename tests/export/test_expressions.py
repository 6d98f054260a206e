"""CasADi functions as C: the same numbers, in double and in float."""

import ctypes
from dataclasses import replace

import casadi as ca
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from operations import every_operation

from spart_blocks.base.errors import DiagramError
from spart_blocks.export.loaded import STRICT
from spart_blocks.program.c.compiler import strict_library
from spart_blocks.program.c.dialects import DOUBLE, PLAIN, literal
from spart_blocks.program.c.functions import c_function, result, vector


def compiled(function, real, dialect=None):
    kind = {"double": np.float64, "float": np.float32}[real]
    size = function.numel_out(0)
    dialect = dialect or PLAIN[real]
    given = (vector("x", 3, dialect), vector("p", 2, dialect))
    text = c_function("f", function, given, result(range(size), dialect), dialect)
    entry = f"\nvoid entry(const {real} *x, const {real} *p, {real} *out);\n"
    entry += f"void entry(const {real} *x, const {real} *p, {real} *out) {{ f(x, p, out); }}\n"
    library = ctypes.CDLL(
        str(strict_library(f"#include <math.h>\n#define SB_APART\n{text}\n{entry}", STRICT))
    )

    def call(x, p):
        arrays = [np.array(v, kind) for v in (x, p)] + [np.zeros(size, kind)]
        library.entry(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        return arrays[2]

    return call


@pytest.fixture(scope="module", params=["double", "float"])
def both(request):
    function = every_operation()
    return function, compiled(function, request.param), request.param


@pytest.fixture(scope="module")
def in_pieces():
    function = every_operation()
    return function, compiled(function, "double", replace(DOUBLE, longest=7, piece=7))


NUMBERS = st.floats(-3, 3, width=32).filter(lambda v: v == 0 or abs(v) > 1e-3)


@settings(max_examples=60, deadline=None)
@given(st.lists(NUMBERS, min_size=3, max_size=3))
def test_the_c_gives_what_casadi_gives(both, x):
    function, call, real = both
    p = [3.0, -0.5]
    expected = np.array(function(x, p)).ravel()
    found = call(x, p)
    if real == "double":
        assert np.array_equal(found, expected, equal_nan=True)
    else:
        assert found == pytest.approx(expected, rel=1e-4, abs=1e-4, nan_ok=True)


@settings(max_examples=10, deadline=None)
@given(st.lists(NUMBERS, min_size=3, max_size=3))
def test_a_function_in_pieces_gives_the_same(in_pieces, x):
    function, call = in_pieces
    expected = np.array(function(x, [3.0, -0.5])).ravel()
    assert np.array_equal(call(x, [3.0, -0.5]), expected, equal_nan=True)


def test_what_is_not_a_number_stays_so():
    y, p = ca.SX.sym("x", 3), ca.SX.sym("p", 2)
    column = ca.vertcat(ca.sign(y[0]), y[0] + 1, ca.SX(np.nan), ca.SX(np.inf))
    call = compiled(ca.Function("f", [y, p], [ca.densify(column)]), "double")
    found = call([np.nan, 0, 0], [0, 0])
    assert np.isnan(found[:3]).all()
    assert found[3] == np.inf


def test_a_literal_is_the_very_number():
    assert float(literal(0.1)) == 0.1
    assert literal(-2.5) == "(-2.5)"
    assert literal(1e300, "float") == "INFINITY"
    assert literal(-1e300, "float") == "(-INFINITY)"
    assert literal(2.0, "float") == "2.0f"


def test_an_operation_without_a_counterpart_in_c_is_refused():
    x = ca.SX.sym("x")
    function = ca.Function("f", [x], [ca.erfinv(x)])
    with pytest.raises(DiagramError, match="f cannot become C: CasADi's operation"):
        c_function("f", function, (vector("x", 1),), result(range(1)))

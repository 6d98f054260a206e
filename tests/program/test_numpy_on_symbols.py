"""What NumPy does to numbers, it does to signals: the same code, the same figures."""

from __future__ import annotations

import math

import casadi as ca
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spart_blocks.program import TraceError
from spart_blocks.program.tracing.symbol import Condition, Symbol, column_of, symbols, unbox

RNG = np.random.default_rng(7)
A, T = RNG.normal(size=(3, 3)), RNG.normal(size=(2, 3, 3))
P = A @ A.T + np.eye(3)
v, w, s = RNG.normal(size=3), RNG.normal(size=3), 0.7


def results(value):
    return list(value) if isinstance(value, (tuple, list)) else [value]


def same(function, *values):
    """Whether a function gives the same shapes and numbers on symbols as on numbers."""
    columns, arrays = [], []
    for k, value in enumerate(values):
        column, array = symbols(f"v{k}", np.shape(value))
        columns.append(column)
        arrays.append(unbox(array))
    with np.errstate(all="ignore"):
        want = results(function(*(np.copy(x) if np.ndim(x) else x for x in values)))
    outputs = results(function(*arrays))
    assert [np.shape(x) for x in outputs] == [np.shape(x) for x in want]
    evaluate = ca.Function("f", columns, [ca.densify(column_of(outputs))])
    got = np.array(evaluate(*(np.ravel(x) for x in values))).ravel()
    want = np.concatenate([np.ravel(np.asarray(x, dtype=float)) for x in want])
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-13)


def assigned(x):
    out = np.zeros_like(x)
    out[0], out[1:] = x[1], x[:2]
    return out


def by_mask(x):
    x = x.copy()
    x[x < 0] = 0
    return x


def in_place(x):
    x = x.copy()
    x += 1
    x *= x
    x[1] -= 3
    return x


CASES = {
    "arithmetic": (lambda v, w: (v + w * 2 - 1 / v, -v, +v, 0 - v, 2.0**v, v * 0, v / 1), v, w),
    "scalar with array": (lambda s, v, T: (s * v, v * s, v / s, s * T - T * s + T / s), s, v, T),
    "numpy scalars": (lambda s, v: (np.float64(2) * s, np.float64(2) - v, np.int64(3) * s), s, v),
    "powers": (lambda v: (v**2, v**3, v**-1, np.abs(v) ** 1.5, np.power(v, 2)), v),
    "matmul": (lambda A, v, T: (A @ v, v @ A, A @ A, T @ v, np.ones((3, 3)) @ v), A, v, T),
    "products": (lambda v, w: (np.dot(v, w), np.inner(v, w), np.outer(v, w), np.kron(v, w)), v, w),
    "dot": (
        lambda A, v: (A.dot(v), np.dot(A, 2.0), np.vdot(v, v), np.linalg.multi_dot([A, A, A])),
        A,
        v,
    ),
    "cross": (lambda v, w: (np.cross(v, w), np.cross(v, [1, 2, 3.0]), np.linalg.cross(v, w)), v, w),
    "einsum": (lambda A, T: (np.einsum("ij,kjl->kil", A, T), np.einsum("ii", A)), A, T),
    "tensordot": (lambda T, A: np.tensordot(T, A, 1), T, A),
    "diagonals": (lambda A, v: (np.trace(A), np.diag(A), np.diag(v), np.eye(3) * v), A, v),
    "triangles": (lambda A: (np.tril(A), np.triu(A, 1)), A),
    "sums": (
        lambda A: (A.sum(), A.sum(0), np.sum(A, axis=1, keepdims=True), np.sum(A, dtype=float)),
        A,
    ),
    "products along": (lambda A: (np.prod(A), A.prod(0), np.cumsum(A), np.cumprod(A, 1)), A),
    "means": (lambda A: (A.mean(), np.mean(A, 0), A.std(), np.var(A, 0)), A),
    "extremes": (
        lambda A: (A.max(), np.max(A, 0), A.min(1), np.amin(A), np.max(A, axis=(0, 1))),
        A,
    ),
    "extremes along": (
        lambda A: (np.ptp(A), np.max(A, 0, keepdims=True), np.maximum.accumulate(A)),
        A,
    ),
    "any and all": (lambda A: (np.any(A > 0), (A > 0).all(0), np.all(A > -9)), A),
    "counting": (lambda A: ((A > 0).sum(), np.mean(A > 0), np.sum(A > 0, axis=0)), A),
    "absolute": (lambda A: (abs(A), np.abs(A), np.fabs(A)), A),
    "trigonometry": (
        lambda v: (
            np.sin(v),
            np.cos(v),
            np.tan(v),
            np.arctan(v),
            np.arcsin(v / 9),
            np.arccos(v / 9),
        ),
        v,
    ),
    "hyperbolic": (
        lambda v: (np.sinh(v), np.cosh(v), np.tanh(v), np.arcsinh(v), np.arctanh(v / 9)),
        v,
    ),
    "exponentials": (lambda v: (np.exp(v), np.exp2(v), np.expm1(v)), v),
    "logarithms": (lambda v: (np.log(v * v), np.log2(v * v), np.log10(v * v), np.log1p(v * v)), v),
    "roots": (lambda v: (np.sqrt(np.abs(v)), np.cbrt(v), np.square(v), np.reciprocal(v)), v),
    "angles": (
        lambda v, w: (np.hypot(v, w), np.hypot(1.0, v), np.arctan2(v, w), np.arctan2(1, v)),
        v,
        w,
    ),
    "degrees": (lambda v: (np.deg2rad(v), np.rad2deg(v), np.sinc(v)), v),
    "remainders": (
        lambda v: (v % 0.3, v % -0.4, 2 % v, np.mod(v, 1), np.fmod(v, 0.3), *np.divmod(v, 0.3)),
        v,
    ),
    "floor division": (lambda v: (v // 0.1, 1.0 // v, np.floor_divide(v, -0.3)), v),
    "rounding": (
        lambda v: (np.floor(v), np.ceil(v), np.trunc(v), np.rint(v), np.round(v, 1), v.round(2)),
        v,
    ),
    "clip": (
        lambda v: (
            np.clip(v, -0.1, 0.1),
            v.clip(-0.2, None),
            v.clip(max=0.1),
            np.clip(v, [-1, 0, 0], 1),
        ),
        v,
    ),
    "where": (
        lambda v, w: (np.where(v > w, v, w), np.where(v > 0, 1, 0), np.where(v[0] > 0, v, 0)),
        v,
        w,
    ),
    "select": (lambda v: np.select([v > 1, v > 0], [v * 2, v], -1), v),
    "maximum": (
        lambda v, w: (np.maximum(v, w), np.minimum(v, 0), np.fmax(0, v), np.maximum.outer(v, w)),
        v,
        w,
    ),
    "sign": (
        lambda v, w: (np.sign(v), np.heaviside(v, 0.5), np.copysign(v, w), np.signbit(v)),
        v,
        w,
    ),
    "comparisons": (lambda v, w: (v < w, v <= w, v == w, v != w, v > w, v >= w, v == v), v, w),
    "logic": (
        lambda v, w: (np.logical_and(v > 0, w > 0), (v > 0) | (w > 0), ~(v > 0), (v > 0) ^ (w > 0)),
        v,
        w,
    ),
    "more logic": (
        lambda v, w: (np.logical_not(v > 0), np.logical_xor(v > 0, w > 0), (v > 0) & (w < 0)),
        v,
        w,
    ),
    "finite": (lambda v: (np.isnan(v), np.isfinite(v), np.isinf(v), np.nan_to_num(v)), v),
    "not finite": (
        lambda v: (np.isnan(v), np.isfinite(v), np.isinf(v), np.nan_to_num(v, nan=5.0)),
        np.array([np.nan, np.inf, -np.inf, 1.0]),
    ),
    "close": (lambda v, w: (np.isclose(v, w), np.allclose(v, v + 1e-12)), v, w),
    "solve": (lambda A, v: (np.linalg.solve(A, v), np.linalg.solve(A, A.T)), A, v),
    "inverse": (
        lambda A, T: (np.linalg.inv(A), np.linalg.inv(T), np.linalg.det(A), np.linalg.det(T)),
        A,
        T,
    ),
    "matrix powers": (lambda A: [np.linalg.matrix_power(A, n) for n in (3, 0, -2)], A),
    "cholesky": (np.linalg.cholesky, P),
    "norms": (
        lambda v: (
            np.linalg.norm(v),
            *(np.linalg.norm(v, n) for n in (1, 2, 3, np.inf, -np.inf, 0)),
        ),
        v,
    ),
    "matrix norms": (
        lambda A: [np.linalg.norm(A, n) for n in (None, "fro", 1, -1, 2, np.inf, "nuc")],
        A,
    ),
    "norms along": (
        lambda A: (
            np.linalg.norm(A, axis=1),
            np.linalg.norm(A, 1, axis=0),
            np.linalg.norm(A, axis=0, keepdims=True),
        ),
        A,
    ),
    "condition": (lambda A: (np.linalg.cond(A), np.linalg.cond(A, 1)), A),
    "shapes": (
        lambda A: (
            A.T,
            A.reshape(9),
            A.reshape(-1, 1),
            A.ravel(),
            A.flatten("F"),
            np.squeeze(A[None]),
        ),
        A,
    ),
    "slices": (lambda A: (A[1:, :2], A[[0, 2]], A[:, None], A[-1, 0], A[..., 1], A[::-1]), A),
    "rearranged": (
        lambda A: (
            np.roll(A, 1),
            np.flip(A, 0),
            np.tile(A, 2),
            np.repeat(A, 2),
            np.moveaxis(A, 0, 1),
        ),
        A,
    ),
    "iteration": (lambda v: [*(x * 2 for x in v), len(v), sum(v)], v),
    "lists": (lambda v: np.array(v.tolist()), v),
    "joined": (
        lambda v, w: (
            np.concatenate([v, w]),
            np.hstack([v, [1.0]]),
            np.vstack([v, w]),
            np.stack([v, w], 1),
        ),
        v,
        w,
    ),
    "joined scalars": (
        lambda v, s: (np.append(v, s), np.stack([s, s * 2]), np.hstack([s, v]), np.array([s, 1.0])),
        v,
        s,
    ),
    "blocks": (
        lambda A, v: (
            np.block([[A, v[:, None]], [np.zeros(3), np.ones(1)]]),
            np.block([[v[0], 1.0]]),
        ),
        A,
        v,
    ),
    "r_ and c_": (lambda v, w: (np.r_[v, w], np.c_[v, w], np.column_stack([v, w])), v, w),
    "numbers among signals": (lambda v: np.sin(np.concatenate([v, [0.5]])), v),
    "assignment": (assigned, v),
    "assignment by mask": (by_mask, v),
    "in place": (in_place, v),
    "out": (lambda v: (np.add(v, 1, out=v.copy()), np.maximum(v, 0, out=v.copy())), v),
    "outer": (lambda v: (np.add.outer(v, v), np.multiply.reduce(v)), v),
    "interp": (
        lambda v: (
            np.interp(v, [-1, 0, 0.5, 2], [3, 1, 4, 1]),
            np.interp(v[0], [-0.1, 0.1], [0, 1]),
        ),
        v,
    ),
    "polynomials": (
        lambda v: (np.polyval([1, 2, 3], v), np.convolve(v, [1, 2]), np.diff(v), np.trapezoid(v)),
        v,
    ),
    "casts": (lambda v: (v.astype(float), v.copy(), np.real(v)), v),
    "of a scalar": (
        lambda s: (
            np.sin(s),
            np.maximum(s, 0),
            abs(s),
            round(s, 1),
            np.atleast_1d(s),
            np.where(s > 0, s, -s),
        ),
        s,
    ),
    "as a float would": (
        lambda s: (math.floor(s), math.ceil(s), math.trunc(s), s // 0.3, divmod(s, 0.3)[1]),
        s,
    ),
    "vectorize": (lambda v: np.vectorize(lambda x: x * 2)(v), v),
}


@pytest.mark.parametrize("name", CASES)
def test_numpy_on_symbols(name):
    same(*CASES[name])


@pytest.mark.parametrize("x", [-2.5, -1.5, -0.5, 0.5, 1.5, 0.49999999999999994, -1e-20, 3.0, 1e15])
def test_halves_round_to_even(x):
    same(lambda x: (np.rint(x), round(x), np.round(x)), x)


# --- random programs --------------------------------------------------------------------------

UNARY = (
    np.sin, np.cos, np.tanh, np.abs, np.sign, np.floor, np.square, np.arctan, np.negative,
    lambda a: a.T, lambda a: a[::-1], lambda a: np.clip(a, -0.5, 0.5), lambda a: a.sum(0) + a,
    lambda a: a / (1 + a * a), lambda a: np.where(a > 0.1, a, -2 * a), lambda a: a - a.max(),
    lambda a: a / np.linalg.norm(a + 3), lambda a: np.linalg.inv(a * 0.1 + 3 * np.eye(3)),
    lambda a: np.cumsum(a, 1), lambda a: a[:, [2, 0, 1]], lambda a: a.mean(1, keepdims=True) * a,
    lambda a: a % 0.7, lambda a: np.sqrt(a * a + 1), lambda a: np.roll(a, 1, 0),
)  # fmt: skip
BINARY = (
    np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.arctan2, np.hypot, np.matmul,
    np.copysign, lambda a, b: np.where(a < b, a, b), lambda a, b: np.cross(a, b),
    lambda a, b: np.einsum("ij,kj->ik", a, b), lambda a, b: np.concatenate([a, b])[1:4],
    lambda a, b: a * b[0], lambda a, b: a / (2 + b * b), lambda a, b: np.stack([a, b]).mean(0),
    lambda a, b: a * b[0, 0] - b * a[1, 1], lambda a, b: (a > b) * a + ~(a > b) * b,
)  # fmt: skip
STEPS = st.lists(
    st.tuples(st.integers(0, len(UNARY) + len(BINARY) - 1), st.integers(0, 7), st.integers(0, 7)),
    min_size=1,
    max_size=10,
)
MATRICES = st.lists(
    st.floats(-2, 2, allow_nan=False).map(lambda x: round(x, 3)), min_size=9, max_size=9
).map(lambda entries: np.reshape(entries, (3, 3)) + 0.0)  # no -0.0


@given(STEPS, MATRICES, MATRICES)
def test_random_programs_give_the_same_numbers(steps, a, b):
    def program(a, b):
        values = [a, b]
        for operation, i, j in steps:
            i, j = i % len(values), j % len(values)
            if operation < len(UNARY):
                new = UNARY[operation](values[i])
            else:
                new = BINARY[operation - len(UNARY)](values[i], values[j])
            values.append(np.clip(new, -100, 100))
        return values[2:]

    columns, arrays = zip(*(symbols(name, (3, 3)) for name in "ab"), strict=True)
    evaluate = ca.Function("f", list(columns), [ca.densify(column_of(program(*arrays)))])
    # Beside a jump, rounding decides: a number right of it and its neighbour left of it.
    near = [program(a + da, b + db) for da, db in ((0, 0), (1e-11, 1e-11), (-1e-11, 1e-11))]
    flat = [np.concatenate([np.ravel(x) for x in values]) for values in near]
    smooth = all(np.allclose(x, flat[0], rtol=1e-6, atol=1e-6) for x in flat[1:])
    got = np.array(evaluate(a.ravel(), b.ravel())).ravel()
    if smooth:
        np.testing.assert_allclose(got, flat[0], rtol=1e-9, atol=1e-9)


# --- what is refused ----------------------------------------------------------------------------

x = symbols("x", (3,))[1]
BRANCH = "branches on a signal"
FLOAT = "turns a signal into a float"
REFUSED = {
    "if": (lambda x: 1 if x[0] > 0 else 2, BRANCH),
    "and": (lambda x: x[0] > 0 and x[1] > 0, BRANCH),
    "chained": (lambda x: 0 < x[0] < 1, BRANCH),
    "max()": (lambda x: max(x[0], 0), BRANCH),
    "truth of an array": (lambda x: bool((x > 0).all()), BRANCH),
    "in": (lambda x: 1.0 in x, BRANCH),
    "math.sin": (lambda x: math.sin(x[0]), FLOAT),
    "float": (lambda x: float(x[0]), FLOAT),
    "int": (lambda x: int(x[0]), FLOAT),
    "asarray": (lambda x: np.asarray(x, float), FLOAT),
    "float64": (lambda x: np.float64(x[0]), FLOAT),
    "float array": (lambda x: np.zeros(3).__setitem__(0, x[0]), FLOAT),
    "float slice": (lambda x: np.zeros(3).__setitem__(slice(2), x[:2]), FLOAT),
    "astype": (lambda x: x.astype(int), "array of int64"),
    "index": (lambda x: [1, 2][x[0]], "as an index"),
    "range": (lambda x: range(x[0]), "as an index or a count"),
    "mask": (lambda x: x[x > 0], "selects elements by a condition"),
    "where": (lambda x: np.where(x > 0), "asks where a signal is not zero"),
    "sort": (np.sort, "sorts a signal"),
    "argmax": (np.argmax, "place of an extreme value"),
    "pinv": (lambda x: np.linalg.pinv(np.outer(x, x)), "pseudo-inverse"),
    "eig": (lambda x: np.linalg.eigvals(np.outer(x, x)), "eigenvalues"),
    "svd": (lambda x: np.linalg.svd(np.outer(x, x)), "singular value decomposition"),
    "lstsq": (lambda x: np.linalg.lstsq(np.outer(x, x), x), "least-squares"),
    "searchsorted": (lambda x: np.searchsorted([1, 2], x), "looks up a signal in a table"),
    "counting by +": (lambda x: (x[0] > 0) + (x[1] > 0), "adds truth values"),
    "complex": (lambda x: complex(x[0]), "complex number"),
    "add.at": (lambda x: np.add.at(x, [0], 1), "np.add.at"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_would_lose_a_signal_is_refused(name):
    function, text = REFUSED[name]
    with pytest.raises(TraceError, match=text):
        function(x.copy())


def test_a_condition_is_a_truth_value():
    assert type(x[0] > 0) is Condition
    assert type((x > 0)[1]) is Condition
    assert type(1.0 * (x[0] > 0)) is Symbol
    assert type(np.where(x > 0, x > 1, x < 1)[0]) is Condition


def test_a_constant_expression_is_a_number_again():
    zero = x[0] - x[0]
    assert float(zero) == 0.0
    assert not zero > 1
    assert [float(y) for y in np.where(zero > 1, x, 3.0)] == [3.0, 3.0, 3.0]

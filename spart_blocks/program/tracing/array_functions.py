"""NumPy functions for arrays of Symbols, where NumPy's object arrays lack them or define them
differently.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.program.tracing.lookup_tables import LARGEST_TABLE, called_line
from spart_blocks.program.tracing.symbol_array import (
    FUNCTIONS,
    UFUNCS,
    box,
    elementwise_if_else,
    has_symbols,
    plain,
    refused,
)
from spart_blocks.program.tracing.symbol_scalar import (
    METHODS,
    Condition,
    Symbol,
    TraceError,
    if_else,
    is_number,
    of_two,
    sx_of,
)


def _objects(value: Any) -> Any:
    return np.asarray(plain(value), object)


# --- elementwise ------------------------------------------------------------------------------


def _elementwise(
    on_symbols: Callable[..., Any], on_numbers: Callable[..., Any], count: int, **options: Any
) -> Any:
    """A ufunc for objects that uses the numeric function if all its arguments are numbers."""

    def function(*values: Any) -> Any:
        if all(is_number(x) for x in values):
            return on_numbers(*values)
        return on_symbols(*values)

    return np.frompyfunc(function, count, 1, **options)


def _expression(operation: Callable[..., Any], kind: type[Symbol] = Symbol) -> Callable[..., Any]:
    return lambda *values: kind(operation(*(sx_of(x) for x in values)))


def _heaviside(x: Any, middle: Any) -> Any:
    return ca.if_else(x == 0, middle, x > 0)


LARGEST = float(np.finfo(float).max)
_TRUTHS: dict[Any, Callable[..., Any]] = {
    np.less: of_two(ca.OP_LT), np.less_equal: of_two(ca.OP_LE),
    np.greater: ca.gt, np.greater_equal: ca.ge,
    np.equal: of_two(ca.OP_EQ), np.not_equal: of_two(ca.OP_NE),
    np.logical_and: ca.logic_and, np.logical_or: ca.logic_or, np.logical_not: ca.logic_not,
    np.logical_xor: lambda a, b: ca.ne(ca.ne(a, 0), ca.ne(b, 0)),
    np.isfinite: lambda x: ca.fabs(x) <= LARGEST,
    np.isinf: lambda x: ca.fabs(x) > LARGEST,
    np.isnan: lambda x: ca.logic_not(x <= ca.inf),
    np.signbit: lambda x: x < 0,
}  # fmt: skip
_BINARY: dict[Any, Callable[..., Any]] = {
    np.maximum: of_two(ca.OP_FMAX), np.fmax: of_two(ca.OP_FMAX),
    np.minimum: of_two(ca.OP_FMIN), np.fmin: of_two(ca.OP_FMIN),
    np.copysign: ca.copysign, np.arctan2: of_two(ca.OP_ATAN2), np.hypot: ca.hypot,
    np.float_power: ca.power, np.fmod: ca.fmod, np.heaviside: _heaviside,
}  # fmt: skip
# A reduction over several axes at once needs to know that their order is free.
_ANY_ORDER = {
    np.maximum: -np.inf, np.fmax: -np.inf, np.minimum: np.inf, np.fmin: np.inf,
    np.logical_and: True, np.logical_or: False,
}  # fmt: skip


def _register_ufuncs() -> None:
    numbers: dict[Any, Callable[..., Any]] = {**_BINARY, np.sign: ca.sign}
    numbers |= {getattr(np, name): operation for name, operation in METHODS.items()}
    for table, kind in ((numbers, Symbol), (_TRUTHS, Condition)):
        for ufunc, operation in table.items():
            options = {"identity": _ANY_ORDER[ufunc]} if ufunc in _ANY_ORDER else {}
            on_symbols = _expression(operation, kind)
            UFUNCS[ufunc] = _elementwise(on_symbols, ufunc, ufunc.nin, **options)
    UFUNCS[np.absolute] = _elementwise(abs, abs, 1)
    UFUNCS[np.positive] = _elementwise(lambda x: x, lambda x: x, 1)
    UFUNCS[np.bitwise_and] = np.frompyfunc(lambda a, b: a & b, 2, 1)
    UFUNCS[np.bitwise_or] = np.frompyfunc(lambda a, b: a | b, 2, 1)
    UFUNCS[np.bitwise_xor] = np.frompyfunc(lambda a, b: a ^ b, 2, 1)
    UFUNCS[np.invert] = np.frompyfunc(
        lambda a: not a if isinstance(a, (bool, np.bool_)) else ~a, 1, 1
    )
    UFUNCS[np.divmod] = np.frompyfunc(divmod, 2, 2)


_register_ufuncs()


# --- choices -------------------------------------------------------------------------------------


def implements(*functions: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A decorator that registers a function of Symbols as the replacement of NumPy functions."""

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        FUNCTIONS.update(dict.fromkeys(functions, function))
        return function

    return register


@implements(np.where)
def _where(condition: Any, *choices: Any) -> Any:
    if len(choices) != 2:
        raise TraceError("its code asks where a signal is not zero; use np.where(c, a, b)")
    return elementwise_if_else(*(_objects(x) for x in (condition, *choices)))


@implements(np.select)
def _select(conditions: Sequence[Any], choices: Sequence[Any], default: Any = 0) -> Any:
    out = _objects(default)
    for condition, choice in zip(reversed(conditions), reversed(choices), strict=True):
        out = elementwise_if_else(_objects(condition), _objects(choice), out)
    return out


@implements(np.clip)
def _clip(
    a: Any, a_min: Any = None, a_max: Any = None, out: Any = None, *, min: Any = None,
    max: Any = None, **_: Any,
) -> Any:  # fmt: skip
    low, high = a_min if min is None else min, a_max if max is None else max
    result = box(a)
    if low is not None:
        result = np.maximum(result, low)
    if high is not None:
        result = np.minimum(result, high)
    if out is not None:
        out[...] = result
        return out
    return result


@implements(np.round, np.around)
def _round(a: Any, decimals: int = 0, out: Any = None) -> Any:
    scale = 10.0**decimals
    return np.rint(box(a) * scale) / scale


@implements(np.isclose)
def _isclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return np.abs(box(a) - b) <= atol + rtol * np.abs(box(b))


@implements(np.allclose)
def _allclose(a: Any, b: Any, rtol: Any = 1e-5, atol: Any = 1e-8, equal_nan: bool = False) -> Any:
    return np.all(box(_isclose(a, b, rtol, atol)))


@implements(np.nan_to_num)
def _nan_to_num(
    x: Any, copy: bool = True, nan: float = 0.0, posinf: Any = None, neginf: Any = None
) -> Any:
    x = box(x)
    high, low = (LARGEST if posinf is None else posinf), (-LARGEST if neginf is None else neginf)
    finite = np.where(np.isfinite(x), x, np.where(x > 0, high, low))
    return np.where(np.isnan(x), nan, finite)


@implements(np.sinc)
def _sinc(x: Any) -> Any:
    y = np.pi * np.where(box(x) == 0, 1.0e-20, x)
    return np.sin(y) / y


# --- tables --------------------------------------------------------------------------------------


def piece(x: Any, starts: Any, values: Sequence[Any]) -> Any:
    """values[k] for the last k with starts[k] <= x, or values[0] before that, as a tree of
    choices. values: as many numbers or Symbols as starts.
    """
    if len(values) == 1:
        return values[0]
    half = len(values) // 2
    return if_else(
        x >= float(starts[half]),
        piece(x, starts[half:], values[half:]),
        piece(x, starts[:half], values[:half]),
    )


def linear_pieces(x: Any, points: Any, values: Any) -> list[Any]:
    """For each pair of neighbouring points the line through them as a function of x, by NumPy's
    formula.
    """
    lines = []
    for k in range(len(points) - 1):
        width = points[k + 1] - points[k]
        slope = (values[k + 1] - values[k]) / width if width else 0.0
        lines.append(slope * (x - float(points[k])) + values[k])
    return lines


def _lines(points: Any, values: Any) -> Callable[[Any], Any]:
    """Linear interpolation in a table as a function of x; for a large table by a call."""
    if len(points) > LARGEST_TABLE and not has_symbols(values):
        return called_line(points.astype(float), values.astype(float))
    return lambda x: piece(x, points, [*linear_pieces(x, points, values), values[-1]])


@implements(np.interp)
def _interp(
    x: Any, xp: Any, fp: Any, left: Any = None, right: Any = None, period: Any = None
) -> Any:
    points, values = np.asarray(plain(xp)), _objects(fp)
    if has_symbols(xp) or period is not None:
        raise TraceError("its code calls np.interp with a signal for its points, or a period")
    first, last = values[0] if left is None else left, values[-1] if right is None else right
    within = _lines(points, values)

    def at(point: Any) -> Any:
        inside = within(point)
        outside = if_else(point > float(points[-1]), last, inside)
        return if_else(point < float(points[0]), first, outside)

    return np.frompyfunc(at, 1, 1)(_objects(x))


# --- linear algebra -----------------------------------------------------------------------------


def _matrix(a: Any) -> Any:
    rows = np.atleast_2d(_objects(a))
    return ca.vertcat(*(ca.horzcat(*(sx_of(x) for x in row)) for row in rows))


def _array(matrix: Any, shape: tuple[int, ...]) -> Any:
    out = np.empty(int(np.prod(shape)), dtype=object)
    for k, entry in enumerate(ca.vertsplit(ca.reshape(matrix.T, -1, 1))):
        out[k] = Symbol(entry)
    return out.reshape(shape)


def _each(function: Callable[..., Any], a: Any, *others: Any) -> Any:
    """Apply a function to each matrix of a stack (last two axes)."""
    a = _objects(a)
    if a.ndim < 2 or a.shape[-1] != a.shape[-2]:
        raise TraceError(f"its code takes an inverse, a determinant or the like of {a.shape}")
    if a.ndim == 2:
        return function(a, *others)
    parts = [function(part) for part in a.reshape(-1, *a.shape[-2:])]
    return np.array(parts, dtype=object).reshape(*a.shape[:-2], *np.shape(parts[0]))


@implements(np.linalg.solve)
def _solve(a: Any, b: Any) -> Any:
    right = _objects(b)
    if np.ndim(a) != 2 or right.ndim > 2:
        raise TraceError("its code solves a stack of equations; solve one at a time")
    columns = right.reshape(len(right), -1)
    return _array(ca.solve(_matrix(a), _matrix(columns)), right.shape)


@implements(np.linalg.inv)
def _inv(a: Any) -> Any:
    return _each(lambda part: _array(ca.inv(_matrix(part)), part.shape), a)


LARGEST_DETERMINANT = 10
"""Largest number of rows. CasADi expands a determinant by minors, whose number doubles with each
row.
"""


@implements(np.linalg.det)
def _det(a: Any) -> Any:
    if np.shape(a)[-1] > LARGEST_DETERMINANT:
        raise TraceError(
            f"its code takes the determinant of an array of shape {np.shape(a)}, "
            "which is too large to be traced"
        )
    return _each(lambda part: Symbol(ca.det(_matrix(part))), a)


@implements(np.linalg.cholesky)
def _cholesky(a: Any, *, upper: bool = False) -> Any:
    def lower(part: Any) -> Any:
        n = len(part)
        out = np.zeros((n, n), dtype=object)
        for j in range(n):
            out[j, j] = Symbol(ca.sqrt(sx_of(part[j, j] - out[j, :j] @ out[j, :j])))
            for i in range(j + 1, n):
                out[i, j] = (part[i, j] - out[i, :j] @ out[j, :j]) / out[j, j]
        return out.T if upper else out

    return _each(lower, a)


@implements(np.linalg.matrix_power)
def _matrix_power(a: Any, n: int) -> Any:
    a = box(a)
    if n < 0:
        return _matrix_power(box(_inv(a)), -n)
    out: Any = np.broadcast_to(np.eye(a.shape[-1]), a.shape)
    while n > 0:  # by squares, for n comes from a file
        out = out @ a if n % 2 else out
        n //= 2
        a = a @ a if n else a
    return out


@implements(np.linalg.norm)
def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    values = box(x)
    if axis is None and (ord is None or values.ndim == 1):
        axes: Any = tuple(range(values.ndim))
    else:
        axes = tuple(range(values.ndim)) if axis is None else axis
    if ord is None or ord == "fro" or (ord == 2 and len(np.atleast_1d(axes)) == 1):
        return np.sqrt(np.sum(values * values, axis=axes, keepdims=keepdims))
    size = np.abs(values)
    if np.size(axes) == 2:
        return _matrix_norm(values, ord, axes, keepdims)
    if ord in (np.inf, -np.inf):
        reduce = np.max if ord > 0 else np.min
        return reduce(size, axis=axes, keepdims=keepdims)
    if ord == 0:
        return np.sum(size != 0, axis=axes, keepdims=keepdims)
    if ord == 1:
        return np.sum(size, axis=axes, keepdims=keepdims)
    return np.sum(size**ord, axis=axes, keepdims=keepdims) ** (1.0 / ord)


def _matrix_norm(values: Any, ord: Any, axes: Any, keepdims: bool) -> Any:
    if ord in (2, -2, "nuc") and values.ndim == 2 and not keepdims:
        singular = singular_values(values)
        choose: dict[Any, Any] = {2: np.max, -2: np.min, "nuc": np.sum}
        return choose[ord](singular)
    if ord not in (1, -1, np.inf, -np.inf):
        raise TraceError(f"its code takes a matrix norm of order {ord!r}, which is not traced")
    size = np.abs(values)
    rows, columns = (axis % size.ndim for axis in axes)
    summed, kept = (rows, columns) if abs(ord) == 1 else (columns, rows)
    reduce = np.max if ord > 0 else np.min
    sums = np.sum(size, axis=summed, keepdims=True)
    out = reduce(box(sums), axis=kept, keepdims=True)
    return out if keepdims else np.squeeze(box(out), axis=(rows, columns))


LARGEST_SVD = 8


def singular_values(a: Any) -> Any:
    """The singular values of a matrix, unordered, by one-sided Jacobi rotations.

    The number of sweeps is fixed, so that the iteration is an expression; convergence is quadratic
    and reaches rounding error (a test has matrices of all sizes). Source: Golub and Van Loan,
    Matrix Computations, 4th ed., 8.6.3.
    """
    columns = [list(column) for column in (_objects(a) if np.shape(a)[0] < np.shape(a)[1]
                                           else _objects(a).T)]  # fmt: skip
    n = len(columns)
    if n > LARGEST_SVD or np.ndim(a) != 2:
        raise TraceError(
            f"its code takes singular values of {np.shape(a)}; up to {LARGEST_SVD} are traced"
        )
    u = [ca.vertcat(*(sx_of(x) for x in column)) for column in columns]
    for _ in range(1 if n == 2 else 5 + n // 2):
        for i in range(n - 1):
            for j in range(i + 1, n):
                u[i], u[j] = _orthogonal(u[i], u[j])
    return box(np.array([Symbol(ca.sqrt(ca.dot(x, x))) for x in u], dtype=object))


def _orthogonal(a: Any, b: Any) -> tuple[Any, Any]:
    """Two columns rotated in their plane until they are orthogonal."""
    difference, product = ca.dot(b, b) - ca.dot(a, a), ca.dot(a, b)
    reach = ca.fabs(difference) + ca.sqrt(difference * difference + 4 * product * product)
    tangent = ca.if_else(difference < 0, -2.0, 2.0) * product / (reach + 1e-300)
    cosine = 1 / ca.sqrt(1 + tangent * tangent)
    sine = cosine * tangent
    return cosine * a - sine * b, sine * a + cosine * b


@implements(np.linalg.cond)
def _cond(a: Any, p: Any = None) -> Any:
    if p is None or p in (2, -2):
        singular = singular_values(a)
        ratio = np.max(singular) / np.min(singular)
        return 1 / ratio if p == -2 else ratio
    return np.linalg.norm(box(a), p) * np.linalg.norm(box(_inv(a)), p)


@implements(np.dot)
def _dot(a: Any, b: Any, out: Any = None) -> Any:
    a, b = _objects(a), _objects(b)
    return a * b if 0 in (a.ndim, b.ndim) else np.dot(a, b)


# --- functions that are no expression of their arguments -----------------------------------


_REFUSED = {
    "takes a pseudo-inverse": (np.linalg.pinv,),
    "takes a least-squares solution": (np.linalg.lstsq, np.polyfit),
    "takes eigenvalues": (np.linalg.eig, np.linalg.eigh, np.linalg.eigvals, np.linalg.eigvalsh),
    "takes a singular value decomposition": (np.linalg.svd, np.linalg.svdvals),
    "takes a rank": (np.linalg.matrix_rank,),
    "takes a QR decomposition": (np.linalg.qr,),
    "takes the logarithm of a determinant": (np.linalg.slogdet,),
    "sorts a signal": (np.sort, np.argsort, np.lexsort, np.partition, np.argpartition),
    "looks for the place of an extreme value": (np.argmax, np.argmin),
    "looks up a signal in a table": (np.searchsorted, np.digitize, np.histogram),
    "takes an order statistic": (np.median, np.percentile, np.quantile),
    "collects distinct values": (np.unique,),
    "asks where a signal is not zero": (np.nonzero, np.flatnonzero, np.argwhere),
    "counts": (np.count_nonzero,),
    "unwraps angles": (np.unwrap,),
    "selects pieces by conditions (use np.where or np.select)": (np.piecewise,),
}
for _what, _functions in _REFUSED.items():
    implements(*_functions)(refused(_what))

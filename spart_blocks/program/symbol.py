"""A scalar that records what is done to it, and arrays of it.

CasADi's own scalars leave NumPy: SX times an array becomes an SX matrix. `Symbol` wraps
one SX scalar, keeps to NumPy's rules, and refuses what would lose it silently (float,
bool). `SymbolArray` adds the functions that NumPy's object arrays lack.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.errors import SpartError


class TraceError(SpartError):
    """A block's code does with a signal what an expression cannot record."""


def _number(value: Any) -> bool:
    return isinstance(value, (int, float, np.number, np.bool_))


class Symbol:
    """One scalar expression. Meets numbers and Symbols as a scalar, arrays elementwise."""

    __slots__ = ("sx",)

    def __init__(self, value: Any) -> None:
        self.sx = value if isinstance(value, ca.SX) else ca.SX(float(value))

    # --- arithmetic: sums with 0 and products with 0 and 1 stay numbers or themselves ----

    def __add__(self, other: Any) -> Any:
        if _number(other):
            return self if other == 0 else Symbol(self.sx + float(other))
        return Symbol(self.sx + other.sx) if isinstance(other, Symbol) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if _number(other):
            return self if other == 0 else Symbol(self.sx - float(other))
        return Symbol(self.sx - other.sx) if isinstance(other, Symbol) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self if _number(other) and other == 0 else _binary(other, self, _subtract)

    def __mul__(self, other: Any) -> Any:
        if _number(other):
            if other == 0:
                return 0.0
            return self if other == 1 else Symbol(self.sx * float(other))
        return Symbol(self.sx * other.sx) if isinstance(other, Symbol) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if _number(other) and other == 1:
            return self
        return _binary(self, other, _divide)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if _number(other) and other == 0 else _binary(other, self, _divide)

    def __pow__(self, other: Any) -> Any:
        return _binary(self, other, ca.power)

    def __rpow__(self, other: Any) -> Any:
        return _binary(other, self, ca.power)

    def __mod__(self, other: Any) -> Any:
        # Python's modulo has the divisor's sign; CasADi's remainder the dividend's.
        return self - floor(self / other) * other

    def __neg__(self) -> Symbol:
        return Symbol(-self.sx)

    def __pos__(self) -> Symbol:
        return self

    def __abs__(self) -> Symbol:
        return Symbol(ca.fabs(self.sx))

    # --- comparisons give 0 or 1 -----------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        return _binary(self, other, ca.lt)

    def __le__(self, other: Any) -> Any:
        return _binary(self, other, ca.le)

    def __gt__(self, other: Any) -> Any:
        return _binary(self, other, ca.gt)

    def __ge__(self, other: Any) -> Any:
        return _binary(self, other, ca.ge)

    def __eq__(self, other: object) -> Any:
        return _binary(self, other, ca.eq)

    def __ne__(self, other: object) -> Any:
        return _binary(self, other, ca.ne)

    __hash__ = None  # type: ignore[assignment]

    # --- what an expression cannot do --------------------------------------------------------

    def __bool__(self) -> bool:
        raise TraceError("its code branches on a signal; use np.where, np.clip or np.maximum")

    def __float__(self) -> float:
        raise TraceError(
            "its code turns a signal into a float (math.sin, float(), a float array); "
            "use NumPy's functions, and np.array or np.concatenate to build arrays"
        )

    __int__ = __index__ = __complex__ = __float__

    def __iter__(self) -> Any:
        raise TypeError("a scalar signal has no elements")

    # --- NumPy ---------------------------------------------------------------------------------

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        boxed = [box(x) if isinstance(x, Symbol) else x for x in inputs]
        return unbox(getattr(ufunc, method)(*boxed, **options))

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        boxed = [box(x) if isinstance(x, Symbol) else x for x in args]
        return unbox(function(*boxed, **options))

    def __repr__(self) -> str:
        return f"Symbol({self.sx})"


def _subtract(a: Any, b: Any) -> Any:
    return a - b


def _divide(a: Any, b: Any) -> Any:
    return a / b


def _binary(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not all(isinstance(x, Symbol) or _number(x) for x in (a, b)):
        return NotImplemented
    return Symbol(operation(*(x.sx if isinstance(x, Symbol) else float(x) for x in (a, b))))


def _method(operation: Callable[..., Any]) -> Callable[..., Symbol]:
    def method(self: Symbol, *others: Any) -> Symbol:
        rest = [x.sx if isinstance(x, Symbol) else float(x) for x in others]
        return Symbol(operation(self.sx, *rest))

    return method


# NumPy's object loops call the method named after the function.
_METHODS: dict[str, Callable[..., Any]] = {
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "arcsin": ca.asin, "arccos": ca.acos,
    "arctan": ca.atan, "arctan2": ca.atan2, "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh,
    "arcsinh": ca.asinh, "arccosh": ca.acosh, "arctanh": ca.atanh, "exp": ca.exp,
    "log": ca.log, "log10": ca.log10, "log1p": ca.log1p, "expm1": ca.expm1, "sqrt": ca.sqrt,
    "floor": ca.floor, "ceil": ca.ceil, "fabs": ca.fabs, "hypot": ca.hypot,
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "conjugate": lambda x: x,
    "deg2rad": lambda x: x * (np.pi / 180), "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi), "degrees": lambda x: x * (180 / np.pi),
    "cbrt": lambda x: ca.sign(x) * ca.power(ca.fabs(x), 1 / 3), "trunc": lambda x: ca.if_else(
        x > 0, ca.floor(x), ca.ceil(x)), "exp2": lambda x: ca.power(2.0, x),
    "log2": lambda x: ca.log(x) / np.log(2.0),
}  # fmt: skip
for _name, _operation in _METHODS.items():
    setattr(Symbol, _name, _method(_operation))


def sx_of(value: Any) -> Any:
    """The SX scalar of a Symbol or a number."""
    return value.sx if isinstance(value, Symbol) else ca.SX(float(value))


def floor(value: Any) -> Any:
    """The largest whole number not above a Symbol or a number."""
    return Symbol(ca.floor(value.sx)) if isinstance(value, Symbol) else float(np.floor(value))


def if_else(condition: Any, yes: Any, no: Any) -> Any:
    """yes where the condition holds, otherwise no; plain Python for plain numbers."""
    if not isinstance(condition, Symbol):
        return yes if condition else no
    if not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no:
        return yes
    return Symbol(ca.if_else(condition.sx, sx_of(yes), sx_of(no)))


# --- arrays -------------------------------------------------------------------------------------


class SymbolArray(np.ndarray[Any, Any]):
    """An object array of Symbols and numbers that knows clip, where, maximum, minimum,
    sign, comparisons, and linalg's solve, inv, det and norm."""

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [np.asarray(x, object) if isinstance(x, SymbolArray) else x for x in inputs]
        special = _UFUNCS.get(ufunc)
        if special is not None and method == "__call__":
            boxed = [box(x) if isinstance(x, Symbol) else np.asarray(x) for x in plain]
            return unbox(special(*boxed))
        if "out" in options:
            options["out"] = tuple(
                np.asarray(x) if isinstance(x, SymbolArray) else x for x in options["out"]
            )
        return unbox(getattr(ufunc, method)(*plain, **options))

    def __array_function__(
        self, function: Any, types: Any, args: Any, kwargs: Any
    ) -> Any:
        special = _FUNCTIONS.get(function)
        if special is not None:
            return unbox(special(*args, **kwargs))
        return unbox(function(*_plain(args), **_plain(kwargs)))

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **_: Any) -> Any:
        return unbox(_clip(self, min, max))

    def dot(self, other: Any, out: Any = None) -> Any:
        return self @ other

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        raise TraceError("its code rounds a signal")

    def __array_finalize__(self, parent: Any) -> None:
        return None


def _plain(value: Any) -> Any:
    """The same arguments with every SymbolArray as a plain object array."""
    if isinstance(value, SymbolArray):
        return value.view(np.ndarray)
    if isinstance(value, Symbol):
        return box(value).view(np.ndarray)
    if isinstance(value, (list, tuple)):
        return type(value)(_plain(x) for x in value)
    if isinstance(value, dict):
        return {key: _plain(x) for key, x in value.items()}
    return value


def box(value: Any) -> SymbolArray:
    """A Symbol as an array of no dimension, an object array as a SymbolArray."""
    if isinstance(value, Symbol):
        out = np.empty((), dtype=object)
        out[()] = value
        return out.view(SymbolArray)
    return np.asarray(value, dtype=object).view(SymbolArray)


def unbox(value: Any) -> Any:
    """Results as blocks should see them: object arrays as SymbolArrays, scalars bare."""
    if isinstance(value, np.ndarray) and value.dtype.hasobject:
        if value.ndim == 0:
            return value[()]
        return value if isinstance(value, SymbolArray) else value.view(SymbolArray)
    if isinstance(value, tuple) and type(value) is tuple:
        return tuple(unbox(x) for x in value)
    return value


def _elementwise(function: Callable[..., Any], count: int) -> Callable[..., Any]:
    ufunc: Callable[..., Any] = np.frompyfunc(function, count, 1)
    return ufunc


def _maximum(a: Any, b: Any) -> Any:
    if _number(a) and _number(b):
        return max(a, b)
    return Symbol(ca.fmax(sx_of(a), sx_of(b)))


def _minimum(a: Any, b: Any) -> Any:
    if _number(a) and _number(b):
        return min(a, b)
    return Symbol(ca.fmin(sx_of(a), sx_of(b)))


def _sign(a: Any) -> Any:
    return float(np.sign(a)) if _number(a) else Symbol(ca.sign(a.sx))


def _and(a: Any, b: Any) -> Any:
    if _number(a) and _number(b):
        return bool(a) and bool(b)
    return Symbol(ca.logic_and(sx_of(a), sx_of(b)))


def _or(a: Any, b: Any) -> Any:
    if _number(a) and _number(b):
        return bool(a) or bool(b)
    return Symbol(ca.logic_or(sx_of(a), sx_of(b)))


def _not(a: Any) -> Any:
    return not a if _number(a) else Symbol(ca.logic_not(a.sx))


def _copysign(a: Any, b: Any) -> Any:
    return Symbol(ca.copysign(sx_of(a), sx_of(b)))


_UFUNCS: dict[Any, Callable[..., Any]] = {
    np.maximum: _elementwise(_maximum, 2), np.fmax: _elementwise(_maximum, 2),
    np.minimum: _elementwise(_minimum, 2), np.fmin: _elementwise(_minimum, 2),
    np.sign: _elementwise(_sign, 1), np.copysign: _elementwise(_copysign, 2),
    np.absolute: _elementwise(abs, 1), np.fabs: _elementwise(abs, 1),
    np.logical_and: _elementwise(_and, 2), np.logical_or: _elementwise(_or, 2),
    np.bitwise_and: _elementwise(_and, 2), np.bitwise_or: _elementwise(_or, 2),
    np.logical_not: _elementwise(_not, 1), np.invert: _elementwise(_not, 1),
    np.less: _elementwise(lambda a, b: a < b, 2),
    np.less_equal: _elementwise(lambda a, b: a <= b, 2),
    np.greater: _elementwise(lambda a, b: a > b, 2),
    np.greater_equal: _elementwise(lambda a, b: a >= b, 2),
    np.equal: _elementwise(lambda a, b: a == b, 2),
    np.not_equal: _elementwise(lambda a, b: a != b, 2),
    np.remainder: _elementwise(lambda a, b: a % b, 2),
    np.floor: _elementwise(floor, 1),
}  # fmt: skip


def _where(condition: Any, yes: Any, no: Any) -> Any:
    return _elementwise(if_else, 3)(*(np.asarray(_plain(x), object) for x in (condition, yes, no)))


def _clip(a: Any, low: Any = None, high: Any = None, **_: Any) -> Any:
    out = box(a)
    if low is not None:
        out = _UFUNCS[np.maximum](out, np.asarray(_plain(low), object))
    if high is not None:
        out = _UFUNCS[np.minimum](out, np.asarray(_plain(high), object))
    return out


def _matrix(a: Any) -> Any:
    rows = np.atleast_2d(np.asarray(_plain(a), object))
    return ca.vertcat(*(ca.horzcat(*(sx_of(x) for x in row)) for row in rows))


def _array(matrix: Any, shape: tuple[int, ...]) -> Any:
    out = np.empty(int(np.prod(shape)), dtype=object)
    for k, entry in enumerate(ca.vertsplit(ca.reshape(matrix.T, -1, 1))):
        out[k] = Symbol(entry)
    return out.reshape(shape)


def _solve(a: Any, b: Any) -> Any:
    right = np.asarray(_plain(b), object)
    columns = right.reshape(len(right), -1)
    return _array(ca.solve(_matrix(a), _matrix(columns)), right.shape)


def _inv(a: Any) -> Any:
    return _array(ca.inv(_matrix(a)), np.shape(a))


def _det(a: Any) -> Any:
    return Symbol(ca.det(_matrix(a)))


def _norm(x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    values = np.asarray(_plain(x), object)
    if ord not in (None, 2) or (axis is None and ord == 2 and values.ndim > 1):
        raise TraceError(f"its code takes a norm of order {ord!r}, which is not traced")
    return np.sqrt(np.sum(values * values, axis=axis, keepdims=keepdims))


def _cond(a: Any, p: Any = None) -> Any:
    raise TraceError("its code takes a condition number, which is not traced")


_FUNCTIONS: dict[Any, Callable[..., Any]] = {
    np.where: _where,
    np.clip: _clip,
    np.linalg.solve: _solve,
    np.linalg.inv: _inv,
    np.linalg.det: _det,
    np.linalg.norm: _norm,
    np.linalg.cond: _cond,
    np.dot: lambda a, b, out=None: _plain(a) @ _plain(b),
}


def symbols(name: str, shape: tuple[int, ...]) -> tuple[Any, SymbolArray]:
    """Fresh variables: the SX column (n,1) they are, and the array of the given shape."""
    count = int(np.prod(shape))
    column = ca.SX.sym(name, count)
    out = np.empty(count, dtype=object)
    for k in range(count):
        out[k] = Symbol(column[k])
    return column, out.reshape(shape).view(SymbolArray)


def column_of(values: list[Any]) -> Any:
    """The SX column of all scalars of the given arrays, one after the other."""
    scalars = [sx_of(x) for value in values for x in np.ravel(_plain(value)).tolist()]
    return ca.vertcat(*scalars) if scalars else ca.SX(0, 1)

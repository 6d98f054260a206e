"""A scalar that records what is done to it, and arrays of it.

CasADi's own scalars leave NumPy: SX times an array becomes an SX matrix. `Symbol` wraps
one SX scalar, keeps to NumPy's rules, and refuses what would lose it silently (float,
bool). `SymbolArray` is an object array of them; what NumPy's object arrays lack is in
array_functions.py, which fills the tables UFUNCS and FUNCTIONS here.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any, NoReturn

import casadi as ca
import numpy as np

from spart_blocks.errors import SpartError


class TraceError(SpartError):
    """A block's code does with a signal what an expression cannot record."""


UFUNCS: dict[Any, Any] = {}
"""NumPy's elementwise functions, and those of Python objects that stand in for them."""

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's other functions that need their own code for Symbols."""


def is_number(value: Any) -> bool:
    """Whether value is a plain real number or truth value."""
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


class Symbol:
    """One scalar expression. Meets numbers and Symbols as a scalar, arrays elementwise."""

    __slots__ = ("sx",)

    ndim, shape, size = 0, (), 1  # as NumPy's own scalars have them

    def __init__(self, value: Any) -> None:
        self.sx = value if isinstance(value, ca.SX) else ca.SX(float(value))

    # --- arithmetic: sums with 0 and products with 0 and 1 stay numbers or themselves ----

    def __add__(self, other: Any) -> Any:
        if is_number(other):
            return self if other == 0 else Symbol(self.sx + float(other))
        return Symbol(self.sx + other.sx) if isinstance(other, Symbol) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if is_number(other):
            return self if other == 0 else Symbol(self.sx - float(other))
        return Symbol(self.sx - other.sx) if isinstance(other, Symbol) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self if is_number(other) and other == 0 else _binary(other, self, _subtract)

    def __mul__(self, other: Any) -> Any:
        if is_number(other):
            if other == 0:
                return 0.0
            return self if other == 1 else Symbol(self.sx * float(other))
        return Symbol(self.sx * other.sx) if isinstance(other, Symbol) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_number(other) and other == 1:
            return self
        return _binary(self, other, _divide)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if is_number(other) and other == 0 else _binary(other, self, _divide)

    def __pow__(self, other: Any) -> Any:
        return _binary(self, other, ca.power)

    def __rpow__(self, other: Any) -> Any:
        return _binary(other, self, ca.power)

    def __mod__(self, other: Any) -> Any:
        return _binary(self, other, _modulo)

    def __rmod__(self, other: Any) -> Any:
        return _binary(other, self, _modulo)

    def __floordiv__(self, other: Any) -> Any:
        return _binary(self, other, _floor_divide)

    def __rfloordiv__(self, other: Any) -> Any:
        return _binary(other, self, _floor_divide)

    def __divmod__(self, other: Any) -> Any:
        return self // other, self % other

    def __rdivmod__(self, other: Any) -> Any:
        return other // self, other % self

    def __neg__(self) -> Symbol:
        return Symbol(-self.sx)

    def __pos__(self) -> Symbol:
        return Symbol(self.sx)

    def __abs__(self) -> Symbol:
        return Symbol(ca.fabs(self.sx))

    def __floor__(self) -> Symbol:
        return Symbol(ca.floor(self.sx))

    def __ceil__(self) -> Symbol:
        return Symbol(ca.ceil(self.sx))

    def __trunc__(self) -> Symbol:
        return Symbol(_trunc(self.sx))

    def __round__(self, digits: int | None = None) -> Symbol:
        scale = 10.0 ** (digits or 0)
        return Symbol(_rint(self.sx * scale) / scale)

    # --- comparisons -------------------------------------------------------------------------

    def __lt__(self, other: Any) -> Any:
        return _compare(self, other, ca.lt)

    def __le__(self, other: Any) -> Any:
        return _compare(self, other, ca.le)

    def __gt__(self, other: Any) -> Any:
        return _compare(self, other, ca.gt)

    def __ge__(self, other: Any) -> Any:
        return _compare(self, other, ca.ge)

    def __eq__(self, other: object) -> Any:
        return _compare(self, other, ca.eq)

    def __ne__(self, other: object) -> Any:
        return _compare(self, other, ca.ne)

    __hash__ = None  # type: ignore[assignment]

    # --- what an expression cannot do --------------------------------------------------------

    def __bool__(self) -> bool:
        if self.sx.is_constant():
            return bool(float(self.sx) != 0)
        raise TraceError(
            "its code branches on a signal; use np.where, np.clip, np.maximum or np.minimum"
        )

    def __float__(self) -> float:
        if self.sx.is_constant():
            return float(self.sx)
        raise TraceError(
            "its code turns a signal into a float (math.sin, float(), a float array); "
            "use NumPy's functions, and np.array or np.concatenate to build arrays"
        )

    def __int__(self) -> int:
        return int(float(self))

    def __index__(self) -> int:
        raise TraceError("its code uses a signal as an index or a count")

    def __complex__(self) -> complex:
        raise TraceError("its code turns a signal into a complex number")

    def __iter__(self) -> Any:
        raise TypeError("a scalar signal has no elements")

    # --- NumPy ---------------------------------------------------------------------------------

    def item(self) -> Symbol:
        return self

    copy = conj = item

    @property
    def real(self) -> Symbol:
        return self

    T = real

    def ravel(self, order: str = "C") -> Any:
        return box(self).reshape(1)

    flatten = ravel

    def reshape(self, *shape: Any, **options: Any) -> Any:
        return unbox(box(self).reshape(*shape, **options))

    def astype(self, dtype: Any, **_: Any) -> Any:
        return box(self).astype(dtype)[()]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        boxed = [box(x) if isinstance(x, Symbol) else x for x in inputs]
        return unbox(getattr(ufunc, method)(*boxed, **options))

    def __array_function__(
        self, function: Any, types: Any, args: tuple[Any, ...], options: dict[str, Any]
    ) -> Any:
        return box(self).__array_function__(function, types, args, options)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.sx})"


numbers.Number.register(Symbol)  # so that np.isscalar knows it


class Condition(Symbol):
    """A comparison of signals: 0 or 1, and the logical operators of NumPy's truth values."""

    __slots__ = ()

    def __and__(self, other: Any) -> Any:
        return _logical(self, other, ca.logic_and)

    def __or__(self, other: Any) -> Any:
        return _logical(self, other, ca.logic_or)

    def __xor__(self, other: Any) -> Any:
        return _logical(self, other, ca.ne)

    __rand__, __ror__, __rxor__ = __and__, __or__, __xor__

    def __invert__(self) -> Condition:
        return Condition(ca.logic_not(self.sx))

    def __add__(self, other: Any) -> Any:
        if isinstance(other, Condition):
            # np.bool_ + np.bool_ is a truth value, bool + bool is 2.
            raise TraceError(
                "its code adds truth values, which NumPy and Python do differently; "
                "use np.logical_or, or 1.0 * (a > b) to count"
            )
        return Symbol(self.sx) + other

    def __sub__(self, other: Any) -> Any:
        return Symbol(self.sx) - other

    def __mul__(self, other: Any) -> Any:
        return Symbol(self.sx) * other

    def __truediv__(self, other: Any) -> Any:
        return Symbol(self.sx) / other

    __radd__, __rmul__ = __add__, __mul__


def _subtract(a: Any, b: Any) -> Any:
    return a - b


def _divide(a: Any, b: Any) -> Any:
    return a / b


def _modulo(a: Any, b: Any) -> Any:
    """Python's modulo, which has the divisor's sign; C's has the dividend's."""
    if isinstance(b, float) and b == 1.0:
        return a - ca.floor(a)
    rest = ca.fmod(a, b)
    return rest + ca.if_else(rest * b < 0, b, 0)


def _floor_divide(a: Any, b: Any) -> Any:
    """Python's, which is exact where a/b rounds up to a whole number."""
    quotient = (a - _modulo(a, b)) / b
    whole = ca.floor(quotient)
    return whole + (quotient - whole > 0.5)


def _trunc(a: Any) -> Any:
    return ca.if_else(a > 0, ca.floor(a), ca.ceil(a))


def _rint(a: Any) -> Any:
    """To the nearest whole number, halves to the even one."""
    below = ca.floor(a)
    rest = a - below
    odd = below - 2 * ca.floor(below / 2)
    return below + (rest > 0.5) + (rest == 0.5) * odd


def _bare(value: Any) -> Any:
    return value.sx if isinstance(value, Symbol) else float(value)


def _binary(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not all(isinstance(x, Symbol) or is_number(x) for x in (a, b)):
        return NotImplemented
    return Symbol(operation(_bare(a), _bare(b)))


def _compare(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not all(isinstance(x, Symbol) or is_number(x) for x in (a, b)):
        return NotImplemented
    return Condition(operation(_bare(a), _bare(b)))


def _logical(a: Any, b: Any, operation: Callable[[Any, Any], Any]) -> Any:
    if not isinstance(b, (Condition, bool, np.bool_)):
        return NotImplemented
    return Condition(operation(_bare(a), _bare(b)))


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
    if condition.sx.is_constant():
        return yes if float(condition.sx) else no
    if not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no:
        return yes
    kind = Condition if all(isinstance(x, (Condition, bool)) for x in (yes, no)) else Symbol
    return kind(ca.if_else(condition.sx, sx_of(yes), sx_of(no)))


# --- NumPy's functions of one scalar, which its object arrays look for as methods ---------


def _method(operation: Callable[..., Any]) -> Callable[..., Symbol]:
    def method(self: Symbol, *others: Any) -> Symbol:
        return Symbol(operation(self.sx, *(_bare(x) for x in others)))

    return method


METHODS: dict[str, Callable[..., Any]] = {
    "sin": ca.sin, "cos": ca.cos, "tan": ca.tan, "arcsin": ca.asin, "arccos": ca.acos,
    "arctan": ca.atan, "sinh": ca.sinh, "cosh": ca.cosh, "tanh": ca.tanh,
    "arcsinh": ca.asinh, "arccosh": ca.acosh, "arctanh": ca.atanh, "exp": ca.exp,
    "log": ca.log, "log10": ca.log10, "log1p": ca.log1p, "expm1": ca.expm1, "sqrt": ca.sqrt,
    "floor": ca.floor, "ceil": ca.ceil, "fabs": ca.fabs, "trunc": _trunc, "rint": _rint,
    "square": lambda x: x * x, "reciprocal": lambda x: 1 / x, "conjugate": lambda x: x,
    "deg2rad": lambda x: x * (np.pi / 180), "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi), "degrees": lambda x: x * (180 / np.pi),
    "cbrt": lambda x: ca.sign(x) * ca.power(ca.fabs(x), 1 / 3),
    "exp2": lambda x: ca.power(2.0, x), "log2": lambda x: ca.log(x) / np.log(2.0),
}  # fmt: skip
for _name, _operation in METHODS.items():
    setattr(Symbol, _name, _method(_operation))
for _name, _operation in {"arctan2": ca.atan2, "hypot": ca.hypot}.items():
    setattr(Symbol, _name, _method(_operation))


# --- arrays -------------------------------------------------------------------------------------


class SymbolArray(np.ndarray[Any, Any]):
    """An object array of Symbols and numbers that knows NumPy's functions of numbers."""

    def __array_ufunc__(
        self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **options: Any
    ) -> Any:
        arrays = [plain(x) for x in inputs]
        if method == "at":
            raise TraceError(f"its code calls np.{ufunc.__name__}.at, which is not traced")
        for name in ("dtype", "casting", "subok", "order"):
            options.pop(name, None)
        if method in ("reduce", "accumulate") and ufunc in (np.add, np.multiply):
            arrays[0] = _counted(arrays[0])
        operation = UFUNCS.get(ufunc, ufunc)
        if "where" in options and out is not None and out[0].dtype.hasobject:
            getattr(operation, method)(*arrays, out=plain(out), **options)
            return unbox(out[0] if len(out) == 1 else out)
        result = getattr(operation, method)(*arrays, **options)
        if out is None:
            return unbox(result)
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(out, results, strict=True):
            if target is not None:
                target[...] = value
        return unbox(out[0] if len(out) == 1 else out)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        special = FUNCTIONS.get(function)
        if special is not None:
            if not has_symbols((args, kwargs)):
                return function(*_floats(args), **_floats(kwargs))
            return unbox(special(*args, **kwargs))
        args, kwargs = _boxed(args), _boxed(kwargs)
        return unbox(np.ndarray.__array_function__(self, function, (SymbolArray,), args, kwargs))

    def __getitem__(self, key: Any) -> Any:
        _refuse_mask(key)
        return super().__getitem__(key)

    def __setitem__(self, key: Any, value: Any) -> None:
        mask = isinstance(key, np.ndarray) and key.dtype.hasobject
        if mask and key.shape == self.shape and np.ndim(value) == 0:
            super().__setitem__(..., _elementwise_if_else(plain(key), plain(value), plain(self)))
            return
        _refuse_mask(key)
        super().__setitem__(key, value)

    def astype(self, dtype: Any, *args: Any, **options: Any) -> Any:
        """A copy: a signal is already what a float array would be."""
        kind = np.dtype(dtype).kind
        if kind == "O" or kind == "f":
            return self.copy()
        if not has_symbols(self):
            return np.asarray(self.tolist()).astype(dtype)
        raise TraceError(f"its code turns a signal into an array of {np.dtype(dtype)}")

    def clip(self, min: Any = None, max: Any = None, out: Any = None, **_: Any) -> Any:
        return np.clip(self, min, max, out=out)

    def dot(self, other: Any, out: Any = None) -> Any:
        return np.dot(self, other)

    def round(self, decimals: Any = 0, out: Any = None) -> Any:
        return np.round(self, decimals)

    def __array_finalize__(self, parent: Any) -> None:
        return None


def _refuse_mask(key: Any) -> None:
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, Condition) or (
            isinstance(part, np.ndarray) and part.dtype.hasobject and has_symbols(part)
        ):
            raise TraceError("its code selects elements by a condition on a signal; use np.where")


def _counted(array: Any) -> Any:
    """Truth values as the numbers 0 and 1, which NumPy sums them as."""
    if not (isinstance(array, np.ndarray) and array.dtype.hasobject):
        return array
    ufunc = np.frompyfunc(lambda x: Symbol(x.sx) if isinstance(x, Condition) else x, 1, 1)
    return np.asarray(ufunc(array), object)


_elementwise_if_else = np.frompyfunc(if_else, 3, 1)


def has_symbols(value: Any) -> bool:
    """Whether a signal is anywhere in an array, or in nested lists of them."""
    if isinstance(value, Symbol):
        return True
    if isinstance(value, np.ndarray):
        return value.dtype.hasobject and any(isinstance(x, Symbol) for x in value.flat)
    if isinstance(value, (list, tuple)):
        return any(has_symbols(x) for x in value)
    return isinstance(value, dict) and any(has_symbols(x) for x in value.values())


def _mapped(change: Callable[[Any], Any], value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)([_mapped(change, x) for x in value])
    if isinstance(value, dict):
        return {key: _mapped(change, x) for key, x in value.items()}
    return change(value)


def _floats(value: Any) -> Any:
    """The same arguments with every object array of numbers as an array of numbers."""
    return _mapped(
        lambda x: np.array(x.tolist()).reshape(x.shape) if isinstance(x, SymbolArray) else x, value
    )


def _boxed(value: Any) -> Any:
    """The same arguments with every Symbol as an array without dimension."""
    return _mapped(lambda x: box(x) if isinstance(x, Symbol) else x, value)


def plain(value: Any) -> Any:
    """A signal, or nested lists of signals, with NumPy's own object arrays in the place of
    SymbolArrays."""
    if isinstance(value, Symbol):
        return box(value).view(np.ndarray)
    return _mapped(lambda x: x.view(np.ndarray) if isinstance(x, SymbolArray) else x, value)


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
    if isinstance(value, (tuple, list)) and type(value) in (tuple, list):
        return type(value)([unbox(x) for x in value])
    return value


def folded(value: Any) -> Any:
    """A signal that turned out constant as a number or an array of floats."""
    if isinstance(value, Symbol):
        return float(value.sx) if value.sx.is_constant() else value
    if isinstance(value, SymbolArray) and all(
        is_number(x) or (isinstance(x, Symbol) and x.sx.is_constant()) for x in value.flat
    ):
        return np.array([float(x) for x in value.flat]).reshape(value.shape)
    return value


def refused(what: str) -> Callable[..., NoReturn]:
    """A function in the place of one that cannot be traced."""

    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise TraceError(f"its code {what}, which is not traced")

    return refuse


def scalars(column: Any) -> SymbolArray:
    """The entries of an SX column (n,1) as an array (n,)."""
    out = np.empty(column.numel(), dtype=object)
    for k in range(column.numel()):
        out[k] = Symbol(column[k])
    return out.view(SymbolArray)


def symbols(name: str, shape: tuple[int, ...]) -> tuple[Any, Any]:
    """Fresh variables: the SX column (n,1) they are, and the array of the given shape."""
    column = ca.SX.sym(name, int(np.prod(shape)))
    return column, scalars(column).reshape(shape)


def column_of(values: list[Any]) -> Any:
    """The SX column of all scalars of the given arrays, one after the other."""
    entries = [sx_of(x) for value in values for x in np.ravel(plain(value)).tolist()]
    return ca.vertcat(*entries) if entries else ca.SX(0, 1)

"""A scalar that records the operations applied to it.

CasADi's own scalars do not follow NumPy's rules: SX times an array becomes an SX matrix. `Symbol`
wraps one SX scalar, follows NumPy's rules, and refuses conversions that would lose it silently
(float, bool). Its behaviour as an array with shape () is in symbol_array.py.
"""

from __future__ import annotations

import numbers
from collections.abc import Callable
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import SpartError

# CasADi's own operators and functions ask each argument whether it is one of a dozen types, by
# calling Python from C++: that costs ten times the operation, and there an interrupt is lost.
_sx_of_one, _sx_of_two = ca.SX.unary, ca.SX.binary


def of_one(code: int) -> Callable[[Any], Any]:
    """CasADi's operation of this code on one SX scalar."""
    return lambda a: _sx_of_one(code, a)


def of_two(code: int) -> Callable[[Any, Any], Any]:
    """CasADi's operation of this code on two SX scalars, or one of them and a number."""
    return lambda a, b: _sx_of_two(code, a, b)


_add, _subtract, _multiply, _divide, _power = (
    of_two(code) for code in (ca.OP_ADD, ca.OP_SUB, ca.OP_MUL, ca.OP_DIV, ca.OP_POW)
)
_negative, _absolute = of_one(ca.OP_NEG), of_one(ca.OP_FABS)
_less, _at_most, _equal, _unequal = (
    of_two(code) for code in (ca.OP_LT, ca.OP_LE, ca.OP_EQ, ca.OP_NE)
)


_not, _where = of_one(ca.OP_NOT), of_two(ca.OP_IF_ELSE_ZERO)


def _either(condition: Any, yes: Any, no: Any) -> Any:
    """yes if the condition holds, otherwise no, in the form of ca.if_else."""
    return _add(_where(condition, yes), _where(_not(condition), no))


class TraceError(SpartError):
    """A block's code performs an operation on a signal that an expression cannot record."""


def is_number(value: Any) -> bool:
    """Whether value is a plain real number or truth value."""
    return isinstance(value, (int, float, np.integer, np.floating, np.bool_))


class Symbol:
    """A scalar expression. With numbers and Symbols it acts as a scalar, with arrays
    elementwise.
    """

    __slots__ = ("sx",)

    ndim, shape, size = 0, (), 1  # as NumPy's own scalars have them

    def __init__(self, value: Any) -> None:
        self.sx = value if isinstance(value, ca.SX) else ca.SX(float(value))

    # --- arithmetic: sums with 0 and products with 0 and 1 stay numbers or themselves ----

    def __add__(self, other: Any) -> Any:
        if is_number(other):
            return self if other == 0 else Symbol(_add(self.sx, float(other)))
        return Symbol(_add(self.sx, other.sx)) if isinstance(other, Symbol) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: Any) -> Any:
        if is_number(other):
            return self if other == 0 else Symbol(_subtract(self.sx, float(other)))
        return Symbol(_subtract(self.sx, other.sx)) if isinstance(other, Symbol) else NotImplemented

    def __rsub__(self, other: Any) -> Any:
        return -self if is_number(other) and other == 0 else _binary(other, self, _subtract)

    def __mul__(self, other: Any) -> Any:
        if is_number(other):
            if other == 0:
                return 0.0
            return self if other == 1 else Symbol(_multiply(self.sx, float(other)))
        return Symbol(_multiply(self.sx, other.sx)) if isinstance(other, Symbol) else NotImplemented

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        if is_number(other) and other == 1:
            return self
        return _binary(self, other, _divide)

    def __rtruediv__(self, other: Any) -> Any:
        return 0.0 if is_number(other) and other == 0 else _binary(other, self, _divide)

    def __pow__(self, other: Any) -> Any:
        return _binary(self, other, _power)

    def __rpow__(self, other: Any) -> Any:
        return _binary(other, self, _power)

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
        return Symbol(_negative(self.sx))

    def __pos__(self) -> Symbol:
        return Symbol(self.sx)

    def __abs__(self) -> Symbol:
        return Symbol(_absolute(self.sx))

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
        return _compare(self, other, _less)

    def __le__(self, other: Any) -> Any:
        return _compare(self, other, _at_most)

    def __gt__(self, other: Any) -> Any:
        return _compare(other, self, _less)

    def __ge__(self, other: Any) -> Any:
        return _compare(other, self, _at_most)

    def __eq__(self, other: object) -> Any:
        return _compare(self, other, _equal)

    def __ne__(self, other: object) -> Any:
        return _compare(self, other, _unequal)

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
            "its code turns a signal into a float (float(), int(), a float array); "
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


def _modulo(a: Any, b: Any) -> Any:
    """Python's modulo, with the sign of the divisor; that of C has the sign of the dividend."""
    if isinstance(b, float) and b == 1.0:
        return a - ca.floor(a)
    rest = ca.fmod(a, b)
    return rest + ca.if_else(rest * b < 0, b, 0)


def _floor_divide(a: Any, b: Any) -> Any:
    """Python's floor division, which is exact even if a/b rounds up to an integer."""
    quotient = (a - _modulo(a, b)) / b
    whole = ca.floor(quotient)
    return whole + (quotient - whole > 0.5)


def _trunc(a: Any) -> Any:
    return ca.if_else(a > 0, ca.floor(a), ca.ceil(a))


def _rint(a: Any) -> Any:
    """Round to the nearest integer, halves to the even one."""
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
    """yes if the condition holds, otherwise no; plain Python for plain numbers."""
    if not isinstance(condition, Symbol):
        return yes if condition else no
    if condition.sx.is_constant():
        return yes if float(condition.sx) else no
    if not isinstance(yes, Symbol) and not isinstance(no, Symbol) and yes == no:
        return yes
    kind = Condition if all(isinstance(x, (Condition, bool)) for x in (yes, no)) else Symbol
    return kind(_either(condition.sx, sx_of(yes), sx_of(no)))


# --- NumPy's functions of one scalar, which its object arrays look for as methods ---------


def _method(operation: Callable[..., Any]) -> Callable[..., Symbol]:
    def method(self: Symbol, *others: Any) -> Symbol:
        return Symbol(operation(self.sx, *(_bare(x) for x in others)))

    return method


METHODS: dict[str, Callable[..., Any]] = {
    "sin": of_one(ca.OP_SIN), "cos": of_one(ca.OP_COS), "tan": of_one(ca.OP_TAN),
    "arcsin": of_one(ca.OP_ASIN), "arccos": of_one(ca.OP_ACOS), "arctan": of_one(ca.OP_ATAN),
    "sinh": of_one(ca.OP_SINH), "cosh": of_one(ca.OP_COSH), "tanh": of_one(ca.OP_TANH),
    "arcsinh": ca.asinh, "arccosh": ca.acosh, "arctanh": ca.atanh, "exp": of_one(ca.OP_EXP),
    "log": of_one(ca.OP_LOG), "log10": ca.log10, "log1p": ca.log1p, "expm1": ca.expm1,
    "sqrt": of_one(ca.OP_SQRT), "floor": ca.floor, "ceil": ca.ceil, "fabs": _absolute,
    "trunc": _trunc, "rint": _rint, "square": lambda x: _multiply(x, x),
    "reciprocal": lambda x: 1 / x, "conjugate": lambda x: x,
    "deg2rad": lambda x: x * (np.pi / 180), "radians": lambda x: x * (np.pi / 180),
    "rad2deg": lambda x: x * (180 / np.pi), "degrees": lambda x: x * (180 / np.pi),
    "cbrt": lambda x: ca.sign(x) * ca.power(ca.fabs(x), 1 / 3),
    "exp2": lambda x: ca.power(2.0, x), "log2": lambda x: ca.log(x) / np.log(2.0),
}  # fmt: skip
for _name, _operation in METHODS.items():
    setattr(Symbol, _name, _method(_operation))
for _name, _operation in {"arctan2": of_two(ca.OP_ATAN2), "hypot": ca.hypot}.items():
    setattr(Symbol, _name, _method(_operation))

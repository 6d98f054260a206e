"""Mathematical functions of signals. A solver step ends where one has a kink or a jump."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base import spatial
from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import NIN, fixed, tunable
from spart_blocks.block_support.ports import Port, numbered
from spart_blocks.block_support.units import unit_of
from spart_blocks.formulas.crossings import bare, flat, level_crossings
from spart_blocks.formulas.reader import FUNCTIONS, Function


def _modulo(u: Any, v: Any) -> Any:
    return np.where(np.equal(v, 0.0), u, np.mod(u, v))


def _levels(u: Any, v: Any) -> list[Any]:
    return level_crossings(u / v)


def _to_nearest(u: Any) -> Any:
    """Halves away from zero."""
    return np.sign(u) * np.floor(np.abs(u) + 0.5)


def _half_levels(u: Any) -> list[Any]:
    return level_crossings(u + 0.5)


MATHEMATICS: dict[str, Function] = {
    **{name: FUNCTIONS[name] for name in ("exp", "log", "log10", "sqrt", "hypot")},
    "log2": Function(np.log2),
    "10^u": Function(lambda u: np.float_power(10.0, u)),
    "square": Function(np.square),
    "cube_root": Function(np.cbrt, crossings=flat),
    "signed_sqrt": Function(lambda u: np.sign(u) * np.sqrt(np.abs(u)), crossings=flat),
    "reciprocal_sqrt": Function(lambda u: 1.0 / np.sqrt(u)),
    "reciprocal": Function(lambda u: 1.0 / u),
    "pow": Function(np.float_power, 2, 2),
    "mod": Function(_modulo, 2, 2, _levels),
    "rem": Function(np.fmod, 2, 2, _levels),
}

TRIGONOMETRY: dict[str, Function] = {
    **{name: FUNCTIONS[name] for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh")},
    "asinh": Function(np.arcsinh), "acosh": Function(np.arccosh), "atanh": Function(np.arctanh),
}  # fmt: skip

ROUNDINGS: dict[str, Function] = {
    "floor": FUNCTIONS["floor"],
    "ceil": FUNCTIONS["ceil"],
    "fix": Function(np.trunc, crossings=level_crossings),
    "round": Function(_to_nearest, crossings=_half_levels),
}


class _Calls(Declared):
    """A block that applies one function to its inputs, elementwise."""

    nin = 1
    nout = 1

    law: Function

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        with np.errstate(all="ignore"):
            return [bare(self.law.call(*_floats(inputs)))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.law.crossings is None:
            return []
        with np.errstate(all="ignore"):
            return self.law.crossings(*_floats(inputs))


def _floats(values: list[Any]) -> list[Any]:
    """Values as NumPy's numbers, of which 1/0 is infinite."""
    return [np.float64(value) if isinstance(value, (int, float)) else value for value in values]


class Abs(_Calls, FunctionBlock):
    """Absolute value, elementwise. y = |u|. A step ends where u passes zero."""

    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "its absolute value, in the unit of u"),)
    parameters = ()
    law = FUNCTIONS["abs"]


class Sign(_Calls, FunctionBlock):
    """Sign, elementwise: 1, 0 or -1. A step ends where u becomes zero or leaves it."""

    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "1 where u > 0, 0 where u = 0, -1 where u < 0"),)
    parameters = ()
    law = FUNCTIONS["sign"]


class Minmax(_Calls, FunctionBlock):
    """The smallest or the largest of signals.

    With several inputs elementwise, scalars with each entry of the others. With one input over all
    its entries. A step ends where another input or entry becomes the smallest or the largest.

    :arg function: min or max
    :arg nin: number of inputs
    """

    nin = 2
    varies_between_ticks = False
    takes = (
        PortSpec("u1", "any", "", "a signal; with `nin: 1` a vector, of which y is an entry"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "the smallest or the largest, in the unit of the inputs"),)
    function = fixed("str", "", "min", choices=("min", "max"))
    nin_ = NIN

    def build(self, function: Any, nin: Any) -> dict[str, Any]:
        self.law = FUNCTIONS[function]
        return self.set_ports(numbered(nin), (Port("y", () if nin == 1 else None),))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return super().output(t, self._candidates(inputs), x)

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return super().watch(t, self._candidates(inputs), x)

    def _candidates(self, inputs: list[Any]) -> list[Any]:
        return flat(inputs[0]) if len(inputs) == 1 else inputs


class _OfTable(_Calls):
    """Functions of a table, of which `function` names one."""

    table: ClassVar[Mapping[str, Function]]

    def build(self, function: str) -> dict[str, Any]:
        self.law = self.table[function]
        return self.resolve_ports(without="v" if self.law.most == 1 else "")


class Math(_OfTable, FunctionBlock):
    """A mathematical function, elementwise.

    Of u: exp, log, log2, log10, 10^u, square, sqrt, signed_sqrt (sign(u) sqrt(abs(u))),
    reciprocal_sqrt, reciprocal, cube_root. Of u and v: pow (u to the power v), hypot, mod (u - v
    floor(u/v), with the sign of v; u where v is 0) and rem (u - v fix(u/v), with the sign of u).
    A step ends where mod and rem jump, and where signed_sqrt and cube_root are vertical. Outside a
    function's domain the output is not a number, or infinite, which ends the run.

    :arg function: the function, by one of these names
    """

    nin = 2
    takes = (
        PortSpec("u", "any", "", "the argument"),
        PortSpec("v", "any", "", "the second one, of pow, hypot, mod and rem alone"),
    )
    gives = (PortSpec("y", "any", "", "the function's value"),)
    function = fixed("str", "", "exp", choices=tuple(MATHEMATICS))

    table = MATHEMATICS


class Trig(_OfTable, FunctionBlock):
    """A trigonometric or hyperbolic function, elementwise.

    Of u: sin, cos, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh. Of u and v: atan2,
    the angle of the point (v, u), from -pi to pi. Angles are in rad. A step ends where atan2 jumps.
    Outside a function's domain, such as asin(2), the output is not a number, which ends the run.

    :arg function: the function, by one of these names
    """

    nin = 2
    takes = (
        PortSpec("u", "any", "", "the argument, of atan2 the ordinate"),
        PortSpec("v", "any", "", "the abscissa, of atan2 alone"),
    )
    gives = (PortSpec("y", "any", "", "the function's value"),)
    function = fixed("str", "", "sin", choices=tuple(TRIGONOMETRY))

    table = TRIGONOMETRY


class Round(_OfTable, FunctionBlock):
    """A signal rounded to whole numbers, elementwise.

    floor: down; ceil: up; fix: towards zero; round: to the nearest, halves away from zero, as in
    Simulink's Rounding Function. A step ends where the output jumps; a step over up to 15 levels is
    ended at the first of them.

    :arg function: floor, ceil, fix or round
    """

    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "whole numbers, in the unit of u"),)
    function = fixed("str", "", "round", choices=tuple(ROUNDINGS))

    table = ROUNDINGS


def _axis(value: Any, name: str) -> int | None:
    if value is None or (type(value) is int and value in (0, 1)):
        return value
    hint = "0 for each column, 1 for each row; leave it out for all entries"
    raise InputError(Fault(f"{name} must be 0 or 1, not {brief(value)}", hint=hint))


def _with_axis(u: Any, axis: int | None) -> Any:
    if axis is not None and axis >= np.ndim(u):
        raise ValueError(f"u is {np.shape(u)}, it has no axis {axis}")
    return u


class Element_Sum(Declared, FunctionBlock):
    """The sum of the entries of a vector or a matrix; of a scalar, itself.

    :arg axis: 0 sums the rows of a matrix (a sum of each column), 1 its columns; by default all
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "the sum, in the unit of u"),)
    axis = fixed("int", "", None, check=_axis)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [bare(np.sum(_with_axis(inputs[0], self.axis), axis=self.axis))]


class Element_Product(Declared, FunctionBlock):
    """The product of the entries of a vector or a matrix; of a scalar, itself.

    :arg axis: 0 multiplies the rows of a matrix (a product of each column), 1 its columns; by
        default all
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "the product"),)
    axis = fixed("int", "", None, check=_axis)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [bare(np.prod(_with_axis(inputs[0], self.axis), axis=self.axis))]


class Dot(Declared, FunctionBlock):
    """Scalar product. y = a1 b1 + a2 b2 + ... of vectors of one length, or of scalars."""

    nin = 2
    nout = 1
    takes = (
        PortSpec("a", "any", "", "a vector"),
        PortSpec("b", "any", "", "a vector of the same length"),
    )
    gives = (PortSpec("y", "", "", "their scalar product"),)
    parameters = ()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        a, b = inputs
        if np.shape(a) != np.shape(b) or np.ndim(a) > 1:
            raise ValueError(f"a is {np.shape(a)} and b {np.shape(b)}, they must be of one length")
        return [bare(np.sum(a * b))]


class Cross(Declared, FunctionBlock):
    """Vector product. y = a x b, with y1 = a2 b3 - a3 b2 and so on."""

    nin = 2
    nout = 1
    takes = (PortSpec("a", "3", "", "a vector"), PortSpec("b", "3", "", "a vector"))
    gives = (PortSpec("y", "3", "", "their vector product"),)
    parameters = ()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [spatial.cross(*inputs)]


class Polynomial(Declared, FunctionBlock):
    """A polynomial, elementwise. y = c1 u^n + ... + cn u + c(n+1), by Horner's scheme.

    :arg coefficients: that of the highest power first, as in MATLAB's polyval
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (PortSpec("y", "any", "", "the polynomial's value"),)
    coefficients = tunable("float or n")

    def build(self, coefficients: Any) -> dict[str, Any]:
        self.coefficients = np.atleast_1d(coefficients)
        return self.resolve_ports()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        value = 0.0 * inputs[0]
        for coefficient in self.coefficients:
            value = value * inputs[0] + coefficient
        return [value]


class Unit_Conversion(Declared, FunctionBlock):
    """A signal in another unit, elementwise.

    Units are products of names with whole powers, such as `deg/s`, `N m` or `kg m^2`; a slash
    divides by the one factor after it. Names are those of SI, with prefixes from p to G, and in ft
    yd mi nmi au l, t lb oz slug, min h d, deg arcmin arcsec rev rpm, kn mph g0, lbf kgf, cal Wh eV
    hp, bar atm psi, G, %, 1, degC degF. An angle has a dimension of its own: rpm is rad/s, and
    Hz is 1/s. Source: NIST Special Publication 811 (2008), appendix B.

    :arg from_unit: the unit of u
    :arg to_unit: the unit of y, of the same dimension
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "from_unit", "any signal"),)
    gives = (PortSpec("y", "any", "to_unit", "the same in the other unit"),)
    from_unit = fixed("str")
    to_unit = fixed("str")

    def build(self) -> dict[str, Any]:
        one, other = unit_of(self.from_unit, "from_unit"), unit_of(self.to_unit, "to_unit")
        if one.dimension != other.dimension:
            told = (
                f"{self.from_unit} is {one.in_si} in SI units, and {self.to_unit} is {other.in_si}"
            )
            raise InputError(Fault(told, hint="give units of one dimension"))
        self.gain = one.factor / other.factor
        self.offset = (one.offset - other.offset) / other.factor
        return self.resolve_ports(units={"u": self.from_unit, "y": self.to_unit})

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self.gain * inputs[0] + self.offset]

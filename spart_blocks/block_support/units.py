"""Units by name, such as deg, km/h or kg m^2: their dimensions, and the factors to SI.

Source of the factors: NIST Special Publication 811 (2008), appendix B.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean

_BASES = ("kg", "m", "s", "rad", "A", "K")
_Dimension = tuple[int, ...]
_LONGEST = 100
_MOST_POWER = 9


@dataclass(frozen=True)
class Unit:
    """A unit: its value in SI is `factor` times the number, plus `offset` (of temperatures).
    dimension: the exponents of kg, m, s, rad, A and K.
    """

    factor: float
    dimension: _Dimension
    offset: float = 0.0

    @property
    def in_si(self) -> str:
        """The dimension as text: kg m/s^2."""
        told = [_power(base, n) for base, n in zip(_BASES, self.dimension, strict=True) if n > 0]
        under = [_power(base, -n) for base, n in zip(_BASES, self.dimension, strict=True) if n < 0]
        return " ".join(told or ["1"]) + "".join(f"/{name}" for name in under)


def _power(base: str, n: int) -> str:
    return base if n == 1 else f"{base}^{n}"


# A line is `dimension: name factor, ...`; the dimension is of names before it.
_TABLE = """
1: % 0.01
m: in 0.0254, ft 0.3048, yd 0.9144, mi 1609.344, nmi 1852, au 149597870700
m^3: l 1e-3
kg: g 1e-3, t 1e3, lb 0.45359237, oz 0.028349523125, slug 14.593902937206364
s: min 60, h 3600, d 86400
1/s: Hz 1
rad/s: rpm 0.10471975511965977
m/s: kn 0.5144444444444445, mph 0.44704
m/s^2: g0 9.80665
kg m/s^2: N 1, lbf 4.4482216152605, kgf 9.80665
N m: J 1, cal 4.184, Wh 3600, eV 1.602176634e-19
J/s: W 1, hp 745.6998715822702
N/m^2: Pa 1, bar 1e5, atm 101325, psi 6894.757293168361
A s: C 1
W/A: V 1
V/A: Ohm 1
C/V: F 1
V s: Wb 1
Wb/A: H 1
Wb/m^2: T 1, G 1e-4
"""
_PREFIXES = {
    "p": 1e-12, "n": 1e-9, "u": 1e-6, "m": 1e-3, "c": 1e-2, "h": 1e2, "k": 1e3, "M": 1e6, "G": 1e9,
}  # fmt: skip
_PREFIXED = {
    *("m", "g", "s", "rad", "A", "K", "l", "Hz", "N", "J", "cal", "Wh", "eV", "W", "Pa", "bar"),
    *("C", "V", "Ohm", "F", "Wb", "H", "T"),
}
_TERM = re.compile(r"([A-Za-z%]\w*|1)(?:\^(-?\d+))?")


def unit_of(text: object, name: str) -> Unit:
    """The unit of a text such as `deg`, `rad/s` or `kg m^2`; name: that of the parameter.

    Factors stand side by side; a slash divides by the one factor after it.
    """
    if not isinstance(text, str) or not text.strip() or len(text) > _LONGEST:
        hint = "deg, km/h or kg m^2, for example"
        raise InputError(Fault(f"{name} must be a unit, not {brief(text)}", hint=hint))
    if (alone := _TEMPERATURES.get(text.strip())) is not None:
        return alone
    unit = _product(text, name, _units())
    if not 0.0 < unit.factor < math.inf:
        raise InputError(f"{name} is {brief(text)}, which is no number in SI units")
    return unit


def _product(text: str, name: str, known: Mapping[str, Unit]) -> Unit:
    factor, dimension = 1.0, [0] * len(_BASES)
    for sign, term in _terms(text, name):
        found = _TERM.fullmatch(term)
        power = int(found[2] or 1) if found else 0
        if found is None or abs(power) > _MOST_POWER:
            hint = "write kg m^2/s: factors side by side, each with a whole power"
            raise InputError(Fault(f"{name} has {brief(term)}, which is no unit", hint=hint))
        part = _named(found[1], name, known)
        factor *= part.factor ** (sign * power)
        dimension = [n + sign * power * m for n, m in zip(dimension, part.dimension, strict=True)]
    return Unit(factor, tuple(dimension))


def _terms(text: str, name: str) -> list[tuple[int, str]]:
    """The factors of a unit, each with 1, or -1 if it stands below."""
    terms: list[tuple[int, str]] = []
    sign = 1
    for word in re.findall(r"/|[^\s/*]+", text):
        if word == "/":
            if sign < 0 or not terms:
                raise InputError(f"{name} is {brief(text)}: a slash stands between two units")
            sign = -1
        else:
            terms.append((sign, word))
            sign = 1
    if sign < 0 or not terms:
        raise InputError(f"{name} is {brief(text)}: a slash stands between two units")
    return terms


def _named(text: str, name: str, known: Mapping[str, Unit]) -> Unit:
    if (unit := known.get(text)) is not None:
        return unit
    if text[0] in _PREFIXES and text[1:] in _PREFIXED:
        base = known[text[1:]]
        return Unit(_PREFIXES[text[0]] * base.factor, base.dimension)
    if text in _TEMPERATURES:
        told = f"{name} has {text} in a product, whose zero is not that of K"
        raise InputError(Fault(told, hint="differences of temperatures are in K"))
    names = [*known, *_TEMPERATURES]
    hint = did_you_mean(text, names) or f"the units are {', '.join(names)}, also with prefixes"
    raise InputError(Fault(f"{name} has {brief(text)}, which is no unit", hint=hint))


@lru_cache(maxsize=1)
def _units() -> Mapping[str, Unit]:
    """The units by name, without prefixes."""
    units = {name: _base(k) for k, name in enumerate(_BASES)}
    units["1"] = Unit(1.0, (0,) * len(_BASES))
    units |= {name: Unit(angle, units["rad"].dimension) for name, angle in _ANGLES.items()}
    for line in _TABLE.strip().splitlines():
        of, _, rest = line.partition(": ")
        whole = _product(of, "the table of units", units)
        for word in rest.split(", "):
            name, factor = word.split()
            units[name] = Unit(float(factor) * whole.factor, whole.dimension)
    return units


def _base(k: int) -> Unit:
    return Unit(1.0, tuple(int(i == k) for i in range(len(_BASES))))


_ANGLES = {
    "deg": math.pi / 180, "arcmin": math.pi / 10_800, "arcsec": math.pi / 648_000,
    "rev": 2 * math.pi,
}  # fmt: skip
_TEMPERATURES = {
    "degC": Unit(1.0, _base(_BASES.index("K")).dimension, 273.15),
    "degF": Unit(5 / 9, _base(_BASES.index("K")).dimension, 459.67 * 5 / 9),
}

"""Parameters as a class of blocks declares them, once: the constructor with its checks and its
signature, the help, the pages of the blocks, the loader's checks, the JSON Schema, the studio's
forms and the units in differences follow from the declaration.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.block_support.values import (
    above_zero,
    chosen,
    number,
    numbers,
    scalar_or_vector,
    true_or_false,
    whole,
)
from spart_blocks.environment.constants import MU_EARTH
from spart_blocks.robot import Robot

REQUIRED: Any = inspect.Parameter.empty
"""The default of a parameter that must be given."""

SMALLEST = float(np.finfo(np.float32).tiny)
"""The smallest normal number above zero in single precision."""

_ANNOTATIONS = {
    **{word: word for word in ("float", "int", "bool", "str", "Robot", "Clock")},
    "path": "str | Path",
    "mapping": "Mapping[str, Any]",
    "list": "list[Any]",
    "list of str": "list[str]",
    "str or list of str": "str | list[str]",
    "str or int": "str | int",
    "float or mapping": "float | Mapping[str, Any]",
    "list of lists": "list[list[float]]",
    "list of mappings": "Sequence[Mapping[str, Any]]",
    "list or mapping": "Mapping[str, Any] | list[Any]",
}
"""Types in words and as annotations; arrays and the others may be anything."""
_KINDS = {"bool": "flag", "int": "integer", "float": "number", "str": "text", "path": "text"}
_CLAUSE = re.compile(r"[^,;]*")
TEXT = re.compile(r"^:arg (\w+): *(.+(?:\n +.+)*)\n?", re.MULTILINE)
"""A field of a docstring, of its name and text."""
_WORDS = ("float", "int", "bool", "str", "Robot", "Clock", "path", "mapping", "list", "array_like")


def range_text(low: float, high: float) -> str:
    """What a number in a range must do."""
    if low == SMALLEST:
        return "be above 0" if high == np.inf else f"be above 0 and at most {high:g}"
    if high == np.inf:
        return f"be at least {low:g}" if low else "not be negative"
    return f"be at most {high:g}" if low == -np.inf else f"lie between {low:g} and {high:g}"


def _is_one_axis(part: str) -> bool:
    return "," not in part and part not in _WORDS


def need_robot(robot: Any, block: str) -> Robot:
    """The robot given to a block; a ValueError if it is not a Robot."""
    if not isinstance(robot, Robot):
        raise ValueError(f"{block} needs a Robot for its parameter robot, not {robot!r}")
    return robot


_CHECKS: dict[str, Callable[[Any, str], Any]] = {
    "Robot": need_robot,
    "bool": true_or_false,
    "float": number,
}


@dataclass(frozen=True)
class ParamSpec:
    """A parameter as a class of blocks declares it, by an attribute of its name.

    type: what it takes. "float" is a number, "n, n" an array of that shape, "float or n" a number
    or a vector; the other words are int, bool, str, path, mapping, list, "list of str", Robot and
    Clock. unit: "" where there is none; {y} is the unit of the
    output y. default: REQUIRED where it must be given; a default of None
    means that it may be left out. tunable: whether it may change without building the block anew.
    above, least, most: bounds of its numbers. choices: the words that it can be. check: a function
    of the value and the name of the parameter, of the block for a robot, that returns the value as
    the block keeps it or raises an error; by default it follows from the type, the bounds and the
    choices, and the bounds are checked after it. entries: the units of the entries of a mapping.
    late: it comes behind those of derived classes. name, text: by default those of the
    attribute and of the class's docstring, which has a field `:arg name: text`.
    """

    type: str
    unit: str = ""
    default: Any = REQUIRED
    tunable: bool = False
    above: float | None = None
    least: float | None = None
    most: float | None = None
    choices: tuple[str, ...] = ()
    check: Callable[..., Any] | None = None
    entries: Mapping[str, str] | None = None
    name: str = ""
    text: str = ""
    late: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is REQUIRED

    @property
    def range(self) -> tuple[float, float]:
        """The least and the largest number that it takes, infinite without a bound."""
        low = SMALLEST if self.above == 0 else -np.inf if self.least is None else self.least
        return low, np.inf if self.most is None else self.most

    @property
    def told(self) -> str:
        """The text, with the unit behind its first clause."""
        if not self.unit:
            return self.text
        clause = _CLAUSE.match(self.text)
        end = clause.end() if clause else 0
        return f"{self.text[:end]} [{self.unit}]{self.text[end:]}"

    @property
    def words(self) -> str:
        """The type as tables of parameters have it: float or array_like(n)."""
        parts = self.type.split(" or ")
        return " or ".join(p if p.split()[0] in _WORDS else f"array_like({p})" for p in parts)

    @property
    def annotation(self) -> str:
        """The type as an annotation of the constructor's argument."""
        found = _ANNOTATIONS.get(self.type, "Any")
        return f"{found} | None" if self.default is None and found != "Any" else found

    @property
    def kind(self) -> str:
        """What a form shows: choice, flag, integer, number, text, array or any."""
        parts = self.type.split(" or ")
        if self.choices:
            return "choice"
        if parts[0] in _KINDS and set(parts) <= {"str", "int", parts[0]}:
            return _KINDS[parts[0]]
        listed = any(part.startswith("list") or part.split()[0] not in _WORDS for part in parts)
        return "array" if listed else "any"

    def checked(self, value: Any, block: str) -> Any:
        """The value as the block keeps it; an error where it cannot be. block: the type of block,
        for the error.
        """
        if value is self.default and isinstance(value, float | str | bool | int | None):
            return self._default
        return self._check(value, block if self.type == "Robot" else self.name)

    @cached_property
    def _default(self) -> Any:
        return None if self.default is None else self._check(self.default, self.name)

    @cached_property
    def _check(self) -> Callable[[Any, str], Any]:
        """What the value and the name of the parameter are given to."""
        first, *others = self.type.split(" or ")
        size = "" if others else first.replace(", ", "")
        bounded = self.above is not None or self.least is not None or self.most is not None
        if self.choices:
            return lambda value, name: chosen(value, name, self.choices)
        if size == "int" and bounded and self.check is None:
            return lambda value, name: whole(value, name, int(self.least or 0), self.most)
        check = self.check or _CHECKS.get(size) or (lambda value, _: value)
        if self.check is None and size.isdigit():
            shape = tuple(map(int, first.split(", ")))
            return lambda value, name: numbers(value, name, shape)
        if self.check is None and self.symbol:
            check = self._one_or_each if self.symbol.isdigit() else scalar_or_vector
        return (lambda value, name: self._within(check(value, name), value)) if bounded else check

    @property
    def symbol(self) -> str:
        """n of the type "float or n": the size of a vector; otherwise ""."""
        first, *others = self.type.split(" or ")
        return others[0] if first == "float" and len(others) == 1 and _is_one_axis(*others) else ""

    def _one_or_each(self, value: Any, name: str) -> Any:
        """A number, or a vector of the size in the type."""
        found = scalar_or_vector(value, name)
        if np.shape(found) not in ((), (int(self.symbol),)):
            hint = f"give a number, or one for each of {self.symbol}"
            raise InputError(Fault(f"{name} has {len(found)} entries", hint=hint))
        return found

    def _within(self, found: Any, value: Any) -> Any:
        """The number or vector; an error where it is out of bounds."""
        if self.above == 0:
            above_zero(found, self.name, self.unit)
        for bound, sign, words in ((self.least, 1, "at least"), (self.most, -1, "at most")):
            if bound is not None and np.any(sign * (np.asarray(found) - bound) < 0):
                limit = "not be negative" if bound == 0 and sign > 0 else f"be {words} {bound:g}"
                raise InputError(f"{self.name} must {limit}, not {brief(value)}")
        return found


def fixed(type: str, unit: str = "", default: Any = REQUIRED, **more: Any) -> Any:
    """The declaration of a parameter that needs the block to be built anew."""
    return ParamSpec(type, unit, default, **more)


def tunable(type: str, unit: str = "", default: Any = REQUIRED, **more: Any) -> Any:
    """The declaration of a tunable parameter."""
    return ParamSpec(type, unit, default, tunable=True, **more)


def take_declared(cls: type[Any]) -> tuple[ParamSpec, ...]:
    """The parameters that the body of a class declares, in its order, taken out of the class. A
    trailing _ keeps the name of an attribute apart from that of a method.
    """
    texts = _texts(cls)
    found = []
    for attribute, spec in list(vars(cls).items()):
        if isinstance(spec, ParamSpec):
            name = attribute.removesuffix("_")
            found.append(replace(spec, name=name, text=texts.get(name, spec.text)))
            delattr(cls, attribute)
    return tuple(found)


def retold(cls: type[Any], specs: Mapping[str, ParamSpec]) -> dict[str, ParamSpec]:
    """The parameters of the bases of a class that its docstring has another text for."""
    texts = _texts(cls)
    return {name: replace(specs[name], text=texts[name]) for name in texts if name in specs}


def _texts(cls: type[Any]) -> dict[str, str]:
    """The texts of parameters in the docstring of a class."""
    found = TEXT.findall(inspect.cleandoc(cls.__doc__ or "")) if "__doc__" in vars(cls) else ()
    return {name: " ".join(text.split()) for name, text in found}


CLOCK = fixed("Clock", name="clock", text="clock source")
ROBOT = fixed("Robot", text="the robot model")
FRAME = fixed("str or int", text="the link in whose URDF frame the point is fixed")
OFFSET = fixed("3", "m", None, text="the point in that frame, its origin by default")
U0 = fixed("float or n", "", 0.0, text="input before the start, under which it is at rest then")
WIDTH = fixed(
    *("int", "", None),
    text="length of u, if all other parameters are scalars; by default u is a scalar then",
)
NIN = fixed("int", "", 2, least=1, most=1000, text="number of inputs")
MU = tunable("float", "m^3/s^2", MU_EARTH, above=0, text="gravitational parameter")
EPOCH = fixed("str", text="UTC at t = 0, such as 2026-03-20T12:00:00; from 1972 on")
ARGUMENTS = fixed("list of str", "", None, text="names of the inputs, one u by default")
PARAMS = fixed(
    *("mapping", "", None),
    text="numbers and arrays by name; each is a parameter of the block by that name",
)

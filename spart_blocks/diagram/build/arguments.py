"""Converts the parameters of a block in a file to the arguments of its constructor.

Names are checked against the constructor's signature. Lists of numbers become float arrays, names
of robots and clocks become objects, and a scalar given with a vector is broadcast.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from string import Formatter
from types import MappingProxyType
from typing import Any

import numpy as np

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import Fault, Place, brief, did_you_mean, near_names
from spart_blocks.diagram.build.block_values import (
    ONE_SHAPE,
    SINGLE,
    Stray,
    UnlikeShapesError,
    nan_in,
    of_one_shape,
    stray,
)
from spart_blocks.diagram.build.registry import BlockType, Parameter
from spart_blocks.diagram.sections.schema import hint_on_unit, shown

MAX_PORTS = 1000
MAX_TEXT = 1000
"""Longest text of a parameter [characters]: one for each port of a SUM."""

# bdsim 1.4.0 takes these as lists of indices; a slice in Python is a tuple of three.
_INDICES = {("SLICE1", "index"), ("SLICE2", "rows"), ("SLICE2", "cols")}
# bdsim 1.4.0 passes over a list or an integer here without a word.
_PAIRS = {("PID", "I_limit"), ("PID_S", "I_limit")}
# Pairs of a time and a value, which may be a vector.
_SEQUENCES = {("PIECEWISE", "seq")}
# Lists of lists of several lengths, which the block checks.
_UNLIKE = {("CASE", "cases")}
_COUNTS = ("nin", "nout", "vector")
# Polynomials, of which bdsim 1.4.0 makes a matrix with a row for each coefficient.
_POLYNOMIALS = {(kind, name) for kind in ("LTI_SISO", "LTI_SISO_S") for name in ("N", "D")}


_BDSIM = "bdsim.blocks."
_DISPLAYS = f"{_BDSIM}displays"
# A signal may be one without numbers.
_MAY_BE_EMPTY = ("index", "rows", "cols", "labels", "styles", "value", "x0")
# What others call a parameter, in whose place a similar name would be suggested.
_SYNONYMS = {"inputs": "arguments", "x0": "initial", "initial": "x0", "gain": "K", "K": "gain"}
# A parameter's name as other tools refer to it, and every name in a text.
_MEANT = re.compile(r"[$%<{]*(?:params\.)?([^\W\d]\w*)[>}%]*")
_NAMES = re.compile(r"[^\W\d]\w*")
_WIDTHS = re.compile(r"[^{}0-9]*(0?[0-9]{1,3})?[^{}0-9]*([0-9]{1,3})?[^{}0-9]*")


@dataclass(frozen=True)
class Catalogue:
    """The objects that a block's parameters can name. A robot or clock that could not be read is
    None.
    """

    robots: Mapping[str, Any]
    clocks: Mapping[str, Any]


@dataclass
class ArgumentReader:
    """Converts parameters to arguments and collects the faults.

    file: finds the file that a block of a type names, from its path as written and its place;
    returns None after a fault.
    """

    document: Document
    faults: list[Fault]
    catalogue: Catalogue
    file: Callable[[BlockType, str, Place], Path | None]

    def read(
        self,
        kind: BlockType,
        name: str,
        given: Mapping[str, Any],
        path: Keys,
        made: Mapping[str, Any] = MappingProxyType({}),
    ) -> dict[str, Any] | None:
        """The arguments of the constructor; None if one of them is invalid. made: arguments that
        are not written in the file.
        """
        label = f"{name} ({kind.name})"
        before = len(self.faults)
        arguments: dict[str, Any] = dict(made)
        usable = True
        for key, value in given.items():
            parameter = kind.parameters.get(key)
            if parameter is None:
                self._unknown(key, label, kind, path)
            elif (wrong := self._wrong(kind, parameter, value, (*path, key))) is not None:
                message = f"{key} of {label} {wrong.message}"
                self._fault(message, (*path, key, *wrong.keys), wrong.hint)
            else:
                arguments[key], found = self._convert(kind, parameter, value, (*path, key))
                usable = usable and found
        self._missing(kind, label, {**given, **made}, path)
        if len(self.faults) > before or not usable:
            return None
        self._one_shape(kind, label, arguments, path)
        return arguments if len(self.faults) == before else None

    def _fault(self, message: str, path: Keys, hint: str | None = None) -> None:
        self.faults.append(Fault(message, self.document.place(*path), hint))

    def _unknown(self, key: str, label: str, kind: BlockType, path: Keys) -> None:
        known = ", ".join(kind.parameters) or "none"
        meant = _SYNONYMS.get(key, key)
        hint = near_names(meant if meant in kind.parameters else key, kind.parameters)
        if key.isdecimal():  # {K: 8,5} has the keys K and 5
            hint = "a comma begins another entry: decimals have a point, 8.5, and lists brackets"
        message = f"unknown parameter {key!r} of {label}: it has {known}"
        self.faults.append(Fault(message, self.document.key_place(*path, key), hint))

    def _missing(self, kind: BlockType, label: str, given: Mapping[str, Any], path: Keys) -> None:
        missing = [p.name for p in kind.parameters.values() if p.required and p.name not in given]
        if missing:
            self._fault(f"{label} needs {' and '.join(missing)}", path, self._choices(missing))

    def _choices(self, missing: list[str]) -> str | None:
        for key, known in (("clock", self.catalogue.clocks), ("robot", self.catalogue.robots)):
            if key in missing:
                none = f"the file has none yet: add one under {key}s:"
                return (
                    f"choose one of {', '.join(known)}"
                    if len(known) > 1
                    else (f"the file has {next(iter(known))}" if known else none)
                )
        return None

    def _wrong(self, kind: BlockType, parameter: Parameter, value: Any, path: Keys) -> Stray | None:
        """Why a parameter cannot have a value; None if it can. Entries of texts and styles of
        displays are not checked.
        """
        where = (kind.name, parameter.name)
        if kind.cls.__module__.startswith(_BDSIM) and (nan := nan_in(value)) is not None:
            return nan
        problem = _of_its_own(kind, parameter.name, value)
        if problem is not None:
            text = f"{problem[0]}, not {shown(value)}"
            return Stray(text, (), self.reference(value, path) or problem[1])
        if where in _POLYNOMIALS and isinstance(value, list) and len(value) > MAX_PORTS:
            many = f"has more than {MAX_PORTS} coefficients"
            return Stray(many, (), "give a polynomial of a lower degree")
        if kind.cls.__module__ != _DISPLAYS and where not in _SEQUENCES | _UNLIKE:
            odd = stray(value, even=not parameter.takes_lists)
            if odd is not None:
                return odd
        found = _problem(parameter, value)
        return found and Stray(found[0], (), self.reference(value, path) or found[1])

    def reference(self, value: Any, path: Keys) -> str | None:
        """A hint if a text is probably the name of a parameter of the file with the $ forgotten."""
        texts = [text for text in _flat(value) if isinstance(text, str) and len(text) <= MAX_TEXT]
        params = self.params(path) if texts else ()
        for text in texts:
            named = _MEANT.fullmatch(text.strip())
            if named and named[1] in params:
                return f"write ${named[1]} for the parameter {named[1]}"
            within = [name for name in _NAMES.findall(text) if name in params]
            if within and not text.isidentifier():
                return (
                    f"a value is no formula: write ${within[0]} alone, and compute in an FCN, "
                    "or give the result"
                )
        return None

    def params(self, path: Keys) -> set[str]:
        """The names of the parameters to which a value at a path can refer."""
        data: Any = self.document.data
        around = [data, data["subsystems"][path[1]]] if path[0] == "subsystems" else [data]
        sections = [part["params"] for part in around if isinstance(part.get("params"), dict)]
        return {str(name) for section in sections for name in section}

    def _convert(
        self, kind: BlockType, parameter: Parameter, value: Any, path: Keys
    ) -> tuple[Any, bool]:
        """The argument for a parameter's value, and whether it is valid."""
        where = (kind.name, parameter.name)
        if value is None and isinstance(parameter.default, int | float):
            text = f"{parameter.name} of {kind.name} takes a value, not null"
            self._fault(text, path, "an entry with nothing behind its colon is null")
            return None, False
        if parameter.name in ("robot", "clock") and value is not None:
            return self._named(parameter.name, value, path)
        if parameter.is_file and value is not None:
            found = self.file(kind, value, self.document.place(*path))
            return found, found is not None
        if where in _INDICES:
            return self._indices(value, path)
        if where in _PAIRS and isinstance(value, list):
            return tuple(float(item) for item in value if isinstance(item, int | float)), True
        if kind.cls.__module__ == _DISPLAYS:
            return value, True
        if not parameter.takes_arrays and isinstance(value, list):
            return [arrays(item) for item in value], True
        if isinstance(value, int) and not isinstance(value, bool) and _is_float(parameter):
            return float(value), True
        return arrays(value), True

    def _named(self, what: str, value: Any, path: Keys) -> tuple[Any, bool]:
        choices = self.catalogue.robots if what == "robot" else self.catalogue.clocks
        if not isinstance(value, str) or value not in choices:
            listed = did_you_mean(str(value), choices) or f"there are no {what}s yet"
            self._fault(f"there is no {what} {shown(value)}", path, listed)
            return None, False
        return choices[value], choices[value] is not None

    def _indices(self, value: Any, path: Keys) -> tuple[Any, bool]:
        if isinstance(value, str):
            parts = value.split(":")
            try:
                numbers = [int(part) if part.strip() else None for part in parts]
            except ValueError:
                numbers = []
            if len(numbers) in (2, 3):
                return (*numbers, None)[:3], True
            self._fault(f"cannot read the slice {shown(value)}", path, "write 0:2 or [0, 2]")
            return None, False
        return value, True

    def _one_shape(
        self, kind: BlockType, label: str, arguments: dict[str, Any], path: Keys
    ) -> None:
        names = ONE_SHAPE.get(kind.name, ())
        values = {
            name: arguments.get(name, kind.parameters[name].default)
            for name in names
            if arguments.get(name, kind.parameters[name].default) is not None
        }
        if not any(isinstance(value, np.ndarray) for value in values.values()):
            return
        wrong = [k for k, v in values.items() if not isinstance(v, int | float | np.ndarray)]
        if wrong:
            self._fault(
                f"{wrong[0]} of {label} takes numbers",
                (*path, wrong[0]),
                "write a number, or a list",
            )
            return
        try:
            arguments |= of_one_shape(values)
        except UnlikeShapesError as error:
            self._fault(f"{label}: {error}", path)


def arrays(value: Any) -> Any:
    """The value with every rectangular list of numbers replaced by a float array, also in
    mappings.
    """
    if isinstance(value, dict):
        return {key: arrays(item) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [arrays(item) for item in value]
    if all(isinstance(item, int | float) and not isinstance(item, bool) for item in items):
        return np.array(items, dtype=float)
    if all(isinstance(item, np.ndarray) for item in items) and (
        len({item.shape for item in items}) == 1
    ):
        return np.array(items, dtype=float)
    return items


def same_numbers(given: Any, argument: Any) -> bool:
    """Whether an argument has the same shape and values as the numbers given for it."""
    numbers = arrays(given)
    if isinstance(numbers, bool) or not isinstance(numbers, int | float | np.ndarray):
        return False
    return np.array_equal(numbers, argument)


def _of_its_own(kind: BlockType, key: str, value: Any) -> tuple[str, str] | None:
    """What a parameter must be, and a fix, for values with which bdsim 1.4.0 would fail only
    later; otherwise None.
    """
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if key in SINGLE.get(kind.name, ()) and not number:
        return "takes one number", hint_on_unit(value) or "a block for each time"
    if (kind.name, key) in _SEQUENCES and not (isinstance(value, list) and _are_pairs(value)):
        return "takes times and values", "write [[0, 1], [2.5, 3]]"
    if (kind.name, key) == ("CONSTANT", "value") and _has_text(value):
        return "takes numbers", "a text is no signal"
    nothing = isinstance(value, (list, np.ndarray)) and len(value) == 0
    if nothing and kind.cls.__module__.startswith(_BDSIM) and key not in _MAY_BE_EMPTY:
        return "takes numbers", "an empty list has none"
    if kind.cls.__module__ != _DISPLAYS or value is None:
        return None
    pair = kind.name.startswith("SCOPEXY")
    several = value if isinstance(value, list) else []
    if key == "labels" and (pair or not isinstance(value, str)):
        texts = all(isinstance(item, str | int | float) for item in several)
        if not several or not texts or (pair and len(several) != 2):
            return "takes texts", "write [x, y]" if pair else "write [one, two]"
    if key == "indices" and (len(several) != 2 or not all(type(i) is int for i in several)):
        return "takes two indices", "write [0, 1]"
    if key == "scale" and not isinstance(value, str):
        numbers = all(isinstance(item, int | float) for item in several)
        if len(several) not in (2, 4) or not numbers:
            return "takes limits", "write auto, or [low, high]"
    return None


def _are_pairs(value: list[Any]) -> bool:
    """Whether a list is a nonempty list of pairs [time, value]."""
    pairs = all(isinstance(item, list) and len(item) == 2 for item in value)
    return bool(value) and pairs and all(
        isinstance(arrays(t), float | int) and isinstance(arrays(v), float | int | np.ndarray)
        for t, v in value
    )  # fmt: skip


def _counts(name: str, value: Any) -> bool:
    """Whether a value can be a number of ports or lines, or the indices of a vector."""
    if name == "vector" and isinstance(value, list):
        return all(isinstance(item, int) and abs(item) < 1e9 for item in value)
    return value is None or (isinstance(value, int) and not isinstance(value, bool))


def _formats_a_number(text: str) -> bool:
    """Whether a format string takes one number, accesses no attributes of it, and pads it to fewer
    than 1000 columns.
    """
    try:
        parts = [part for part in Formatter().parse(text) if part[1] is not None]
        sound = all(field in ("", "0") and not conversion and _WIDTHS.fullmatch(spec or "")
                    for _, field, spec, conversion in parts)  # fmt: skip
        return sound and len(parts) <= 1 and len(text.format(1.0)) > 0
    except (ValueError, IndexError, KeyError):
        return False


Problem = tuple[str, str | None]
"""A message about a wrong value, and a hint how to correct it."""


def _problem(parameter: Parameter, value: Any) -> Problem | None:
    """Why a parameter cannot have this value; None if it can."""
    name = parameter.name
    if parameter.is_callable and value is not None:
        what = "a Python function" if "Callable" in parameter.annotation else "an open file"
        return f"takes {what}", "make this block in Python: a file holds values only"
    if name in _COUNTS and (found := _count_problem(name, value)):
        return found
    if name == "fmt" and isinstance(value, str) and not _formats_a_number(value):
        return f"formats no number: {brief(value)}", "write it as '{:.3f}'"
    if isinstance(value, str) and len(value) > MAX_TEXT:
        return f"has more than {MAX_TEXT} characters", "shorten it"
    if parameter.is_file and not isinstance(value, str) and value is not None:
        return f"takes a file's path, not {shown(value)}", None
    if parameter.takes_only_text and not isinstance(value, str) and value is not None:
        return f"takes text, not {shown(value)}", None
    if parameter.takes_only_truth and not _is_truth(parameter, value):
        return f"takes true or false, not {shown(value)}", None
    if _wants_array(parameter) and isinstance(arrays(value), list) and not _has_text(value):
        hint = "all rows need the same length, all entries must be numbers"
        return f"takes an array, not {shown(value)}", hint
    if name not in ("robot", "clock") and not parameter.takes_text and _has_text(value):
        reference = isinstance(value, str) and value.startswith("$")
        hint = "a text that begins with $ is a parameter's name and nothing else"
        return f"takes numbers, not {shown(value)}", hint if reference else hint_on_unit(value)
    odd = isinstance(value, dict) or (
        isinstance(value, bool) and "bool" not in parameter.annotation
    )
    if odd and not (parameter.takes_text or name in ("robot", "clock")):
        return f"takes numbers, not {shown(value)}", None
    return None


def _count_problem(name: str, value: Any) -> Problem | None:
    """Why a value is not a number of ports, or of lines of a scope; None if it is."""
    if isinstance(value, int) and not 0 < value <= MAX_PORTS:
        problem = f"is {brief(value)}; it must be 1 to {MAX_PORTS}"
        return problem, "put signals into a vector with MUX"
    if not _counts(name, value):
        hint = "write how many" + (", or a list of indices" if name == "vector" else "")
        return f"is {brief(value)}; it must be a number", hint
    if isinstance(value, list) and len(value) > MAX_PORTS:
        return f"has more than {MAX_PORTS} entries", "pick fewer, or draw them in several scopes"
    return None


def _is_truth(parameter: Parameter, value: Any) -> bool:
    return isinstance(value, bool) or (value is None and parameter.takes_nothing)


def _wants_array(parameter: Parameter) -> bool:
    named = parameter.name in ("robot", "clock")
    return parameter.takes_arrays and not parameter.takes_text and not named


def _is_float(parameter: Parameter) -> bool:
    words = parameter.annotation
    return "float" in words and "int" not in words and "ndarray" not in words


def _flat(value: Any) -> list[Any]:
    """The entries of nested lists, as one list."""
    return [part for item in value for part in _flat(item)] if isinstance(value, list) else [value]


def _has_text(value: Any) -> bool:
    if isinstance(value, list):
        return any(_has_text(item) for item in value)
    return isinstance(value, str)

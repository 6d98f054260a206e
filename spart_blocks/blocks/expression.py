"""A formula as a block."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._declared import Declared, PortSpec
from spart_blocks.errors import Fault, InputError, brief
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.reader import (
    CHOICE,
    CONSTANTS,
    FUNCTIONS,
    MEANINGS,
    Formula,
    read_formula,
)
from spart_blocks.ports import Port, port_arguments

MOST_NAMES = 1000
_TAKEN = {"t", CHOICE, *CONSTANTS, *FUNCTIONS}
"""Names with a meaning in every formula."""


class Fcn(Declared, FunctionBlock):
    """A formula of its inputs, of time and of parameters.

    A formula has numbers, the arguments, the params, t [s], pi and e; + - * / and % as Python has
    them, and powers with two asterisks; comparisons, `and`, `or`, `not` and `yes if condition else
    no`, or where(condition, yes, no); u[0], u[-1] and m[0, 1] for entries; and the functions sin
    cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt hypot abs sign min max clip floor
    ceil round. It works elementwise, all numbers are floats, and a comparison is 1 or 0. A list of
    scalar formulas gives a vector. The text is parsed, never evaluated with `eval`.

    A solver's step ends where a comparison changes, where the argument of abs or sign is zero,
    where min, max and clip change sides, and where floor, ceil, round, % and atan2 jump.

    :param expression: the formula, or a list of them
    :type expression: str or list of str
    :param arguments: names of the inputs, one u by default
    :type arguments: list of str, optional
    :param params: numbers and arrays by name; each is a parameter of the block by that name
    :type params: mapping, optional
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "or an input for each of `arguments`, by its name"),)
    gives = (PortSpec("y", "any", "", "the formula's value"),)

    def __init__(
        self,
        expression: str | Sequence[str],
        arguments: str | Sequence[str] | None = None,
        params: Mapping[str, Any] | None = None,
        **blockargs: Any,
    ) -> None:
        names = _names(arguments)
        values = _values(params, names)
        self.several = not isinstance(expression, str)
        texts: Any = [expression] if isinstance(expression, str) else expression
        if not isinstance(texts, (list, tuple)) or not 0 < len(texts) <= MOST_NAMES:
            raise InputError(f"expression is a text or a list of them, not {brief(expression)}")
        self.formulas: list[Formula] = [read_formula(text, {*names, *values}) for text in texts]
        self.varies_between_ticks = any(re.search(r"\bt\b", text) for text in texts)
        self.in_ports = tuple(Port(name) for name in names)
        self.out_ports = (Port("y", (len(texts),) if self.several else None),)
        super().__init__(**port_arguments(self.in_ports, self.out_ports), **blockargs)
        _refuse_taken(name for name in values if hasattr(self, name))
        self.__dict__.update(values)
        self.tunable = tuple(values)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        known = self._known(t, inputs)
        with np.errstate(all="ignore"):  # mainly of the branch that is not chosen
            values = [bare(formula.value(known)) for formula in self.formulas]
        if not self.several:
            return values
        for formula, value in zip(self.formulas, values, strict=True):
            if np.ndim(value):
                raise ValueError(f"formula {brief(formula.text)} in a list gives {np.shape(value)}")
        return [np.stack(values)]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        known = self._known(t, inputs)
        with np.errstate(all="ignore"):
            return [value for formula in self.formulas for value in formula.crossings(known)]

    def _known(self, t: Any, inputs: list[Any]) -> dict[str, Any]:
        """Values by name, as NumPy numbers, since Python floats raise errors at 1/0."""
        known = dict(zip((port.name for port in self.in_ports), inputs, strict=True))
        known |= {name: self.__dict__[name] for name in self.tunable} | {"t": t}
        return {name: _number(value) for name, value in known.items()}


def _number(value: Any) -> Any:
    return np.float64(value) if isinstance(value, (int, float)) else value


def _names(arguments: Any) -> tuple[str, ...]:
    """The names of the inputs; InputError if they are not distinct names."""
    if arguments is None:
        return ("u",)
    names = [arguments] if isinstance(arguments, str) else arguments
    if not isinstance(names, (list, tuple)) or not 0 < len(names) <= MOST_NAMES:
        raise InputError(f"arguments is a list of names such as [a, b], not {brief(arguments)}")
    _refuse_unfit(names, "arguments")
    twice = sorted({name for name in names if list(names).count(name) > 1})
    if twice:
        raise InputError(f"arguments has {twice[0]} twice")
    return tuple(names)


def _values(params: Any, inputs: Sequence[str]) -> dict[str, Any]:
    """The parameters as floats and arrays; InputError for other values."""
    if params is None:
        return {}
    if not isinstance(params, Mapping) or len(params) > MOST_NAMES:
        raise InputError(f"params takes values by name such as {{k: 2}}, not {brief(params)}")
    _refuse_unfit(params, "params")
    values = {}
    for name, given in params.items():
        if name in inputs:
            raise InputError(f"{name} is an input and a parameter")
        try:
            value = np.asarray(given, dtype=float)
        except (TypeError, ValueError):
            value = np.full(1, np.nan)
        if isinstance(given, (bool, str)) or not np.isfinite(value).all():
            raise InputError(f"{name} in params must be finite numbers, not {brief(given)}")
        values[name] = value if value.ndim else float(value)
    return values


def _refuse_unfit(names: Iterable[Any], what: str) -> None:
    for name in names:
        unfit = not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name)
        if unfit or name.startswith("_"):
            hint = "a name is letters, digits and _, and begins with a letter"
            raise InputError(Fault(f"{what} has {brief(name)}, which is not a name", hint=hint))
    _refuse_taken(name for name in names if name in _TAKEN)


def _refuse_taken(names: Iterable[str]) -> None:
    for name in names:
        meaning = f": {name} is {MEANINGS[name]} in formulas" if name in MEANINGS else ""
        text = f"{name} has a meaning of its own{meaning}"
        raise InputError(Fault(text, hint="take another name"))

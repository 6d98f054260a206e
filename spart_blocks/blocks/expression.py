"""A formula as a block."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import ARGUMENTS, PARAMS, fixed
from spart_blocks.block_support.ports import Port, port_arguments
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.reader import Formula, read_formula
from spart_blocks.formulas.values import (
    MOST_NAMES,
    as_number,
    input_names,
    parameter_values,
    refuse_taken,
)


class Fcn(Declared, FunctionBlock):
    """A formula of its inputs, of time and of parameters.

    A formula has numbers, the arguments, the params, t [s], pi and e; + - * / and % as Python has
    them, and powers with two asterisks; comparisons, `and`, `or`, `not` and `yes if condition else
    no`, or where(condition, yes, no); u[0], u[-1] and m[0, 1] for entries; and the functions sin
    cos tan asin acos atan atan2 sinh cosh tanh exp log log10 sqrt hypot abs sign min max clip floor
    ceil round, which work elementwise, and norm any all of a whole array. All numbers are floats,
    and a comparison is 1 or 0. A list of scalar formulas gives a vector. The text is parsed, never
    evaluated with `eval`.

    A solver's step ends where a comparison changes, where the argument of abs or sign is zero,
    where min, max and clip change sides, and where floor, ceil, round, % and atan2 jump.

    :arg expression: the formula, or a list of them
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "or an input for each of `arguments`, by its name"),)
    gives = (PortSpec("y", "any", "", "the formula's value"),)
    expression = fixed("str or list of str")
    arguments = ARGUMENTS
    params = PARAMS

    def build(self, expression: Any, arguments: Any, params: Any) -> dict[str, Any]:
        names = ("u",) if arguments is None else input_names(arguments, "arguments")
        values = parameter_values(params, names)
        self.several = not isinstance(expression, str)
        texts: Any = [expression] if isinstance(expression, str) else expression
        if not isinstance(texts, (list, tuple)) or not 0 < len(texts) <= MOST_NAMES:
            raise InputError(f"expression is a text or a list of them, not {brief(expression)}")
        self.formulas: list[Formula] = [read_formula(text, {*names, *values}) for text in texts]
        self.varies_between_ticks = any(re.search(r"\bt\b", text) for text in texts)
        self.in_ports = tuple(Port(name) for name in names)
        self.out_ports = (Port("y", (len(texts),) if self.several else None),)
        self.tunable, self._values = tuple(values), values
        return port_arguments(self.in_ports, self.out_ports)

    def finish(self) -> None:
        refuse_taken((name for name in self._values if hasattr(self, name)), "params")
        self.__dict__.update(self._values)

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
        return {name: as_number(value) for name, value in known.items()}

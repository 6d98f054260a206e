"""A formula as a block."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import brief
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.of_formulas import OfFormulas
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import Port
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.values import MOST_NAMES


class Fcn(OfFormulas, FunctionBlock):
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

    def build(self, expression: Any, arguments: Any, params: Any) -> dict[str, Any]:
        kinds = "expression is a text or a list of them"
        inputs = self.read(expression, kinds, MOST_NAMES, arguments, params)
        self.several = not isinstance(expression, str)
        return self.set_ports(inputs, [Port("y", (len(self.formulas),) if self.several else None)])

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        known = self._values(t, inputs)
        with np.errstate(all="ignore"):  # mainly of the branch that is not chosen
            values = [bare(formula.value(known)) for formula in self.formulas]
        if not self.several:
            return values
        for formula, value in zip(self.formulas, values, strict=True):
            if np.ndim(value):
                raise ValueError(f"formula {brief(formula.text)} in a list gives {np.shape(value)}")
        return [np.stack(values)]

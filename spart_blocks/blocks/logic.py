"""Comparisons, logic and the selection of signals. Truth values are numbers: 1 is true, 0 is false.
A solver step ends where a comparison changes.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.ports import Port, numbered
from spart_blocks.block_support.values import counted, scalar_or_vector
from spart_blocks.formulas.crossings import (
    COMPARISONS,
    bare,
    comparison_crossings,
    flat,
    zero_or_one,
)

CRITERIA = (">=", ">", "!=")


_LOGIC: dict[str, Any] = {
    "and": lambda truths: reduce(np.logical_and, truths),
    "or": lambda truths: reduce(np.logical_or, truths),
    "not": lambda truths: np.logical_not(truths[0]),
    "nand": lambda truths: np.logical_not(reduce(np.logical_and, truths)),
    "nor": lambda truths: np.logical_not(reduce(np.logical_or, truths)),
    "xor": lambda truths: reduce(np.logical_xor, truths),
}


class Switch(Declared, FunctionBlock):
    """One of two signals, selected by a third.

    y = a where `control criterion threshold` holds, otherwise b. a and b have one shape, or one of
    them is a scalar; control is a scalar, or selects elementwise. A step ends where control crosses
    the threshold. The order of the inputs is that of Simulink's Switch.

    :arg criterion: >=, > or !=
    :arg threshold: threshold for control, in its unit
    """

    nin = 3
    nout = 1
    takes = (
        PortSpec("a", "any", "", "output if the criterion holds"),
        PortSpec("control", "any", "", "compared with the threshold"),
        PortSpec("b", "any", "", "output otherwise"),
    )
    gives = (PortSpec("y", "any", "", "a or b"),)
    criterion = fixed("str", "", ">=", choices=CRITERIA)
    threshold = tunable("float or array_like", "", 0.0, check=scalar_or_vector)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        a, control, b = inputs
        condition = COMPARISONS[self.criterion](control, self.threshold)
        return [bare(np.where(condition, a, b))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return comparison_crossings(inputs[1], self.criterion, self.threshold)


class Compare(Declared, FunctionBlock):
    """Comparison of two signals, or of a signal with a constant.

    y = a operator b, elementwise, as floats. With `constant` the block has one input. A step
    ends where the comparison changes.

    :arg operator: ==, !=, <, <=, > or >=
    :arg constant: the right side, in the unit of a
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("a", "any", "", "the left side"),
        PortSpec("b", "any", "", "the right side, unless `constant` is given"),
    )
    gives = (PortSpec("y", "any", "", "1 where the comparison holds, otherwise 0"),)
    operator = fixed("str", choices=tuple(COMPARISONS))
    constant = tunable("float or array_like", "", None, check=scalar_or_vector)

    def build(self) -> dict[str, Any]:
        without = "" if self.constant is None else "b"
        return self.resolve_ports(without=without)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [zero_or_one(COMPARISONS[self.operator](*self._sides(inputs)))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        a, b = self._sides(inputs)
        return comparison_crossings(a, self.operator, b)

    def _sides(self, inputs: list[Any]) -> tuple[Any, Any]:
        return inputs[0], inputs[1] if self.constant is None else self.constant


class Logic(Declared, FunctionBlock):
    """A logical operator on any number of signals.

    It works elementwise. `xor` is true if an odd number of inputs are true; `not` takes one input.
    A step ends where an input becomes zero or nonzero.

    :arg operator: and, or, not, nand, nor or xor
    :arg nin: number of inputs, defaults to 1 for `not` and to 2 for the others
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u1", "any", "", "true if nonzero"),
        PortSpec("u2", "any", "", "likewise; u3 and so on with `nin`"),
    )
    gives = (PortSpec("y", "any", "", "1 where the operator gives true, otherwise 0"),)
    operator = fixed("str", "", "and", choices=tuple(_LOGIC))
    nin_ = fixed("int", "", None)

    def build(self, nin: Any) -> dict[str, Any]:
        if nin is None:
            nin = 1 if self.operator == "not" else 2
        if self.operator == "not" and nin != 1:
            raise InputError(Fault("not takes one input", hint="use nor, or a block for each"))
        return self.set_ports(numbered(counted(nin, "nin")), (Port("y"),))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        truths = [np.not_equal(value, 0.0) for value in inputs]
        return [zero_or_one(_LOGIC[self.operator](truths))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return flat(*inputs, *(-value for value in inputs))

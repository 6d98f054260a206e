"""The block whose output makes its input zero."""

from __future__ import annotations

from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import tunable
from spart_blocks.block_support.values import scalar_or_vector


class Algebraic_Constraint(Declared, FunctionBlock):
    """Output z that makes the input zero. f(z) = 0.

    The input must depend on the output through blocks with direct feedthrough. It is solved
    at every evaluation by Newton's method with exact derivatives, together with the other
    constraints and algebraic loops on the way, until the correction is below 1e-12, relative to
    entries of z above 1. A run ends where no solution is found. Of several solutions it takes
    the one that the iteration reaches from `initial`.

    :arg initial: where the iteration starts, a number or one for each entry
    """

    nin = 1
    nout = 1
    takes = (PortSpec("f", "any", "", "what becomes zero"),)
    gives = (PortSpec("z", "any", "", "what makes it zero, of the shape of f"),)
    initial = tunable("float or array_like", "", 0.0, check=scalar_or_vector)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        # The diagram hands it the solution in place of f.
        return [inputs[0]]

"""What stands in a program for a block does as the block does, or the block is named."""

from __future__ import annotations

import pytest
from bdsim.components import ContinuousBlock

import spart_blocks as sb
from spart_blocks.errors import SpartWarning


class Counting(ContinuousBlock):
    """Its derivative depends on how often it was asked for: no program can do as it does."""

    nin = 1
    nout = 1

    def __init__(self, **blockargs):
        super().__init__(nstates=1, x0=[0.0], **blockargs)
        self.calls = 0

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        self.calls += 1
        return [self.calls * (inputs[0] - x[0])]


def test_a_block_whose_derivative_is_not_that_of_the_program_is_named():
    bd = sb.new_diagram("count")
    bd.connect(bd.STEP(name="step"), Counting(bd=bd, name="counts"))
    with pytest.warns(SpartWarning, match=r"the derivatives of counts \(COUNTING\) differ"):
        assert sb.simulate(bd, T=0.1).info["engine"] == "interpreter"


class Remembering(ContinuousBlock):
    """Its mode is how often it has switched."""

    nin = 1
    nout = 1

    def __init__(self, **blockargs):
        super().__init__(nstates=1, x0=[0.0], **blockargs)
        self.calls = 0

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        return [0.0 * inputs[0]]

    def watch(self, t, inputs, x):
        return [inputs[0] - x[0]]

    def switch(self, t, inputs, x):
        self.calls += 1
        return [self.calls]


def test_a_block_whose_modes_are_not_those_of_the_program_is_named():
    bd = sb.new_diagram("remember")
    bd.connect(bd.STEP(name="step"), Remembering(bd=bd, name="remembers"))
    with pytest.warns(SpartWarning, match="the modes of remembers differ"):
        assert sb.simulate(bd, T=0.1).info["engine"] == "interpreter"

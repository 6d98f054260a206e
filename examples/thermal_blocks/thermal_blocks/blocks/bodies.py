"""Bodies with one temperature each."""

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.blocks import Declared, PortSpec, fixed, tunable


class Thermal_Body(Declared, ContinuousBlock):
    """A body with one temperature. capacity T' = q.

    :arg capacity: heat capacity
    :arg T0: temperature at the start
    """

    nin = 1
    nout = 1
    takes = (PortSpec("q", "", "W", "heat into the body"),)
    gives = (PortSpec("temperature", "", "K", "its temperature"),)
    capacity = tunable("float", "J/K", above=0)
    T0 = fixed("float", "K", 293.15, above=0)

    def build(self, T0):
        return {"nstates": 1, "x0": [T0]}

    def output(self, t, inputs, x):
        return [x[0]]

    def deriv(self, t, inputs, x):
        return np.array([inputs[0] / self.capacity])

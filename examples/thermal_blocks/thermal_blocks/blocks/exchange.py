"""Heat that flows between bodies, and into space."""

from bdsim.components import FunctionBlock

from spart_blocks.blocks import Declared, PortSpec, fixed, tunable

STEFAN_BOLTZMANN = 5.670374419e-8
"""W/(m^2 K^4), of CODATA 2018, where it is exact."""


class Thermal_Conductor(Declared, FunctionBlock):
    """Heat by conduction from a to b. q = conductance (a - b).

    :arg conductance: heat flow for a difference of one kelvin
    """

    nin = 2
    nout = 1
    takes = (PortSpec("a", "", "K", "temperature"), PortSpec("b", "", "K", "temperature"))
    gives = (PortSpec("q", "", "W", "heat from a to b"),)
    conductance = tunable("float", "W/K", least=0)

    def output(self, t, inputs, x):
        return [self.conductance * (inputs[0] - inputs[1])]


class Thermal_Radiator(Declared, FunctionBlock):
    """Heat that a surface radiates. q = emissivity sigma area (T^4 - space^4).

    Source: the law of Stefan and Boltzmann, for a grey surface that sees its surroundings alone.

    :arg area: area of the surface
    :arg emissivity: share of what a black surface radiates
    :arg space: temperature of the surroundings
    """

    nin = 1
    nout = 1
    takes = (PortSpec("temperature", "", "K", "of the surface"),)
    gives = (PortSpec("q", "", "W", "heat that leaves it"),)
    area = tunable("float", "m^2", least=0)
    emissivity = tunable("float", default=1.0, least=0, most=1)
    space = fixed("float", "K", 2.725, least=0)

    def output(self, t, inputs, x):
        return [self.emissivity * STEFAN_BOLTZMANN * self.area * (inputs[0] ** 4 - self.space**4)]

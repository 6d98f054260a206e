"""A plant with optional inputs and a companion, small enough to follow by hand."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.ports import Port, port_arguments


class FakePlant(ContinuousBlock):
    """
    :blockname:`FAKEPLANT`

    Two masses pushed by forces.
    """

    nin = 2
    nout = 2
    companion: ClassVar[str] = "FAKEPLANT_OUT"
    companion_outputs: ClassVar[tuple[str, ...]] = ("qddot", "power")

    def __init__(self, mass: float = 1.0, initial: Any = None, **blockargs: Any) -> None:
        """
        :param mass: the mass of each
        :type mass: float
        :param initial: the state to begin with
        :type initial: mapping
        """
        if mass <= 0:
            raise InputError(f"mass is {mass:g}; it must be positive")
        in_ports = (Port("force", (2,)), Port("push", (2,), optional=True))
        out_ports = (Port("q", (2,)), Port("qdot", (2,)))
        x0 = np.zeros(4)
        if initial:
            x0[:2] = initial["q"]
        super().__init__(x0=x0, **port_arguments(in_ports, out_ports), **blockargs)
        self.in_ports, self.out_ports = in_ports, out_ports
        self.mass = mass

    def make_companion(self, **bdargs: Any) -> Any:
        return FakePlant_Out(mass=self.mass, **bdargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [x[:2], x[2:]]

    def deriv(self, t: float, inputs: list[Any], x: Any) -> Any:
        return np.concatenate([x[2:], (inputs[0] + inputs[1]) / self.mass])


class FakePlant_Out(FunctionBlock):  # noqa: N801
    """
    :blockname:`FAKEPLANT_OUT`

    What a FAKEPLANT's inputs bring about at once.
    """

    nin = 3
    nout = 2

    def __init__(self, mass: float = 1.0, **blockargs: Any) -> None:
        """
        :param mass: the mass of each
        :type mass: float
        """
        in_ports = (Port("force", (2,)), Port("push", (2,), optional=True), Port("qdot", (2,)))
        out_ports = (Port("qddot", (2,)), Port("power", ()))
        super().__init__(**port_arguments(in_ports, out_ports), **blockargs)
        self.in_ports, self.out_ports = in_ports, out_ports
        self.mass = mass

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        force = inputs[0] + inputs[1]
        return [force / self.mass, force @ inputs[2]]

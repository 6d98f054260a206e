"""What the blocks of FMUs share: the parameters, the ports, and the faults of a start."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import Port
from spart_blocks.fmu.archive import read_model
from spart_blocks.fmu.instance import FmuError
from spart_blocks.fmu.ports import groups_of
from spart_blocks.fmu.start_values import start_values

OWN = ("nin", "nout", "in_ports", "out_ports")


class Contents(NamedTuple):
    """A model, its start values by variable, and the groups of variables of each port."""

    model: Any
    values: Any
    takes: Any
    gives: Any


class OfFmu(Declared):
    """A block of an FMU.

    :arg file: the FMU
    :arg start: start values of parameters, inputs and states by variable
    :arg input_ports: variables used as inputs, or a mapping from ports to variables
    :arg output_ports: variables used as outputs, or a mapping from ports to variables
    """

    file = fixed("path")
    start = fixed("mapping", "", None)
    input_ports = fixed("list or mapping", "", None)
    output_ports = fixed("list or mapping", "", None)
    loads_code = True
    untraced = "an FMU is machine code of another tool, called as it is"
    name: Any
    exchange: ClassVar[bool] = False
    # Inputs with these names would turn bdsim's own attributes into wires.
    taken: ClassVar[frozenset[str]]

    @classmethod
    def read(
        cls, file: Any, start: Any = None, input_ports: Any = None, output_ports: Any = None
    ) -> Contents:
        """What the parameters name."""
        model = read_model(Path(file).expanduser(), exchange=cls.exchange)
        values = {} if start is None else start_values(model, start)
        inputs = groups_of(model, "input", input_ports, cls.taken)
        return Contents(model, values, inputs, groups_of(model, "output", output_ports, OWN))

    @classmethod
    def ports_of(cls, file: str | Path) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """The default input and output ports of a block with this FMU."""
        found = cls.read(file)
        return tuple(g.port for g in found.takes), tuple(g.port for g in found.gives)

    def take(self, found: Contents) -> dict[str, Any]:
        """Set the ports of the block; returns the arguments of bdsim's constructor."""
        given = self.set_ports((g.port for g in found.takes), (g.port for g in found.gives))
        sizes = [prod(port.shape or ()) for port in self.out_ports]
        self._ends = np.cumsum([0, *sizes]).tolist()
        return given

    def signals(self, y: Array) -> list[Any]:
        """The outputs, of all their numbers."""
        parts = zip(self.out_ports, self._ends, self._ends[1:], strict=False)
        return [y[a:b].reshape(port.shape) if port.shape else y[a] for port, a, b in parts]

    def started(self, start: Callable[[float], Any], t: float) -> Any:
        """What the FMU gives at its start; a RunError where it fails."""
        try:
            return start(t)
        except FmuError as error:
            message, _, told = str(error).partition("\n")
            hint = told.strip() or None
            raise RunError(message, block=str(self.name), time=t, hint=hint) from error


def flat(inputs: list[Any]) -> Array:
    """All inputs as one vector."""
    return np.concatenate([np.zeros(0), *(np.ravel(value) for value in inputs)]).astype(float)

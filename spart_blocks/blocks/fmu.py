"""Models that other tools have exported."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import RunError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import CLOCK, fixed
from spart_blocks.block_support.ports import Port, port_arguments
from spart_blocks.fmu.archive import read_model
from spart_blocks.fmu.cosimulation import Live
from spart_blocks.fmu.instance import FmuError
from spart_blocks.fmu.ports import groups_of
from spart_blocks.fmu.start_values import start_values

# Inputs with these names would turn bdsim's own attributes into wires.
_TAKEN = frozenset(("T", "nin", "nout", "in_ports", "out_ports", *dir(SampledBlock)))
_OWN = ("nin", "nout", "in_ports", "out_ports")
_NEVER = float(np.finfo(float).max)


class FMU(Declared, SampledBlock):
    """A Functional Mock-up Unit of another tool for co-simulation, FMI 2.0 or 3.0.

    The ports are the FMU's inputs and outputs, in its order: `motor.w` becomes `motor_w`, and the
    elements `u[1]`, `u[2]`, ... become one port `u`. At every tick the FMU reads its inputs and
    steps to the next tick; between ticks its outputs are held. The clock's period is the FMU's
    communication step. If its model requests the end of the simulation, the run ends at that time
    without an error.

    An FMU is machine code, which is executed when a run begins. So the user must name the FMU of a
    diagram file: `spart run FILE --blocks motor.fmu`, or `blocks=["motor.fmu"]`. See
    docs/fmu_import.md.

    Source: the Functional Mock-up Interface, fmi-standard.org, versions 2.0.4 and 3.0.1.

    :arg file: the FMU
    :arg start: start values of parameters, inputs and states by variable
    :arg input_ports: variables used as inputs, or a mapping from ports to variables
    :arg output_ports: variables used as outputs, or a mapping from ports to variables
    """

    nin = 0
    nout = 0
    file = fixed("path")
    start = fixed("mapping", "", None)
    input_ports = fixed("list or mapping", "", None)
    output_ports = fixed("list or mapping", "", None)
    clock = CLOCK
    loads_code = True
    untraced = "an FMU is machine code of another tool, called as it is"
    watched_kinds = ("stop",)
    delays = True
    holds_itself = True  # its state has the outputs on both sides of a tick

    @staticmethod
    def ports_of(file: str | Path) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """The default input and output ports of a block with this FMU."""
        model = read_model(Path(file).expanduser())
        sides = ("input", _TAKEN), ("output", _OWN)
        inputs, outputs = (groups_of(model, side, None, taken) for side, taken in sides)
        return tuple(group.port for group in inputs), tuple(group.port for group in outputs)

    def build(self, file: Any, start: Any, input_ports: Any, output_ports: Any) -> dict[str, Any]:
        model = read_model(Path(file).expanduser())
        values = {} if start is None else start_values(model, start)
        inputs = groups_of(model, "input", input_ports, _TAKEN)
        outputs = groups_of(model, "output", output_ports, _OWN)
        self.in_ports = tuple(group.port for group in inputs)
        self.out_ports = tuple(group.port for group in outputs)
        sizes = [prod(port.shape or ()) for port in self.out_ports]
        self._ends = np.cumsum([0, *sizes]).tolist()
        # Its state: the outputs up to the next tick, those from there on, the time of that
        # tick, when the model asks for the end, and the name of the FMU's own state, see
        # _fmu_past.
        width = 2 * self._ends[-1] + 4
        self._live = partial(Live, model, values=values, inputs=inputs, outputs=outputs)
        return {"ndstates": width, **port_arguments(self.in_ports, self.out_ports)}

    def finish(self) -> None:
        clock = Fraction(repr(float(self._clock.T))), Fraction(repr(float(self._clock.offset)))
        self._fmu = self._live(name=str(self.name), clock=clock)
        self._first: Array | None = None
        weakref.finalize(self, self._fmu.close)

    def getstate0(self) -> Array:
        """The outputs of the FMU at its start, at the first tick."""
        if self._first is None:
            t = self._fmu.time(0)
            try:
                y = self._finite(self._fmu.start(t))
            except FmuError as error:
                message, _, told = str(error).partition("\n")
                name = str(self.name)
                raise RunError(message, block=name, time=t, hint=told.strip() or None) from error
            self._first = np.concatenate([y, y, [t, _NEVER, 0.0, 0.0]])
        return self._first.copy()

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        n = self._ends[-1]
        y = x[n : 2 * n] if t >= x[2 * n] else x[:n]
        parts = zip(self.out_ports, self._ends, self._ends[1:], strict=False)
        return [y[a:b].reshape(port.shape) if port.shape else y[a] for port, a, b in parts]

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[float]:
        """Positive from the time at which its model requests the end of the run."""
        end = float(x[-3])
        return [t - end if t < end else 1.0]

    def next(self, t: float, inputs: list[Any], x: Array) -> Array:
        if t >= x[-3]:
            return x
        n = self._ends[-1]
        number, count = int(x[-2]), int(x[-1])
        k = self._fmu.tick(float(t))
        now = x[n : 2 * n] if count else self._finite(self._fmu.start(self._fmu.time(k)))
        u = np.concatenate([np.zeros(0), *(np.ravel(value) for value in inputs)])
        y, number, count, end = self._fmu.step(number, count, k, np.asarray(u, dtype=float))
        changes, end = (self._fmu.time(k + 1), _NEVER) if end is None else (end, end)
        return np.concatenate([now, self._finite(y), [changes, end, number, count]])

    def _finite(self, y: Array) -> Array:
        for port, a, b in zip(self.out_ports, self._ends, self._ends[1:], strict=False):
            if not np.isfinite(y[a:b]).all():
                raise FmuError(f"the FMU's output {port.name} is not finite: {brief(y[a:b])}")
        return y

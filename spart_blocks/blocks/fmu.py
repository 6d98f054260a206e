"""Models that other tools have exported."""

from __future__ import annotations

import weakref
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.parameters import CLOCK
from spart_blocks.blocks._fmu import OWN, OfFmu, flat
from spart_blocks.fmu.cosimulation import Live
from spart_blocks.fmu.instance import FmuError

_NEVER = float(np.finfo(float).max)


class FMU(OfFmu, SampledBlock):
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
    """

    nin = 0
    nout = 0
    clock = CLOCK
    taken = frozenset(("T", *OWN, *dir(SampledBlock)))
    watched_kinds = ("stop",)
    delays = True
    holds_itself = True  # its state has the outputs on both sides of a tick

    def build(self, file: Any, start: Any, input_ports: Any, output_ports: Any) -> dict[str, Any]:
        found = self.read(file, start, input_ports, output_ports)
        given = self.take(found)
        # Its state: the outputs up to the next tick, those from there on, the time of that
        # tick, when the model asks for the end, and the name of the FMU's own state, see
        # _fmu_past.
        self._live = partial(Live, **found._asdict())
        return {"ndstates": 2 * self._ends[-1] + 4, **given}

    def finish(self) -> None:
        clock = Fraction(repr(float(self._clock.T))), Fraction(repr(float(self._clock.offset)))
        self._fmu = self._live(name=str(self.name), clock=clock)
        self._first: Array | None = None
        weakref.finalize(self, self._fmu.close)

    def getstate0(self) -> Array:
        """The outputs of the FMU at its start, at the first tick."""
        if self._first is None:
            t = self._fmu.time(0)
            y = self.started(lambda t: self._finite(self._fmu.start(t)), t)
            self._first = np.concatenate([y, y, [t, _NEVER, 0.0, 0.0]])
        return self._first.copy()

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        n = self._ends[-1]
        return self.signals(x[n : 2 * n] if t >= x[2 * n] else x[:n])

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
        y, number, count, end = self._fmu.step(number, count, k, flat(inputs))
        changes, end = (self._fmu.time(k + 1), _NEVER) if end is None else (end, end)
        return np.concatenate([now, self._finite(y), [changes, end, number, count]])

    def _finite(self, y: Array) -> Array:
        for port, a, b in zip(self.out_ports, self._ends, self._ends[1:], strict=False):
            if not np.isfinite(y[a:b]).all():
                raise FmuError(f"the FMU's output {port.name} is not finite: {brief(y[a:b])}")
        return y

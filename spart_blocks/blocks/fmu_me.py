"""Models exported by other tools, integrated by the run's solver."""

from __future__ import annotations

import weakref
from functools import partial
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.spatial import Array
from spart_blocks.blocks._fmu import OWN, OfFmu, flat
from spart_blocks.fmu.continuous import Continuous
from spart_blocks.fmu.hidden_states import FmuMode

_JUMP = 1e-9
"""Relative change of an input that counts as a jump; less is rounding."""


class FMU_ME(OfFmu, ContinuousBlock):
    """A Functional Mock-up Unit of another tool for model exchange, FMI 2.0 or 3.0.

    The ports are the FMU's inputs and outputs, as for the block FMU. The run's solver integrates
    its continuous states with those of the diagram. A step ends where an event indicator changes
    its sign, and at the event times that the FMU gives; the FMU handles these events, and jumps of
    inputs. If its model requests the end of the simulation, the run ends at that time without an
    error. The state consists of the FMU's continuous states and a name of its hidden state.

    An FMU is machine code, which is executed when a run begins. So the user must name the FMU of a
    diagram file: `spart run FILE --blocks motor.fmu`, or `blocks=["motor.fmu"]`. See
    docs/fmu_import.md.

    Source: the Functional Mock-up Interface, fmi-standard.org, versions 2.0.4 and 3.0.1.
    """

    nin = 0
    nout = 0
    exchange = True
    taken = frozenset((*OWN, *dir(ContinuousBlock)))

    def build(self, file: Any, start: Any, input_ports: Any, output_ports: Any) -> dict[str, Any]:
        found = self.read(file, start, input_ports, output_ports)
        ports, equations = self.take(found), found.model.equations
        assert equations is not None
        given = [v.name for group in found.gives for v in group.variables]
        # Inputs that are set at events only act through the mode.
        flowing = [v.name for group in found.takes for v in group.variables if v.flows]
        self._direct = equations.direct(given, flowing)
        # A value for each indicator, one for event times, one for inputs and requests.
        self.watched_kinds = (*["mode"] * (equations.nz + 2), "stop")
        self.told_of_steps = equations.told_of_steps
        # Its state: the FMU's continuous states, and the name of its mode, see _fmu_modes.
        self._nx = equations.nx
        self._continuous = partial(Continuous, **found._asdict())
        return {"nstates": self._nx + 1, "feedthrough": self._direct, **ports}

    def finish(self) -> None:
        self._fmu = self._continuous(name=str(self.name))
        weakref.finalize(self, self._fmu.close)

    def getstate0(self) -> Array:
        """The continuous states at the FMU's start."""
        return _state(self.started(self._fmu.start, 0.0))

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        mode, states = self._parts(x)
        u = flat(inputs) if self._direct else None
        y = self._fmu.asks(mode, lambda fmu: fmu.outputs_at(max(t, mode.t), states, u))
        return self.signals(y)

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        mode, states = self._parts(x)
        u = flat(inputs)
        rates = self._fmu.asks(mode, lambda fmu: fmu.rates(max(t, mode.t), states, u))
        return np.append(rates, 0.0)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[float]:
        """Zero-crossing functions: positive if an indicator has changed its sign, from the time of
        the next event on, if the FMU requests an event or must handle new inputs, and at the end.
        """
        mode, states = self._parts(x)
        update, u = mode.update, flat(inputs)
        if update.ended:
            return [*[-1.0] * (len(self.watched_kinds) - 1), 1.0]
        values = self._fmu.asks(mode, lambda fmu: fmu.indicators(max(t, mode.t), states, u))
        left = np.where(update.above, -values, values).tolist()
        due = t - update.following if t < update.following else 1.0
        event = self._fmu.asked is mode or self._fmu.is_to_be_told(mode, u)
        return [*left, max(due, -1.0), 1.0 if event else -1.0, -1.0]

    def switch(self, t: float, inputs: list[Any], x: Array) -> Array:
        """The state after an event of the FMU."""
        mode, states = self._parts(x)
        if mode.update.ended:
            return x
        return _state(self._fmu.event(mode, t, states, flat(inputs)))

    def next_stop(self, x: Array) -> float:
        """The time [s] of the next known event of the FMU."""
        return self._parts(x)[0].update.following

    def jumped(self, before: list[Any], inputs: list[Any], x: Array) -> bool:
        """Whether inputs jump, which is an event of the FMU."""
        u, v = flat(before), flat(inputs)
        if np.isnan(self._parts(x)[0].u).any():  # none have been set yet
            return True
        change = np.abs(v - u)
        least = _JUMP * (1.0 + np.abs(u))
        return bool((change > np.where(self._fmu.flows, least, 0.0)).any())

    def completed(self, t: float, inputs: list[Any], x: Array) -> bool:
        """Complete an integrator step of the FMU; returns whether it requests an event."""
        mode, states = self._parts(x)
        if mode.update.ended:
            return False
        return self._fmu.completed(mode, max(t, mode.t), states, flat(inputs))

    def _parts(self, x: Array) -> tuple[FmuMode, Array]:
        states = np.ascontiguousarray(x[: self._nx], dtype=float)
        return self._fmu.found(float(x[self._nx])), states


def _state(mode: FmuMode) -> Array:
    return np.append(mode.update.x, mode.name)

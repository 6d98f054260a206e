"""Models that other tools have exported, in FMI 2.0."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from fractions import Fraction
from functools import partial
from math import prod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import RunError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared
from spart_blocks.block_support.parameters import CLOCK, fixed
from spart_blocks.block_support.ports import Port
from spart_blocks.fmu.archive import read_model
from spart_blocks.fmu.continuous import Continuous
from spart_blocks.fmu.cosimulation import Live
from spart_blocks.fmu.hidden_states import FmuMode
from spart_blocks.fmu.instance import FmuError
from spart_blocks.fmu.ports import groups_of, start_values

OWN = ("nin", "nout", "in_ports", "out_ports")


class _Contents(NamedTuple):
    """A model, its start values by variable, and the groups of variables of each port."""

    model: Any
    values: Any
    takes: Any
    gives: Any


class _OfFmu(Declared):
    """A block of an FMU.

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
    loads_code = True
    untraced = "an FMU is machine code of another tool, called as it is"
    name: Any
    exchange: ClassVar[bool] = False
    # Inputs with these names would turn bdsim's own attributes into wires.
    taken: ClassVar[frozenset[str]]

    @classmethod
    def read(
        cls, file: Any, start: Any = None, input_ports: Any = None, output_ports: Any = None
    ) -> _Contents:
        """What the parameters name."""
        model = read_model(Path(file).expanduser(), exchange=cls.exchange)
        values = {} if start is None else start_values(model, start)
        inputs = groups_of(model, "input", input_ports, cls.taken)
        return _Contents(model, values, inputs, groups_of(model, "output", output_ports, OWN))

    @classmethod
    def ports_of(cls, file: str | Path) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
        """The default input and output ports of a block with this FMU."""
        found = cls.read(file)
        return tuple(g.port for g in found.takes), tuple(g.port for g in found.gives)

    def take(self, found: _Contents) -> dict[str, Any]:
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


_NEVER = float(np.finfo(float).max)


class FMU(_OfFmu, SampledBlock):
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


_JUMP = 1e-9
"""Relative change of an input that counts as a jump; less is rounding."""


class FMU_ME(_OfFmu, ContinuousBlock):
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

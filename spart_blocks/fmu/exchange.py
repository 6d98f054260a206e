"""A running FMU for model exchange: its equations between events, and its events."""

from __future__ import annotations

import math
from collections.abc import Sequence
from ctypes import POINTER, c_double
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.fmu.archive import ModelEquations
from spart_blocks.fmu.instance import Channel, Floats, FmuError, Instance

MOST_UPDATES = 1_000
"""Largest number of updates of discrete states at one event."""


@dataclass(frozen=True)
class Update:
    """Result of an event: the continuous states, the signs of the event indicators, the time of the
    next known event [s] (inf: none), and whether the model requests the end of the run.
    """

    x: Floats
    above: NDArray[np.bool_]
    following: float
    ended: bool


@dataclass
class Exchanged(Instance):
    """An FMU whose equations are integrated by a solver of the run. After construction it is in
    event mode. flowing: the continuous inputs; the others are set at events only.
    """

    flowing: tuple[Channel, ...] = ()
    _ended: bool = False

    classes = ("FMU2Model", "FMU3Model")
    survives = True

    @property
    def equations(self) -> ModelEquations:
        assert self.model.equations is not None
        return self.model.equations

    def settle(self, t: float, x: Floats | None = None) -> Update:
        """Update the discrete states until no update is needed, then enter continuous-time mode.

        x: the continuous states before, None at the start.
        """
        with self._calling(f"failed at its event at t = {t:.9g} s"):
            if self.model.major == 3 and x is None:
                self._check_counts()
            changed, ended, following = x is None, False, math.inf
            for _ in range(MOST_UPDATES):
                again, ended, _, moved, known, at = self._update()
                changed |= bool(moved)
                following = float(at) if known else math.inf
                if ended or not again:
                    break
            else:
                raise FmuError(f"it wants more than {MOST_UPDATES:,} updates at once")
            if ended:
                self._ended = True
                x = np.zeros(self.equations.nx) if x is None else x
                return Update(x, np.zeros(self.equations.nz, bool), math.inf, True)
            self._slave.enterContinuousTimeMode()
            if changed or x is None:
                x = self._got(self._slave.getContinuousStates, self.equations.nx)
            return Update(x, self._indicators() > 0, following, False)

    def event(self, t: float, x: Floats, u: Floats, stepped: bool) -> Update:
        """An event at time t [s], with continuous states x and inputs u. stepped: it ends a step
        for which completedIntegratorStep was not called. The result tells whether the model
        requests the end of the run there.
        """
        with self._calling(f"failed at its event at t = {t:.9g} s"):
            self._place(t, x, u)
            told = stepped and self.equations.told_of_steps
            if told and self._slave.completedIntegratorStep()[1]:
                return Update(x, np.zeros(self.equations.nz, bool), math.inf, True)
            self._slave.enterEventMode()
            for channel in self.inputs:
                self._set(channel, u)
        return self.settle(t, x)

    def outputs_at(self, t: float, x: Floats, u: Floats | None) -> Floats:
        """The outputs. u None: no output depends on inputs."""
        out = np.empty(sum(len(channel.places) for channel in self.outputs))
        with self._calling(f"does not give its outputs at t = {t:.9g} s"):
            self._place(t, x, u)
            for channel in self.outputs:
                out[channel.places] = self._get(channel)
        return out

    def rates(self, t: float, x: Floats, u: Floats) -> Floats:
        """The derivatives of the continuous states."""
        with self._calling(f"does not give its derivatives at t = {t:.9g} s"):
            self._place(t, x, u)
            slave = self._slave
            two = self.model.major == 2
            get = slave.getDerivatives if two else slave.getContinuousStateDerivatives
            return self._got(get, self.equations.nx)

    def indicators(self, t: float, x: Floats, u: Floats) -> Floats:
        """The event indicators."""
        with self._calling(f"does not give its event indicators at t = {t:.9g} s"):
            self._place(t, x, u)
            return self._indicators()

    def completed(self, t: float, x: Floats, u: Floats) -> bool:
        """Complete an integrator step; returns whether the FMU requests an event, or the end."""
        with self._calling(f"failed at the end of a step, t = {t:.9g} s"):
            self._place(t, x, u)
            return any(self._slave.completedIntegratorStep())

    def _place(self, t: float, x: Floats, u: Floats | None) -> None:
        if self._ended:  # it stays in event mode, in which states cannot be set
            return
        self._slave.setTime(t)
        if self.equations.nx:
            self._slave.setContinuousStates(_pointer(x), self.equations.nx)
        if u is not None:
            for channel in self.flowing:
                self._set(channel, u)

    def _update(self) -> Sequence[Any]:
        slave = self._slave
        update = slave.newDiscreteStates if self.model.major == 2 else slave.updateDiscreteStates
        found: Sequence[Any] = update()
        return found

    def _indicators(self) -> Floats:
        return self._got(self._slave.getEventIndicators, self.equations.nz)

    def _got(self, get: Any, count: int) -> Floats:
        values = np.zeros(count)
        if count:
            get(_pointer(values), count)
        return values

    def _check_counts(self) -> None:
        """FmuError if structural parameters have changed the number of states."""
        slave, said = self._slave, self.equations
        nx, nz = slave.getNumberOfContinuousStates(), slave.getNumberOfEventIndicators()
        if (nx, nz) != (said.nx, said.nz):
            raise FmuError(
                f"it has {nx} states and {nz} event indicators; its description says {said.nx} "
                f"and {said.nz}"
            )


def _pointer(values: Floats) -> Any:
    return values.ctypes.data_as(POINTER(c_double))

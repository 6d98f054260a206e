"""Checks of signals: where one fails, the run ends with an error, stops, or warns."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.checks import OK, UNFAILED, Check, CheckInTime
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.parameters import ACTION, MESSAGE, fixed, tunable
from spart_blocks.block_support.values import in_order, shown


class Assert(CheckInTime, ContinuousBlock):
    """Checks that a signal is above zero.

    u may be logical, as COMPARE and LOGIC give it, or a distance to a limit. The check fails where
    an entry of u is 0 or below; the time is located as other zero crossings. With `error` the run,
    a test of the diagram and a real-time loop end with an error; exported C returns NAME_FAULT and
    an FMU an error. With `stop` they end as by STOP. With `warn` the run goes on, `ok` becomes 0
    and stays so, and a warning with the time follows after the run.

    :arg after: time before which nothing is checked
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "a logical signal, or a distance"),)
    gives = (OK,)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)
    claim = "an assertion fails"

    def build(self, action: Any, message: Any, after: Any) -> dict[str, Any]:
        self.set_check(action, message, after)
        return {"x0": UNFAILED, **self.resolve_ports(any=None)}

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        return np.where(u > 0.0, -u, 1.0 - u)  # 0 fails too


class Check_Range(CheckInTime, ContinuousBlock):
    """Checks that a signal is within limits, each of which may be left out.

    The check fails where an entry of u is below `lower` or above `upper`; the time is located as
    other zero crossings. What follows is the same as for ASSERT.

    :arg lower: smallest permitted value, in the unit of u
    :arg upper: largest permitted value, in the unit of u
    :arg after: time before which nothing is checked
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "any", "", "any signal"),)
    gives = (OK,)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)

    def build(self, action: Any, message: Any, after: Any) -> dict[str, Any]:
        if self.lower is None and self.upper is None:
            raise InputError(Fault("it has no limit", hint="give lower, upper or both"))
        in_order(self.lower, self.upper, ("lower", "upper"))
        shape = self.shared_shape()
        self.set_check(action, message, after)
        ports = self.resolve_ports(any=shape or None)
        return {"x0": UNFAILED, **ports}

    @property
    def claim(self) -> str:
        """What is wrong where it fails."""
        limits = ("below", self.lower), ("above", self.upper)
        return f"u is {' or '.join(f'{w} {shown(v)}' for w, v in limits if v is not None)}"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        parts = [] if self.lower is None else [self.lower - u]
        return np.concatenate([*parts, *([] if self.upper is None else [u - self.upper])])


class Check_Settling(CheckInTime, ContinuousBlock):
    """Checks that a signal has settled by a time.

    The check fails where an entry of u differs from the target by more than the tolerance, at
    `by` or later; the time is located as other zero crossings. What follows is the same as for
    ASSERT.

    :arg by: time from which the signal must have settled
    :arg tolerance: largest permitted distance from the target, in the unit of u
    """

    nin = 2
    nout = 1
    takes = (
        PortSpec("u", "any", "", "any signal"),
        PortSpec("target", "any", "", "the value at which it settles", optional=True),
    )
    gives = (OK,)
    by = tunable("float", "s")
    tolerance = tunable("float or n", above=0)
    action = ACTION
    message = MESSAGE

    def build(self, action: Any, message: Any) -> dict[str, Any]:
        self.set_check(action, message)
        ports = self.resolve_ports(any=self.shared_shape() or None)
        return {"x0": UNFAILED, **ports}

    @property
    def claim(self) -> str:
        """What is wrong where it fails."""
        return f"u is off its target by more than {shown(self.tolerance)} after {self.by:g} s"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        off = np.ravel(np.abs(inputs[0] - inputs[1])) - self.tolerance
        return np.where(t >= self.by, off, -1.0)

    def edges(self) -> list[tuple[Any, float]]:
        """The time from which it checks."""
        return [(self.by, 0.0)]


class Check_Rate(Check, SampledBlock):
    """Checks how fast a signal changes, from tick to tick of a clock.

    The check fails at a tick at which an entry of u differs from that of the tick before by more
    than the clock's period times the limit. What follows is the same as for ASSERT.

    :arg limit: largest permitted rate, in the unit of u per s
    :arg after: time before which nothing is checked
    :arg width: length of u, if the limit is one number; by default u is a scalar then
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (OK,)
    limit = tunable("float or n", above=0)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)
    width = fixed("int", "", None)

    def build(self, action: Any, message: Any, after: Any, width: Any) -> dict[str, Any]:
        self.set_check(action, message, after)
        # The time of the first failure, whether there was a tick, u at it, and the rate there.
        shape = self.shared_shape(width)
        self.size = shape[0] if shape else 1
        self.period = self.T
        return {
            "x0": [*UNFAILED, *np.zeros(1 + 2 * self.size)],
            **self.resolve_ports(n=shape),
        }

    @property
    def claim(self) -> str:
        """What is wrong where it fails."""
        return f"u changes faster than {shown(self.limit)} per second"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        return np.abs(x[2 + self.size :]) - self.limit

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        rate = np.where(x[1] > 0.5, (u - x[2 : 2 + self.size]) / self.period, 0.0 * u)
        failing = np.max(np.abs(rate) - self.limit)
        fails = np.logical_and(np.logical_and(failing > 0.0, t >= self.after), x[0] < 0.0)
        warned = np.where(fails, t, x[0]) if self.action == "warn" else x[0]
        return np.array([warned, 1.0, *u, *rate])

"""Checks of signals: where one fails, the run ends with an error, stops, or warns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import in_order, shown
from spart_blocks.formulas.crossings import zero_or_one

ACTIONS = {"error": ("fault",), "stop": ("stop",), "warn": ()}
"""The kinds of crossings of each action."""
UNFAILED = (-1.0,)
"""The start of the state of a check: the time at which it first failed [s], negative if never."""
OK = PortSpec("ok", "", "", "1 until the check first fails with action: warn, then 0")
MOST_LETTERS = 200


def _message(value: Any, name: str) -> str:
    if not isinstance(value, str) or len(value) > MOST_LETTERS:
        told = f"{name} must be a text of at most {MOST_LETTERS} characters"
        raise InputError(f"{told}, not {brief(value)}")
    return value.strip()


ACTION = fixed("str", "", "error", choices=tuple(ACTIONS), text="error, stop or warn")
MESSAGE = fixed("str", "", "", check=_message, text="what to say where it fails")


class _Check(Declared):
    """A block that checks its inputs.

    `excess` returns what they exceed the permitted values by. Where an entry is positive, the
    run ends with an error or in an orderly way, or a warning follows after the run.
    """

    nin = 1
    nout = 1

    gives = (OK,)
    acts_by: ClassVar[Mapping[str, tuple[str, ...]]] = ACTIONS
    action: str
    message: str
    after: float = 0.0

    def build(self) -> dict[str, Any]:
        return {"x0": UNFAILED, **self.resolve_ports(any=self.shared_shape() or None)}

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kinds of its crossings, by its action."""
        return self.acts_by[self.action]

    @property
    def fault_text(self) -> str:
        """What is wrong where the check fails."""
        return self.message or self.claim

    @property
    def claim(self) -> str:
        """What is wrong, if the user has not said it."""
        raise NotImplementedError

    @property
    def warns_of(self) -> str | None:
        """What a run warns of, if the state says that the check has failed."""
        return self.fault_text if self.action == "warn" else None

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        """What the inputs exceed the permitted values by."""
        raise NotImplementedError

    def fault(self, t: float, inputs: list[Any], x: Array) -> str:
        """The message of a run that the check ends."""
        shown = ", ".join(
            f"{port.name} = {_shown(value)}"
            for port, value in zip(self.in_ports, inputs, strict=True)
        )
        return f"{self.fault_text}: {shown}"

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [zero_or_one(x[0] < 0.0)]

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        if not self.watched_kinds:
            return []
        failing = np.max(self.excess(t, inputs, x))
        return [np.where(np.logical_and(x[0] < 0.0, t >= self.after), failing, -1.0)]

    def edges(self) -> list[tuple[Any, float]]:
        """The time from which it checks."""
        return [(self.after, 0.0)]


class _CheckInTime(_Check):
    """A check at all times, which finds the time of a failure between two steps."""

    acts_by = {**ACTIONS, "warn": ("mode",)}

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Array:
        return np.zeros(1)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        return np.array([t + 0.0 * x[0]])


def _shown(value: Any) -> str:
    flat = np.ravel(value)
    text = ", ".join(f"{entry:.6g}" for entry in flat[:6])
    more = ", ..." if flat.size > 6 else ""
    return f"[{text}{more}]" if np.ndim(value) else text


class Assert(_CheckInTime, ContinuousBlock):
    """Checks that a signal is above zero.

    u may be logical, as COMPARE and LOGIC give it, or a distance to a limit. The check fails where
    an entry of u is 0 or below; the time is located as other zero crossings. With `error` the run,
    a test of the diagram and a real-time loop end with an error; exported C returns NAME_FAULT and
    an FMU an error. With `stop` they end as by STOP. With `warn` the run goes on, `ok` becomes 0
    and stays so, and a warning with the time follows after the run.

    :arg after: time before which nothing is checked
    """

    takes = (PortSpec("u", "any", "", "a logical signal, or a distance"),)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)
    claim = "an assertion fails"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        return np.where(u > 0.0, -u, 1.0 - u)  # 0 fails too


class Check_Range(_CheckInTime, ContinuousBlock):
    """Checks that a signal is within limits, each of which may be left out.

    The check fails where an entry of u is below `lower` or above `upper`; the time is located as
    other zero crossings. What follows is the same as for ASSERT.

    :arg lower: smallest permitted value, in the unit of u
    :arg upper: largest permitted value, in the unit of u
    :arg after: time before which nothing is checked
    """

    takes = (PortSpec("u", "any", "", "any signal"),)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)

    def build(self) -> dict[str, Any]:
        if self.lower is None and self.upper is None:
            raise InputError(Fault("it has no limit", hint="give lower, upper or both"))
        in_order(self.lower, self.upper, ("lower", "upper"))
        return super().build()

    @property
    def claim(self) -> str:
        """What is wrong where it fails."""
        limits = ("below", self.lower), ("above", self.upper)
        return f"u is {' or '.join(f'{w} {shown(v)}' for w, v in limits if v is not None)}"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        parts = [] if self.lower is None else [self.lower - u]
        return np.concatenate([*parts, *([] if self.upper is None else [u - self.upper])])


class Check_Settling(_CheckInTime, ContinuousBlock):
    """Checks that a signal has settled by a time.

    The check fails where an entry of u differs from the target by more than the tolerance, at
    `by` or later; the time is located as other zero crossings. What follows is the same as for
    ASSERT.

    :arg by: time from which the signal must have settled
    :arg tolerance: largest permitted distance from the target, in the unit of u
    """

    nin = 2
    takes = (
        PortSpec("u", "any", "", "any signal"),
        PortSpec("target", "any", "", "the value at which it settles", optional=True),
    )
    by = tunable("float", "s")
    tolerance = tunable("float or n", above=0)
    action = ACTION
    message = MESSAGE

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


class Check_Rate(_Check, SampledBlock):
    """Checks how fast a signal changes, from tick to tick of a clock.

    The check fails at a tick at which an entry of u differs from that of the tick before by more
    than the clock's period times the limit. What follows is the same as for ASSERT.

    :arg limit: largest permitted rate, in the unit of u per s
    :arg after: time before which nothing is checked
    :arg width: length of u, if the limit is one number; by default u is a scalar then
    """

    takes = (PortSpec("u", "float or n", "", "any signal"),)
    limit = tunable("float or n", above=0)
    action = ACTION
    message = MESSAGE
    after = tunable("float", "s", 0.0)
    width = fixed("int", "", None)

    def build(self, width: Any) -> dict[str, Any]:  # type: ignore[override]
        # The time of the first failure, whether there was a tick, u at it, and the rate there.
        shape = self.shared_shape(width)
        self.size = shape[0] if shape else 1
        return {"x0": [*UNFAILED, *np.zeros(1 + 2 * self.size)], **self.resolve_ports(n=shape)}

    @property
    def claim(self) -> str:
        """What is wrong where it fails."""
        return f"u changes faster than {shown(self.limit)} per second"

    def excess(self, t: Any, inputs: list[Any], x: Array) -> Any:
        return np.abs(x[2 + self.size :]) - self.limit

    def next(self, t: float, inputs: list[Any], x: Array) -> Any:
        u = np.ravel(inputs[0])
        rate = np.where(x[1] > 0.5, (u - x[2 : 2 + self.size]) / self.T, 0.0 * u)
        failing = np.max(np.abs(rate) - self.limit)
        fails = np.logical_and(np.logical_and(failing > 0.0, t >= self.after), x[0] < 0.0)
        warned = np.where(fails, t, x[0]) if self.action == "warn" else x[0]
        return np.array([warned, 1.0, *u, *rate])

"""An integrator whose state becomes the value of a signal, at edges of another one."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.limits import (
    clipped,
    limit_that_holds,
    near_limits,
    unfit_limit,
    within,
)
from spart_blocks.block_support.parameters import WIDTH, fixed, tunable
from spart_blocks.formulas.crossings import beyond, flat, has_edge, zero_or_one

EDGES = ("rising", "falling", "either")


class Reset_Integrator(Channels, ContinuousBlock):
    """An integrator, x' = u, whose state becomes `value` at edges of `trigger` through zero.

    A step ends at the edge, located as other zero-crossings, and all entries of x are reset at
    once. Above zero is one side, zero or below the other; that on which `trigger` starts is no
    edge. Blocks that are reset at one time all take the values from before it: two of them can
    exchange their states, and `value` may depend on x. x stays within its limits, also where
    `value` does not, and is held by one until u points back. At a fixed rate, in exported C and in
    real time, it is reset at the first step after the edge. Nothing feeds through.

    Resets that get ever closer, as those of a ball that comes to rest, are an error; a
    HYBRID_SYSTEM passes them.

    Source: Simulink's Integrator with an external reset and an external initial condition.

    :arg edge: rising, falling or either
    :arg x0: x at the start, in the unit of u s
    :arg lower: smallest x
    :arg upper: largest x
    """

    nin = 3
    nout = 1
    takes = (
        PortSpec("u", "float or n", "", "rate of x"),
        PortSpec("trigger", "", "", "resets at its edges through zero"),
        PortSpec("value", "float or n", "", "what x becomes", optional=True),
    )
    gives = (PortSpec("x", "float or n", "", "the integral, in the unit of u s"),)
    edge = fixed("str", "", "rising", choices=EDGES)
    x0 = fixed("float or n", "", 0.0)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)
    width = WIDTH
    told: ClassVar[tuple[str, ...]] = ("", "reset")
    """What an event is called that leads to each phase, the first entry of the state."""

    def build(self, x0: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width, x0=x0)
        within(x0, self.lower, self.upper, ("x0", "lower", "upper"))
        start = np.broadcast_to(x0, shape or (1,))
        # The phase: 1 between an edge and the reset. The side of `trigger`: 1 above zero, 0 not,
        # 0.5 before the first look, and the time of that. x, what it is to become, and the limit
        # that holds it: 1 the upper, -1 the lower, 0 none.
        limited = self.lower is not None or self.upper is not None
        held = [0.0 * start] if limited else []
        parts: list[Any] = [[0.0, 0.5, 0.0], start, start, *held]
        return {"x0": np.concatenate(parts), **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._signal(self._parts(x[3:])[0])]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        _, to, *by = self._parts(x[3:])
        u = self._each(inputs[0])
        rate = np.where(np.abs(by[0]) < 0.5, u, 0.0) if by else u
        return np.concatenate([np.zeros(3), rate, *([0.0 * to] * (1 + len(by)))])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        now, _, *by = self._parts(x[3:])
        passing = np.logical_or(x[0] > 0.5, np.abs(x[1] - 0.5) < 0.25)
        edge = np.where(passing, 1.0, beyond(inputs[1], x[1] > 0.5))
        limits = [unfit_limit(now, by[0], *self._limits, self._each(inputs[0]))] if by else []
        return flat(edge, *limits)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        """The edge first stores the value, and a second switch at the same time takes it: by then
        all blocks that this edge resets have read the states from before it.
        """
        now, to, *by = self._parts(x[3:])
        takes, above = x[0] > 0.5, inputs[1] > 0
        unknown = np.abs(x[1] - 0.5) < 0.25
        # Ticks at the start of a run bring `trigger` to its side.
        side = np.where(t > x[2], x[1], 0.5)
        hit = np.logical_and(has_edge(self.edge, side, above), np.logical_not(takes))
        now = np.where(takes, to, now)
        to = np.where(hit, self._each(inputs[2]), to)
        held = [limit_that_holds(now, by[0], *self._limits, self._each(inputs[0]))] if by else []
        now = clipped(now, *self._limits)
        mode = [
            zero_or_one(hit),
            np.where(takes, x[1], zero_or_one(above)),
            np.where(unknown, t, x[2]),
        ]
        return np.concatenate([np.array(mode), now, to, *held])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random phase, side and value to take, and a state near x within its limits."""
        mode = [rng.choice([0.0, 1.0]), rng.choice([0.0, 0.5, 1.0]), rng.normal()]
        now, to, *by = self._parts(x[3:] + rng.normal(scale=spread, size=len(x) - 3))
        if not by:
            return np.concatenate([mode, now, to])
        now, held = near_limits(now, *self._limits, rng)
        return np.concatenate([mode, now, to, held])

    @property
    def _limits(self) -> tuple[Any, Any]:
        return self.lower, self.upper

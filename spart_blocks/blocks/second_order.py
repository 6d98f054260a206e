"""Two integrators in series, with limits of position and of rate."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.errors import Fault, InputError, brief
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
from spart_blocks.formulas.crossings import flat


class Second_Order_Integrator(Channels, ContinuousBlock):
    """Two integrators in series: x'' = u, with limits of x and of its rate v, for each entry of u.

    Where x meets a limit it stays there and v becomes 0, until u points back from it. Where v meets
    a limit it stays there until u points back. A step ends where a limit is met or left. At a fixed
    rate, in exported C and in real time, x or v comes back to its limit at the end of a step that
    passes it. Nothing feeds through.

    Source: Simulink's Second-Order Integrator Limited.

    :arg x0: initial x, in the unit of u s^2
    :arg v0: initial v, in the unit of u s
    :arg lower: smallest x
    :arg upper: largest x
    :arg v_lower: smallest v; below 0 if x is limited
    :arg v_upper: largest v; above 0 if x is limited
    """

    nin = 1
    nout = 2
    takes = (PortSpec("u", "float or n", "", "second derivative of x"),)
    gives = (
        PortSpec("x", "float or n", "", "position, in the unit of u s^2"),
        PortSpec("v", "float or n", "", "its rate, in the unit of u s"),
    )
    x0 = fixed("float or n", "", 0.0)
    v0 = fixed("float or n", "", 0.0)
    lower = tunable("float or n", "", None)
    upper = tunable("float or n", "", None)
    v_lower = tunable("float or n", "", None)
    v_upper = tunable("float or n", "", None)
    width = WIDTH

    def build(self, x0: Any, v0: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width, x0=x0, v0=v0)
        within(x0, self.lower, self.upper, ("x0", "lower", "upper"))
        within(v0, self.v_lower, self.v_upper, ("v0", "v_lower", "v_upper"))
        if self.lower is not None or self.upper is not None:
            _leaves_the_limits(self.v_lower, self.v_upper)
        size = shape or (1,)
        # Which limit holds x, and which holds v: 1 the upper, -1 the lower, 0 none.
        limited = any(getattr(self, name) is not None for name in self.tunable)
        parts = [x0, v0, *([0.0, 0.0] if limited else [])]
        begin = np.concatenate([np.broadcast_to(part, size) for part in parts])
        return {"x0": begin, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._signal(part) for part in self._parts(x)[:2]]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        _, rate, *held = self._parts(x)
        u = self._each(inputs[0])
        if not held:
            return np.concatenate([rate, u])
        x_free, v_free = (np.abs(by) < 0.5 for by in held)
        return np.concatenate([
            np.where(x_free, rate, 0.0),
            np.where(np.logical_and(x_free, v_free), u, 0.0),
            np.zeros(2 * len(rate)),
        ])  # fmt: skip

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        position, rate, *held = self._parts(x)
        if not held:
            return []
        u = self._each(inputs[0])
        sides = ((position, held[0], self.lower, self.upper),
                 (rate, held[1], self.v_lower, self.v_upper))  # fmt: skip
        limited = [side for side in sides if side[2] is not None or side[3] is not None]
        return flat(*(unfit_limit(*side, u) for side in limited))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        position, rate, x_by, v_by = self._parts(x)
        u = self._each(inputs[0])
        x_by = limit_that_holds(position, x_by, self.lower, self.upper, u)
        free = np.abs(x_by) < 0.5
        v_by = np.where(free, limit_that_holds(rate, v_by, self.v_lower, self.v_upper, u), 0.0)
        position = clipped(position, self.lower, self.upper)
        rate = np.where(free, clipped(rate, self.v_lower, self.v_upper), 0.0)
        return np.concatenate([position, rate, x_by, v_by])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: free, or held by limits that there are."""
        position, rate, *held = self._parts(x + rng.normal(scale=spread, size=len(x)))
        if not held:
            return np.concatenate([position, rate])
        position, x_by = near_limits(position, self.lower, self.upper, rng)
        rate, v_by = near_limits(rate, self.v_lower, self.v_upper, rng)
        rests = np.abs(x_by) > 0.5
        rate, v_by = np.where(rests, 0.0, rate), np.where(rests, 0.0, v_by)
        return np.concatenate([position, rate, x_by, v_by])


def _leaves_the_limits(v_lower: Any, v_upper: Any) -> None:
    """InputError where limits of v would keep x from leaving its limits."""
    for limit, name, side, word in (
        (v_lower, "v_lower", -1, "below"),
        (v_upper, "v_upper", 1, "above"),
    ):
        if limit is not None and np.any(side * np.asarray(limit) <= 0):
            text = f"{name} must be {word} 0 where x is limited, not {brief(limit)}"
            raise InputError(Fault(text, hint="v is 0 where a limit holds x"))

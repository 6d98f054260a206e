"""What one instant of a run does to derivatives.

At an instant that moves by dt along a direction, the states that reach it change by Y = Z + f dt,
where Z is their change at a fixed time and f their rates before it. Each map at the instant takes
Y on, and the change at a fixed time after it is Z = Y - f dt with the rates after it. This is the
saltation matrix, in its parts. Source: N. J. Kong et al., "Saltation Matrices: The Essential Tool
for Linearizing Hybrid Dynamical Systems", Proceedings of the IEEE 112 (2024), equation 9.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import Clock, exact
from spart_blocks.gradients.place import Place
from spart_blocks.gradients.tangents import Directions, Floats, Tangent
from spart_blocks.program import Program
from spart_blocks.program.tracing.switching import SwitchTimes


class NoGradientError(RunError):
    """A run without a derivative, with the block and the time at which it has none."""


class Maps:
    """The maps of a program's events and ticks, with their derivatives."""

    def __init__(self, directions: Directions) -> None:
        self.directions, self.engine = directions, directions.engine
        self.program = self.engine.program

    def reset(self, at: Place, k: int) -> Place:
        """After the reset of an EVENT."""
        event = self.engine.crossings[k].event
        function = self.program.resets.get(event)
        if function is None:
            raise NoGradientError(
                "its function could not be traced, so that its reset has no derivative",
                block=self.engine.crossings[k].block,
                time=at.t,
            )
        return self._whole(at, ("reset", event), function)

    def switch(self, at: Place, k: int) -> Place:
        """After a block has switched its mode."""
        block = self.engine.crossings[k].block
        part = self.engine.continuous[block]
        found = self._of_states(at, "switched", self.program.switched)
        x, dx = at.x.copy(), at.dx.copy()
        x[part], dx[part] = found.x[part], found.dx[part]
        return replace(at, x=x, dx=dx)

    def project(self, at: Place) -> Place:
        """The states on their constraints."""
        if self.program.project is None or not len(at.x):
            return at
        return self._of_states(at, "project", self.program.project)

    def tick(self, at: Place, due: Sequence[Clock]) -> Place:
        """After clocks have ticked together."""
        names = tuple(clock.name for clock in due)
        tangent = self.directions.tangent(
            ("tick", names), lambda: ticked(self.program, names, self.engine.sampled)
        )
        xd = tangent.value(at.t, at.x, at.xd)
        dxd = tangent.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd)
        return replace(at, xd=xd, dxd=dxd)

    def _of_states(self, at: Place, name: str, function: Any) -> Place:
        tangent = self.directions.tangent(name, lambda: function)
        x = tangent.value(at.t, at.x, at.xd)
        return replace(at, x=x, dx=tangent.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd))

    def _whole(self, at: Place, key: Any, function: Any) -> Place:
        tangent: Tangent = self.directions.tangent(key, lambda: function)
        after = tangent.value(at.t, at.x, at.xd)
        change = tangent.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd)
        n = len(at.x)
        return replace(at, x=after[:n], xd=after[n:], dx=change[:n], dxd=change[n:])


def ticked(program: Program, names: Sequence[str], sampled: Any) -> Any:
    """The Function (t, x, xd, p) -> xd after the clocks of these names have ticked together."""
    t, x, xd, p = arguments = next(iter(program.updates.values())).sx_in()
    before = xd
    for one in (one for one in program.handovers if one.clock in names):
        before = one.renewed(t, x, before, p)
    after = ca.SX(before)
    for clock in (clock for clock in program.clocks if clock.name in names):
        moved = program.updates[clock.name](t, x, before, p)
        for block in clock.blocks:
            after[sampled[block]] = moved[sampled[block]]
    return ca.Function("ticked", arguments, [ca.cse(ca.densify(after))])


class Edges:
    """The known times at which sources switch and that depend on the parameters that vary."""

    def __init__(self, program: Program, directions: Directions) -> None:
        self._still: Floats = np.zeros(directions.m)
        self._series: list[tuple[SwitchTimes, Floats, Floats]] = []
        if not program.switching:
            return
        (p,) = program.edges.sx_in()
        slope = ca.Function("slope", [p], [ca.jacobian(program.edges(p), p)])(program.p)
        changes = np.array(slope.full()) @ directions.changes
        for k, times in enumerate(program.switches()):
            first, period = changes[2 * k], changes[2 * k + 1]
            if first.any() or period.any():
                self._series.append((times, first, period))

    def at(self, t: float) -> tuple[Floats, str | None]:
        """How the edges at t move along the directions (m,), and the block of one of them that
        moves. Raises NoGradientError if two move apart.
        """
        here = [(block, move) for block, move in self._all(t) if move.any()]
        for block, move in here[1:]:
            if not np.array_equal(move, here[0][1]):
                raise NoGradientError(
                    f"it switches at the instant at which {here[0][0]} does, and each may be first",
                    block=block,
                    time=t,
                )
        return (here[0][1], here[0][0]) if here else (self._still, None)

    def moving(self, times: Floats) -> NDArray[np.bool_]:
        """Whether an edge that moves may be at each of these times."""
        found = np.zeros(len(times), bool)
        for series, _, _ in self._series:
            first, period = float(series.first), float(series.period)
            k = np.maximum(np.round((times - first) / period), 0) if period > 0 else 0.0
            found |= np.isclose(times, first + k * period, rtol=1e-12, atol=1e-300)
        return found

    def _all(self, t: float) -> Iterator[tuple[str, Floats]]:
        for times, first, period in self._series:
            assert isinstance(times.first, Fraction)
            assert isinstance(times.period, Fraction)
            k = round((exact(t) - times.first) / times.period) if times.period > 0 else 0
            if k >= 0 and float(times.first + k * times.period) == t:
                yield times.block, np.asarray(first + k * period)

"""Signals at looks of a run, and their rates, with their changes along directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.forward import Look
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.tangents import Directions, Floats, Tangent
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries

TURNS = 1e-5
"""A signal turns at a look if it does within this fraction of its value from it."""


def column_of(
    program: Program, signal: str, reference: str | None, arguments: Sequence[Any]
) -> Any:
    """A signal, less its reference if there is one, as an SX column of (t, x, xd, p)."""
    whole = program.outputs(*arguments)
    column = whole[entries(program, signal).ravel().tolist()]
    if reference is not None:
        other = whole[entries(program, reference).ravel().tolist()]
        column = column - (other if other.numel() == column.numel() else other[0])
    return column


@dataclass(frozen=True)
class SignalTangents:
    """A signal of n elements, less its reference if there is one."""

    directions: Directions
    signal: str
    reference: str | None = None

    @property
    def values(self) -> Tangent:
        """Its values with their tangents."""

        def make() -> Any:
            program = self.directions.engine.program
            arguments = program.outputs.sx_in()
            column = column_of(program, self.signal, self.reference, arguments)
            column = ca.cse(ca.densify(column))
            return ca.Function("signal", arguments, [column], ["t", "x", "xd", "p"], ["y"])

        return self.directions.tangent(("signal", self.signal, self.reference), make)

    @property
    def slopes(self) -> Tangent:
        """Its rates with their tangents."""

        def make() -> Any:
            program = self.directions.engine.program
            arguments = t, x, xd, p = program.outputs.sx_in()
            column = column_of(program, self.signal, self.reference, arguments)
            rates = program.rates(t, x, xd, p)
            slope = ca.jtimes(column, ca.veccat(t, x), ca.veccat(1, rates))
            return ca.Function("slope", arguments, [ca.cse(ca.densify(slope))])

        return self.directions.tangent(("slope", self.signal, self.reference), make)

    def value(self, look: Look) -> Floats:
        """Its values (n,)."""
        return self.values.value(look.at.t, look.at.x, look.at.xd)

    def change(self, look: Look) -> Floats:
        """Their changes (n, m) at a fixed time."""
        at = look.at
        return self.values.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd)

    def moving(self, look: Look) -> Floats:
        """Their changes (n, m) as the time of the look moves."""
        at = look.moving()
        return self.values.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd)

    def slope(self, look: Look) -> Floats:
        """Its rates (n,)."""
        return self.slopes.value(look.at.t, look.at.x, look.at.xd)

    def bend(self, look: Look) -> Floats:
        """The rates of its rates (n,)."""
        at = look.at
        return self.slopes.by_time(at.t, at.x, at.xd, look.slope)

    def change_of_slope(self, look: Look) -> Floats:
        """The changes of its rates (n, m) at a fixed time."""
        at = look.at
        return self.slopes.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd)

    def of_extreme(self, look: Look, k: int) -> Floats:
        """The change (m,) of element k where it is extreme. Within a step it turns a little beside
        the look, whose time is that of a polynomial.
        """
        found: Floats = self.moving(look)[k]
        if look.instant:
            return found
        slope, bend = float(self.slope(look)[k]), float(self.bend(look)[k])
        if 0.5 * slope**2 <= TURNS * abs(bend * self.value(look)[k]) and bend != 0.0:
            found = found - slope / bend * self.change_of_slope(look)[k]
        return found

    def nearest(self, looks: Sequence[Look], k: int, value: float) -> Look:
        """Of the looks at one instant that at which element k has this value. Of equal values the
        later: at the end of a run, what holds after it.
        """
        near = [abs(self.value(look)[k] - value) for look in reversed(looks)]
        return looks[len(looks) - 1 - int(np.argmin(near))]

    def turning(self, look: Look, k: int) -> Floats:
        """How the time moves (m,) at which element k turns: where its rate is zero."""
        bend, moves = self.bend(look)[k], self.change_of_slope(look)[k]
        if bend == 0:
            if moves.any():
                raise NoGradientError(
                    f"{self.signal} is flat where it is extreme: its time has no derivative",
                    time=look.at.t,
                )
            return np.zeros_like(moves)
        return np.asarray(-moves / bend)

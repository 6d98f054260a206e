"""Thrusters: their allocation, pulses and valves."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock, SampledBlock

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import WIDTH, fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import directions_of, rows_of_three
from spart_blocks.dynamics.screws import ALL, rows_of
from spart_blocks.dynamics.semidefinite import nonnegative_least_squares
from spart_blocks.formulas.crossings import bare, flat

_MOST_STEPS = 20
_R0 = quantities("R0")


def _wrenches(positions: Array, directions: Array) -> Array:
    """Torque and force (6,n) of a newton of each thruster, in base axes."""
    if len(positions) != len(directions):
        text = f"positions has {len(positions)} rows and directions has {len(directions)}"
        raise InputError(text)
    return np.concatenate([cross(positions, directions), directions], axis=1).T


class Thruster_Allocation(Declared, FunctionBlock):
    """Thrusts, none negative, for a torque and a force.

    ``nnls``: the nearest |B f - w|, f >= 0, in the weighted rows that `components` names, where the
    columns of B are torque and force of a newton of each thruster and w are those wanted. With
    weights that differ it trades a torque for a force. ``table``: f is the sum of a row of the
    table for each component, times its size: rows 0, 2, ... for positive, 1, 3, ... for negative
    components. Without a table the rows are the nonnegative least squares solutions for one
    component alone; a component that the thrusters cannot give alone is refused. The table costs
    less to compute, and more propellant. If a thrust exceeds its `limit`, all are scaled down, so
    that torque and force keep their direction.

    Source: C. Lawson and R. Hanson, "Solving Least Squares Problems" (1974), ch. 23; M. Sidi,
    "Spacecraft Dynamics and Control" (1997), sec. 9.3, for tables.

    :arg positions: of the thrusters from the base's centre of mass, base axes
    :arg directions: of the forces on the base, base axes, of any length
    :arg method: nnls or table
    :arg components: those of tau0 that are given, all six by default
    :arg weights: of these components
    :arg limit: largest thrust, none by default
    :arg table: thrusts for a unit of each component and sign
    :arg steps: of nnls, at most; by default n + 4, and 20 at most
    """

    nin = 2
    nout = 2
    takes = (*quantities("tau0", tau0="wanted torque, base axes, and force, inertial"), *_R0)
    gives = (
        PortSpec("thrusts", "n", "N", "of each thruster"),
        PortSpec("missing", "6", "N m, N", "what of tau0 they do not give"),
    )
    positions = fixed("n, 3", "m", check=rows_of_three)
    directions = fixed("n, 3", check=directions_of)
    method = fixed("str", "", "nnls", choices=("nnls", "table"))
    components = fixed("str or list of str", "", ALL)
    weights = fixed("float or m", "", 1.0, above=0)
    limit = tunable("float or n", "N", None, above=0)
    table = fixed("2m, n", "N", None)
    steps = fixed("int", "", None, least=1, most=200)

    def build(self, positions: Any, directions: Any, components: Any, table: Any) -> dict[str, Any]:
        self._all = _wrenches(positions, directions)
        n = self._all.shape[1]
        self._rows = rows_of(components)
        forces = any(row > 2 for row in self._rows)
        given = self.resolve_ports(n=n, m=len(self._rows), optional="" if forces else "R0")
        self._weights = np.broadcast_to(self.weights, (len(self._rows),)).copy()
        self._matrix = self._weights[:, None] * self._all[self._rows]
        self.steps = self.steps or min(n + 4, _MOST_STEPS)
        self._table = self._made_table(table, n) if self.method == "table" else None
        if table is not None and self.method != "table":
            raise InputError(Fault("table is of the method table", hint="give method: table"))
        return given

    def _made_table(self, table: Any, n: int) -> Array:
        if table is not None:
            found = np.array(table, dtype=float)
            if found.shape != (2 * len(self._rows), n):
                raise InputError(
                    f"table has shape {found.shape}, it takes {(2 * len(self._rows), n)}"
                )
            if (found < 0).any():
                raise InputError("table must not be negative: a thruster only pushes")
            return found
        from scipy.optimize import nnls

        B, made = self._all[self._rows], []
        for k, row in enumerate(self._rows):
            for sign in (1.0, -1.0):
                f, rest = nnls(B, sign * np.eye(len(B))[k])
                if rest > 1e-6:
                    name = f"{'+' if sign > 0 else '-'}{ALL.split()[row]}"
                    hint = "leave it out of components, or give the table"
                    raise InputError(Fault(f"the thrusters cannot give {name} alone", hint=hint))
                made.append(f)
        return np.array(made)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau0, R0 = inputs
        wanted = np.concatenate([tau0[:3], R0.T @ tau0[3:]])
        w = np.stack([wanted[k] for k in self._rows])
        if self._table is None:
            f = nonnegative_least_squares(self._matrix, self._weights * w, self.steps)
        else:
            signed = [np.maximum(side * w[k], 0.0) for k in range(len(w)) for side in (1.0, -1.0)]
            f = np.stack(signed) @ self._table
        if self.limit is not None:
            f = f / np.maximum(np.max(f / self.limit), 1.0)
        got = self._all @ f
        return [f, tau0 - np.concatenate([got[:3], R0 @ got[3:]])]


class Pulse_Width(Channels, SampledBlock):
    """Pulse-width modulation: pulses whose length is in proportion to a signal, at the ticks of a
    clock.

    At each tick y becomes 1 for the part u / full of the clock's period, at most all of it. A pulse
    shorter than `min_on`, the minimum impulse bit of a thruster, is left out; with `carry` what was
    left out, or was beyond the period, adds to the next pulse, so that the mean of y follows u. A
    step ends where a pulse does.

    Source: M. Sidi, "Spacecraft Dynamics and Control" (1997), sec. 9.4.

    :arg full: u at which y is always 1, in the unit of u
    :arg min_on: shortest pulse
    :arg carry: whether what was left out adds to the next pulse
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "wanted mean, such as a thrust"),)
    gives = (PortSpec("y", "float or n", "", "1 during a pulse, otherwise 0"),)
    full = tunable("float or n", "", 1.0, above=0)
    min_on = tunable("float or n", "s", 0.0, least=0)
    carry = fixed("bool", "", False)
    width = WIDTH
    varies_between_ticks = True
    needs_period = True

    def build(self, width: Any) -> dict[str, Any]:
        if np.any(np.asarray(self.min_on) > self.T):
            text = f"min_on is above the period of its clock, {self.T:g} s"
            raise InputError(Fault(text, hint="take a slower clock"))
        # The time of the last tick, the lengths of the pulses, and what may be carried over.
        parts: dict[str, Any] = {"length": 0.0, "rest": 0.0} if self.carry else {"length": 0.0}
        given = self.begin(width, **parts)
        return {**given, "x0": np.append(0.0, given["x0"])}

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return [self._signal(np.where(self._left(t, x) > 0.0, 1.0, 0.0))]

    def watch(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return flat(self._left(t, x))

    def _left(self, t: float, x: Any) -> Any:
        """What is left of the pulses [s] (n,)."""
        return x[0] + x[1 : 1 + self._width] - t

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        n = self._width
        wanted = self.T * self._each(inputs[0]) / self.full
        wanted = wanted + x[1 + n :] if self.carry else wanted
        length = np.where(wanted < self.min_on, 0.0, np.clip(wanted, 0.0, self.T))
        rest = [np.clip(wanted - length, -self.T, self.T)] if self.carry else []
        return np.concatenate([np.ravel(t), length, *rest])


class Thrusters(Declared, ContinuousBlock):
    """On-off thrusters on the base: valves with delays and a shortest pulse.

    A valve opens once its command has been above 0.5 for `on_delay`, and closes once it has been
    below for `off_delay`, not before it has been open for `min_on`; a command that changes back
    within a delay has no effect. The thrust of an open valve is `thrust`, which it approaches with
    the time constant `rise`, and as it decays; at once for 0. A step ends where a valve opens or
    closes. Exported C and loops in real time move the valves at the start of a step.

    Source: B. Wie, "Space Vehicle Dynamics and Control" (2008), sec. 7.6; M. Sidi, "Spacecraft
    Dynamics and Control" (1997), sec. 9.2 and 9.4.

    :arg positions: of the thrusters from the base's centre of mass, base axes
    :arg directions: of the forces on the base, base axes, of any length
    :arg thrust: of an open valve
    :arg on_delay: from the command until the valve opens
    :arg off_delay: from the command until the valve closes
    :arg min_on: how long a valve is open at least
    :arg rise: time constant of the thrust
    """

    nin = 2
    nout = 3
    takes = (PortSpec("on", "n", "", "commands to the valves: above 0.5 to open"), *_R0)
    gives = (
        *quantities("tau0", tau0="torque of the thrusters, base axes, and force, inertial"),
        PortSpec("thrusts", "n", "N", "of each thruster"),
        PortSpec("impulse", "", "N s", "of all together since the start: propellant by Isp g0"),
    )
    positions = fixed("n, 3", "m", check=rows_of_three)
    directions = fixed("n, 3", check=directions_of)
    thrust = tunable("float or n", "N", least=0)
    on_delay = tunable("float or n", "s", 0.0, least=0)
    off_delay = tunable("float or n", "s", 0.0, least=0)
    min_on = tunable("float or n", "s", 0.0, least=0)
    rise = fixed("float", "s", 0.0, least=0)

    def build(self, positions: Any, directions: Any) -> dict[str, Any]:
        self._all = _wrenches(positions, directions)
        n = self._all.shape[1]
        # Each valve: 1 if open, 1 if its command differs, since when, and when it opened. Then
        # the impulse, and the thrusts if they take time.
        start = np.zeros(4 * n + 1 + (n if self.rise else 0))
        return {"x0": start, **self.resolve_ports(n=n), "feedthrough": True}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        f = self._thrust(x)
        w = self._all @ f
        return [np.concatenate([w[:3], inputs[1] @ w[3:]]), f, x[4 * self._count]]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        n, f = self._count, self._thrust(x)
        rates = [np.zeros(4 * n), np.ravel(np.sum(f))]
        if self.rise:
            rates.append((self._open(x) - f) / self.rise)
        return np.concatenate(rates)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        valve, differs, since, opened = self._modes(x)
        against = np.where(valve > 0.5, 0.5 - inputs[0], inputs[0] - 0.5)
        late = t - self._due(valve, since, opened)
        return flat(np.where(differs > 0.5, np.maximum(-against, late), against))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        valve, differs, since, opened = self._modes(x)
        against = np.where(valve > 0.5, 0.5 - inputs[0], inputs[0] - 0.5) > 0.0
        since = np.where(differs > 0.5, since, t)
        moves = np.logical_and(against, t >= self._due(valve, since, opened))
        return np.concatenate([
            np.where(moves, 1.0 - valve, valve),
            np.where(np.logical_and(against, np.logical_not(moves)), 1.0, 0.0),
            since,
            np.where(np.logical_and(moves, valve < 0.5), t, opened),
            x[4 * self._count :],
        ])  # fmt: skip

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x, with valves that are open or closed."""
        near, n = x + rng.normal(scale=spread, size=len(x)), 2 * self._count
        near[:n] = rng.choice([0.0, 1.0], n)
        return near

    def _due(self, valve: Any, since: Any, opened: Any) -> Any:
        """When a valve moves whose command has differed from it since then."""
        closes = np.maximum(since + self.off_delay, opened + self.min_on)
        return np.where(valve > 0.5, closes, since + self.on_delay)

    @property
    def _count(self) -> int:
        return int(self._all.shape[1])

    def _modes(self, x: Array) -> tuple[Any, ...]:
        n = self._count
        return tuple(x[k * n : (k + 1) * n] for k in range(4))

    def _open(self, x: Array) -> Any:
        return self.thrust * np.where(x[: self._count] > 0.5, 1.0, 0.0)

    def _thrust(self, x: Array) -> Any:
        return x[4 * self._count + 1 :] if self.rise else self._open(x)


class Pwpf(Channels, ContinuousBlock):
    """A pulse-width pulse-frequency modulator, for each entry of its signals.

    tau f' = gain (u - y) - f; y is 0 until |f| exceeds `on`, then `amplitude` with the sign of f
    until |f| falls below `off`. The mean of y follows u: with U = amplitude and a constant u > 0
    pulses of tau ln((on + gain (U - u)) / (off + gain (U - u))) come with gaps of tau ln((gain u -
    off) / (gain u - on)) in between. Below on / gain there are none, and from U + off / gain on y
    is always U. Steps end where y changes. Nothing feeds through.

    Source: B. Wie, "Space Vehicle Dynamics and Control" (2008), sec. 7.6.

    :arg gain: gain of the filter at rest
    :arg tau: its time constant
    :arg on: size of f at which a pulse begins
    :arg off: size of f at which it ends, below `on`
    :arg amplitude: of the pulses, in the unit of u
    """

    nin = 1
    nout = 1
    takes = (PortSpec("u", "float or n", "", "any signal"),)
    gives = (PortSpec("y", "float or n", "", "pulses: amplitude, 0 or -amplitude"),)
    gain = tunable("float or n", above=0)
    tau = tunable("float or n", "s", above=0)
    on = tunable("float or n", above=0)
    off = tunable("float or n", least=0)
    amplitude = tunable("float or n", "", 1.0, above=0)
    width = WIDTH

    def build(self, width: Any) -> dict[str, Any]:
        given = self.begin(width, f=0.0, mode=0.0)
        if np.any(np.asarray(self.off) >= self.on):
            text = f"off must be below on, not {brief(self.off)}"
            raise InputError(Fault(text, hint="without a gap it would switch without end"))
        return given

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._signal(bare(self.amplitude * self._parts(x)[1]))]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        f, mode = self._parts(x)
        rate = (self.gain * (self._each(inputs[0]) - self.amplitude * mode) - f) / self.tau
        return np.concatenate([rate, np.zeros(len(f))])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        f, mode = self._parts(x)
        return flat(np.where(np.abs(mode) > 0.5, self.off - mode * f, np.abs(f) - self.on))

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        f, mode = self._parts(x)
        begun = np.where(f > self.on, 1.0, np.where(f < -self.on, -1.0, 0.0))
        after = np.where(np.abs(mode) > 0.5, np.where(mode * f < self.off, 0.0, mode), begun)
        return np.concatenate([f, after])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x, with random signs of the pulses."""
        f, mode = self._parts(x)
        f = f + rng.normal(scale=spread, size=len(f))
        return np.concatenate([f, rng.choice([-1.0, 0.0, 1.0], len(mode))])

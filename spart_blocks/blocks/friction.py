"""A mass on a surface with dry friction, between stops."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.friction import DryFriction
from spart_blocks.block_support.limits import clipped, near_limits, within
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.formulas.crossings import flat


class Friction_Mass(Declared, DryFriction, ContinuousBlock):
    """A mass that a force moves against friction, and that sticks, for each entry of the force.

    Sliding, mass v' = f - sign(v) normal F(v) - viscous v with F(v) = coulomb + (static - coulomb)
    exp(-abs(v / stribeck)^exponent). At rest it sticks, v is exactly 0, until the size of f exceeds
    normal static. `normal` is 1, or with `pressed` an input, such as the force of a brake; below 0
    it counts as 0.

    At a limit of x, a hard stop, it rests until f draws it away from there by more than normal
    static. It rebounds with the speed restitution v, or not at all below `rest_speed`.

    Whether it slides or sticks is a state; a step ends where it changes. At a fixed rate, in
    exported C and in real time, it sticks at the end of the step in which v passes 0, and comes
    back to a stop at the end of the step that passes it. Nothing feeds through. In radians it is an
    inertia with friction in its bearing.

    Source: B. Armstrong-Helouvry, P. Dupont and C. Canudas de Wit, "A survey of models, analysis
    tools and compensation methods for the control of machines with friction", Automatica 30 (1994)
    1083; Modelica.Mechanics.Translational.Components.MassWithStopAndFriction, whose law has the
    exponent 1, F_Coulomb = coulomb, F_Stribeck = static - coulomb, fexp = 1 / stribeck and
    F_prop = viscous.

    :arg mass: mass
    :arg coulomb: friction when sliding; with `pressed`, for each unit of normal
    :arg static: largest friction at rest, no less than coulomb, which it is by default; likewise
    :arg stribeck: speed at which friction falls from static to coulomb
    :arg viscous: viscous friction
    :arg x0: initial position
    :arg v0: initial velocity
    :arg width: length of f, if all other parameters are scalars; by default f is a scalar then
    :arg exponent: how sharply friction falls: 2 as a Gaussian, 1 as an exponential
    :arg lower: position of the stop below, none by default
    :arg upper: position of the stop above, none by default
    :arg restitution: part of its speed with which it leaves a stop that it meets, 0 to 1
    :arg rest_speed: it rests at a stop that it would leave more slowly
    :arg pressed: whether it has the input normal
    """

    nin = 2
    nout = 3
    takes = (
        PortSpec("f", "float or n", "N", "force on the mass, without friction"),
        PortSpec("normal", "float or n", "", "scales its dry friction (with `pressed`)"),
    )
    gives = (
        PortSpec("x", "float or n", "m", "position"),
        PortSpec("v", "float or n", "m/s", "velocity"),
        PortSpec(
            "mode", "float or n", "", "1 or -1: it slides forwards or backwards, 0: it sticks"
        ),
    )
    mass = tunable("float or n", "kg", above=0)
    coulomb = tunable("float or n", "N", least=0)
    static = tunable("float or n", "", None, least=0)
    stribeck = tunable("float or n", "m/s", 0.01, above=0)
    viscous = tunable("float or n", "N s/m", 0.0, least=0)
    x0 = fixed("float or n", "m", 0.0)
    v0 = fixed("float or n", "m/s", 0.0)
    width = fixed("int", "", None)
    exponent = fixed("float", "", 2.0, above=0)
    lower = tunable("float or n", "m", None)
    upper = tunable("float or n", "m", None)
    restitution = tunable("float or n", "", 0.0, least=0, most=1)
    rest_speed = tunable("float or n", "m/s", 1e-3, least=0)
    pressed = fixed("bool", "", False)

    def build(self, x0: Any, v0: Any, width: Any, pressed: bool) -> dict[str, Any]:
        shape = self.shared_shape(width, x0=x0, v0=v0)
        self._check_friction()
        within(x0, self.lower, self.upper, ("x0", "lower", "upper"))
        parts = [x0, v0, np.sign(v0)]
        begin = np.concatenate([np.broadcast_to(part, shape or (1,)) for part in parts])
        ports = self.resolve_ports(n=shape, without="" if pressed else "normal")
        return {"x0": begin, **ports}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        parts = self._parts(x)
        return parts if self.in_ports[0].shape else [part[0] for part in parts]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        _, v, mode = self._parts(x)
        force, normal = self._given(inputs, v)
        rate = (force - self._resists(v, mode, normal)) / self.mass
        slides = np.abs(mode) > 0.5
        return np.concatenate([
            np.where(slides, v, 0.0), np.where(slides, rate, 0.0), np.zeros(len(v)),
        ])  # fmt: skip

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kinds of the first values of `watch`, as in Crossing."""
        masses: int = self.nstates // 3
        return ("mode",) * ((1 + len(self._stops())) * masses)

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """Above zero where it has come to rest, breaks away, or has met a stop; then normal."""
        position, v, mode = self._parts(x)
        force, normal = self._given(inputs, v)
        unfit = self._unfit(self._felt(force, position), v, mode, normal)
        met = (self._past(*stop, position, mode) for stop in self._stops())
        return flat(unfit, *met, *inputs[1:])

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        position, v, mode = self._parts(x)
        force, normal = self._given(inputs, v)
        rests, rebounds = mode * v <= 0, False
        for stop in self._stops():
            meets = self._past(*stop, position, mode) > 0
            position = np.where(meets, stop[0], position)
            leaves = np.abs(self.restitution * v) > self.rest_speed
            rebounds = np.logical_or(rebounds, np.logical_and(meets, leaves))
            rests = np.logical_or(rests, meets)
        at_rest = self._mode_at_rest(self._felt(force, position), normal)
        v = np.where(rebounds, -self.restitution * v, np.where(rests, 0.0, v))
        mode = np.where(rebounds, -mode, np.where(rests, at_rest, mode))
        return np.concatenate([position, v, mode])

    def restart(self, x: Array) -> Any:
        position, v, _ = self._parts(x)
        position = clipped(position, self.lower, self.upper)
        return np.concatenate([position, v, np.sign(v)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: it sticks at rest, also at a stop, or slides."""
        position, v, _ = self._parts(x + rng.normal(scale=spread, size=len(x)))
        position, by = near_limits(position, self.lower, self.upper, rng)
        v = np.where(by == 0.0, v * rng.integers(2, size=len(v)), 0.0)
        return np.concatenate([position, v, np.sign(v)])

    def _stops(self) -> list[tuple[Any, float]]:
        """The position of each stop, and the direction in which it is met."""
        stops = ((self.lower, -1.0), (self.upper, 1.0))
        return [(limit, side) for limit, side in stops if limit is not None]

    def _past(self, limit: Any, side: float, position: Any, mode: Any) -> Any:
        """Above zero where a mass that slides towards a stop has passed it."""
        return np.where(side * mode > 0.5, side * (position - limit), -1.0)

    def _felt(self, force: Any, position: Any) -> Any:
        """The force on a mass at rest, without what a stop takes."""
        for limit, side in self._stops():
            taken = side * np.minimum(side * force, 0.0)
            force = np.where(side * (position - limit) >= 0, taken, force)
        return force

    def _given(self, inputs: list[Any], v: Any) -> list[Any]:
        """The force (n,) and the normal force (n,), or 1."""
        return [*(np.reshape(one, (len(v),)) for one in inputs), 1.0][:2]

    def _parts(self, x: Array) -> list[Any]:
        n = len(x) // 3
        return [x[k : k + n] for k in range(0, len(x), n)]

"""Dry friction: a mass on a surface, between stops, and a clutch."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.channels import Channels
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.limits import clipped, near_limits, within
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import in_order
from spart_blocks.formulas.crossings import bare, flat


class _DryFriction:
    """Friction of surfaces that slide at the speed v under the normal force N:

    F(v) = N (coulomb + (static - coulomb) exp(-|v / stribeck|^exponent)) against the motion, and
    viscous v. The mode is 1 or -1 where they slide forwards or backwards, and 0 where they stick:
    there v is 0, and friction resists any force up to N static.
    """

    coulomb: Any
    static: Any
    stribeck: Any
    viscous: Any
    exponent: float

    def _check_friction(self) -> None:
        """Without static friction it is that of sliding; an InputError where it is below that."""
        if self.static is None:
            self.static = self.coulomb
        in_order(self.coulomb, self.static, ("coulomb", "static"))

    def _holds(self, normal: Any) -> Any:
        """The largest force that friction resists at rest; tuned parameters may be in the wrong
        order.
        """
        return _pressed(normal) * np.maximum(self.static, self.coulomb)

    def _resists(self, v: Any, mode: Any, normal: Any) -> Any:
        """The friction of a sliding pair, in the direction of v."""
        fall = np.exp(-(np.abs(v / self.stribeck) ** self.exponent))
        dry = self.coulomb + (np.maximum(self.static, self.coulomb) - self.coulomb) * fall
        return mode * _pressed(normal) * dry + self.viscous * v

    def _unfit(self, force: Any, v: Any, mode: Any, normal: Any) -> Any:
        """Above zero where a sliding pair has come to rest, and a sticking one breaks away."""
        breaks = np.abs(force) - self._holds(normal)
        return np.where(np.abs(mode) > 0.5, -mode * v, breaks)

    def _mode_at_rest(self, force: Any, normal: Any) -> Any:
        """The mode under a force at v = 0."""
        return np.where(np.abs(force) > self._holds(normal), np.sign(force), 0.0)


def _pressed(normal: Any) -> Any:
    return np.maximum(normal, 0.0)


class Friction_Mass(Channels, _DryFriction, ContinuousBlock):
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
        return {"x0": begin, **self.resolve_ports(n=shape, without="" if pressed else "normal")}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._signal(part) for part in self._parts(x)]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        _, v, mode = self._parts(x)
        force, normal = self._given(inputs)
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
        force, normal = self._given(inputs)
        unfit = self._unfit(self._felt(force, position), v, mode, normal)
        met = (self._past(*stop, position, mode) for stop in self._stops())
        return flat(unfit, *met, *inputs[1:])

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        position, v, mode = self._parts(x)
        force, normal = self._given(inputs)
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

    def _given(self, inputs: list[Any]) -> list[Any]:
        """The force (n,) and the normal force (n,), or 1."""
        return [*map(self._each, inputs), 1.0][:2]


_TORQUES = (
    PortSpec("tau1", "float or n", "N m", "torque on the first inertia, without the clutch"),
    PortSpec("tau2", "float or n", "N m", "torque on the second, likewise", optional=True),
    PortSpec("normal", "float or n", "", "force that presses the plates together"),
)
_STATE = (
    PortSpec("w1", "float or n", "rad/s", "speed of the first inertia"),
    PortSpec("w2", "float or n", "rad/s", "speed of the second"),
    PortSpec("mode", "float or n", "", "1 or -1: it slips with w1 above or below w2, 0: locked"),
)


class _Plates(Channels, _DryFriction):
    """Two inertias, and the friction between them.

    :arg inertia1: J1
    :arg inertia2: J2
    :arg coulomb: friction torque when slipping, for each unit of normal
    :arg static: largest torque when locked, no less than coulomb, which it is by default; likewise
    :arg stribeck: slip at which friction falls from static to coulomb
    :arg viscous: viscous drag between both, also when open
    :arg exponent: how sharply friction falls: 2 as a Gaussian, 1 as an exponential
    """

    inertia1 = tunable("float or n", "kg m^2", above=0)
    inertia2 = tunable("float or n", "kg m^2", above=0)
    coulomb = tunable("float or n", "N m", least=0)
    static = tunable("float or n", "", None, least=0)
    stribeck = tunable("float or n", "rad/s", 0.01, above=0)
    viscous = tunable("float or n", "N m s/rad", 0.0, least=0)
    exponent = fixed("float", "", 2.0, above=0)

    def _locked(self, tau1: Any, tau2: Any) -> Any:
        """The torque that keeps both at one speed."""
        return (self.inertia2 * tau1 - self.inertia1 * tau2) / (self.inertia1 + self.inertia2)


class Clutch(_Plates, ContinuousBlock):
    """A clutch between two inertias that slips or is locked, for each entry of the torques.

    Slipping at s = w1 - w2, J1 w1' = tau1 - T and J2 w2' = tau2 + T with T = sign(s) normal F(s) +
    viscous s and F(s) = coulomb + (static - coulomb) exp(-abs(s / stribeck)^exponent). It locks
    where s becomes 0, and both have one speed, (J1 + J2) w' = tau1 + tau2, until that would take
    more than normal static: the size of T = (J2 tau1 - J1 tau2) / (J1 + J2). A normal force below 0
    counts as 0: the clutch is open.

    Whether it slips or is locked is a state; a step ends where it changes. At a fixed rate, in
    exported C and in real time, it locks at the end of the step in which s passes 0, at the speed
    that keeps J1 w1 + J2 w2. Nothing feeds through. A brake is FRICTION_MASS with `pressed`.

    Source: M. Otter, H. Elmqvist and S. E. Mattsson, "Hybrid modeling in Modelica based on the
    synchronous data flow principle", CACSD (1999); Modelica.Mechanics.Rotational.Components.Clutch
    between two of Inertia, with its peak = static / coulomb.

    :arg w10: initial w1; it is locked at the start if w20 is the same
    :arg w20: initial w2
    :arg width: length of the torques, if all other parameters are scalars; by default they are
        scalars then
    """

    nin = 3
    nout = 3
    takes = _TORQUES
    gives = _STATE
    w10 = fixed("float or n", "rad/s", 0.0)
    w20 = fixed("float or n", "rad/s", 0.0)
    width = fixed("int", "", None)
    companion: ClassVar[str] = "CLUTCH_TORQUE"
    companion_outputs: tuple[str, ...] = ("torque",)

    def build(self, w10: Any, w20: Any, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width, w10=w10, w20=w20)
        self._check_friction()
        parts = [w10, w20, np.sign(np.subtract(w10, w20))]
        begin = np.concatenate([np.broadcast_to(part, shape or (1,)) for part in parts])
        return {"x0": begin, **self.resolve_ports(n=shape)}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        return [self._signal(part) for part in self._parts(x)]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = map(self._each, inputs)
        passes = self._resists(w1 - w2, mode, normal)
        slips = np.abs(mode) > 0.5
        together = (tau1 + tau2) / (self.inertia1 + self.inertia2)
        return np.concatenate([
            np.where(slips, (tau1 - passes) / self.inertia1, together),
            np.where(slips, (tau2 + passes) / self.inertia2, together),
            np.zeros(len(w1)),
        ])  # fmt: skip

    @property
    def watched_kinds(self) -> tuple[str, ...]:
        """The kinds of the first values of `watch`, as in Crossing."""
        clutches: int = self.nstates // 3
        return ("mode",) * clutches

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        """Above zero where the slip has ended, and where the plates break loose; then normal."""
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = map(self._each, inputs)
        return flat(self._unfit(self._locked(tau1, tau2), w1 - w2, mode, normal), normal)

    def switch(self, t: float, inputs: list[Any], x: Array) -> Any:
        w1, w2, mode = self._parts(x)
        tau1, tau2, normal = map(self._each, inputs)
        meet = mode * (w1 - w2) <= 0
        both = (self.inertia1 * w1 + self.inertia2 * w2) / (self.inertia1 + self.inertia2)
        after = np.where(meet, self._mode_at_rest(self._locked(tau1, tau2), normal), mode)
        return np.concatenate([np.where(meet, both, w1), np.where(meet, both, w2), after])

    def restart(self, x: Array) -> Any:
        w1, w2, _ = self._parts(x)
        return np.concatenate([w1, w2, np.sign(w1 - w2)])

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random state near x: locked, or slipping."""
        w1, w2, _ = self._parts(x + rng.normal(scale=spread, size=len(x)))
        w2 = np.where(rng.integers(2, size=len(w1)), w2, w1)
        return np.concatenate([w1, w2, np.sign(w1 - w2)])

    def make_companion(self, **blockargs: Any) -> Clutch_Torque:
        """The companion block with the torque that it transmits."""
        shape = self.in_ports[0].shape
        width = shape[0] if shape else None
        law = {name: getattr(self, name) for name in (*self.tunable, "exponent")}
        return Clutch_Torque(**law, width=width, **blockargs)


class Clutch_Torque(_Plates, FunctionBlock):
    """The torque that a CLUTCH transmits, from its first inertia to its second.

    Wire it to the inputs and outputs of a CLUTCH with the same parameters.

    :arg width: length of the torques, if all other parameters are scalars
    """

    nin = 6
    nout = 1
    takes = (*_TORQUES, *_STATE)
    gives = (PortSpec("torque", "float or n", "N m", "torque on the second inertia"),)
    width = fixed("int", "", None)

    def build(self, width: Any) -> dict[str, Any]:
        shape = self.shared_shape(width)
        self._check_friction()
        return self.resolve_ports(n=shape)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau1, tau2, normal, w1, w2, mode = inputs
        slips = np.abs(mode) > 0.5
        passes = self._resists(w1 - w2, mode, normal)
        torque = np.where(slips, passes, self._locked(tau1, tau2))
        return [torque if self.in_ports[0].shape else bare(torque)]

"""Reaction wheels and control-moment gyroscopes, and how they are commanded."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array, cos, cross, sin, solve_spd
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import directions_of
from spart_blocks.formulas.crossings import flat

_ANGLES = PortSpec("angles", "n", "rad", "of the gimbals")
_MOMENTUM = (
    PortSpec("h", "3", "N m s", "momentum of what turns, base axes"),
    PortSpec("hdot", "3", "N m", "its rate in base axes"),
)
PYRAMID = np.arctan(np.sqrt(2.0))
"""Skew angle [rad] of a pyramid whose four gyroscopes reach about as far in every direction."""
_WOBBLE = 0.01


class _Cluster(Declared):
    """Geometry of a cluster of gyroscopes with single gimbals."""

    skew = fixed("float", "rad", PYRAMID)
    gimbals = fixed("n, 3", "", None, check=directions_of)
    spins = fixed("n, 3", "", None, check=directions_of)
    _s: Array
    _t: Array

    def _layout(self) -> tuple[Array, Array]:
        """The axes of the spins at the angle 0, and those across (n, 3)."""
        if self.gimbals is None and self.spins is None:
            turn, tilt = np.arange(4) * np.pi / 2, self.skew
            flat_ = np.stack([np.cos(turn), np.sin(turn), 0 * turn], axis=1)
            g = np.sin(tilt) * flat_ + np.cos(tilt) * np.array([0.0, 0.0, 1.0])
            s = np.stack([-np.sin(turn), np.cos(turn), 0 * turn], axis=1)
            return s, cross(g, s)
        if self.gimbals is None or self.spins is None:
            raise InputError(Fault("gimbals and spins come together", hint="or give skew alone"))
        g, s = self.gimbals, self.spins
        if g.shape != s.shape:
            raise InputError(f"gimbals has {len(g)} rows and spins has {len(s)}")
        if np.abs(np.sum(g * s, axis=1)).max() > 1e-6:
            raise InputError("each of spins must be at right angles to its gimbal axis")
        return s, cross(g, s)

    def _directions(self, angles: Any) -> tuple[Any, Any]:
        """Directions (n,3) of the momenta, and their derivatives by the angles."""
        c, s = cos(angles)[:, None], sin(angles)[:, None]
        return c * self._s + s * self._t, c * self._t - s * self._s


class Control_Moment_Gyros(_Cluster, ContinuousBlock):
    """Control-moment gyroscopes with single gimbals on the base: momenta that are turned.

    The momentum of gyroscope i is h_i (s cos d + g x s sin d), with the gimbal axis g, the spin
    axis s at the angle d = 0. The gimbal rates r follow their commands as lag r' = command - r,
    within the rate limit. The base has the torque
    tau0 = - h' - w x h, with the base's angular rate w.
    Inertia of the gimbals is left out. Nothing feeds through: a steering law may follow `angles`.
    `tau0`, which is of u0 too, comes from MOMENTUM_TORQUE; the loader adds it if a wire uses it.

    By default four are in a pyramid about z: their gimbal axes lean from z by the skew angle
    towards x, y, -x and -y.

    Source: B. Wie, "Space Vehicle Dynamics and Control" (2008), sec. 7.4.

    :arg momentum: h of each
    :arg skew: angle of the pyramid, by default 54.74 degrees
    :arg gimbals: gimbal axes in base axes, instead of a pyramid
    :arg spins: spin axes at the angle zero
    :arg lag: time constant of the gimbal rates
    :arg rate_limit: largest gimbal rate, none by default
    :arg angles0: gimbal angles at the start
    """

    nin = 2
    nout = 4
    takes = (PortSpec("rates", "n", "rad/s", "commanded rates of the gimbals"), *quantities("u0"))
    gives = (
        _ANGLES,
        *_MOMENTUM,
        PortSpec("measure", "", "", "sqrt(det(A A')), of directions A (3, n); 0 at a singularity"),
    )
    momentum = tunable("float or n", "N m s", above=0)
    lag = fixed("float", "s", 0.02, above=0)
    rate_limit = tunable("float or n", "rad/s", None, above=0)
    angles0 = fixed("float or n", "rad", 0.0)
    companion: ClassVar[str] = "MOMENTUM_TORQUE"
    companion_outputs: tuple[str, ...] = ("tau0",)

    def build(self) -> dict[str, Any]:
        self._s, self._t = self._layout()
        n = len(self._s)
        ports = self.resolve_ports(n=n)
        return {"x0": np.concatenate([np.broadcast_to(self.angles0, (n,)), np.zeros(n)]), **ports}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        n = len(self._s)
        along, across = self._directions(x[:n])
        h = np.sum(np.reshape(self.momentum + np.zeros(n), (n, 1)) * along, axis=0)
        hdot = np.sum(np.reshape(self.momentum * x[n:], (n, 1)) * across, axis=0)
        a, b, c = across.T @ across
        measure = np.sqrt(np.maximum(np.sum(a * cross(b, c)), 0.0))
        return [x[:n], h, hdot, measure]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        n, wanted = len(self._s), inputs[0]
        if self.rate_limit is not None:
            wanted = np.clip(wanted, -self.rate_limit, self.rate_limit)
        return np.concatenate([x[n:], (wanted - x[n:]) / self.lag])

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        if self.rate_limit is None:
            return []
        return flat(inputs[0] - self.rate_limit, inputs[0] + self.rate_limit)

    def make_companion(self, **blockargs: Any) -> Momentum_Torque:
        """The companion block with their torque on the base."""
        return Momentum_Torque(**blockargs)


class Momentum_Torque(Declared, FunctionBlock):
    """The torque on the base of a momentum that it carries: tau0 = - h' - w x h, in base axes.

    h' is the rate of h in base axes, w the angular rate of the base.

    Source: B. Wie, "Space Vehicle Dynamics and Control" (2008), eq. 7.65.
    """

    nin = 3
    nout = 1
    takes = (*_MOMENTUM, *quantities("u0"))
    gives = quantities("tau0", tau0="torque on the base, base axes, and no force")
    parameters = ()

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        h, hdot, u0 = inputs
        return [np.concatenate([-hdot - cross(u0[:3], h), np.zeros(3)])]


class Gyro_Steering(_Cluster, FunctionBlock):
    """Gimbal rates for a torque on the base: the generalised singularity-robust inverse.

    rates = - A' (A A' + lambda E)^-1 (n + w x h) / h + N k (dd - d). A (3, n) are the
    derivatives of the directions by the gimbal angles d, n the wanted torque. lambda = damping
    exp(- sharpness det(A A')) grows near a singularity, where E, a unit matrix with off-diagonal
    entries 0.01 sin(pi t / 2 + phase) with the phases 0, pi / 2 and pi, leads the gimbals out. N is
    the projection on the null space of A: there they approach the preferred angles dd. The
    gyroscopic torque w x h is 0 where u0 and h have no wire.

    Source: B. Wie, D. Bailey and C. Heiberg, "Singularity robust steering logic for redundant
    single-gimbal control moment gyros", J. Guidance, Control, and Dynamics 24 (2001) 865.

    :arg momentum: h of each, the same for all
    :arg skew: angle of the pyramid, by default 54.74 degrees
    :arg gimbals: gimbal axes in base axes, instead of a pyramid
    :arg spins: spin axes at the angle zero
    :arg damping: lambda at a singularity
    :arg sharpness: how fast lambda falls away from it
    :arg null_gain: k, of the motion in the null space
    :arg preferred: dd, preferred gimbal angles
    """

    nin = 4
    nout = 1
    takes = (
        *quantities("tau0", tau0="wanted torque on the base, base axes; its force is not used"),
        _ANGLES,
        *quantities("u0?"),
        PortSpec("h", "3", "N m s", "momentum of the gyroscopes, base axes", optional=True),
    )
    gives = (PortSpec("rates", "n", "rad/s", "commanded rates of the gimbals"),)
    momentum = tunable("float", "N m s", above=0)
    damping = tunable("float", "", 0.01, above=0)
    sharpness = tunable("float", "", 10.0, least=0)
    null_gain = tunable("float", "1/s", 0.0, least=0)
    preferred = tunable("float or n", "rad", 0.0)

    def build(self) -> dict[str, Any]:
        self._s, self._t = self._layout()
        return self.resolve_ports(n=len(self._s))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau0, angles, u0, h = inputs
        _, across = self._directions(angles)
        AA = across.T @ across
        size = np.sum(AA[0] * cross(AA[1], AA[2]))
        damped = AA + self.damping * np.exp(-self.sharpness * size) * _wobbling(t)
        null = self.null_gain * (self.preferred - angles)
        wanted = (tau0[:3] + cross(u0[:3], h)) / self.momentum + across.T @ null
        return [null - across @ solve_spd(damped, wanted, "the matrix of the gyroscopes")]


def _wobbling(t: Any) -> Any:
    """E (3,3)."""
    e1, e2, e3 = (_WOBBLE * np.sin(0.5 * np.pi * t + phase) for phase in (0.0, np.pi / 2, np.pi))
    return np.array([[1.0, e3, e2], [e3, 1.0, e1], [e2, e1, 1.0]])


_FADE = 0.02
"""Part of the speed limit below it in which the torque of the motor falls to zero."""
_SPEEDS = PortSpec("speeds", "n", "rad/s", "of the wheels relative to the base")


class Reaction_Wheels(Declared, ContinuousBlock):
    """Reaction wheels on the base: motors with limits, friction, and what they store.

    The wheel i with the axis a, the moment of inertia J about it, and the speed W relative to the
    base has the momentum h = J (W + a . w), where w is the base's angular rate. The motor's torque
    T, less friction F, changes it: h' = T - F, and the base has the torque - sum a (T - F) - w x
    sum a h. This is exact if the plant's inertia contains the wheels' masses, and their moments of
    inertia except J a a'.

    T is the command within -limit and limit. Over the last 2 % up to the speed limit the torque
    that drives a wheel faster falls to zero, as its motor's voltage runs out. F = viscous W +
    coulomb W / creep, where |W / creep| is at most 1: a wheel at rest yields to a torque T below
    coulomb at the speed creep T / coulomb. For one that really sticks, make the wheels joints of
    the robot, with `coulomb` in their drives. A step ends where a limit begins or ends.

    The command feeds through: a loop through `speeds` needs a block in it that delays,
    such as a sampled controller, or a PT1 as the lag of the motors.

    Source: F. Markley and J. Crassidis, "Fundamentals of Spacecraft Attitude Determination and
    Control" (2014), sec. 3.3.5 and 4.8.3; J. Wertz (ed.), "Spacecraft Attitude Determination and
    Control" (1978), sec. 7.9.

    :arg axes: of the wheels in base axes, of any length
    :arg inertia: J of each about its axis
    :arg limit: largest torque of the motors, none by default
    :arg speed_limit: largest speed, none by default; it takes a limit of the torque too
    :arg viscous: viscous friction
    :arg coulomb: Coulomb friction
    :arg creep: speed below which Coulomb friction is in proportion to speed
    :arg speeds0: speeds at the start relative to a base at rest
    """

    nin = 2
    nout = 3
    takes = (PortSpec("torque", "n", "N m", "commands to the motors"), *quantities("u0"))
    gives = (
        *quantities("tau0", tau0="torque of the wheels on the base, base axes, and no force"),
        _SPEEDS,
        PortSpec("h", "3", "N m s", "momentum of the wheels about their axes, base axes"),
    )
    axes = fixed("n, 3", check=directions_of)
    inertia = tunable("float or n", "kg m^2", above=0)
    limit = tunable("float or n", "N m", None, above=0)
    speed_limit = tunable("float or n", "rad/s", None, above=0)
    viscous = tunable("float or n", "N m s/rad", 0.0, least=0)
    coulomb = tunable("float or n", "N m", 0.0, least=0)
    creep = fixed("float", "rad/s", 0.1, above=0)
    speeds0 = fixed("float or n", "rad/s", 0.0)

    def build(self) -> dict[str, Any]:
        n = len(self.axes)
        if self.speed_limit is not None and self.limit is None:
            hint = "give limit, the largest torque of the motors"
            raise InputError(Fault("speed_limit takes a limit of the torque too", hint=hint))
        given = {**self.resolve_ports(n=n), "feedthrough": True}
        self._rubs = bool(np.any(np.asarray(self.coulomb) > 0))
        return {"x0": self.inertia * np.broadcast_to(self.speeds0, (n,)), **given}

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        speeds, h = self._speeds(inputs, x), x @ self.axes
        torque = -(self._acting(inputs, speeds) @ self.axes) - cross(inputs[1][:3], h)
        return [np.concatenate([torque, np.zeros(3)]), speeds, h]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        return self._acting(inputs, self._speeds(inputs, x))

    def watch(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        speeds = self._speeds(inputs, x)
        values: list[Any] = []
        if self._rubs:
            values += [speeds - self.creep, speeds + self.creep]
        if self.limit is not None:
            lower, upper = self._limits(speeds)
            values += [inputs[0] - lower, inputs[0] - upper]
        if self.speed_limit is not None:
            values.append(np.abs(speeds) - (1.0 - _FADE) * self.speed_limit)
        return flat(*values)

    def _speeds(self, inputs: list[Any], x: Array) -> Any:
        """Speeds relative to the base (n,)."""
        return x / self.inertia - self.axes @ inputs[1][:3]

    def _limits(self, speeds: Any) -> tuple[Any, Any]:
        """The least and the largest torque of the motors at these speeds."""
        if self.speed_limit is None:
            return -self.limit, self.limit
        fade = _FADE * self.speed_limit
        down, up = (
            np.clip((self.speed_limit + side * speeds) / fade, 0.0, 1.0) for side in (1.0, -1.0)
        )
        return -self.limit * down, self.limit * up

    def _acting(self, inputs: list[Any], speeds: Any) -> Any:
        """Torques of the motors less friction (n,)."""
        torque = inputs[0]
        if self.limit is not None:
            lower, upper = self._limits(speeds)
            torque = np.minimum(np.maximum(torque, lower), upper)
        friction = self.coulomb * np.clip(speeds / self.creep, -1.0, 1.0)
        return torque - self.viscous * speeds - friction


class Wheel_Allocation(Declared, FunctionBlock):
    """Torques of reaction wheels for a torque on the base.

    torque = - A# (n + w x h) + N k (Wd - W), where A# is the pseudo-inverse of the axes, n the
    wanted torque, w x h the gyroscopic torque of the wheels (0 where u0 and h have no wire), and N
    the projection on the null space of A: with four wheels or more their speeds W approach Wd as
    far as this gives no torque on the base.

    Source: F. Markley and J. Crassidis, "Fundamentals of Spacecraft Attitude Determination and
    Control" (2014), sec. 7.3.4.

    :arg axes: of the wheels in base axes, of any length
    :arg speed_gain: k, of the motion in the null space
    :arg preferred: Wd, speeds that they approach
    """

    nin = 4
    nout = 1
    takes = (
        *quantities("tau0", tau0="wanted torque on the base, base axes; its force is not used"),
        *quantities("u0?"),
        PortSpec("h", "3", "N m s", "momentum of the wheels, base axes", optional=True),
        PortSpec("speeds", "n", "rad/s", "of the wheels, used with speed_gain", optional=True),
    )
    gives = (PortSpec("torque", "n", "N m", "commands to the motors"),)
    axes = fixed("n, 3", check=directions_of)
    speed_gain = tunable("float", "N m s/rad", 0.0, least=0)
    preferred = tunable("float or n", "rad/s", 0.0)

    def build(self, axes: Any) -> dict[str, Any]:
        n = len(axes)
        self._inverse = np.linalg.pinv(axes.T)
        self._null = np.eye(n) - self._inverse @ axes.T
        return self.resolve_ports(n=n)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        tau0, u0, h, speeds = inputs
        torque = -(self._inverse @ (tau0[:3] + cross(u0[:3], h)))
        return [torque + self._null @ (self.speed_gain * (self.preferred - speeds))]

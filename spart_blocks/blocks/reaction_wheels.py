"""Reaction wheels, and the torques that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.axes import directions_of
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.formulas.crossings import flat

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

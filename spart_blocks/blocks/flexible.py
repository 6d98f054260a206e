"""Flexible appendages and sloshing fuel, and wrenches at points of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import LinkPoint
from spart_blocks.block_support.quantities import need_robot, quantities
from spart_blocks.block_support.values import not_negative, numbers, positive, positive_number
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.robot import Robot

_WRENCH = "N m, N"


class Flexible_Appendage(Declared, ContinuousBlock):
    """The flexible modes of an appendage of the base, such as a solar array: constrained modes that
    the base's rotation drives.

    A mode q with the frequency w and the damping ratio z, of the appendage held at the base, obeys
    q'' + 2 z w q' + w^2 q = - d . omega', where d is its participation: the angular momentum of the
    appendage is d q' when it vibrates. The block keeps p = q' + d . omega, which obeys p' = - 2 z w
    q' - w^2 q. The base has the torque - sum d p' - omega x sum d p. No acceleration enters, so
    that there is no algebraic loop, and this is exact: for a plant whose inertia contains that of
    the rigid appendage, less sum d d'. On a free base that has, appendage and all, the inertia I
    about d, the frequency of one mode is then w / sqrt(1 - |d|^2 / I). Participation in translation
    is left out: it takes links with springs at their joints.

    Source: P. Likins, "Dynamics and control of flexible space vehicles", JPL TR 32-1329 (1970),
    hybrid coordinates; M. Sidi, "Spacecraft Dynamics and Control" (1997), sec. 10.5.

    :param frequency: w of each mode [rad/s]
    :type frequency: float or array_like(n)
    :param damping: damping ratio z of each mode
    :type damping: float or array_like(n)
    :param participation: d of each mode in base axes, a row for each [sqrt(kg) m]
    :type participation: array_like(n,3)
    :param q0: at the start [sqrt(kg) m]
    :type q0: array_like(n), optional
    :param omega0: angular rate at the start of a base on which q' is 0 then, base axes [rad/s]
    :type omega0: array_like(3), optional
    """

    nin = 1
    nout = 3
    takes = quantities("u0")
    gives = (
        *quantities("tau0", tau0="torque on the base, base axes, and no force"),
        PortSpec("q", "n", "sqrt(kg) m", "modes"),
        PortSpec("h", "3", "N m s", "sum d p, momentum that the modes carry, base axes"),
    )
    tunable = ("frequency", "damping")

    def __init__(
        self, frequency: Any, damping: Any, participation: Any, q0: Any = None,
        omega0: Any = None, **blockargs: Any,
    ) -> None:  # fmt: skip
        self._d = np.atleast_2d(numbers(participation, "participation"))
        if self._d.ndim != 2 or self._d.shape[1] != 3:
            raise ValueError(f"participation must be rows of three numbers, not {self._d.shape}")
        n = len(self._d)
        self.frequency = positive(frequency, "frequency")
        self.damping = not_negative(damping, "damping")
        for name in ("frequency", "damping"):
            if np.shape(getattr(self, name)) not in ((), (n,)):
                raise InputError(f"{name} has other than {n} entries, the rows of participation")
        start = np.zeros(n) if q0 is None else numbers(q0, "q0", (n,))
        rate = np.zeros(3) if omega0 is None else numbers(omega0, "omega0", (3,))
        x0 = np.concatenate([start, self._d @ rate])
        given = {**self.resolve_ports(n=n), "feedthrough": True}
        super().__init__(nstates=2 * n, x0=x0, **given, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        n, w = len(self._d), inputs[0][:3]
        h, change = x[n:] @ self._d, self.deriv(t, inputs, x)[n:] @ self._d
        return [np.concatenate([-change - cross(w, h), np.zeros(3)]), x[:n], h]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        n = len(self._d)
        rate = x[n:] - self._d @ inputs[0][:3]
        w = self.frequency
        return np.concatenate([rate, -2.0 * self.damping * w * rate - w * w * x[:n]])


class Slosh(Declared, ContinuousBlock):
    """Sloshing fuel as a mass on springs, in a tank that is fixed on a link.

    A mass m is held at a point of the link by springs and dampers along the axes of the link's
    frame: f = m w^2 s + 2 z m w s' for its displacement s in these axes. It is a particle of its
    own: the plant's inertia does not contain it. The link gets the force f and the torque s x f at
    the point, so that momentum and angular momentum are kept. The block keeps s and the mass's
    inertial velocity; no acceleration enters, and there is no algebraic loop. Frame and twist of
    the point come from END_EFFECTOR, the wrench goes to the plant through LINK_WRENCH.

    Source: F. Dodge, "The New Dynamic Behavior of Liquids in Moving Containers" (2000), sec. 3.1.

    :param mass: m [kg]
    :type mass: float
    :param frequency: w along each axis of the frame [rad/s]
    :type frequency: float or array_like(3)
    :param damping: damping ratio z
    :type damping: float or array_like(3)
    :param s0: displacement at the start [m]
    :type s0: array_like(3), optional
    :param v0: velocity at the start, inertial [m/s]
    :type v0: array_like(3), optional
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("R", "3, 3", "", "rotation of the frame, to inertial"),
        *quantities("tp"),
        PortSpec("gravity", "3", "m/s^2", "acceleration of gravity, inertial axes", optional=True),
    )
    gives = (
        PortSpec("wrench", "6", _WRENCH, "torque and force on the link at the point, inertial"),
        PortSpec("s", "3", "m", "displacement of the mass, axes of the frame"),
    )
    tunable = ("mass", "frequency", "damping")

    def __init__(
        self, mass: float, frequency: Any, damping: Any = 0.0, s0: Any = None, v0: Any = None,
        **blockargs: Any,
    ) -> None:  # fmt: skip
        self.mass = positive_number(mass, "mass", "kg")
        self.frequency = positive(frequency, "frequency")
        self.damping = not_negative(damping, "damping")
        for name in ("frequency", "damping"):
            if np.shape(getattr(self, name)) not in ((), (3,)):
                raise InputError(f"{name} must be a number or three, for the axes of the frame")
        start = [
            np.zeros(3) if value is None else numbers(value, name, (3,))
            for name, value in (("s0", s0), ("v0", v0))
        ]
        given = {**self.resolve_ports(), "feedthrough": True}
        super().__init__(nstates=6, x0=np.concatenate(start), **given, **blockargs)

    def output(self, t: float, inputs: list[Any], x: Array) -> list[Any]:
        R, s = inputs[0], x[:3]
        f = self.mass * self._pull(inputs, x)
        return [np.concatenate([R @ cross(s, f), R @ f]), s]

    def deriv(self, t: float, inputs: list[Any], x: Array) -> Any:
        fall = inputs[2] - inputs[0] @ self._pull(inputs, x)
        return np.concatenate([self._rate(inputs, x), fall])

    def _rate(self, inputs: list[Any], x: Array) -> Any:
        """s' (3,)."""
        R, tp = inputs[:2]
        return R.T @ (x[3:] - tp[3:]) - cross(R.T @ tp[:3], x[:3])

    def _pull(self, inputs: list[Any], x: Array) -> Any:
        """f / m (3,)."""
        w = self.frequency
        return w * w * x[:3] + 2.0 * self.damping * w * self._rate(inputs, x)


class Link_Wrench(Declared, FunctionBlock):
    """A wrench at a point of a link as the plant's inputs wF0 and wFm: at the centre of mass of the
    link, and zero on all other links.

    Several are added by SUM.

    :param robot: the robot model
    :type robot: Robot
    :param frame: the link in whose URDF frame the point is fixed
    :type frame: str
    :param offset: the point in that frame [m], its origin by default
    :type offset: array_like(3), optional
    """

    nin = 4
    nout = 2
    takes = (
        PortSpec("wrench", "6", _WRENCH, "torque and force at the point, inertial"),
        *quantities("R0 r0 qm"),
    )
    gives = quantities("wF0 wFm")

    def __init__(
        self, robot: Robot, frame: str | int, offset: Any = None, **blockargs: Any
    ) -> None:
        self.robot = need_robot(robot, "LINK_WRENCH")
        self.point = LinkPoint.of(robot, frame, offset)
        super().__init__(**self.resolve_ports(robot), **blockargs)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        wrench, R0, r0, qm = inputs
        link = self.point.link
        K = kinematics(R0, r0, qm, self.robot)
        T = frame_of_link(link, R0, r0, K.RL, K.rL, self.robot)
        at = T[:3, 3] + T[:3, :3] @ self.point.offset
        arm = at - (K.rL[link - 1] if link else r0)
        moved = np.concatenate([wrench[:3] + cross(arm, wrench[3:]), wrench[3:]])
        here = np.zeros((self.robot.n_links_joints + 1, 1))
        here[link] = 1.0
        both = here * moved[None, :]
        return [both[0], both[1:]]

"""Flexible appendages and sloshing fuel, and wrenches at points of a robot."""

from __future__ import annotations

from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock, FunctionBlock

from spart_blocks.base.spatial import Array, cross
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.motion import OfPoint
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.quantities import quantities
from spart_blocks.block_support.values import numbers
from spart_blocks.dynamics import frame_of_link, kinematics

_WRENCH = "N m, N"


def _participation(value: Any, name: str) -> Array:
    found = np.atleast_2d(numbers(value, name))
    if found.ndim != 2 or found.shape[1] != 3:
        raise ValueError(f"{name} must be rows of three numbers, not {found.shape}")
    return found


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

    :arg frequency: w of each mode
    :arg damping: damping ratio z of each mode
    :arg participation: d of each mode in base axes, a row for each
    :arg q0: at the start
    :arg omega0: angular rate at the start of a base on which q' is 0 then, base axes
    """

    nin = 1
    nout = 3
    takes = quantities("u0")
    gives = (
        *quantities("tau0", tau0="torque on the base, base axes, and no force"),
        PortSpec("q", "n", "sqrt(kg) m", "modes"),
        PortSpec("h", "3", "N m s", "sum d p, momentum that the modes carry, base axes"),
    )
    frequency = tunable("float or n", "rad/s", above=0)
    damping = tunable("float or n", least=0)
    participation = fixed("n, 3", "sqrt(kg) m", check=_participation)
    q0 = fixed("n", "sqrt(kg) m", None)
    omega0 = fixed("3", "rad/s", None)

    def build(self, participation: Any, q0: Any, omega0: Any) -> dict[str, Any]:
        self._d, n = participation, len(participation)
        given = {**self.resolve_ports(n=n), "feedthrough": True}
        start = np.zeros(n) if q0 is None else numbers(q0, "q0", (n,))
        rate = np.zeros(3) if omega0 is None else omega0
        x0 = np.concatenate([start, self._d @ rate])
        return {"x0": x0, **given}

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

    :arg mass: m
    :arg frequency: w along each axis of the frame
    :arg damping: damping ratio z
    :arg s0: displacement at the start
    :arg v0: velocity at the start, inertial
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
    mass = tunable("float", "kg", above=0)
    frequency = tunable("float or 3", "rad/s", above=0)
    damping = tunable("float or 3", "", 0.0, least=0)
    s0 = fixed("3", "m", None)
    v0 = fixed("3", "m/s", None)

    def build(self, s0: Any, v0: Any) -> dict[str, Any]:
        start = [np.zeros(3) if value is None else value for value in (s0, v0)]
        return {"x0": np.concatenate(start), "feedthrough": True, **self.resolve_ports()}

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


class Link_Wrench(OfPoint, FunctionBlock):
    """A wrench at a point of a link as the plant's inputs wF0 and wFm: at the centre of mass of the
    link, and zero on all other links.

    Several are added by SUM.
    """

    nin = 4
    nout = 2
    takes = (
        PortSpec("wrench", "6", _WRENCH, "torque and force at the point, inertial"),
        *quantities("R0 r0 qm"),
    )
    gives = quantities("wF0 wFm")

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

"""A closed robot as its actuated joints move it: the others follow.

With um = G ua on the loops, virtual power gives the actuators' forces tau = G' (H umdot + h
- other forces), and the inertia that they feel G' H G. Motions that neither loops nor
actuators determine, such as a rod's spin between two spherical joints, are the smallest.

Source: R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic Manipulation"
(1994), sec. 6.1 to 6.3; J. Merlet, "Parallel Robots" (2006), ch. 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.dynamics.assembly import places_in_um
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.loops import loop_bias, loop_jacobian
from spart_blocks.dynamics.newton_euler import multibody_forces
from spart_blocks.errors import RobotError, brief
from spart_blocks.robot import Robot
from spart_blocks.spatial import Array, array, solve_spd, zeros


class ActuatedForces(NamedTuple):
    """tau (n_a,) [N m, N]: of the actuators; umdot (nu,): of all joints; lam (m,) [N, N m]:
    of the loops."""

    tau: Array
    umdot: Array
    lam: Array


def actuated_places(robot: Robot, actuated: Sequence[str]) -> list[int]:
    """The places in um of actuated joints by name, in their order. Raises RobotError for
    what is no joint of one axis, and for one that is named twice."""
    if isinstance(actuated, str) or not isinstance(actuated, Sequence) or not actuated:
        raise RobotError(f"the joints are a list of names, not {actuated!r}")
    places = []
    for name in actuated:
        found = places_in_um(robot, [name])
        if len(found) != 1:
            raise RobotError(f"joint {brief(name)} has {len(found)} rates; name joints of one axis")
        if found[0] in places:
            raise RobotError(f"joint {brief(name)} is named twice")
        places += found
    return places


def position_of(robot: Robot, place: int) -> int:
    """The place in qm of the joint of one axis with this place in um."""
    return next(int(entry.q.start) for entry in robot.layout if entry.u.start == place)


def actuated_map(qm: Any, robot: Robot, actuated: Sequence[int]) -> Array:
    """G (nu, n_a): the joint rates for each actuated rate, at qm (nq,) on the loops.

    actuated: places in um. Raises RobotError for a floating base, whose motion follows from
    momentum as well.
    """
    followed = _Following(qm, robot, actuated)
    return followed.rates(np.eye(len(actuated)), None)


class _Following:
    """The joints that follow: J_f x = -(J_a ua + bias), the smallest x."""

    def __init__(self, qm: Any, robot: Robot, actuated: Sequence[int]) -> None:
        if robot.base == "floating":
            raise RobotError(f"{robot.name} floats: its motion is not that of its actuators alone")
        self.robot, self.actuated = robot, list(actuated)
        self.free = [k for k in range(robot.nu) if k not in self.actuated]
        self.J = loop_jacobian(qm, robot)
        self.Jf = self.J[:, self.free]

    def rates(self, ua: Array, bias: Array | None) -> Array:
        """All joint rates (nu, ...) for those of the actuated joints (n_a, ...)."""
        known = -(self.J[:, self.actuated] @ ua)
        if bias is not None:
            known = known - bias
        out = zeros((self.robot.nu, *ua.shape[1:]), self.J, ua, known)
        out[self.actuated] = ua
        if len(self.J):
            out[self.free] = self.Jf.T @ self.inverse(known)
        return out

    def inverse(self, b: Array) -> Array:
        """(J_f J_f')^-1 b."""
        return solve_spd(self.Jf @ self.Jf.T, b, "the loops with the actuators held")


def actuated_rates(qm: Any, ua: Any, robot: Robot, actuated: Sequence[int]) -> Array:
    """um (nu,) for the rates ua (n_a,) of the actuated joints, at qm (nq,) on the loops."""
    return _Following(qm, robot, actuated).rates(array(ua, (len(actuated),), "ua"), None)


def actuated_inertia(qm: Any, robot: Robot, actuated: Sequence[int]) -> Array:
    """G' H G (n_a, n_a) [kg m^2, kg]: the inertia that the actuators feel."""
    G = actuated_map(qm, robot, actuated)
    reduced: Array = G.T @ multibody_inertia(np.eye(3), qm, robot).Hm @ G
    return reduced


def actuated_forces(
    R0: Any,
    qm: Any,
    um: Any,
    uadot: Any,
    taum: Any,
    wFm: Any,
    robot: Robot,
    actuated: Sequence[int],
) -> ActuatedForces:
    """Inverse dynamics for chosen actuated joints.

    R0 (3,3): attitude of the fixed base. qm (nq,), um (nu,): a state on the loops. uadot
    (n_a,) [rad/s^2, m/s^2]: accelerations of the actuated joints. taum (nu,) [N m, N]:
    forces at the joints beside the actuators'. wFm (n,6): wrenches on the links, inertial.
    """
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    uadot, taum = array(uadot, (len(actuated),), "uadot"), array(taum, (robot.nu,), "taum")
    followed, none = _Following(qm, robot, actuated), np.zeros(6)
    umdot = followed.rates(uadot, loop_bias(qm, um, robot))
    need = multibody_forces(R0, none, qm, um, none, umdot, none, wFm, robot).taum - taum
    G = followed.rates(np.eye(len(actuated)), None)
    tau = G.T @ need
    lam = followed.inverse(followed.Jf @ need[followed.free]) if len(followed.J) else zeros(0, need)
    return ActuatedForces(tau, umdot, lam)

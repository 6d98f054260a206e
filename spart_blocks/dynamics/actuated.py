"""A closed robot moved by its actuated joints; the others follow. Inverse dynamics computes the
motion of the robot with its actuators prescribed: other free motions, such as a rod's spin between
two spherical joints or a base in space, follow from their own inertia. Kinematics alone does not
determine such motions: um = G ua on the loops has the smallest ones, and G' H G is the inertia at
the actuators.

Source: R. Murray, Z. Li, S. Sastry, "A Mathematical Introduction to Robotic Manipulation"
(1994), sec. 6.1 to 6.3; J. Merlet, "Parallel Robots" (2006), ch. 9.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import RobotError, brief
from spart_blocks.base.spatial import Array, array, solve_spd, zeros
from spart_blocks.dynamics.assembly import places_in_um
from spart_blocks.dynamics.closed_chain import closed_rates
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.loops import kept_rows, loop_jacobian
from spart_blocks.robot import Robot


class ActuatedForces(NamedTuple):
    """tau (n_a,) [N m, N]: of the actuators, beside taum; umdot (nu,): of all joints; lam
    (m,) [N, N m]: of the loops."""

    tau: Array
    umdot: Array
    lam: Array


def actuated_places(robot: Robot, actuated: Sequence[str]) -> list[int]:
    """The places in um of actuated joints by name, in their order. Raises RobotError for names
    that are not joints of one axis, and for repeated names.
    """
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

    actuated: places in um. Raises RobotError for a floating base, whose rates follow from
    momentum as well.
    """
    followed = _Following(qm, robot, actuated)
    return followed.rates(np.eye(len(actuated)))


class _Following:
    """The joints that follow: J_f x = -J_a ua, the smallest x."""

    def __init__(self, qm: Any, robot: Robot, actuated: Sequence[int]) -> None:
        if robot.base == "floating":
            raise RobotError(f"{robot.name} floats: its motion is not that of its actuators alone")
        self.robot, self.actuated = robot, list(actuated)
        self.free = [k for k in range(robot.nu) if k not in self.actuated]
        self.J = loop_jacobian(qm, robot)
        self.Jf = self.J[:, self.free]

    def rates(self, ua: Array) -> Array:
        """All joint rates (nu, ...) for those of the actuated joints (n_a, ...)."""
        known = -(self.J[:, self.actuated] @ ua)
        out = zeros((self.robot.nu, *ua.shape[1:]), self.J, ua, known)
        out[self.actuated] = ua
        if len(self.J):
            square = self.Jf @ self.Jf.T
            out[self.free] = self.Jf.T @ solve_spd(square, known, "the loops with actuators held")
        return out


def actuated_rates(qm: Any, ua: Any, robot: Robot, actuated: Sequence[int]) -> Array:
    """um (nu,) for the rates ua (n_a,) of the actuated joints, at qm (nq,) on the loops."""
    return _Following(qm, robot, actuated).rates(array(ua, (len(actuated),), "ua"))


def actuated_inertia(qm: Any, robot: Robot, actuated: Sequence[int]) -> Array:
    """G' H G (n_a, n_a) [kg m^2, kg]: the inertia at the actuators."""
    G = actuated_map(qm, robot, actuated)
    reduced: Array = G.T @ multibody_inertia(np.eye(3), qm, robot).Hm @ G
    return reduced


@lru_cache(maxsize=32)
def driven_robot(robot: Robot, actuated: tuple[int, ...]) -> Robot:
    """The robot with its actuated joints prescribed too. Raises RobotError if the loops leave
    too few degrees of freedom.
    """
    names = [e.name for e in robot.layout if e.u.start in {*actuated, *robot.kinematic}]
    driven = robot.with_kinematic(names)
    kept_rows(driven)
    return driven


def actuated_forces(
    R0: Any,
    u0: Any,
    qm: Any,
    um: Any,
    uadot: Any,
    taum: Any,
    wF0: Any,
    wFm: Any,
    robot: Robot,
    actuated: Sequence[int],
) -> ActuatedForces:
    """Inverse dynamics for chosen actuated joints: their forces for the accelerations uadot (n_a,)
    [rad/s^2, m/s^2], while the other joints and a floating base move as the dynamics require.
    Joints that are prescribed in the robot keep their rates.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): a state on the loops. taum (nu,) [N m, N]: forces
    at the joints beside the actuators'. wF0 (6,), wFm (n,6): wrenches, inertial.
    """
    uadot, driven = array(uadot, (len(actuated),), "uadot"), driven_robot(robot, tuple(actuated))
    number = {k: i for i, k in enumerate(driven.kinematic)}
    mine = [number[k] for k in actuated]
    umdot_k = zeros(len(number), uadot)
    umdot_k[mine] = uadot
    moved = closed_rates(R0, u0, qm, um, np.zeros(6), taum, wF0, wFm, driven, umdot_k)
    return ActuatedForces(moved.tau_k[mine], moved.umdot, moved.lam)

"""What motors, friction and stops do at the joints of a robot.

    load = G^2 B qd + |G| Tc        friction, Tc+ or Tc- by the sign of qd, none at rest
    stop = -k d (1 + c d')          at the depth d beyond a limit; it never pulls

Sources: P. I. Corke, "A Robotics Toolbox for MATLAB", IEEE Robotics and Automation Magazine
3 (1996), for motor and friction; K. H. Hunt and F. R. E. Crossley, "Coefficient of
restitution interpreted as damping in vibroimpact", ASME J. Applied Mechanics 42 (1975).
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np

from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.robot import Drive, Limits, Robot
from spart_blocks.spatial import Array

STOP_FREQUENCY = 200.0
"""Where no stiffness is given, a joint with all that it moves swings in its stop at this
angular frequency [rad/s]."""
STOP_DISSIPATION = 2.0
"""c of a stop [s/rad, s/m] where none is given: it gives back little of a hard blow."""


class JointEffects(NamedTuple):
    """What the motors, friction and stops of a robot do at its joints, in the order of um.

    inertia (nu,) [kg m^2, kg]: G^2 Jm. viscous (nu,) [N m s/rad, N s/m]: G^2 B. coulomb
    (nu, 2) [N m, N]: |G| Tc+ and |G| Tc-. lower, upper (nu,) [rad, m]: where the stops
    are; infinite where there is none. stiffness, dissipation (nu,): of the stops.
    """

    inertia: Array
    viscous: Array
    coulomb: Array
    lower: Array
    upper: Array
    stiffness: Array
    dissipation: Array

    @property
    def has_motors(self) -> bool:
        """Whether a motor's inertia counts."""
        return bool(self.inertia.any())

    @property
    def has_friction(self) -> bool:
        """Whether a joint brakes by itself."""
        return bool(self.viscous.any() or self.coulomb.any())

    @property
    def sticking(self) -> tuple[int, ...]:
        """The joints with Coulomb friction, places in um."""
        return tuple(np.flatnonzero(self.coulomb.any(axis=1)).tolist())

    @property
    def stopped(self) -> tuple[int, ...]:
        """The joints with stops, places in um."""
        return tuple(np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper)).tolist())


@lru_cache(maxsize=32)
def joint_effects(robot: Robot) -> JointEffects:
    """The effects of the joints' drives and limits, zeros where they are not asked for."""
    joints = [robot.joints[entry.joint_id - 1] for entry in robot.layout]
    drives = [joint.drive or Drive() for joint in joints]
    limits = [joint.limits or Limits() for joint in joints]
    gear = np.array([drive.gear for drive in drives])
    motors, friction, stops = (name in robot.effects for name in ("motors", "friction", "stops"))
    inertia = gear**2 * [drive.motor_inertia for drive in drives]
    coulomb = np.abs(gear)[:, None] * np.array([drive.coulomb for drive in drives]).reshape(-1, 2)
    none = np.full(len(joints), np.inf)
    return JointEffects(
        inertia=inertia * motors,
        viscous=gear**2 * [drive.viscous for drive in drives] * friction,
        coulomb=coulomb * friction,
        lower=np.array([limit.lower for limit in limits]) if stops else -none,
        upper=np.array([limit.upper for limit in limits]) if stops else none,
        stiffness=_stiffness(robot, drives, inertia) if stops else 0 * none,
        dissipation=np.array(
            [STOP_DISSIPATION if d.dissipation is None else d.dissipation for d in drives]
        ),
    )


def _stiffness(robot: Robot, drives: list[Drive], motors: Array) -> Array:
    """k of each joint's stops: as given, or by the inertia that the joint moves at qm = 0."""
    given = np.array([np.nan if d.stiffness is None else d.stiffness for d in drives])
    if not np.isnan(given).any():
        return given
    bare = robot.with_effects(())
    moved = np.diag(multibody_inertia(np.eye(3), np.zeros(robot.nq), bare).Hm)
    return np.where(np.isnan(given), STOP_FREQUENCY**2 * (moved + motors), given)

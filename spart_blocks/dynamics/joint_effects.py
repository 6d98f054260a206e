"""Motors, friction and stops at the joints of a robot.

    load = G^2 B qd + |G| T         friction, T+ or T- by the sign of qd, none at rest
    T = Tc + (Ts - Tc) exp(-(G qd / vs)^2)      Coulomb's, which at rest is Ts
    stop = -k d (1 + c d')          at the depth d beyond a limit; it never pulls
    force = min(max(tau, -E), E)    within a limit of effort E

Sources: P. I. Corke, "A Robotics Toolbox for MATLAB", IEEE Robotics and Automation Magazine
3 (1996), for motor and friction; B. Armstrong-Helouvry, P. Dupont, C. Canudas de Wit, "A
survey of models, analysis tools and compensation methods for the control of machines with
friction", Automatica 30 (1994), for static friction and its fall; K. H. Hunt and F. R. E.
Crossley, "Coefficient of restitution interpreted as damping in vibroimpact", ASME J. Applied
Mechanics 42 (1975).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array, array, cross, exp, zeros
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.robot import Drive, JointType, Limits, Robot

STOP_FREQUENCY = 200.0
"""Where no stiffness is given, a joint with all that it moves swings in its stop at this
angular frequency [rad/s]."""
STOP_DISSIPATION = 2.0
"""c of a stop [s/rad, s/m] where none is given: it gives back little of a hard blow."""


class JointEffects(NamedTuple):
    """Parameters of the motors, friction and stops of a robot at its joints, in the order of um.

    viscous (nu,) [N m s/rad, N s/m]: G^2 B. coulomb
    (nu, 2) [N m, N]: |G| Tc+ and |G| Tc-. static (nu, 2) [N m, N]: what friction holds at rest,
    |G| Ts+ and |G| Ts-, or as coulomb. stribeck (nu,) [rad/s, m/s]: vs / |G|, infinite where
    static is coulomb. lower, upper (nu,) [rad, m]: where the stops
    are; infinite where there is none. stiffness, dissipation (nu,): of the stops.
    sticking: places in um of the joints that Coulomb friction can hold; a prescribed
    joint moves as it is told. places: where in qm the joints with stops have their position.
    effort (nu,) [N m, N]: the most that a joint can be given; infinite where there is no limit.
    Spherical joints have no stops and no limits.
    """

    viscous: Array
    coulomb: Array
    static: Array
    stribeck: Array
    lower: Array
    upper: Array
    stiffness: Array
    dissipation: Array
    sticking: tuple[int, ...]
    places: dict[int, int]
    effort: Array

    @property
    def has_friction(self) -> bool:
        """Whether any joint has friction."""
        return bool(self.viscous.any() or self.static.any())

    @property
    def stopped(self) -> tuple[int, ...]:
        """The joints with stops, places in um."""
        return tuple(np.flatnonzero(np.isfinite(self.lower) | np.isfinite(self.upper)).tolist())


@lru_cache(maxsize=32)
def joint_effects(robot: Robot) -> JointEffects:
    """The effects of the joints' drives and limits, zeros for inactive effects."""
    joints = sorted((joint for joint in robot.joints if joint.q_id > 0), key=lambda j: j.q_id)
    places = {entry.u.start: entry.q.start for entry in robot.layout if not entry.spherical}
    drives = [joint.drive or Drive() for joint in joints]
    limits = [(k in places and joint.limits) or Limits() for k, joint in enumerate(joints)]
    gear = np.array([drive.gear for drive in drives])
    friction, stops = "friction" in robot.effects, "stops" in robot.effects
    coulomb = np.abs(gear)[:, None] * np.array([drive.coulomb for drive in drives]).reshape(-1, 2)
    told = np.array([drive.static or drive.coulomb for drive in drives]).reshape(-1, 2)
    static, none = np.abs(gear)[:, None] * told, np.full(len(joints), np.inf)
    stuck = [k for k in np.flatnonzero(static.any(axis=1)).tolist() if k not in robot.kinematic]
    return JointEffects(
        viscous=gear**2 * [drive.viscous for drive in drives] * friction,
        coulomb=coulomb * friction,
        static=static * friction,
        stribeck=np.array([drive.stribeck or np.inf for drive in drives]) / np.abs(gear),
        lower=np.array([limit.lower for limit in limits]) if stops else -none,
        upper=np.array([limit.upper for limit in limits]) if stops else none,
        stiffness=_stiffness(robot, drives) if stops else np.zeros(len(joints)),
        dissipation=np.array(
            [STOP_DISSIPATION if d.dissipation is None else d.dissipation for d in drives]
        ),
        sticking=tuple(stuck) if friction else (),
        places=places,
        effort=np.array([limit.effort or np.inf for limit in limits])
        if "limits" in robot.effects
        else none,
    )


def _stiffness(robot: Robot, drives: list[Drive]) -> Array:
    """k of each joint's stops: as given, or by the inertia that the joint moves in the neutral
    configuration, qm = 0."""
    given = np.array([np.nan if d.stiffness is None else d.stiffness for d in drives])
    if not np.isnan(given).any():
        return given
    geared = robot.with_effects(["motors"])
    moved = np.diag(multibody_inertia(np.eye(3), robot.neutral, geared).Hm)
    return np.where(np.isnan(given), STOP_FREQUENCY**2 * moved, given)


def friction_load(um: Array, robot: Robot, modes: Array | None = None) -> Array:
    """The friction load at each joint (nu,) [N m, N], against um (nu,) [rad/s, m/s].

    modes (n,): for the joints that can stick, +1 or -1 where one slides forwards or backwards and 0
    where it is stuck; by the sign of um where they are not given, which leaves a joint at rest
    without Coulomb friction. The load of a sticking joint is its holding force, which is not
    computed here.
    """
    effects = joint_effects(robot)
    if not effects.has_friction:
        return np.zeros(robot.nu)
    load = effects.viscous * um
    if not effects.static.any():
        return load
    sense = um
    if modes is not None:
        sense = zeros(robot.nu, um, modes) + um
        for k, mode in zip(effects.sticking, modes, strict=True):
            sense[k] = mode
    forward, backward = _sliding_friction(um, effects)
    return load + np.where(sense > 0, forward, np.where(sense < 0, backward, 0.0))


def _sliding_friction(um: Array, effects: JointEffects) -> tuple[Array, Array]:
    """The friction load of joints that slide forwards and backwards (nu,) each [N m, N]."""
    forward, backward = effects.coulomb.T
    more = effects.static.T - effects.coulomb.T
    if not more.any():
        return forward, backward
    fall = zeros(len(um), um) + 1.0
    for k in np.flatnonzero(more.any(axis=0)).tolist():
        part = slice(k, k + 1)
        fall[part] = exp(-((um[part] / effects.stribeck[k]) ** 2))
    return forward + more[0] * fall, backward + more[1] * fall


def stop_forces(qm: Array, um: Array, robot: Robot) -> Array:
    """The forces of the stops on each joint (nu,) [N m, N] at qm (nq,), um (nu,), back inside
    the limits.
    """
    effects = joint_effects(robot)
    force = zeros(robot.nu, qm, um)
    for k in effects.stopped:
        place, rate, c = effects.places[k], um[k : k + 1], effects.dissipation[k]
        q = qm[place : place + 1]
        if np.isfinite(effects.upper[k]):
            depth = np.maximum(q - effects.upper[k], 0.0) * np.maximum(1 + c * rate, 0.0)
            force[k : k + 1] = force[k : k + 1] - effects.stiffness[k] * depth
        if np.isfinite(effects.lower[k]):
            depth = np.maximum(effects.lower[k] - q, 0.0) * np.maximum(1 - c * rate, 0.0)
            force[k : k + 1] = force[k : k + 1] + effects.stiffness[k] * depth
    return force


def driven_forces(taum: Any, robot: Robot) -> Any:
    """The joint forces taum (nu,) [N m, N], limited to the effort limits."""
    effort = joint_effects(robot).effort
    bounded = np.flatnonzero(np.isfinite(effort)).tolist()
    if not bounded:
        return taum
    force = zeros(robot.nu, taum) + taum
    for k in bounded:
        part = slice(k, k + 1)
        force[part] = np.minimum(np.maximum(force[part], -effort[k]), effort[k])
    return force


def joint_load(um: Any, robot: Robot, qm: Any = None, modes: Array | None = None) -> Array:
    """The load of friction and stops at the joints (nu,) [N m, N].

    um (nu,), and qm (nq,), which stops need. modes: as for `friction_load`.
    Raises InputError where a robot with stops is given no qm.
    """
    um = array(um, (robot.nu,), "um")
    load = friction_load(um, robot, modes)
    if not joint_effects(robot).stopped:
        return load
    if qm is None:
        raise InputError(f"{robot.name} has stops at its joints: their forces need qm")
    return load - stop_forces(array(qm, (robot.nq,), "qm"), um, robot)


def joint_motion(
    t0: Array,
    tL: Array,
    t0dot: Array,
    tLdot: Array,
    pm: Array,
    Bij: Array,
    Bi0: Array,
    robot: Robot,
) -> tuple[Array, Array]:
    """um (nu,) and umdot (nu,) of given twists and twist rates of base and links.

    For friction a rate below 1e-12 is zero: it is the rounding error of two equal twists.
    """
    um, umdot = zeros(robot.nu, tL, pm), zeros(robot.nu, tL, tLdot, pm)
    for i, k in enumerate(robot.u_index):
        if k is None:
            continue
        parent = robot.parents[i]
        B, t, tdot = (Bi0[i], t0, t0dot) if parent == 0 else (
            Bij[i, parent - 1], tL[parent - 1], tLdot[parent - 1]
        )  # fmt: skip
        rate, rise = tL[i] - B @ t, tLdot[i] - B @ tdot
        turns = robot.joints[i].type is not JointType.PRISMATIC
        if not turns:
            rise[3:] = rise[3:] - cross(t[:3], tL[i, 3:] - t[3:])
        part = slice(0, 3) if turns else slice(3, 6)
        axis = pm[i, part].reshape(1, 3)
        um[k : k + 1], umdot[k : k + 1] = axis @ rate[part], axis @ rise[part]
    if joint_effects(robot).has_friction:
        um = np.where(abs(um) < 1e-12, 0.0, um)
    return um, umdot


def motor_energy(um: Array, robot: Robot) -> Array:
    """Kinetic energy (1,) [J] of the motors at the joint rates um (nu,)."""
    return 0.5 * ((robot.motor_inertia * um).reshape(1, -1) @ um)

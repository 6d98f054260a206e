"""The plant's equations of motion: one articulated-body recursion in body axes.

Fixed joints are folded away first: a `Body` is a moving joint's link with all that is
rigidly attached to it, in the joint's own frame. Spatial vectors are [angular, linear]
about the body frame's origin in body axes.

Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 7.3 (articulated
bodies), 9.4 (floating base); his table 2.8 for the transforms.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.dynamics.forward import joint_inertia
from spart_blocks.robot import JointType, Robot
from spart_blocks.spatial import (
    Array,
    array,
    axis_angle_rotation,
    cross,
    skew,
    solve_spd,
    transpose,
    zeros,
)


class MultibodyRates(NamedTuple):
    """u0dot (6,) [rad/s^2 base axes, m/s^2 inertial], umdot (nu,) [rad/s^2, m/s^2], and
    reaction (6,) [N m, N]: the wrench of the ground on a fixed base at the base's centre
    of mass, inertial; zero for a floating base."""

    u0dot: Array
    umdot: Array
    reaction: Array


@dataclass(frozen=True)
class Attached:
    """A link (id; 0 is the base-link) riding on a body: R (3,3) and c (3,) [m] of its
    centre-of-mass frame in the body frame."""

    link_id: int
    R: Array
    c: Array


@dataclass(frozen=True)
class Body:
    """A moving body. parent: index of the body it moves on. R, r: joint frame in the
    parent's frame. axis (6,): the joint's motion in its own frame. k: place in qm."""

    parent: int
    name: str
    revolute: bool
    axis: Array
    R: Array
    r: Array
    k: int
    inertia: Array
    attached: tuple[Attached, ...]


@lru_cache(maxsize=32)
def bodies_of(robot: Robot) -> tuple[Body, ...]:
    """The moving bodies of a robot, parents first; body 0 is the base."""
    eye = np.eye(4)
    riders: list[list[Attached]] = [[Attached(0, np.eye(3), np.zeros(3))]]
    joints: list[tuple[int, int, Array]] = [(-1, -1, eye)]
    home: dict[int, tuple[int, Array]] = {0: (0, eye)}
    for i, (joint, link) in enumerate(zip(robot.joints, robot.links, strict=True)):
        body, T_parent = home[joint.parent_link]
        T = T_parent @ joint.T
        if joint.type is not JointType.FIXED:
            joints.append((body, i, T))
            riders.append([])
            body, T = len(joints) - 1, eye
        T = T @ link.T
        home[link.id] = (body, T)
        riders[body].append(Attached(link.id, T[:3, :3], T[:3, 3]))
    return tuple(
        _body(robot, parent, i, T, tuple(attached))
        for (parent, i, T), attached in zip(joints, riders, strict=True)
    )


def _body(robot: Robot, parent: int, i: int, T: Array, attached: tuple[Attached, ...]) -> Body:
    inertia = np.zeros((6, 6))
    for rider in attached:
        link = robot.links[rider.link_id - 1] if rider.link_id else robot.base_link
        arm = skew(rider.c)
        about_com = rider.R @ link.inertia @ rider.R.T
        inertia[:3, :3] += about_com + link.mass * arm @ arm.T
        inertia[:3, 3:] += link.mass * arm
        inertia[3:, :3] += link.mass * arm.T
        inertia[3:, 3:] += link.mass * np.eye(3)
    if i < 0:
        return Body(-1, robot.base_link.name, False, np.zeros(6), T[:3, :3], T[:3, 3], -1,
                    inertia, attached)  # fmt: skip
    joint, axis = robot.joints[i], np.zeros(6)
    revolute = joint.type is JointType.REVOLUTE
    axis[slice(0, 3) if revolute else slice(3, 6)] = joint.axis
    k = robot.q_index[i]
    assert k is not None
    return Body(parent, joint.name, revolute, axis, T[:3, :3], T[:3, 3], k, inertia, attached)


def motion_cross(v: Array, m: Array) -> Array:
    """v x m for motion vectors (6,)."""
    out = zeros(6, v, m)
    out[:3] = cross(v[:3], m[:3])
    out[3:] = cross(v[:3], m[3:]) + cross(v[3:], m[:3])
    return out


def force_cross(v: Array, f: Array) -> Array:
    """v x* f for a motion vector v (6,) and a force vector f (6,)."""
    out = zeros(6, v, f)
    out[:3] = cross(v[:3], f[:3]) + cross(v[3:], f[3:])
    out[3:] = cross(v[:3], f[3:])
    return out


def motion_transform(R: Array, r: Array) -> Array:
    """X (6,6): a motion vector in the frame with pose R, r seen from the parent frame's."""
    X = zeros((6, 6), R, r)
    E = transpose(R)
    X[:3, :3] = X[3:, 3:] = E
    X[3:, :3] = -E @ skew(r)
    return X


def multibody_rates(
    R0: Any,
    u0: Any,
    qm: Any,
    um: Any,
    tau0: Any,
    taum: Any,
    wF0: Any,
    wFm: Any,
    robot: Robot,
) -> MultibodyRates:
    """Accelerations of a robot with a fixed or floating base, as `robot.base` says.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): configuration and rates; a fixed base ignores
    u0, and passes tau0 and wF0 to the ground: they change its reaction only. Forces as
    for `forward_dynamics`. Cost linear in the links.
    Raises SingularInertiaError naming the joint or the base without inertia.
    """
    R0, u0 = array(R0, (3, 3), "R0"), array(u0, (6,), "u0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    tau0, taum = array(tau0, (6,), "tau0"), array(taum, (robot.nu,), "taum")
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (robot.n_links_joints, 6), "wFm")
    bodies, floating = bodies_of(robot), robot.base == "floating"
    v0 = zeros(6, u0, R0)
    if floating:
        v0[:3], v0[3:] = u0[:3], R0.T @ u0[3:]
    X, _v, c, I, p = _velocities_and_bias(bodies, R0, v0, qm, um, wF0, wFm)
    steps = _inward(bodies, X, c, I, p, taum)
    u0dot, reaction, a0 = zeros(6, p[0]), zeros(6, p[0]), zeros(6, p[0])
    if floating:
        force = zeros(6, tau0, R0)
        force[:3], force[3:] = tau0[:3], R0.T @ tau0[3:]
        a0 = solve_spd(I[0], force - p[0], "the articulated inertia of the base")
        # Featherstone's linear acceleration is of the point passing the origin.
        u0dot[:3] = a0[:3]
        u0dot[3:] = R0 @ (a0[3:] + cross(v0[:3], v0[3:]))
    else:
        reaction[:3] = R0 @ (p[0][:3] - tau0[:3])
        reaction[3:] = R0 @ p[0][3:] - tau0[3:]
    return MultibodyRates(u0dot, _outward(bodies, X, c, steps, a0, robot.nu), reaction)


def _velocities_and_bias(
    bodies: tuple[Body, ...],
    R0: Array,
    v0: Array,
    qm: Array,
    um: Array,
    wF0: Array,
    wFm: Array,
) -> tuple[list[Array], list[Array], list[Array], list[Array], list[Array]]:
    """Base to tips: transforms X, velocities v, velocity products c, inertias I, and bias
    forces p with the external wrenches in them."""
    X, v, c = [np.eye(6)], [v0], [np.zeros(6)]
    R_world = [R0]
    for body in bodies[1:]:
        q = qm[body.k : body.k + 1]
        R, r = body.R, body.r
        if body.revolute:
            R = R @ axis_angle_rotation(body.axis[:3], q)
        else:
            r = r + (R @ body.axis[3:]) * q
        X.append(motion_transform(R, r))
        rate = body.axis * um[body.k : body.k + 1]
        v.append(X[-1] @ v[body.parent] + rate)
        c.append(motion_cross(v[-1], rate))
        R_world.append(R_world[body.parent] @ R)
    inertias = [body.inertia for body in bodies]
    p = [
        force_cross(v_i, body.inertia @ v_i) - _external(body, R_i, wF0, wFm)
        for body, v_i, R_i in zip(bodies, v, R_world, strict=True)
    ]
    return X, v, c, inertias, p


def _external(body: Body, R: Array, wF0: Array, wFm: Array) -> Array:
    """The wrenches on the links of a body, about its origin in its axes."""
    total = zeros(6, R, wF0, wFm)
    for rider in body.attached:
        w = wFm[rider.link_id - 1] if rider.link_id else wF0
        f = R.T @ w[3:]
        total[:3] = total[:3] + R.T @ w[:3] + cross(rider.c, f)
        total[3:] = total[3:] + f
    return total


def _inward(
    bodies: tuple[Body, ...],
    X: list[Array],
    c: list[Array],
    I: list[Array],
    p: list[Array],
    taum: Array,
) -> list[tuple[Array, Array, Array]]:
    """Tips to base: articulated inertias and bias forces gather in I and p. Returns U, d
    and the joint's free force u of each body."""
    steps: list[tuple[Array, Array, Array]] = [(np.zeros(6), np.zeros(1), np.zeros(1))] * len(
        bodies
    )
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        S = body.axis.reshape(1, 6)
        U = I[i] @ body.axis
        d = joint_inertia(S @ U, I[i], body.axis, body.name)
        u = taum[body.k : body.k + 1] - S @ p[i]
        steps[i] = (U, d, u)
        Ia = I[i] - U.reshape(6, 1) @ (U / d).reshape(1, 6)
        pa = p[i] + Ia @ c[i] + U * (u / d)
        I[body.parent] = I[body.parent] + X[i].T @ Ia @ X[i]
        p[body.parent] = p[body.parent] + X[i].T @ pa
    return steps


def _outward(
    bodies: tuple[Body, ...],
    X: list[Array],
    c: list[Array],
    steps: list[tuple[Array, Array, Array]],
    a0: Array,
    nu: int,
) -> Array:
    """Base to tips: the joint accelerations."""
    a = [a0]
    umdot = zeros(nu, a0, *(u for _, _, u in steps))
    for body, X_i, c_i, (U, d, u) in zip(bodies[1:], X[1:], c[1:], steps[1:], strict=True):
        carried = X_i @ a[body.parent] + c_i
        rate = (u - U.reshape(1, 6) @ carried) / d
        umdot[body.k : body.k + 1] = rate
        a.append(carried + body.axis * rate)
    return umdot

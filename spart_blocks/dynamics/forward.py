"""Forward dynamics: the motion that forces cause, in SPART's quantities.

The articulated-body algorithm in inertial axes. Every link is at first seen with all that hangs
on it: a body with joints that are free to move has an articulated inertia M (6,6), smaller than
that of a rigid body, and at rest takes a bias wrench w (6,). Tips to base, M and w of a link pass
on to its parent; then, base to tips, the twist rates of the parents give the joints'
accelerations.

Of link i with joint rate um, joint twist p = pm[i] and B = Bij[i, parent]; sums are over its
children c:

    M = I + sum B_c' Ma_c B_c                                                        (1)
    w = gyroscopic wrench - wFm + sum B_c' wa_c                                      (2)
    b = twist rate that rates and prescribed joints alone cause                      (3)
    h = M p,  d = p' h + motor inertia                                               (4)
    Ma = M - h h' / d                                                                (5)
    wa = w + h / d (tau - p' w) + Ma b                                               (6)
    (P0' M0 P0) u0dot = tau0 - P0' w0, of the base                                   (7)
    umdot = (tau - p' (w + M b)) / d - h' / d (B tdot_parent)                        (8)
    tdot = B tdot_parent + b + p umdot                                               (9)
    tau_k = p' (M tdot + w) + motor inertia * umdot_k - tau, of a prescribed joint  (10)

A prescribed joint passes M and w + M b on as they are. tau: the joint's force net of friction and
stops. In the code `gain` is h / d, and `free` the first term of (8).

Source: SPART's manual, FD; R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), section 7.3;
S. K. Saha, "Dynamics of serial multibody systems using the decoupled natural orthogonal
complement matrices" (1999), for the form with B and p.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.errors import SingularInertiaError
from spart_blocks.base.spatial import Array, array, cross, kind, solve_spd, zeros
from spart_blocks.dynamics.inertia import link_inertia
from spart_blocks.dynamics.joint_effects import driven_forces, joint_load
from spart_blocks.dynamics.kinematics import turned
from spart_blocks.robot import Robot


class ForwardDynamics(NamedTuple):
    """u0dot (6,) [rad/s^2 base axes, m/s^2 inertial] and umdot (nu,) [rad/s^2, m/s^2]."""

    u0dot: Array
    umdot: Array


class HybridDynamics(NamedTuple):
    """u0dot (6,) and umdot (nu,) as `ForwardDynamics`; tau_k (n_k,) [N m, N]: the forces that
    the prescribed joints need in addition to taum.
    """

    u0dot: Array
    umdot: Array
    tau_k: Array


class FixedHybridDynamics(NamedTuple):
    """umdot (nu,) and tau_k (n_k,) of a fixed base, as `HybridDynamics`."""

    umdot: Array
    tau_k: Array


class _Articulated(NamedTuple):
    """What the inward pass leaves for the outward one."""

    M0: Array  # (6,6) articulated inertia of the base
    w0: Array  # (6,) wrench that the base at rest would have to take
    gain: Array  # (n,6) M p / d of each active joint
    free: Array  # (nu,) joint accelerations with the parents at rest
    bias: Array  # (n,6) twist rates that velocities and prescribed joints alone cause
    M: Array  # (n,6,6) articulated inertias
    w: Array  # (n,6) wrenches that the articulated bodies at rest would need


def joint_inertia(d: Array, M: Array, p: Array, name: str) -> Array:
    """d (1,) itself, the inertia a joint feels, refused where it is zero to rounding."""
    # Entries of M p far above d mean that d is what is left of a cancellation.
    if kind(d) is not object and not d[0] > 1e-13 * np.abs(p) @ np.abs(M) @ np.abs(p):
        raise SingularInertiaError(
            f"joint '{name}' moves nothing that has inertia in this configuration"
            if np.isfinite(d[0])
            else f"the inertia felt by joint '{name}' is not finite"
        )
    return d


def forward_dynamics(
    tau0: Any,
    taum: Any,
    wF0: Any,
    wFm: Any,
    t0: Array,
    tL: Array,
    P0: Array,
    pm: Array,
    I0: Array,
    Im: Array,
    Bij: Array,
    Bi0: Array,
    u0: Any,
    um: Any,
    robot: Robot,
    umdot_k: Any = None,
    qm: Any = None,
) -> ForwardDynamics | HybridDynamics:
    """Accelerations of a floating-base robot.

    tau0 (6,) [N m base axes, N inertial], taum (nu,) [N m, N]: generalized forces. wF0 (6,), wFm
    (n,6) [N m, N]: wrenches at the centres of mass, inertial. umdot_k (n_k,) [rad/s^2, m/s^2]:
    accelerations of the prescribed joints, which keep their rates where it is not given; a robot
    with such joints gives tau_k too. qm (nq,): needed by joints with stops. Motors, friction (zero
    for a joint at rest) and stops act if the robot's effects include them. Raises
    SingularInertiaError naming the joint or the base without inertia.
    """
    tau0, wF0 = array(tau0, (6,), "tau0"), array(wF0, (6,), "wF0")
    forces = _Joints.of(taum, um, robot, umdot_k, qm)
    a = _inward(forces, wFm, t0, tL, pm, Im, Bij, Bi0, um, robot)
    M0 = a.M0 + link_inertia(I0, robot.base_link.mass)
    w0 = a.w0 - wF0
    w0[:3] = w0[:3] + cross(t0[:3], I0 @ t0[:3])
    # (7)
    u0dot = solve_spd(P0.T @ M0 @ P0, tau0 - P0.T @ w0, "the articulated inertia of the base")
    umdot, tdot = _outward(P0 @ u0dot, a, forces, pm, Bij, Bi0, robot)
    if not robot.kinematic:
        return ForwardDynamics(u0dot, umdot)
    return HybridDynamics(u0dot, umdot, _held(tdot, a, forces, pm, robot))


def fixed_forward_dynamics(
    taum: Any,
    wFm: Any,
    tL: Array,
    pm: Array,
    Im: Array,
    Bij: Array,
    Bi0: Array,
    um: Any,
    robot: Robot,
    umdot_k: Any = None,
    qm: Any = None,
) -> Array | FixedHybridDynamics:
    """Joint accelerations umdot (nu,) of a robot whose base is fixed to the ground; with
    prescribed joints their tau_k too. Arguments as for `forward_dynamics`."""
    ground = zeros(6, tL)
    forces = _Joints.of(taum, um, robot, umdot_k, qm)
    a = _inward(forces, wFm, ground, tL, pm, Im, Bij, Bi0, um, robot)
    umdot, tdot = _outward(ground, a, forces, pm, Bij, Bi0, robot)
    if not robot.kinematic:
        return umdot
    return FixedHybridDynamics(umdot, _held(tdot, a, forces, pm, robot))


class _Joints(NamedTuple):
    """What acts at the joints: net, their forces (nu,) [N m, N] less friction and stops; inertia,
    of their motors (nu,) [kg m^2, kg]; given, the accelerations of prescribed joints by place in
    um.
    """

    net: Array
    inertia: Array
    given: dict[int, Array]

    @classmethod
    def of(cls, taum: Any, um: Any, robot: Robot, umdot_k: Any, qm: Any) -> _Joints:
        count = len(robot.kinematic)
        rates = array(np.zeros(count) if umdot_k is None else umdot_k, (count,), "umdot_k")
        given = {k: rates[i : i + 1] for i, k in enumerate(robot.kinematic)}
        driven = driven_forces(array(taum, (robot.nu,), "taum"), robot)
        net = driven - joint_load(um, robot, qm)
        return cls(net, robot.motor_inertia, given)


def _held(tdot: Array, a: _Articulated, joints: _Joints, pm: Array, robot: Robot) -> Array:
    """The forces tau_k (n_k,) of the prescribed joints, from the links' twist rates tdot (n,6)."""
    place = {k: i for i, k in enumerate(robot.u_index) if k is not None}
    held = zeros(len(robot.kinematic), tdot, a.w, joints.net)
    for j, k in enumerate(robot.kinematic):
        i = place[k]
        force = pm[i].reshape(1, 6) @ (a.M[i] @ tdot[i] + a.w[i])  # (10)
        held[j : j + 1] = force + joints.inertia[k] * joints.given[k] - joints.net[k : k + 1]
    return held


def _inward(
    joints: _Joints,
    wFm: Any,
    t0: Array,
    tL: Array,
    pm: Array,
    Im: Array,
    Bij: Array,
    Bi0: Array,
    um: Any,
    robot: Robot,
) -> _Articulated:
    """Tips to base: the articulated inertias and bias wrenches of all links, (1) to (6)."""
    n = robot.n_links_joints
    taum, um = joints.net, array(um, (robot.nu,), "um")
    wFm = array(wFm, (n, 6), "wFm")
    like = (t0, tL, pm, Im, Bij, Bi0, taum, um, wFm, *joints.given.values())
    M, w = zeros((n, 6, 6), *like), zeros((n, 6), *like)
    M0, w0 = zeros((6, 6), *like), zeros(6, *like)
    gain, bias, free = zeros((n, 6), *like), zeros((n, 6), *like), zeros(robot.nu, *like)
    for i in reversed(range(n)):
        parent, k = robot.parents[i], robot.u_index[i]
        M[i] = M[i] + link_inertia(Im[i], robot.links[i].mass)  # (1)
        w[i] = w[i] - wFm[i]  # (2)
        w[i, :3] = w[i, :3] + cross(tL[i, :3], Im[i] @ tL[i, :3])
        t = t0 if parent == 0 else tL[parent - 1]
        bias[i, 3:] = cross(t[3:] - tL[i, 3:], t[:3])  # (3)
        if k is not None:
            carrier = robot.carriers[i] - 1
            bias[i] = bias[i] + turned(tL[carrier, :3], pm[i] * um[k : k + 1])
        Ma, wa = M[i], w[i]
        if k in joints.given:
            bias[i] = bias[i] + pm[i] * joints.given[k]
        elif k is not None:
            p = pm[i]
            Mp = M[i] @ p
            felt = p.reshape(1, 6) @ Mp + joints.inertia[k]  # (4)
            whole = M[i] if carrier == i else _of_the_ball(M[carrier], Bij[carrier, i], felt)
            d = joint_inertia(felt, whole, p, robot.joints[i].name)
            gain[i] = Mp / d
            rest = taum[k : k + 1] - p.reshape(1, 6) @ (w[i] + M[i] @ bias[i])
            free[k : k + 1] = rest / d
            Ma = M[i] - gain[i].reshape(6, 1) @ Mp.reshape(1, 6)  # (5)
            wa = w[i] + gain[i] * (taum[k : k + 1] - p.reshape(1, 6) @ w[i])
        wa = wa + Ma @ bias[i]  # (6)
        if parent == 0:
            M0, w0 = M0 + Bi0[i].T @ Ma @ Bi0[i], w0 + Bi0[i].T @ wa
        else:
            B = Bij[i, parent - 1]
            M[parent - 1] = M[parent - 1] + B.T @ Ma @ B
            w[parent - 1] = w[parent - 1] + B.T @ wa
    return _Articulated(M0, w0, gain, free, bias, M, w)


def _of_the_ball(M: Array, B: Array, felt: Array) -> Array:
    """The inertia (6,6) against which that of one axis of a spherical joint is compared: M of the
    link that the joint moves, before its other axes are freed. Symbols are not compared."""
    moved: Array = M if kind(felt) is object else B.T @ M @ B
    return moved


def _outward(
    t0dot: Array,
    a: _Articulated,
    joints: _Joints,
    pm: Array,
    Bij: Array,
    Bi0: Array,
    robot: Robot,
) -> tuple[Array, Array]:
    """Base to tips: the joint accelerations (nu,) and the links' twist rates (n,6), (8) and (9)."""
    tdot = zeros((robot.n_links_joints, 6), t0dot, a.free, a.bias)
    umdot = zeros(robot.nu, tdot)
    for i, parent in enumerate(robot.parents):
        carried = Bi0[i] @ t0dot if parent == 0 else Bij[i, parent - 1] @ tdot[parent - 1]
        tdot[i] = carried + a.bias[i]
        k = robot.u_index[i]
        if k in joints.given:  # what it does is part of the bias
            umdot[k : k + 1] = joints.given[k]
        elif k is not None:
            umdot[k : k + 1] = a.free[k : k + 1] - a.gain[i].reshape(1, 6) @ carried  # (8)
            tdot[i] = tdot[i] + pm[i] * umdot[k : k + 1]  # (9)
    return umdot, tdot

"""Forward dynamics: the motion that forces cause, in SPART's quantities.

The articulated-body recursion in inertial axes, tips to base and back. Source:
SPART's manual, FD; R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), ch. 7;
Saha (1999) for its form with B and p.
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
    """Data of the joints: forces (nu,) net of friction and stops, those in excess of taum,
    motors' inertia (nu,), and the given accelerations by place in um.
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
    """tau_k of the prescribed joints, of the twist rates tdot (n,6) of the links."""
    place = {k: i for i, k in enumerate(robot.u_index) if k is not None}
    held = zeros(len(robot.kinematic), tdot, a.w, joints.net)
    for j, k in enumerate(robot.kinematic):
        i = place[k]
        force = pm[i].reshape(1, 6) @ (a.M[i] @ tdot[i] + a.w[i])
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
    n = robot.n_links_joints
    taum, um = joints.net, array(um, (robot.nu,), "um")
    wFm = array(wFm, (n, 6), "wFm")
    like = (t0, tL, pm, Im, Bij, Bi0, taum, um, wFm, *joints.given.values())
    M, w = zeros((n, 6, 6), *like), zeros((n, 6), *like)
    M0, w0 = zeros((6, 6), *like), zeros(6, *like)
    gain, bias, free = zeros((n, 6), *like), zeros((n, 6), *like), zeros(robot.nu, *like)
    for i in reversed(range(n)):
        parent, k = robot.parents[i], robot.u_index[i]
        M[i] = M[i] + link_inertia(Im[i], robot.links[i].mass)
        w[i] = w[i] - wFm[i]
        w[i, :3] = w[i, :3] + cross(tL[i, :3], Im[i] @ tL[i, :3])
        t = t0 if parent == 0 else tL[parent - 1]
        bias[i, 3:] = cross(t[3:] - tL[i, 3:], t[:3])
        if k is not None:
            carrier = robot.carriers[i] - 1
            bias[i] = bias[i] + turned(tL[carrier, :3], pm[i] * um[k : k + 1])
        Ma, wa = M[i], w[i]
        if k in joints.given:
            bias[i] = bias[i] + pm[i] * joints.given[k]
        elif k is not None:
            p = pm[i]
            Mp = M[i] @ p
            felt = p.reshape(1, 6) @ Mp + joints.inertia[k]
            whole = M[i] if carrier == i else _of_the_ball(M[carrier], Bij[carrier, i], felt)
            d = joint_inertia(felt, whole, p, robot.joints[i].name)
            gain[i] = Mp / d
            rest = taum[k : k + 1] - p.reshape(1, 6) @ (w[i] + M[i] @ bias[i])
            free[k : k + 1] = rest / d
            Ma = M[i] - gain[i].reshape(6, 1) @ Mp.reshape(1, 6)
            wa = w[i] + gain[i] * (taum[k : k + 1] - p.reshape(1, 6) @ w[i])
        wa = wa + Ma @ bias[i]
        if parent == 0:
            M0, w0 = M0 + Bi0[i].T @ Ma @ Bi0[i], w0 + Bi0[i].T @ wa
        else:
            B = Bij[i, parent - 1]
            M[parent - 1] = M[parent - 1] + B.T @ Ma @ B
            w[parent - 1] = w[parent - 1] + B.T @ wa
    return _Articulated(M0, w0, gain, free, bias, M, w)


def _of_the_ball(M: Array, B: Array, felt: Array) -> Array:
    """The inertia (6,6) beside which a row of a spherical joint feels none: M of the link
    that it moves, which the rows after it have not eased yet. Symbols are not compared."""
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
    """The joint accelerations (nu,) and the twist rates (n,6) of the links."""
    tdot = zeros((robot.n_links_joints, 6), t0dot, a.free, a.bias)
    umdot = zeros(robot.nu, tdot)
    for i, parent in enumerate(robot.parents):
        carried = Bi0[i] @ t0dot if parent == 0 else Bij[i, parent - 1] @ tdot[parent - 1]
        tdot[i] = carried + a.bias[i]
        k = robot.u_index[i]
        if k in joints.given:  # what it does is part of the bias
            umdot[k : k + 1] = joints.given[k]
        elif k is not None:
            umdot[k : k + 1] = a.free[k : k + 1] - a.gain[i].reshape(1, 6) @ carried
            tdot[i] = tdot[i] + pm[i] * umdot[k : k + 1]
    return umdot, tdot

"""Inertia matrices of the system: I_I, mass composite bodies, GIM and CIM.

Source: SPART's manual, I_I, MCB, GIM, CIM; GIM_NOC and CIM_NOC of its source.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, array, eye, skew, transpose, zeros
from spart_blocks.dynamics.kinematics import turned
from spart_blocks.robot import Robot


class Inertias(NamedTuple):
    """I0 (3,3), Im (n,3,3) [kg m^2]: inertias about the centres of mass, inertial axes."""

    I0: Array
    Im: Array


class CompositeBodies(NamedTuple):
    """M0_tilde (6,6), Mm_tilde (n,6,6): inertia of a link and all links beyond it, about the
    link's centre of mass, inertial axes.
    """

    M0_tilde: Array
    Mm_tilde: Array


class InertiaMatrix(NamedTuple):
    """H0 (6,6), H0m (6,nu), Hm (nu,nu): the blocks of H."""

    H0: Array
    H0m: Array
    Hm: Array


class ConvectiveMatrix(NamedTuple):
    """C0 (6,6), C0m (6,nu), Cm0 (nu,6), Cm (nu,nu): the blocks of C."""

    C0: Array
    C0m: Array
    Cm0: Array
    Cm: Array


def inertias(R0: Array, RL: Array, robot: Robot) -> Inertias:
    """Link inertias projected in inertial axes."""
    R0 = array(R0, (3, 3), "R0")
    RL = array(RL, (robot.n_links_joints, 3, 3), "RL")
    body = np.array([link.inertia for link in robot.links]).reshape(-1, 3, 3)
    return Inertias(R0 @ robot.base_link.inertia @ R0.T, RL @ body @ transpose(RL))


def link_inertia(inertia: Array, mass: float) -> Array:
    """blockdiag(I, m 1) (6,6)."""
    M = zeros((6, 6), inertia)
    M[:3, :3], M[3:, 3:] = inertia, mass * eye(3)
    return M


def mass_composite_body(
    I0: Array, Im: Array, Bij: Array, Bi0: Array, robot: Robot
) -> CompositeBodies:
    """Inertia of each link together with everything beyond it (tips to base)."""
    M0 = link_inertia(I0, robot.base_link.mass).astype(np.result_type(I0, Bi0))
    Mm = zeros((robot.n_links_joints, 6, 6), Im, Bij)
    for i in reversed(range(robot.n_links_joints)):
        Mm[i] = Mm[i] + link_inertia(Im[i], robot.links[i].mass)
        parent = robot.parents[i]
        if parent == 0:
            M0 = M0 + Bi0[i].T @ Mm[i] @ Bi0[i]
        else:
            B = Bij[i, parent - 1]
            Mm[parent - 1] = Mm[parent - 1] + B.T @ Mm[i] @ B
    return CompositeBodies(M0, Mm)


def generalized_inertia(
    M0_tilde: Array,
    Mm_tilde: Array,
    Bij: Array,
    Bi0: Array,
    P0: Array,
    pm: Array,
    robot: Robot,
) -> InertiaMatrix:
    """The generalized inertia matrix H = [H0, H0m; H0m', Hm] of H udot + C u = tau; the
    motors that act in the robot's dynamics add to the diagonal of Hm."""
    nu = robot.nu
    H0 = P0.T @ M0_tilde @ P0
    H0m, Hm = zeros((6, nu), Mm_tilde, Bi0, P0, pm), zeros((nu, nu), Mm_tilde, Bij, pm)
    for i in range(robot.n_links_joints):
        k = robot.u_index[i]
        if k is None:
            continue
        Mp = Mm_tilde[i] @ pm[i]
        H0m[:, k] = P0.T @ (Bi0[i].T @ Mp)
        j = i + 1
        while j:
            m = robot.u_index[j - 1]
            if m is not None:
                arm = Mp if j == i + 1 else Bij[i, j - 1].T @ Mp
                Hm[m : m + 1, k] = Hm[k, m : m + 1] = pm[j - 1].reshape(1, 6) @ arm
            j = robot.parents[j - 1]
    return InertiaMatrix(H0, H0m, Hm + np.diag(robot.motor_inertia))


def convective_inertia(
    t0: Array,
    tL: Array,
    I0: Array,
    Im: Array,
    M0_tilde: Array,
    Mm_tilde: Array,
    Bij: Array,
    Bi0: Array,
    P0: Array,
    pm: Array,
    robot: Robot,
) -> ConvectiveMatrix:
    """SPART's convective inertia matrix C = [C0, C0m; Cm0, Cm].

    C = N' (M Ndot + Mdot N), M the block diagonal of [I 0; 0 m 1] in inertial axes and
    Mdot that of [skew(w) I, 0; 0, 0]. With G_j the sum over the links k beyond j of
    B_kj' (M_k Bdot_kj + Mdot_k B_kj), the entry of joints i and j is, i the outer one,
    p_i' (G_i B_ij + M~_i Bdot_ij + M~_i B_ij Omega_j) p_j, and for i the inner one
    p_i' B_ji' (G_j + M~_j Omega_j) p_j. Cost: one product per pair on a branch.
    """
    n, nu, carriers = robot.n_links_joints, robot.nu, robot.carriers
    G0, G = _convective_bodies(t0, tL, I0, Im, Mm_tilde, Bij, Bi0, robot)
    P0dot = zeros((6, 6), t0, P0)
    P0dot[:3, :3] = skew(t0[:3]) @ P0[:3, :3]
    C0 = P0.T @ (G0 @ P0 + M0_tilde @ P0dot)
    like = (G, Mm_tilde, P0, pm, t0, tL)
    C0m, Cm0, Cm = zeros((6, nu), *like), zeros((nu, 6), *like), zeros((nu, nu), *like)
    for i in range(n):
        k = robot.u_index[i]
        if k is None:
            continue
        inner = G[i] @ pm[i] + Mm_tilde[i] @ turned(tL[carriers[i] - 1, :3], pm[i])
        C0m[:, k] = P0.T @ (Bi0[i].T @ inner)
        Gp, Mp = pm[i].reshape(1, 6) @ G[i], pm[i].reshape(1, 6) @ Mm_tilde[i]
        B0dot = _B_rate(t0[3:] - tL[i, 3:])
        Cm0[k : k + 1] = (Gp @ Bi0[i] + Mp @ B0dot) @ P0 + Mp @ Bi0[i] @ P0dot
        j = i + 1
        while j:
            m = robot.u_index[j - 1]
            if m is not None:
                B, p = Bij[i, j - 1], pm[j - 1]
                Bdot = _B_rate(tL[j - 1, 3:] - tL[i, 3:])
                Cm[k : k + 1, m] = (Gp @ B + Mp @ Bdot) @ p + Mp @ B @ turned(
                    tL[carriers[j - 1] - 1, :3], p
                )
                Cm[m : m + 1, k] = p.reshape(1, 6) @ (B.T @ inner)
            j = robot.parents[j - 1]
    return ConvectiveMatrix(C0, C0m, Cm0, Cm)


def generalized_inertia_noc(N: Array, I0: Array, Im: Array, robot: Robot) -> Array:
    """H (6+nu, 6+nu) of H udot + C u = tau by the natural orthogonal complement: N' M N.

    N (6+6n, 6+nu): of `noc`. I0 (3,3), Im (n,3,3) [kg m^2]: of `inertias`. M is the block
    diagonal of [I 0; 0 m 1]; the motors that act in the robot's dynamics add to the diagonal,
    as in `generalized_inertia`, which costs less on long arms. Units of the blocks of H:
    kg m^2, kg m, kg. Source: J. Angeles, S. Lee, "The formulation of dynamical equations of
    holonomic mechanical systems using a natural orthogonal complement", J. Applied Mechanics
    55 (1988); SPART's GIM_NOC.
    """
    N, I0, Im = _noc_inputs(N, I0, Im, robot)
    motors = np.diag(np.concatenate([np.zeros(6), robot.motor_inertia]))
    H: Array = N.T @ _each_body(I0, Im, N, robot, masses=True) + motors
    return H


def convective_inertia_noc(
    N: Array, Ndot: Array, t0: Array, tL: Array, I0: Array, Im: Array, robot: Robot
) -> Array:
    """C (6+nu, 6+nu) of H udot + C u = tau: N' (M Ndot + Mdot N).

    N, Ndot (6+6n, 6+nu): of `noc` and `noc_dot`. t0 (6,), tL (n,6) [rad/s, m/s]: twists.
    I0 (3,3), Im (n,3,3) [kg m^2]: of `inertias`. M and Mdot are those of
    `convective_inertia`, which gives the same matrix in blocks. Source: as
    `generalized_inertia_noc`; SPART's CIM_NOC.
    """
    N, I0, Im = _noc_inputs(N, I0, Im, robot)
    Ndot = array(Ndot, N.shape, "Ndot")
    t0, tL = array(t0, (6,), "t0"), array(tL, (robot.n_links_joints, 6), "tL")
    turning0, turning = skew(t0[:3]) @ I0, skew(tL[:, :3]) @ Im
    rates = _each_body(I0, Im, Ndot, robot, masses=True)
    C: Array = N.T @ (rates + _each_body(turning0, turning, N, robot, masses=False))
    return C


def _noc_inputs(N: Array, I0: Array, Im: Array, robot: Robot) -> tuple[Array, Array, Array]:
    n = robot.n_links_joints
    N = array(N, (6 + 6 * n, 6 + robot.nu), "N")
    return N, array(I0, (3, 3), "I0"), array(Im, (n, 3, 3), "Im")


def _each_body(I0: Array, Im: Array, N: Array, robot: Robot, *, masses: bool) -> Array:
    """Each body's six rows of N times its [I 0; 0 m 1], or [I 0; 0 0] without masses."""
    out = zeros(N.shape, N, I0, Im)
    for k, inertia in enumerate([I0, *Im]):
        turns, moves = slice(6 * k, 6 * k + 3), slice(6 * k + 3, 6 * k + 6)
        out[turns] = inertia @ N[turns]
        if masses:
            body = robot.links[k - 1] if k else robot.base_link
            out[moves] = body.mass * N[moves]
    return out


def _B_rate(relative_velocity: Array) -> Array:
    """The rate (6,6) of a twist-propagation matrix B = [1 0; skew(r_j - r_i) 1]."""
    rate = zeros((6, 6), relative_velocity)
    rate[3:, :3] = skew(relative_velocity)
    return rate


def _convective_bodies(
    t0: Array,
    tL: Array,
    I0: Array,
    Im: Array,
    Mm_tilde: Array,
    Bij: Array,
    Bi0: Array,
    robot: Robot,
) -> tuple[Array, Array]:
    """G0 (6,6) and G (n,6,6) of `convective_inertia`, tips to base."""
    G0 = zeros((6, 6), t0, I0, Bi0)
    G0[:3, :3] = skew(t0[:3]) @ I0
    G = zeros((robot.n_links_joints, 6, 6), tL, Im, Bij, Mm_tilde)
    for i in reversed(range(robot.n_links_joints)):
        G[i, :3, :3] = G[i, :3, :3] + skew(tL[i, :3]) @ Im[i]
        parent = robot.parents[i]
        B = Bi0[i] if parent == 0 else Bij[i, parent - 1]
        t = t0 if parent == 0 else tL[parent - 1]
        share = B.T @ (G[i] @ B + Mm_tilde[i] @ _B_rate(t[3:] - tL[i, 3:]))
        if parent == 0:
            G0 = G0 + share
        else:
            G[parent - 1] = G[parent - 1] + share
    return G0, G

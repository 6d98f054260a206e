"""The plant's equations of motion: one articulated-body recursion in axial screws.

Notation and frames as in `axial.py`, and

    A, B, M     blocks of an inertia: n = A al + B a, f = B' al + M a
    S           the joint's motion: al_z of a revolute, a_z of a prismatic joint, al about
                its own axis for each row of a spherical joint
    U, d, u     I S, S' I S, and the joint's force less S' of the bias wrench

Accelerations are a bias, which joint rates cause and which is found first, and a
remainder, which joint accelerations cause and in which no velocity appears.

Sources: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), table 5.1 (the bias),
table 7.1 (articulated bodies), sec. 9.4 (floating base); S. McMillan and D. Orin,
"Efficient computation of articulated-body inertias using successive axial screws", IEEE
Trans. Robotics and Automation 11 (1995).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, filled, solve_spd, zeros
from spart_blocks.dynamics.axial import (
    Motion,
    Paths,
    add,
    along_the_tree,
    carried_in,
    carried_out,
    dot,
    rotate_symmetric,
    turn_symmetric,
)
from spart_blocks.dynamics.forward import joint_inertia
from spart_blocks.dynamics.given import Given, bias_of, given_of
from spart_blocks.dynamics.joint_effects import joint_effects
from spart_blocks.dynamics.screws import (
    CYCLE,
    PLACES,
    ROWS,
    SQUARE,
    MovingBody,
    Screw,
    Symmetric,
    Turn,
    Vector,
    bodies_of,
)
from spart_blocks.robot import Robot


class MultibodyRates(NamedTuple):
    """u0dot (6,) [rad/s^2 base axes, m/s^2 inertial], umdot (nu,) [rad/s^2, m/s^2], and
    reaction (6,) [N m, N]: the wrench of the ground on a fixed base at the base's centre
    of mass, inertial; zero for a floating base."""

    u0dot: Array
    umdot: Array
    reaction: Array


class HybridRates(NamedTuple):
    """u0dot, umdot, reaction as `MultibodyRates`; tau_k (n_k,) [N m, N]: the forces that the
    prescribed joints need in addition to taum; load (nu,) [N m, N]: the load of friction and
    stops at each joint, at a sticking joint the holding force.
    """

    u0dot: Array
    umdot: Array
    reaction: Array
    tau_k: Array
    load: Array


# --- inertias of scalars ------------------------------------------------------------------


@dataclass(slots=True)
class Articulated:
    """Inertia and bias wrench of a body in its frame; B is three rows."""

    A: Symmetric
    B: list[Vector]
    M: Symmetric
    n: Vector
    f: Vector

    def carry(self, screw: Screw) -> None:
        """Transform inertia and bias wrench, in place, into the frame at the screw's other end."""
        self.n, self.f = carried_in(screw, self.n, self.f)
        if screw.turn is not None:
            turn_symmetric(self.A, screw.axis, screw.turn)
            _turn_rows(self.B, screw.axis, screw.turn)
            turn_symmetric(self.M, screw.axis, screw.turn)
        elif screw.rows is not None:
            rotate_symmetric(self.A, screw.rows)
            _rotate_rows(self.B, screw.rows)
            rotate_symmetric(self.M, screw.rows)
        if screw.slide is not None:
            _slide(self, screw.axis, screw.slide)

    def gather(self, other: Articulated) -> None:
        """Add the bodies beyond this body."""
        self.A = [a + b for a, b in zip(self.A, other.A, strict=True)]
        self.B = [add(a, b) for a, b in zip(self.B, other.B, strict=True)]
        self.M = [a + b for a, b in zip(self.M, other.M, strict=True)]
        self.n, self.f = add(self.n, other.n), add(self.f, other.f)

    def matrix(self, like: Array) -> Array:
        """The inertia (6,6), in the number type of an array."""
        A, M = (filled([S[k] for k in SQUARE], like).reshape(3, 3) for S in (self.A, self.M))
        B = filled([x for row in self.B for x in row], like).reshape(3, 3)
        return np.block([[A, B], [B.T, M]])


def _turn_rows(B: list[Vector], axis: int, t: Turn) -> None:
    """B becomes R B R'."""
    i, j, k = CYCLE[axis]
    Bi, Bj, Bk = B[i], B[j], B[k]
    ii, ij, ji, jj = Bi[i], Bi[j], Bj[i], Bj[j]
    mixed, spread = t.cs * (ij + ji), t.cs * (ii - jj)
    Bi[i], Bj[j] = t.cc * ii + t.ss * jj - mixed, t.ss * ii + t.cc * jj + mixed
    Bi[j], Bj[i] = t.cc * ij - t.ss * ji + spread, t.cc * ji - t.ss * ij + spread
    Bi[k], Bj[k] = t.c * Bi[k] - t.s * Bj[k], t.s * Bi[k] + t.c * Bj[k]
    Bk[i], Bk[j] = t.c * Bk[i] - t.s * Bk[j], t.s * Bk[i] + t.c * Bk[j]


def _rotate_rows(B: list[Vector], rows: list[Vector]) -> None:
    """B becomes R B R', for any rotation R in rows."""
    columns = list(zip(*B, strict=True))
    half = [[dot(row, column) for column in columns] for row in rows]
    B[:] = [[dot(part, row) for row in rows] for part in half]


def _slide(I: Articulated, axis: int, r: Any) -> None:
    """With r the vector along the axis, B + rx M and A + rx B' + (B + rx M) rx'."""
    i, j, k = CYCLE[axis]
    A, (Bi, Bj, Bk), M = I.A, (I.B[i], I.B[j], I.B[k]), I.M
    ij, ji, jj = Bi[j], Bj[i], Bj[j]
    Bi[i], Bi[j], Bi[k] = Bi[i] - r * M[3 + k], ij - r * M[j], Bi[k] - r * M[3 + i]
    Bj[i], Bj[j], Bj[k] = ji + r * M[i], jj + r * M[3 + k], Bj[k] + r * M[3 + j]
    A[i], A[j] = A[i] - r * (ij + Bi[j]), A[j] + r * (ji + Bj[i])
    A[3 + k] = A[3 + k] + r * (Bi[i] - jj)
    A[3 + j], A[3 + i] = A[3 + j] - r * Bk[j], A[3 + i] + r * Bk[i]


# --- the recursion ------------------------------------------------------------------------


def multibody_rates(
    R0: Any, u0: Any, qm: Any, um: Any, tau0: Any, taum: Any, wF0: Any, wFm: Any, robot: Robot
) -> MultibodyRates:
    """Accelerations of a robot with a fixed or floating base, as `robot.base` says.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): configuration and rates; a fixed base ignores
    u0, and passes tau0 and wF0 to the ground: they change its reaction only. Forces as
    for `forward_dynamics`. Prescribed joints keep their rates. Cost linear in the links.
    Raises SingularInertiaError naming the joint or the base without inertia.
    """
    rates = hybrid_rates(R0, u0, qm, um, tau0, taum, wF0, wFm, robot)
    return MultibodyRates(rates.u0dot, rates.umdot, rates.reaction)


def hybrid_rates(
    R0: Any,
    u0: Any,
    qm: Any,
    um: Any,
    tau0: Any,
    taum: Any,
    wF0: Any,
    wFm: Any,
    robot: Robot,
    umdot_k: Any = None,
    modes: Any = None,
) -> HybridRates:
    """Accelerations of a robot with prescribed or sticking joints.

    umdot_k (n_k,) [rad/s^2, m/s^2]: accelerations of the prescribed joints; they keep
    their rates where it is not given. modes (n_s,): of the joints that can stick, +1 or
    -1 where one slides, 0 where it is stuck, as a prescribed joint at rest; by the sign
    of um where they are not given, and then none is stuck. The rest as `multibody_rates`.
    Source: Featherstone (2008), sec. 9.6 (hybrid dynamics).
    """
    given = given_of(R0, u0, qm, um, tau0, taum, wF0, wFm, robot, umdot_k, modes)
    bodies, bias = bodies_of(robot), bias_of(given, robot)
    I = [_rigid(body, *wrench) for body, wrench in zip(bodies, bias.wrenches, strict=True)]
    net = given.taum - given.load if robot.effects else given.taum
    forces = along_the_tree(net, robot).tolist()
    steps = _inward(bodies, bias.paths, I, forces, _joints(robot, given.modes))
    p0 = filled(I[0].n + I[0].f, *given.numbers)
    u0dot, reaction, a0 = zeros(6, p0), zeros(6, p0), np.zeros(6)
    if robot.base == "floating":
        force = zeros(6, p0)
        force[:3], force[3:] = given.tau0[:3], given.R0.T @ given.tau0[3:]
        inertia = I[0].matrix(given.qm)
        a0 = solve_spd(inertia, force - p0, "the articulated inertia of the base")
        u0dot[:3], u0dot[3:] = a0[:3], given.R0 @ a0[3:] + bias.g
    else:
        reaction[:3] = given.R0 @ (p0[:3] - given.tau0[:3])
        reaction[3:] = given.R0 @ p0[3:] - given.tau0[3:]
    accelerations, held = _outward(bodies, bias.paths, steps, a0.tolist(), bias.umdot)
    umdot = along_the_tree(filled(accelerations, *given.numbers), robot)
    return HybridRates(u0dot, umdot, reaction, *taken_at_joints(robot, held, given))


class JointRole(NamedTuple):
    """The role of a joint: the inertia of its motor, whether it is prescribed, and 1 if it is
    free, 0 if it sticks, None if it cannot stick.
    """

    inertia: float = 0.0
    prescribed: bool = False
    free: Any = None

    @property
    def plain(self) -> bool:
        """Whether only its force acts at the joint."""
        return self.inertia == 0.0 and self.free is None


@lru_cache(maxsize=32)
def _roles(robot: Robot) -> list[JointRole]:
    """The role of each joint where none sticks, in the order of um."""
    inertias = robot.motor_inertia.tolist()
    return [JointRole(inertia, k in robot.kinematic) for k, inertia in enumerate(inertias)]


def _joints(robot: Robot, modes: Array | None) -> list[JointRole]:
    """The role of each joint, in the order of um."""
    if modes is None:
        return _roles(robot)
    joints = list(_roles(robot))
    free = np.where(modes == 0, 0.0, 1.0).tolist()
    for k, flag in zip(joint_effects(robot).sticking, free, strict=True):
        joints[k] = joints[k]._replace(free=flag)
    return joints


def taken_at_joints(robot: Robot, held: dict[int, Any], given: Given) -> tuple[Array, Array]:
    """tau_k and load of `HybridRates`; held: the forces that prescribed and stuck
    joints pass on, by place in um, along the tree."""
    if not held:
        return given.umdot_k, given.load
    effects, taum, load = joint_effects(robot), given.taum, given.load
    like = (given.umdot_k, taum, load, *(filled([force], taum) for force in held.values()))
    places, passed = list(robot.kinematic), zeros(robot.nu, *like)
    for k, force in held.items():
        passed[k] = force
    passed = along_the_tree(passed, robot)
    needed = passed[places] + robot.motor_inertia[places] * given.umdot_k
    tau_k = needed + (load - taum)[places]
    taken = zeros(robot.nu, *like) + load
    if given.modes is not None:
        for k, mode in zip(effects.sticking, given.modes, strict=True):
            taken[k] = np.where(mode == 0, taum[k] - passed[k], load[k])
    return tau_k, taken


def _rigid(body: MovingBody, n: Vector, f: Vector) -> Articulated:
    """A body alone, and the wrench that its bias motion needs."""
    m, h = body.m, body.h
    B = [[0.0, -h[2], h[1]], [h[2], 0.0, -h[0]], [-h[1], h[0], 0.0]]
    inertia, mass = list(body.inertia), [m, m, m, 0.0, 0.0, 0.0]
    return Articulated(inertia, B, mass, n, f)


class JointStep(NamedTuple):
    """Quantities of a joint in the recursion: U in its angular and linear part, 1 / d, and u; the
    force p that
    a prescribed or stuck joint passes on at rest."""

    Un: Vector
    Uf: Vector
    e: Any
    u: Any
    p: Any = None


def _inward(
    bodies: tuple[MovingBody, ...],
    paths: Paths,
    I: list[Articulated],
    taum: list[Any],
    joints: list[JointRole],
) -> list[JointStep]:
    """Tips to base: articulated inertias and bias wrenches gather in I (table 7.1, pass 2)."""
    steps, size = [], None
    for i in range(len(bodies) - 1, 0, -1):
        body, joint = bodies[i], joints[bodies[i].k]
        if body.ball is None:
            size = None
        elif body.axis == 2:  # what its first two rows feel is what the others leave of it
            size = I[i].A[0] + I[i].A[1] + I[i].A[2]
        if joint.prescribed:  # what it does is part of the bias
            steps.append(JointStep(*_felt(body, I[i]), None, None, _force(body, I[i])))
        else:
            steps.append(_freed(body, I[i], taum[body.k], joint, size))
        for screw in paths[i]:
            I[i].carry(screw)
        I[body.parent].gather(I[i])
    return steps[::-1]


def _felt(body: MovingBody, I: Articulated) -> tuple[Vector, Vector]:
    """U = I S."""
    if body.revolute:
        x, y, z = ROWS[body.axis]
        return [I.A[x], I.A[y], I.A[z]], list(I.B[body.axis])
    return [row[2] for row in I.B], [I.M[4], I.M[3], I.M[2]]


def _force(body: MovingBody, I: Articulated) -> Any:
    """S' p."""
    return I.n[body.axis] if body.revolute else I.f[2]


def _freed(body: MovingBody, I: Articulated, tau: Any, joint: JointRole, size: Any) -> JointStep:
    """I becomes what the parent feels through the joint: Ia = I - U U' / d and
    pa = p + U u / d. What S picks of them is exactly zero and the joint's force, unless a
    motor turns with the joint, or it is stuck: then 1 / d is zero. size: of the inertia
    beside which d is none, where it is not I's."""
    (Un, Uf), pz = _felt(body, I), _force(body, I)
    d = (Un[body.axis] if body.revolute else Uf[2]) + joint.inertia
    S = I.A if body.revolute else I.M
    size = S[0] + S[1] + S[2] if size is None else size
    # d may be a number where the others are not, as of a slide along a turning arm's axis.
    if isinstance(d, float) and isinstance(size, float) and not d > 1e-13 * abs(size):
        joint_inertia(np.array([d]), np.array([[size]]), np.ones(1), body.name)
    e, u = (1.0 if joint.free is None else joint.free) / d, tau - pz
    Gn, Gf = [x * e for x in Un], [x * e for x in Uf]
    I.A = [x - Gn[r] * Un[c] for x, (r, c) in zip(I.A, PLACES, strict=True)]
    I.B = [[row[k] - g * Uf[k] for k in range(3)] for row, g in zip(I.B, Gn, strict=True)]
    I.M = [x - Gf[r] * Uf[c] for x, (r, c) in zip(I.M, PLACES, strict=True)]
    I.n, I.f = add(I.n, [x * u for x in Gn]), add(I.f, [x * u for x in Gf])
    if joint.plain and body.revolute:
        for place in ROWS[body.axis]:
            I.A[place] = 0.0
        I.B[body.axis] = [0.0, 0.0, 0.0]
        I.n[body.axis] = tau
    elif joint.plain:
        I.M[2:5] = [0.0, 0.0, 0.0]
        for row in I.B:
            row[2] = 0.0
        I.f[2] = tau
    return JointStep(Un, Uf, e, u, None if joint.free is None else pz)


def _outward(
    bodies: tuple[MovingBody, ...],
    paths: Paths,
    steps: list[JointStep],
    a0: list[Any],
    given: list[Any],
) -> tuple[list[Any], dict[int, Any]]:
    """Base to tips: the joint accelerations (table 7.1, pass 3, without velocities), and
    what prescribed and stuck joints pass on, by place in um."""
    still, umdot = [0.0, 0.0, 0.0], list(given)
    motions, held = [Motion(still, a0[:3], a0[3:])], {}
    for body, path, step in zip(bodies[1:], paths[1:], steps, strict=True):
        _, al, a = carried_out(path, motions[body.parent])
        felt = dot(step.Un, al) + dot(step.Uf, a)
        if step.p is not None:
            held[body.k] = felt + step.p
        if step.e is not None:
            umdot[body.k] = rate = (step.u - felt) * step.e
            if body.revolute:
                al = list(al)
                al[body.axis] = al[body.axis] + rate
            else:
                a = [a[0], a[1], a[2] + rate]
        motions.append(Motion(still, al, a))
    return umdot, held

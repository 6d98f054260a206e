"""A variational step of a robot: discrete mechanics in place of a differential equation.

The action of a step is h L(q, v) at its midpoint, where v are the constant rates that lead
from the start q0 to the end q1, q = q0 (+) h v / 2 and q1 = q0 (+) h v. That it is stationary
gives, for momenta p0 and p1 and the midpoint's gradient of the kinetic energy dT and forces Q,

    p1 - p0 = h (dT + Q),    2 dL/dv = p0 + p1

and for a triple of rates that is an angular velocity, in axes that turn with it, the same of
momenta in the midpoint's axes: with x = h v / 2, m0 = exp(-x) p0 and p1 = exp(-x) m1,

    m1 - m0 = h (dT + Q),    2 dL/dv = dexp(-x) (m1 + p0).

Loops give impulses J(q0)' lam to p0, so that they are closed at q1, phi(q1) = 0. The state
stays positions and rates: p = H(q) u at both ends, u on the loops. Without forces the step
keeps the momentum of a floating robot, it is symplectic in (q, p), and it is its own inverse
with -h. Its error is of second order.

Sources: E. Johnson and T. Murphey, "Scalable variational integrators for constrained
mechanical systems in generalized coordinates", IEEE Trans. Robotics 25 (2009), for trees in
generalized coordinates, constraints and kinematic configuration variables; J. Marsden and M. West,
"Discrete mechanics and variational integrators", Acta Numerica 10 (2001), for the method and
forcing; N. Bou-Rabee and J. Marsden, "Hamilton-Pontryagin integrators on Lie groups",
Foundations of Computational Mathematics 9 (2009), for rotations.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import (
    Array,
    eye,
    filled,
    quaternion_of_turn,
    quaternion_product,
    quaternion_rotation,
    sin,
    skew,
    sqrt,
    zeros,
)
from spart_blocks.dynamics.applied_forces import applied_forces
from spart_blocks.dynamics.axial import paths_of
from spart_blocks.dynamics.closed_system import Closed, freedoms_of
from spart_blocks.dynamics.joint_effects import joint_effects, joint_load
from spart_blocks.dynamics.kinetic_gradient import KineticTerms, kinetic_terms
from spart_blocks.dynamics.loop_rows import Chain, LoopRows, loop_rows
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Robot

ITERATIONS = 10
"""Corrections of a step: enough for 1e-11 where joints turn by a tenth of a radian in it."""
CONVERGED = 1e-10
"""The last correction beside the rates; a step with a larger one has failed."""
FLOOR = 1e-10  # [rad/s, m/s], and
ROUNDING = 1e-14  # [rad, m] over a step: smaller corrections are rounding
LEAST = 1e-200  # shows in no digit, and keeps a zero from being divided by


class PlantMotion(NamedTuple):
    """quaternion (4,) of the base, scalar last, r0 (3,) [m], qm (nq,), u0 (6,), um (nu,)."""

    quaternion: Array
    r0: Array
    qm: Array
    u0: Array
    um: Array

    @property
    def R0(self) -> Array:
        """The rotation (3,3) of the base."""
        return quaternion_rotation(self.quaternion)

    @property
    def u(self) -> Array:
        """All rates (6+nu,)."""
        return np.concatenate([self.u0, self.um])

    def with_rates(self, u: Array) -> PlantMotion:
        """The same place at other rates (6+nu,)."""
        return self._replace(u0=u[:6], um=u[6:])

    def displaced(self, s: Array, robot: Robot) -> PlantMotion:
        """The place that a displacement (6+nu,) [rad, m] leads to, at the same rates."""
        quaternion, r0 = self.quaternion, self.r0
        if robot.base == "floating":
            quaternion = quaternion_product(quaternion, quaternion_of_turn(s[:3]))
            r0 = r0 + s[3:6]
        return self._replace(quaternion=quaternion, r0=r0, qm=robot.integrate(self.qm, s[6:]))


class HeldInputs(NamedTuple):
    """What stays over a step: tau0 (6,), taum (nu,), wF0 (6,), wFm (n,6) [N m, N] as for
    `hybrid_rates`; umdot_k (n_k,) of the prescribed joints; modes (n_s,) of those that can
    stick, or None; ports, what they bring to the robot's forces, by name."""

    tau0: Array
    taum: Array
    wF0: Array
    wFm: Array
    umdot_k: Array
    modes: Array | None = None
    ports: Mapping[str, Array] = MappingProxyType({})


def variational_step(
    h: Any,
    start: PlantMotion,
    held: HeldInputs,
    robot: Robot,
    iterations: int = ITERATIONS,
    damping: float = 0.0,
) -> PlantMotion:
    """The motion a step of h [s] after start, whose loops are closed.

    Wrenches act at the midpoint's configuration; friction, stops, springs and dampers at its
    rates too. So the wrenches of a uniform field are the gradient of its potential there.
    Prescribed joints move with constant acceleration. All rates are NaN where the
    corrections, as many as iterations, have not converged. damping: of the loops, and
    SingularInertiaError for floats, as in `closed_rates`.
    """
    step = StepEquations(h, start, held, robot, damping)
    v, push, changes = step.guess(), step.no_push(), BroydenUpdates(step.small)
    for _ in range(iterations):
        plain, more = step.correction(v, push)
        v, push = v + changes.improved(plain, v), push + more
    off, _ = step.correction(v, push)
    found = _dot(off, off) <= step.small(v)
    v = filled([np.where(found, *pair) for pair in zip(v, step.guess(), strict=True)], v)
    end = step.end(v, push)
    return end.with_rates(end.u + np.where(found, 0.0, np.nan))


class BroydenUpdates:
    """The changes that an iteration has made, by which Broyden's method makes more of the
    next; small: of rates, the square of a change that is rounding and teaches nothing.

    Source: C. Kelley, "Iterative Methods for Linear and Nonlinear Equations" (1995), sec.
    7.3, its algorithm brsol.
    """

    def __init__(self, small: Any) -> None:
        self.small = small
        self.past: list[tuple[Array, Any]] = []

    def improved(self, change: Array, v: Array) -> Array:
        """The change (n,) of v (n,) in place of one by the Jacobian of the start."""
        for (s, share), (after, _) in zip(self.past, self.past[1:], strict=False):
            change = change + after * (_dot(s, change) * share)
        if self.past:
            s, share = self.past[-1]
            change = change * (1.0 / (1.0 - _dot(s, change) * share))
        square = _dot(change, change)
        share = np.where(square > self.small(v), 1.0, 0.0) / (square + LEAST)
        self.past.append((change, share))
        return change


class StepEquations:
    """The equations of one step, in the rates v (6+nu,) that lead through it and the impulses
    of the loops at its start, push (m,)."""

    def __init__(
        self, h: Any, start: PlantMotion, held: HeldInputs, robot: Robot, damping: float = 0.0
    ) -> None:
        self.h, self.start, self.held, self.robot = h, start, held, robot
        self.damping = damping
        self.offset = 0 if robot.base == "floating" else 6
        """Of the free rates, in [u0, um]."""
        self.tau = np.concatenate([held.tau0, held.taum])
        none = zeros(6), zeros((robot.n_links_joints, 6))
        self.p0 = self._terms(start, *none).p
        self.turning = _turning(robot)
        self.rows = self._rows(start.qm)
        middle = start.displaced(h / 2 * self.guess(), robot)
        self.R = middle.R0
        self.closed = self._closed(middle.qm, self.rows)

    def _terms(self, motion: PlantMotion, wF0: Array, wFm: Array) -> KineticTerms:
        return kinetic_terms(motion.R0, motion.u0, motion.qm, motion.um, wF0, wFm, self.robot)

    def _rows(self, qm: Array) -> LoopRows:
        """The constraints of the loops."""
        if not self.robot.loops:
            return LoopRows([], [], [])
        chain = Chain(self.robot, paths_of(bodies_of(self.robot), qm), qm)
        return loop_rows(self.robot, chain, kept_rows(self.robot))

    def _closed(self, qm: Array, rows: LoopRows) -> Closed:
        """The inertia at qm, factored with the rows."""
        modes, free = self.held.modes, None
        if modes is not None:
            flags = np.where(modes == 0, 0.0, 1.0).tolist()
            joints = joint_effects(self.robot).sticking
            stuck = {6 + k: flag for k, flag in zip(joints, flags, strict=True)}
            free = [stuck.get(self.offset + k) for k in freedoms_of(self.robot).places]
        return Closed(self.robot, qm, rows, free, self.damping)

    def guess(self) -> Array:
        """The rates at the start; of prescribed joints those at the midpoint."""
        return self._told(self.start.u, self.h / 2)

    def no_push(self) -> Array:
        """Impulses of zero."""
        return zeros(len(self.rows.J), self.p0)

    def _told(self, u: Array, after: Any) -> Array:
        """u (6+nu,) with the rates that prescribed joints have a time after the start."""
        out = zeros(len(u), u, self.start.um, self.held.umdot_k) + u
        for k, rise in zip(self.robot.kinematic, self.held.umdot_k, strict=True):
            out[6 + k] = self.start.um[k] + after * rise
        return out

    def small(self, v: Array) -> Any:
        """The square of a change of v that is none."""
        return CONVERGED**2 * _dot(v, v) + FLOOR**2 + ROUNDING**2 / (self.h * self.h + LEAST)

    # --- the equations -----------------------------------------------------------------

    def balance(self, v: Array, push: Array) -> tuple[Array, Array]:
        """The residual (6+nu,) of the discrete momentum equations for the rates v and the
        constraint impulses `push`, and the momenta at the end of the step.
        """
        h, held, robot = self.h, self.held, self.robot
        middle = self.start.displaced(h / 2 * v, robot).with_rates(v)
        inner = applied_forces(
            middle.R0, middle.r0, middle.u0, middle.qm, middle.um, robot, held.ports
        )
        terms = self._terms(middle, held.wF0 + inner.wF0, held.wFm + inner.wFm)
        force = terms.gradient + terms.force + self.tau
        force[6:] = force[6:] + inner.taum
        if robot.effects:
            force[6:] = force[6:] - joint_load(middle.um, robot, middle.qm, held.modes)
        p0 = self._pushed(self.p0, self.rows, push)
        p1, left = p0 + h * force, terms.p - p0 - h / 2 * force
        for part, sense in self.turning:
            x = sense * h / 2 * v[part]
            turn = quaternion_rotation(quaternion_of_turn(x))
            m1 = turn.T @ p0[part] + h * force[part]
            # In the axes of the start: there the spin of a slender body, which has next to no
            # inertia, does not feel errors of its other rates.
            left[part] = turn @ (terms.p[part] - _dexp(-x) @ (p0[part] + m1) / 2)
            p1[part] = turn.T @ m1
        return left, p1

    def _pushed(self, p: Array, rows: LoopRows, push: Array) -> Array:
        """p (6+nu,) with impulses on the loops."""
        out = p + 0.0
        for row, impulse in zip(rows.J, push, strict=True):
            for k, x in row.items():
                out[6 + k] = out[6 + k] + x * impulse
        return out

    def correction(self, v: Array, push: Array) -> tuple[Array, Array]:
        """The corrections of v and push, by about the Jacobian: H at the middle, from which it
        differs by terms of order h, and the loops at the start."""
        h = self.h
        left, _ = self.balance(v, push)
        end = self.start.displaced(h * v, self.robot)
        per = h / (h * h + LEAST)  # at a step of zero, nothing
        opening = [-per * error for error in self._rows(end.qm).errors]
        return self._solved(self.closed, -left, opening, self.R)

    def _solved(
        self, closed: Closed, p: Array, opening: list[Any], R: Array
    ) -> tuple[Array, Array]:
        """Rates (6+nu,) of momenta p that open the loops so, and the loops' impulses; those
        of prescribed joints are zero. R (3,3): of the base."""
        inner = np.concatenate([p[:3], R.T @ p[3:6], p[6:]])
        places = [self.offset + k for k in closed.freedoms.places]
        x, push = closed.solve(inner[places].tolist(), opening)
        u = zeros(len(p), p)
        for place, value in zip(places, x, strict=True):
            u[place] = value
        u[3:6] = R @ u[3:6]
        out = self.no_push()
        for k, value in enumerate(push):
            out[k] = value
        return u, out

    def end(self, v: Array, push: Array) -> PlantMotion:
        """The motion at the end: of those with its momenta that which opens no loop."""
        end = self.start.displaced(self.h * v, self.robot)
        told = self._told(zeros(len(v), v), self.h)
        closed, (_, p1) = self._closed(end.qm, self._rows(end.qm)), self.balance(v, push)
        R = end.R0
        H = closed.H @ told[self.offset :]
        carried = zeros(len(v), H) + 0.0
        carried[self.offset :] = H
        carried[3:6] = R @ carried[3:6]
        opening = [-x for x in closed.opening(told)]
        u, _ = self._solved(closed, p1 - carried, opening, R)
        return end.with_rates(told + u)


def _turning(robot: Robot) -> list[tuple[slice, int]]:
    """The places of three rates that are an angular velocity, in axes that turn with it or,
    of a spherical joint against the tree, against it."""
    base = [(slice(0, 3), 1)] if robot.base == "floating" else []
    balls = (entry for entry in robot.layout if entry.spherical)
    return base + [(slice(6 + b.u.start, 6 + b.u.stop), -1 if b.against else 1) for b in balls]


def _dexp(x: Array) -> Array:
    """The derivative (3,3) of exp at the rotation vector x (3,): d exp(x) exp(-x) = dexp(x) dx."""
    K, square = skew(x), x.reshape(1, 3) @ x + LEAST
    angle, sine = sqrt(square), sin(sqrt(square) / 2)
    curl: Array = 2 * sine * sine / square * K
    out: Array = eye(3, x) + curl + (angle - sin(angle)) / (angle * square) * (K @ K)
    return out


def _dot(a: Array, b: Array) -> Any:
    return (a.reshape(1, -1) @ b)[0]

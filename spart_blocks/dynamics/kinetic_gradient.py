"""Momenta of the joints, and the gradient of the kinetic energy by the configuration.

With P and L the linear momentum of what lies beyond a joint and its angular momentum about
a point of the joint, v the velocity of that point and w the angular velocity of what carries
the joint, for an axis e and rates that are held

    p = e . L,  dT/dq = -e . (w x L + v x P)     a turn
    p = e . P,  dT/dq = -e . (w x P)             a slide

The axes of a spherical joint and of a floating base's attitude are such turns: a
displacement about one of them turns the others along. All by one recursion out and one in,
in axial screws, with the notation and frames of `axial.py`.

Sources: T. Kane and D. Levinson, "Dynamics" (1985), for momenta as Ndot' and N' take them;
R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 5.3, for the recursion.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, array, filled
from spart_blocks.dynamics.axial import (
    Loads,
    Motion,
    add,
    along_the_tree,
    cross,
    motions_of,
    needed_wrenches,
    paths_of,
    subtract,
)
from spart_blocks.dynamics.inverse import felt_at_joints
from spart_blocks.dynamics.screws import MovingBody, Vector, bodies_of
from spart_blocks.robot import Robot

Wrenches = list[tuple[Vector, Vector]]

STILL = [0.0, 0.0, 0.0]


class KineticTerms(NamedTuple):
    """Of [u0, um] (6+nu,): p, the momenta; gradient, of the kinetic energy by the configuration
    at these rates; force, the generalized forces of the wrenches on the links. The first six are
    used for a floating base only.
    """

    p: Array
    gradient: Array
    force: Array


def kinetic_terms(
    R0: Any, u0: Any, qm: Any, um: Any, wF0: Any, wFm: Any, robot: Robot
) -> KineticTerms:
    """The momenta of a robot, the gradient of its kinetic energy, and what wrenches do.

    R0 (3,3), u0 (6,), qm (nq,), um (nu,): configuration and rates; a fixed base ignores u0.
    wF0 (6,), wFm (n,6) [N m, N]: wrenches at the centres of mass, inertial axes. Displacements
    are as `robot.integrate` has them: of a spherical joint and of the base's attitude they
    are turns about the axes of their rates. p is H [u0; um], motors with it. Cost linear in
    the links.
    """
    R0, u0 = array(R0, (3, 3), "R0"), array(u0, (6,), "u0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (robot.n_links_joints, 6), "wFm")
    like = (R0, u0, qm, um, wF0, wFm)
    bodies, rates = bodies_of(robot), along_the_tree(um, robot).tolist()
    paths, base, rest = paths_of(bodies, qm), Motion(STILL, STILL, STILL), [0.0] * robot.nu
    none = Loads(np.zeros(3), np.zeros(6), np.zeros((robot.n_links_joints, 6)))
    still = [base] * len(bodies)
    if robot.base == "floating":
        base = Motion(STILL, u0[:3].tolist(), (R0.T @ u0[3:]).tolist())
    # From rest, accelerations pass on as velocities do, and what they need are momenta.
    flow = motions_of(bodies, paths, base, rest, rates)
    momenta = needed_wrenches(bodies, paths, flow, R0, none)
    loads = needed_wrenches(bodies, paths, still, R0, Loads(np.zeros(3), wF0, wFm))
    felt, needed = (felt_at_joints(bodies, paths, w, robot.nu) for w in (momenta, loads))
    columns = (
        [*momenta[0][0], *momenta[0][1], *felt],
        _gradient(bodies, flow, momenta, rates),
        [-x for x in (*loads[0][0], *loads[0][1], *needed)],
    )
    p, gradient, force = (_outside(column, R0, robot, like) for column in columns)
    p[6:] = p[6:] + robot.motor_inertia * um
    return KineticTerms(p, gradient, force)


def _gradient(
    bodies: tuple[MovingBody, ...], flow: list[Motion], momenta: Wrenches, rates: list[Any]
) -> list[Any]:
    """Of the kinetic energy; a joint's own turn about its axis is no part of w x L there."""
    n, f = momenta[0]
    out = [-x for x in cross(flow[0].a, f)] + [0.0] * (3 + len(bodies) - 1)
    carrier = STILL
    for body, motion, (n, f) in zip(bodies[1:], flow[1:], momenta[1:], strict=True):
        if body.ball is None:
            carrier = motion.al
        elif body.axis == 0:
            carrier = subtract(motion.al, rates[body.k : body.k + 3])
        turning = cross(carrier, f)
        if body.revolute:
            turning = add(cross(carrier, n), cross(motion.a, f))
        out[6 + body.k] = -turning[body.axis]
    return out


def _outside(column: list[Any], R0: Array, robot: Robot, like: tuple[Array, ...]) -> Array:
    """A column in base axes and along the tree, as [u0, um] count it."""
    out = filled(column, *like)
    out[3:6] = R0 @ out[3:6]
    out[6:] = along_the_tree(out[6:], robot)
    return out

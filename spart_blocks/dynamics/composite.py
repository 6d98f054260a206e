"""The inertia matrix of the plant: composite bodies in axial screws.

The same quantities as `generalized_inertia`, SPART's GIM, which is its oracle, in the
bodies' own axes. Notation and frames as in `axial.py`.

Sources: M. Walker and D. Orin, "Efficient dynamic computer simulation of robotic
mechanisms", ASME J. Dynamic Systems, Measurement, and Control 104 (1982); R. Featherstone,
"Rigid Body Dynamics Algorithms" (2008), table 6.2 and sec. 9.3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array, array, filled, skew, zeros
from spart_blocks.dynamics.axial import (
    Paths,
    add,
    carried_in,
    paths_of,
    rotate_symmetric,
    turn_symmetric,
    turned,
)
from spart_blocks.dynamics.inertia import InertiaMatrix
from spart_blocks.dynamics.screws import (
    CYCLE,
    ROWS,
    SQUARE,
    MovingBody,
    Screw,
    Symmetric,
    Vector,
    bodies_of,
    senses_of,
)
from spart_blocks.robot import Robot


@dataclass(slots=True)
class Composite:
    """A body and all beyond it as one: m, h and I about the origin of its frame."""

    m: float
    h: Vector
    inertia: Symmetric

    def carry(self, screw: Screw) -> None:
        """Express it in the frame that the screw leads to."""
        self.h = turned(screw, self.h)
        if screw.turn is not None:
            turn_symmetric(self.inertia, screw.axis, screw.turn)
        elif screw.rows is not None:
            rotate_symmetric(self.inertia, screw.rows)
        if screw.slide is None:
            return
        i, j, k = CYCLE[screw.axis]
        r, h, I = screw.slide, list(self.h), self.inertia
        h[k] = h[k] + self.m * r
        more = r * (self.h[k] + h[k])
        I[i], I[j] = I[i] + more, I[j] + more
        I[3 + j], I[3 + i] = I[3 + j] - r * h[i], I[3 + i] - r * h[j]
        self.h = h

    def gather(self, other: Composite) -> None:
        """Add the bodies beyond this body."""
        self.m, self.h = self.m + other.m, add(self.h, other.h)
        self.inertia = [a + b for a, b in zip(self.inertia, other.inertia, strict=True)]

    def wrench(self, revolute: bool, axis: int) -> tuple[Vector, Vector]:
        """The wrench that accelerates it at 1 rad/s^2 about an axis or 1 m/s^2 along z."""
        h, I = self.h, self.inertia
        if revolute:
            (i, j, _), (x, y, z), f = CYCLE[axis], ROWS[axis], [0.0, 0.0, 0.0]
            f[i], f[j] = -h[j], h[i]
            return [I[x], I[y], I[z]], f
        return [h[1], -h[0], 0.0], [0.0, 0.0, self.m]


def multibody_inertia(R0: Any, qm: Any, robot: Robot) -> InertiaMatrix:
    """The generalized inertia matrix H at R0 (3,3) and qm (nq,), in its blocks H0 (6,6),
    H0m (6,nu) and Hm (nu,nu), which is that of a fixed base; motors add
    to it as in `generalized_inertia`."""
    R0, qm = array(R0, (3, 3), "R0"), array(qm, (robot.nq,), "qm")
    bodies, like = bodies_of(robot), (R0, qm)
    paths = paths_of(bodies, qm)
    composites = [Composite(body.m, body.h, list(body.inertia)) for body in bodies]
    H0m, Hm = zeros((6, robot.nu), *like), zeros((robot.nu, robot.nu), *like)
    for i in range(len(bodies) - 1, 0, -1):
        whole, k = composites[i], bodies[i].k
        along, (n, f) = _climb(bodies, paths, i, *whole.wrench(bodies[i].revolute, bodies[i].axis))
        for m, entry in along:
            Hm[m, k] = Hm[k, m] = entry
        H0m[:, k] = filled(n + f, *like)
        for screw in paths[i]:
            whole.carry(screw)
        composites[bodies[i].parent].gather(whole)
    H0m[3:] = R0 @ H0m[3:]
    if robot.balls:
        senses = senses_of(robot)
        H0m, Hm = H0m * senses, Hm * np.outer(senses, senses)
    H0 = _of_the_base(composites[0], R0, like)
    return InertiaMatrix(H0, H0m, Hm + np.diag(robot.motor_inertia))


def _climb(
    bodies: tuple[MovingBody, ...], paths: Paths, i: int, n: Vector, f: Vector
) -> tuple[list[tuple[int, Any]], tuple[Vector, Vector]]:
    """What joint i and those between it and the base feel of a wrench on body i, each with
    its place in um, and the wrench in the base's frame."""
    along = []
    while i:
        body = bodies[i]
        along.append((body.k, n[body.axis] if body.revolute else f[2]))
        for screw in paths[i]:
            n, f = carried_in(screw, n, f)
        i = body.parent
    return along, (n, f)


def _of_the_base(whole: Composite, R0: Array, like: tuple[Array, ...]) -> Array:
    H0 = zeros((6, 6), *like)
    H0[:3, :3] = filled([whole.inertia[k] for k in SQUARE], *like).reshape(3, 3)
    H0[:3, 3:] = skew(filled(whole.h, *like)) @ R0.T
    H0[3:, :3], H0[3:, 3:] = H0[:3, 3:].T, whole.m * np.eye(3)
    return H0

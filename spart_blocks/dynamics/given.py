"""Common first steps of forward dynamics, with open or closed loops.

The motion that velocities and prescribed joints cause alone, and the wrenches that the bodies
need for it under their loads.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, array, zeros
from spart_blocks.dynamics.axial import (
    Motion,
    Paths,
    along_the_tree,
    apart_from_weight,
    motions_of,
    needed_wrenches,
    paths_of,
)
from spart_blocks.dynamics.joint_effects import joint_effects, joint_load
from spart_blocks.dynamics.screws import Vector, bodies_of
from spart_blocks.robot import Robot


class Given(NamedTuple):
    """The arguments of `hybrid_rates`, checked. umdot (nu,) [rad/s^2, m/s^2]: umdot_k at the places
    of the prescribed joints, zero elsewhere; load (nu,) [N m, N]: the load of friction and stops at
    each joint."""

    R0: Array
    u0: Array
    qm: Array
    um: Array
    tau0: Array
    taum: Array
    wF0: Array
    wFm: Array
    umdot_k: Array
    modes: Array | None
    umdot: Array
    load: Array

    @property
    def numbers(self) -> tuple[Array, ...]:
        """The arrays that determine the number type of the results."""
        return self[:9]


def given_of(
    R0: Any,
    u0: Any,
    qm: Any,
    um: Any,
    tau0: Any,
    taum: Any,
    wF0: Any,
    wFm: Any,
    robot: Robot,
    umdot_k: Any,
    modes: Any,
) -> Given:
    """The arguments of `hybrid_rates`, of which the last two may be None."""
    R0, u0 = array(R0, (3, 3), "R0"), array(u0, (6,), "u0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    tau0, taum = array(tau0, (6,), "tau0"), array(taum, (robot.nu,), "taum")
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (robot.n_links_joints, 6), "wFm")
    n_k = len(robot.kinematic)
    umdot_k = array(np.zeros(n_k) if umdot_k is None else umdot_k, (n_k,), "umdot_k")
    if modes is not None:
        modes = array(modes, (len(joint_effects(robot).sticking),), "modes")
    umdot = zeros(robot.nu, umdot_k)
    umdot[list(robot.kinematic)] = umdot_k
    load = joint_load(um, robot, qm, modes) if robot.effects else np.zeros(robot.nu)
    return Given(R0, u0, qm, um, tau0, taum, wF0, wFm, umdot_k, modes, umdot, load)


class Bias(NamedTuple):
    """paths: the screws of each joint; umdot: as of `Given`, along the tree; wrenches that
    each body needs; g (3,) [m/s^2]: the field in which a floating base falls."""

    paths: Paths
    umdot: list[Any]
    wrenches: list[tuple[Vector, Vector]]
    g: Array


def bias_of(given: Given, robot: Robot) -> Bias:
    """The motion without the free accelerations, and what it needs."""
    bodies, floating = bodies_of(robot), robot.base == "floating"
    paths = paths_of(bodies, given.qm)
    loads = apart_from_weight(given.wF0, given.wFm, robot)
    # A floating base falls with the field, a fixed one is held against it.
    still, up = [0.0] * 3, [0.0] * 3 if floating else (given.R0.T @ -loads.g).tolist()
    base = Motion(given.u0[:3].tolist() if floating else still, still, up)
    um, umdot = (along_the_tree(v, robot).tolist() for v in (given.um, given.umdot))
    motions = motions_of(bodies, paths, base, um, umdot)
    return Bias(paths, umdot, needed_wrenches(bodies, paths, motions, given.R0, loads), loads.g)

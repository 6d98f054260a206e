"""Momentum, energy and gravity of the whole system, which SPART leaves to the user."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, array, cross, zeros
from spart_blocks.robot import Robot


class Momentum(NamedTuple):
    """p (3,) [kg m/s] and h (3,) [N m s] about the inertial origin."""

    p: Array
    h: Array


class GravityWrenches(NamedTuple):
    """wF0 (6,) and wFm (n,6) [N m, N] at the centres of mass, inertial."""

    wF0: Array
    wFm: Array


def momentum(
    t0: Array, tL: Array, I0: Array, Im: Array, r0: Any, rL: Array, robot: Robot
) -> Momentum:
    """Linear and angular momentum of the whole system about the inertial origin.

    t0 (6,) [rad/s, m/s]: twist of the base-link, inertial. tL (n,6): of the links.
    I0 (3,3), Im (n,3,3) [kg m^2]: inertias, inertial axes. r0 (3,), rL (n,3) [m].
    Source: p = sum m_i v_i, h = sum I_i w_i + r_i x m_i v_i over base and links.
    """
    p = robot.base_link.mass * t0[3:]
    h = I0 @ t0[:3] + cross(array(r0, (3,), "r0"), p)
    for i, link in enumerate(robot.links):
        p_i = link.mass * tL[i, 3:]
        p, h = p + p_i, h + Im[i] @ tL[i, :3] + cross(rL[i], p_i)
    return Momentum(p, h)


def kinetic_energy(t0: Array, tL: Array, I0: Array, Im: Array, robot: Robot) -> Array:
    """Kinetic energy (1,) [J]: half the sum of w' I w + m v' v over base and links.

    Arguments as for `momentum`.
    """
    twice = _quadratic(I0, robot.base_link.mass, t0)
    for i, link in enumerate(robot.links):
        twice = twice + _quadratic(Im[i], link.mass, tL[i])
    return 0.5 * twice


def _quadratic(inertia: Array, mass: float, t: Array) -> Array:
    w, v = t[:3].reshape(1, 3), t[3:].reshape(1, 3)
    return w @ inertia @ t[:3] + mass * (v @ t[3:])


def potential_energy(r0: Any, rL: Array, gravity: Any, robot: Robot) -> Array:
    """Potential energy (1,) [J] in a uniform field, zero at the inertial origin.

    gravity (3,) [m/s^2], inertial; r0 (3,), rL (n,3) [m]: centres of mass.
    """
    g = array(gravity, (3,), "gravity").reshape(1, 3)
    total = -robot.base_link.mass * (g @ array(r0, (3,), "r0"))
    for link, r in zip(robot.links, rL, strict=True):
        total = total - link.mass * (g @ r)
    return total


def gravity_wrenches(gravity: Any, robot: Robot) -> GravityWrenches:
    """The weight of base and links in a uniform field, as SPART's wF0 and wFm.

    gravity (3,) [m/s^2], inertial, for example [0, 0, -9.81].
    """
    g = array(gravity, (3,), "gravity")
    wF0, wFm = zeros(6, g), zeros((robot.n_links_joints, 6), g)
    wF0[3:] = robot.base_link.mass * g
    masses = np.array([link.mass for link in robot.links]).reshape(-1, 1)
    wFm[:, 3:] = masses * g.reshape(1, 3)
    return GravityWrenches(wF0, wFm)

"""The equations of motion of a robot whose loops are closed.

    H udot + h = tau + J' lam        h: what the motion and the loads need
    J udot = -bias

for the rates that are free; those of prescribed joints are given. How they are solved is told
in `closed_system.py`. Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec.
8.5 (loops) and 9.6 (prescribed joints).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.dynamics.articulated import taken_at_joints
from spart_blocks.dynamics.axial import (
    Motion,
    along_the_tree,
    apart_from_weight,
    motions_of,
    needed_wrenches,
    paths_of,
)
from spart_blocks.dynamics.closed_system import Closed, free_flags
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.joint_effects import joint_effects, joint_load
from spart_blocks.dynamics.loop_rows import Chain, loop_rows
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.dynamics.newton_euler import felt_at_joints
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Robot
from spart_blocks.spatial import Array, array, filled, zeros


class ClosedRates(NamedTuple):
    """u0dot, umdot, reaction, tau_k, load as `HybridRates`; lam (m,) [N, N m]: the forces
    of the loops, one for each row of J that is kept: J' lam acts beside taum."""

    u0dot: Array
    umdot: Array
    reaction: Array
    tau_k: Array
    load: Array
    lam: Array


def closed_rates(
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
    damping: float = 0.0,
    stabilisation: float = 0.0,
) -> ClosedRates:
    """Accelerations of a robot with its loops closed, and the forces that close them.

    Arguments as for `hybrid_rates`, with qm and um that close the loops. damping: beside 1,
    what is added to each row's own part of J H^-1 J', which bounds lam where rows lose rank.
    stabilisation a [1/s]: J udot = -bias - 2 a phi' - a^2 phi, which pulls loops together that
    are a little open, and changes nothing where they are closed (J. Baumgarte, Computer
    Methods in Applied Mechanics and Engineering 1 (1972) 1).
    Raises SingularInertiaError for floats where rows lose rank, or where a motion that the
    loops leave has no inertia.
    """
    R0, u0 = array(R0, (3, 3), "R0"), array(u0, (6,), "u0")
    qm, um = array(qm, (robot.nq,), "qm"), array(um, (robot.nu,), "um")
    tau0, taum = array(tau0, (6,), "tau0"), array(taum, (robot.nu,), "taum")
    wF0, wFm = array(wF0, (6,), "wF0"), array(wFm, (robot.n_links_joints, 6), "wFm")
    n_k = len(robot.kinematic)
    umdot_k = array(np.zeros(n_k) if umdot_k is None else umdot_k, (n_k,), "umdot_k")
    if modes is not None:
        modes = array(modes, (len(joint_effects(robot).sticking),), "modes")
    like = (R0, u0, qm, um, tau0, taum, wF0, wFm, umdot_k)
    base, floating = (6, True) if robot.base == "floating" else (0, False)
    load = joint_load(um, robot, qm, modes) if robot.effects else np.zeros(robot.nu)
    given: list[Any] = [0.0] * robot.nu
    for k, rate in zip(robot.kinematic, umdot_k.tolist(), strict=True):
        given[k] = rate
    closed, need, p0, g = _at(R0, u0, qm, um, wF0, wFm, robot, given, modes, damping)
    net = [t - w for t, w in zip((taum - load).tolist(), need, strict=True)]
    force = net if not floating else (_base_force(R0, tau0) - p0).tolist() + net
    opening = _opening(closed, given, um, robot, stabilisation)
    # The accelerations of prescribed joints are in what the motion needs.
    x, push = closed.solve([force[k] for k in closed.freedoms.places], opening)
    rates: list[Any] = [0.0] * base + given
    for place, value in zip(closed.freedoms.places, x, strict=True):
        rates[place] = value
    udot = filled(rates, *like)
    u0dot, reaction = zeros(6, udot), zeros(6, udot)
    if floating:
        u0dot[:3], u0dot[3:] = udot[:3], R0 @ udot[3:6] + g
    else:
        reaction = _reaction(R0, tau0, qm, udot, p0, robot)
    held = _held(closed, need, x, push, robot, base)
    tau_k = umdot_k
    if held:
        tau_k, load = taken_at_joints(robot, held, umdot_k, taum, load, modes)
    return ClosedRates(u0dot, udot[base:], reaction, tau_k, load, filled(push, *like))


def _opening(
    closed: Closed, given: list[Any], um: Array, robot: Robot, stabilisation: float
) -> list[Any]:
    """What the free accelerations have to make of each row: the bias, and what prescribed
    joints do, taken over; and the pull of Baumgarte's terms."""
    opening = [
        -bias - sum((x * given[k] for k, x in row.items() if k in robot.kinematic), 0.0)
        for row, bias in zip(closed.rows.J, closed.rows.bias, strict=True)
    ]
    if not stabilisation:
        return opening
    return [
        rise - 2.0 * stabilisation * rate - stabilisation**2 * error
        for rise, rate, error in zip(opening, closed.opening(um), closed.rows.errors, strict=True)
    ]


def _reaction(R0: Array, tau0: Array, qm: Array, umdot: Array, p0: Array, robot: Robot) -> Array:
    """The wrench of the ground on a fixed base (6,): p0 is what the given accelerations need."""
    H0m = multibody_inertia(np.eye(3), qm, robot).H0m
    free = [k for k in range(robot.nu) if k not in robot.kinematic]
    wrench = p0 + H0m[:, free] @ umdot[free] if free else p0
    reaction = zeros(6, wrench, R0, tau0)
    reaction[:3], reaction[3:] = R0 @ wrench[:3] - tau0[:3], R0 @ wrench[3:] - tau0[3:]
    return reaction


def _base_force(R0: Array, tau0: Array) -> Array:
    """tau0 in base axes."""
    force = zeros(6, R0, tau0)
    force[:3], force[3:] = tau0[:3], R0.T @ tau0[3:]
    return force


def _at(
    R0: Array,
    u0: Array,
    qm: Array,
    um: Array,
    wF0: Array,
    wFm: Array,
    robot: Robot,
    given: list[Any],
    modes: Array | None,
    damping: float,
) -> tuple[Closed, list[Any], Array, Array]:
    """The robot at this state: H and J factored, what the given accelerations and the loads
    need of the joints, of the base in its axes (6,), and the field in which a floating base
    falls (3,)."""
    bodies, floating = bodies_of(robot), robot.base == "floating"
    paths, loads = paths_of(bodies, qm), apart_from_weight(wF0, wFm, robot)
    still, up = [0.0] * 3, [0.0] * 3 if floating else (R0.T @ -loads.g).tolist()
    base = Motion(u0[:3].tolist() if floating else still, still, up)
    rates, rises = along_the_tree(um, robot), along_the_tree(filled(given, um, qm), robot)
    motions = motions_of(bodies, paths, base, rates.tolist(), rises.tolist())
    wrenches = needed_wrenches(bodies, paths, motions, R0, loads)
    like = (R0, u0, qm, um, wF0, wFm)
    felt = filled(felt_at_joints(bodies, paths, wrenches, robot.nu), *like)
    need = along_the_tree(felt, robot).tolist()
    n, f = wrenches[0]
    rows = loop_rows(robot, Chain(robot, paths, qm, um), kept_rows(robot))
    closed = Closed(robot, qm, rows, free_flags(robot, modes), damping)
    return closed, need, filled(n + f, *like), loads.g


def _held(
    closed: Closed, need: list[Any], x: list[Any], lam: list[Any], robot: Robot, base: int
) -> dict[int, Any]:
    """What acts at prescribed joints, and at those that can stick, beside the loops'
    forces, by place in um."""
    held = {}
    for k in {*robot.kinematic, *(joint_effects(robot).sticking if robot.effects else ())}:
        total = need[k]
        for place, value in zip(closed.freedoms.places, x, strict=True):
            total = total + closed.H[base + k, place] * value
        for row, push in zip(closed.rows.J, lam, strict=True):
            if k in row:
                total = total - row[k] * push
        held[k] = total
    return held

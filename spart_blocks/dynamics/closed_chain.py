"""The equations of motion of a robot whose loops are closed.

    H udot + h = tau + J' lam        h: what the motion and the loads need
    J udot = -bias

for the rates that are free; those of prescribed joints are given. `closed_system.py` describes
their solution. Source: R. Featherstone, "Rigid Body Dynamics Algorithms" (2008), sec. 8.5 (loops)
and 9.6 (prescribed joints).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.spatial import Array, filled, zeros
from spart_blocks.dynamics.articulated import taken_at_joints
from spart_blocks.dynamics.axial import along_the_tree
from spart_blocks.dynamics.closed_system import Closed, free_flags
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.given import Given, bias_of, given_of
from spart_blocks.dynamics.inverse import felt_at_joints
from spart_blocks.dynamics.joint_effects import joint_effects
from spart_blocks.dynamics.loop_rows import Chain, loop_rows
from spart_blocks.dynamics.loops import kept_rows
from spart_blocks.dynamics.screws import bodies_of
from spart_blocks.robot import Robot


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

    Arguments as for `hybrid_rates`, with qm and um that close the loops. damping: relative increase
    of the diagonal of J H^-1 J', which bounds lam where rows lose rank. stabilisation a [1/s]: J
    udot = -bias - 2 a phi' - a^2 phi, which pulls slightly open loops together, and vanishes for
    closed loops (J. Baumgarte, Computer Methods in Applied Mechanics and Engineering 1 (1972) 1).
    Raises SingularInertiaError for floats where rows lose rank, or where a motion that the loops
    leave has no inertia.
    """
    given = given_of(R0, u0, qm, um, tau0, taum, wF0, wFm, robot, umdot_k, modes)
    base, floating = (6, True) if robot.base == "floating" else (0, False)
    prescribed = given.umdot.tolist()
    closed, need, p0, g = _at(given, robot, damping)
    net = [t - w for t, w in zip((given.taum - given.load).tolist(), need, strict=True)]
    force = net if not floating else (_base_force(given.R0, given.tau0) - p0).tolist() + net
    opening = _opening(closed, prescribed, given.um, robot, stabilisation)
    # The accelerations of prescribed joints are in what the motion needs.
    x, push = closed.solve([force[k] for k in closed.freedoms.places], opening)
    rates: list[Any] = [0.0] * base + prescribed
    for place, value in zip(closed.freedoms.places, x, strict=True):
        rates[place] = value
    udot = filled(rates, *given.numbers)
    u0dot, reaction = zeros(6, udot), zeros(6, udot)
    if floating:
        u0dot[:3], u0dot[3:] = udot[:3], given.R0 @ udot[3:6] + g
    else:
        reaction = _reaction(given.R0, given.tau0, given.qm, udot, p0, robot)
    held = _held(closed, need, x, push, robot, base)
    tau_k, load = taken_at_joints(robot, held, given)
    return ClosedRates(u0dot, udot[base:], reaction, tau_k, load, filled(push, *given.numbers))


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


def _at(given: Given, robot: Robot, damping: float) -> tuple[Closed, list[Any], Array, Array]:
    """The robot at this state: H and J factored, what the given accelerations and the loads
    need of the joints, of the base in its axes (6,), and the field in which a floating base
    falls (3,)."""
    bias = bias_of(given, robot)
    passed = felt_at_joints(bodies_of(robot), bias.paths, bias.wrenches, robot.nu)
    need = along_the_tree(filled(passed, *given.numbers), robot).tolist()
    n, f = bias.wrenches[0]
    chain = Chain(robot, bias.paths, given.qm, given.um)
    rows = loop_rows(robot, chain, kept_rows(robot))
    closed = Closed(robot, given.qm, rows, free_flags(robot, given.modes), damping)
    return closed, need, filled(n + f, *given.numbers), bias.g


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

"""Joints that stick: when a mode no longer fits, and which comes next.

A joint with Coulomb friction slides forwards (+1), backwards (-1), or is stuck (0). At rest
its friction f and acceleration a solve, with the other joints at rest, the box-constrained
linear complementarity problem

    a = 0 where |G| Ts- < f < |G| Ts+,   a >= 0 where f = |G| Ts+,   a <= 0 where f = |G| Ts-

with static friction Ts, which is Coulomb's Tc unless a joint has more. Friction falls from Ts with
velocity, without a jump, so that a joint that begins to slide has Ts too. This is a problem
whose matrix is a principal part of the inverse of the inertia matrix, and so has one
solution. Least-index pivoting finds it: the first joint that does not fit changes its
mode. Sources: K. Murty, "Note on a Bard-type scheme for solving the complementarity
problem", Opsearch 11 (1974); J. Judice and F. Pires, "Basic-set algorithm for a
generalized linear complementarity problem", J. Optimization Theory and Applications 74
(1992).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.dynamics.articulated import HybridRates
from spart_blocks.dynamics.composite import multibody_inertia
from spart_blocks.dynamics.joint_effects import joint_effects, stop_forces
from spart_blocks.robot import Robot

MARGIN = 1e-10
"""So much of its break-away force beyond it moves a stuck joint; less is rounding."""


STILL = 1e-15
"""[rad/s, m/s] A joint that nothing moves is no faster; implicit solvers leave so much."""
SLOW = 1e-10
"""[rad/s, m/s] In loops, a joint that others keep at rest is no faster; it is so by rounding."""
SLIGHT = 1e-9
"""In loops, such a joint has no more acceleration than this part of what friction can give."""


@lru_cache(maxsize=32)
def _rest(robot: Robot) -> tuple[float, float]:
    """The rate and the acceleration that joints in loops have at most where others that stick
    keep them at rest. They slide then as far as their mode tells, without moving: of several
    joints on one freedom all but one may, for their friction is at its bound."""
    robot = robot.nominal
    inertia = float(np.mean(np.diag(multibody_inertia(np.eye(3), robot.neutral, robot).Hm)))
    return SLOW, SLIGHT * float(joint_effects(robot).static.max()) / inertia


def unfit_modes(qm: Array, um: Array, modes: Array, rates: HybridRates, robot: Robot) -> list[Any]:
    """For each joint that can stick, a number that is above zero where its mode does not
    fit: the rate or acceleration against which it slides, the force beyond break-away, the
    rate of a stuck joint to which something outside has given one.

    qm (nq,), um (nu,), modes (n_s,): the state. rates: the accelerations in these modes.
    """
    forward, backward = _beyond(qm, um, rates, robot)
    values = []
    slow, slight = _rest(robot) if robot.loops else (STILL, 0.0)
    for i, k in enumerate(joint_effects(robot).sticking):
        mode = modes[i]
        at_rest = abs(um[k]) <= slow
        against = np.where(at_rest, -mode * rates.umdot[k] - slight, -mode * um[k])
        stuck = np.where(abs(um[k]) <= STILL, np.maximum(forward[i], backward[i]), abs(um[k]))
        values.append(np.where(mode == 0, stuck, against))
    return values


def next_modes(
    qm: Array, um: Array, modes: Array, rates: HybridRates, robot: Robot
) -> tuple[Array, Array]:
    """um (nu,) and modes (n_s,) after the first joint that does not fit has changed its
    mode: a sliding one sticks, a stuck one slides where it is pushed, or where it moves
    already. As `unfit_modes`."""
    forward, _ = _beyond(qm, um, rates, robot)
    unfit = unfit_modes(qm, um, modes, rates, robot)
    um, modes = um + 0.0 * rates.umdot, modes + 0.0 * unfit[0]
    before: Any = 0.0
    for i, k in enumerate(joint_effects(robot).sticking):
        changes = np.where(unfit[i] > 0, 1.0, 0.0) * (1.0 - before)
        before = before + changes
        freed = np.where(np.where(abs(um[k]) <= STILL, forward[i], um[k]) > 0, 1.0, -1.0)
        um[k] = np.where(changes * abs(modes[i]) > 0, 0.0, um[k])
        modes[i] = np.where(changes > 0, np.where(modes[i] == 0, freed, 0.0), modes[i])
    return um, modes


def modes_of_rates(um: Array, modes: Array, robot: Robot) -> Array:
    """modes (n_s,) of joints that something outside has given the rates um (nu,), as a blow
    does: they slide as they move, and keep their modes where they are at rest."""
    rates = um[list(joint_effects(robot).sticking)]
    return np.where(rates > 0, 1.0, np.where(rates < 0, -1.0, modes))


def _beyond(qm: Array, um: Array, rates: HybridRates, robot: Robot) -> tuple[list[Any], list[Any]]:
    """How far beyond its range friction would have to hold each joint that can stick,
    forwards and backwards."""
    effects = joint_effects(robot)
    friction = rates.load + stop_forces(qm, um, robot)
    forward, backward = (1 + MARGIN) * effects.static.T
    sticking = effects.sticking
    return (
        [friction[k] - forward[k] for k in sticking],
        [backward[k] - friction[k] for k in sticking],
    )

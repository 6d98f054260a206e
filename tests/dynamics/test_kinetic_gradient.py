"""Momenta, the gradient of the kinetic energy, and wrenches, against SPART's matrices."""

import numpy as np
import pytest
from ball_robots import random_state, robot_with_balls

from spart_blocks import dynamics
from spart_blocks.base.spatial import quaternion_of_turn, quaternion_rotation
from spart_blocks.dynamics.kinetic_gradient import kinetic_terms

ZERO = np.zeros(3)


def matrices(R0, qm, robot):
    """H and N of SPART's functions."""
    K = dynamics.kinematics(R0, ZERO, qm, robot)
    D = dynamics.diff_kinematics(R0, ZERO, K.rL, K.e, K.g, robot)
    own = dynamics.inertias(R0, K.RL, robot)
    whole = dynamics.mass_composite_body(own.I0, own.Im, D.Bij, D.Bi0, robot)
    H = dynamics.generalized_inertia(*whole, *D, robot)
    N = dynamics.noc(ZERO, K.rL, D.P0, D.pm, robot)
    return np.block([[H.H0, H.H0m], [H.H0m.T, H.Hm]]), N


def displaced(R0, qm, s, robot):
    return R0 @ quaternion_rotation(quaternion_of_turn(s[:3])), robot.integrate(qm, s[6:])


@pytest.fixture(params=[(seed, base) for seed in range(3) for base in ("fixed", "floating")])
def case(request):
    seed, base = request.param
    robot = robot_with_balls(seed, base, bodies=4)
    s = random_state(robot, seed)
    counts = slice(0 if base == "floating" else 6, None)
    return robot, s, counts, kinetic_terms(s.R0, s.u0, s.qm, s.um, s.wF0, s.wFm, robot)


def test_momenta_are_the_inertia_times_the_rates(case, close):
    robot, s, counts, terms = case
    H, _ = matrices(s.R0, s.qm, robot)
    close(terms.p[counts], (H @ np.concatenate([s.u0, s.um]))[counts])


def test_wrenches_act_through_the_natural_orthogonal_complement(case, close):
    robot, s, counts, terms = case
    _, N = matrices(s.R0, s.qm, robot)
    close(terms.force[counts], (N.T @ np.vstack([s.wF0, s.wFm]).ravel())[counts])


def test_the_gradient_is_that_of_the_kinetic_energy_along_displacements(case):
    robot, s, counts, terms = case
    u, differences = np.concatenate([s.u0, s.um]), []
    for unit in np.eye(len(u)):
        energies = []
        for size in (1e-5, -1e-5):
            R0, qm = displaced(s.R0, s.qm, size * unit, robot)
            energies.append(u @ matrices(R0, qm, robot)[0] @ u / 2)
        differences.append((energies[0] - energies[1]) / 2e-5)
    assert np.abs(terms.gradient - differences)[counts].max() < 1e-8 * np.abs(u @ u)

"""How far configurations are from a loss of rank: a parallelogram has it where it lies flat."""

from __future__ import annotations

import numpy as np
import pytest
from closed_robots import four_bar, spatial_bar

from spart_blocks.dynamics import assemble, loop_jacobian
from spart_blocks.dynamics.rank_loss import LOST, dependent_row, distance, passing, reach


@pytest.fixture(scope="module")
def flat():
    return four_bar(0.2, 0.45, 0.2, 0.45)


def turned(robot, angle):
    """The parallelogram with its crank at an angle, and the rates at which it turns."""
    by_name = {"A": angle, "B": -angle, "C": angle}
    q = np.array([by_name[name] for name in robot.active_joints])
    return q, np.array([{"A": 1.0, "B": -1.0, "C": 1.0}[name] for name in robot.active_joints])


def test_the_distance_grows_with_the_square_of_the_way_from_a_loss_of_rank(flat):
    far, near = (distance(turned(flat, np.pi + s)[0], flat) for s in (1e-2, 1e-3))
    assert abs(far / near - 100.0) < 0.1
    assert distance(turned(flat, np.pi)[0], flat) < 1e-30


@pytest.mark.parametrize("speed", [1e-3, 1.0, 1e3])
def test_the_motion_is_nearest_where_it_lies_flat(speed, flat):
    for angle, sense in ((np.pi - 1e-6, -1), (np.pi + 1e-6, 1)):
        q, u = turned(flat, angle)
        nearest, lost = passing(q, speed * u, flat)
        assert np.sign(nearest) == sense
        assert 0 < lost <= LOST


def test_a_motion_within_one_step_sees_it(flat):
    """From half a radian of the joints' motion before to as much behind."""
    _, rates = turned(flat, 0.0)
    half = 0.5 * reach(rates, flat)
    before, after = (passing(*turned(flat, np.pi + s), flat)[0] for s in (-half, half))
    assert before < 0 < after


def test_the_row_that_is_lost_and_its_joints_are_told(flat):
    assert dependent_row(turned(flat, np.pi)[0], flat) == ("D.x", flat.active_joints)


@pytest.mark.parametrize("robot", [four_bar(), spatial_bar()], ids=["planar", "spatial"])
def test_a_linkage_that_has_none_is_never_said_to_come_near(robot):
    rng, q = np.random.default_rng(0), assemble(robot).qm
    for _ in range(40):
        J = loop_jacobian(q, robot)
        free = np.linalg.svd(J)[2][len(J) :]
        u = rng.normal(size=len(free)) @ free
        assert passing(q, u, robot)[0] <= 0
        assert passing(q, u, robot)[1] < 0
        q = assemble(robot, robot.integrate(q, 0.1 * free[-1] / np.abs(free[-1]).max())).qm

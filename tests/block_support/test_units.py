"""The units of ports are those of the robot's own joints."""

from __future__ import annotations

import pytest
from robots import random_robot

from spart_blocks.block_support.quantities import ports


@pytest.mark.parametrize(
    ("kinds", "units"),
    [
        ("r", ["rad", "rad/s", "N m"]),
        ("p", ["m", "m/s", "N"]),
        ("rp", ["rad, m", "rad/s, m/s", "N m, N"]),
    ],
)
def test_joint_quantities_have_the_units_of_the_joints(kinds, units):
    robot = random_robot(3, 6, kinds=kinds)
    assert [port.unit for port in ports(robot, "qm um taum")] == units


def test_twists_and_wrenches_keep_both_units():
    robot = random_robot(3, 4, kinds="r")
    assert [port.unit for port in ports(robot, "u0 wFm")] == ["rad/s, m/s", "N m, N"]

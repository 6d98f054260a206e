"""The three-joint arm of the models: its figures, and its tip in closed form."""

from __future__ import annotations

import numpy as np
import robots

from spart_blocks import dynamics
from spart_blocks.robot import Robot

ARM = Robot.from_urdf(robots.ROOT / "models/arm3.urdf")


def test_the_tip_of_the_three_joint_arm_is_where_trigonometry_puts_it(close):
    for q in np.random.default_rng(3).uniform(-2, 2, (5, 3)):
        K = dynamics.kinematics(np.eye(3), np.zeros(3), q, ARM)
        tool = dynamics.frame_of_link(4, np.eye(3), np.zeros(3), K.RL, K.rL, ARM)
        out = 0.4 * np.sin(q[1]) + 0.5 * np.sin(q[1] + q[2])
        up = 0.2 + 0.4 * np.cos(q[1]) + 0.5 * np.cos(q[1] + q[2])
        close(tool[:3, 3], [out * np.cos(q[0]), out * np.sin(q[0]), up], "tip")


def test_the_three_joint_arm_stands_on_the_ground_and_weighs_twelve_kilograms():
    assert (ARM.base, ARM.base_link.mass, ARM.nu) == ("fixed", 0.0, 3)
    assert ARM.mass == 12.0

"""Forces that a robot brings along are refused where they cannot act, with the reason."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ball_robots import robot_with_balls

from spart_blocks.base.errors import RobotError
from spart_blocks.dynamics import applied_forces, port_widths
from spart_blocks.robot import Force, JointPort, JointSpring, JointType, PointPort, PointSpring
from spart_blocks.robot.force_checks import check_forces

P, Q = np.zeros(3), np.ones(3)


@pytest.fixture
def robot():
    """Joints b1 and b3 spherical, j2 and j4 rows of a joint `both`, j6 fixed."""
    robot = robot_with_balls(1, bodies=6)
    fixed = {"type": JointType.FIXED, "q_id": -1}
    changes = {"j2": {"group": "both"}, "j4": {"group": "both"}, "j6": fixed}
    return replace(robot, joints=tuple(replace(j, **changes.get(j.name, {})) for j in robot.joints))


def test_forces_that_can_act_pass(robot):
    last = robot.n_links_joints
    forces = (
        PointSpring("a", 0, last, P, Q, 5.0, 0.1, 0.2),
        JointSpring("b", "b1", 3.0),
        JointSpring("c", "j2", 3.0, -0.4),
        JointPort("d", "j4", "tau"),
        PointPort("e", "f", 0, P, local=True),
        PointPort("g", "p", last, P, 0, Q),
    )
    check_forces(replace(robot, forces=forces))


SPRING = PointSpring("s", 0, 3, P, Q, 5.0)
WRONG = [
    (JointSpring("s", "j22"), "no joint 'j22' on balls1\n  did you mean 'j2'?"),
    (JointSpring("s", "j6"), "joint 'j6' of balls1 is fixed\n  it has b1, b3, b5, j2, j4"),
    (JointPort("s", "both", "tau"), "joint 'both' has several axes\n  name one of 'j2', 'j4'"),
    (JointPort("s", "b1", "tau"), "joint 'b1' is spherical; a port drives a joint with one axis"),
    (JointPort("s", "b1.x", "tau"), "'b1.x' is no joint, but a row of one\n  name the spherical"),
    (JointSpring("s", "b1", 1.0, 0.3), "rest is 0.3; at the spherical joint 'b1' a spring rests"),
    (JointSpring("s", "j2", -1.0), "stiffness is -1; it must not be negative"),
    (replace(SPRING, damping=-2.0), "damping is -2; it must not be negative"),
    (replace(SPRING, free_length=-2.0), "free_length is -2; it must not be negative"),
    (replace(SPRING, stiffness=np.inf), "stiffness is inf; it must be a finite number"),
    (JointSpring("s", "j2", 1.0, np.nan), "rest is nan; it must be a finite number"),
    (replace(SPRING, b=99), "there is no link 99; balls1 has 0 to 12"),
    (replace(SPRING, a=-1), "there is no link -1; balls1 has 0 to 12"),
    (replace(SPRING, b=2), "link 'of b1.y' is inside a spherical joint\n  name 'of b1.z'"),
    (replace(SPRING, b=0), "both points are on one link, where it does nothing"),
    (replace(SPRING, pa=np.zeros(2)), "the point on link 'base' must be three finite numbers"),
    (replace(SPRING, pb=[0, 0, np.nan]), "the point on link 'of b1.z' must be three finite"),
    (PointPort("s", "p", 0, P, 3), "the point on link 'of b1.z' must be three finite numbers"),
    (PointPort("s", "p", 0, P, 3, Q, True), "local is for a force at one point; one between"),
    (Force("s"), "Force is no kind of force that acts on a robot"),
]


@pytest.mark.parametrize(("force", "text"), WRONG, ids=[text.split("\n")[0] for _, text in WRONG])
def test_a_force_that_cannot_act_is_refused(robot, force, text):
    with pytest.raises(RobotError) as error:
        check_forces(replace(robot, forces=(force,)))
    assert str(error.value).startswith(f"force 's': {text}")


def test_all_that_is_wrong_is_told_at_once(robot):
    forces = (JointSpring("x", "j2"), SPRING, JointSpring("x", "j4", -1.0, 0.0, -1.0))
    with pytest.raises(RobotError) as error:
        check_forces(replace(robot, forces=forces))
    assert str(error.value).splitlines() == [
        "force 'x': stiffness is -1; it must not be negative",
        "force 'x': damping is -1; it must not be negative",
        "force 'x': the name is used twice",
    ]


def test_forces_are_checked_before_they_act(robot):
    wrong = replace(robot, forces=(JointSpring("s", "j6"),))
    none = np.zeros(6)
    with pytest.raises(RobotError, match="is fixed"):
        applied_forces(np.eye(3), P, none, robot.neutral, np.zeros(robot.nu), wrong, {})
    with pytest.raises(RobotError, match="is fixed"):
        port_widths(wrong)

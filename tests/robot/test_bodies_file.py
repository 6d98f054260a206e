"""Robots of a file of bodies and joints: where the bodies are, loops, forces."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from bodies_text import FOURBAR, ROUND, written
from scipy.spatial.transform import Rotation

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.dynamics import frame_of_link, kinematics, link_quaternion
from spart_blocks.robot import (
    Drive,
    JointPort,
    JointSpring,
    JointType,
    Limits,
    PointPort,
    PointSpring,
    Robot,
)

SOLID = {"mass": 2.0, "com": [0.1, -0.2, 0.3], "inertia": [0.2, 0.3, 0.4]}
A = {"xyz": [0.3, 0.1, -0.2], "rpy": [0.4, -0.7, 1.1]}
B = {"xyz": [-0.5, 0.2, 0.1], "rpy": [-0.9, 0.3, 0.2]}
AXIS = [0.48, -0.6, 0.64]
QUATERNION = Rotation.from_euler("xyz", [0.3, -1.2, 2.0]).as_quat()


def moved(xyz=(0.0, 0.0, 0.0), turn=None):
    T = np.eye(4)
    T[:3, 3] = xyz
    if turn is not None:
        T[:3, :3] = turn.as_matrix()
    return T


def frame(entry):
    return moved(entry["xyz"], Rotation.from_euler("xyz", entry["rpy"]))


def about(axis, angle):
    return moved(turn=Rotation.from_rotvec(angle * np.array(axis)))


X, Y, Z = np.eye(3)
# type: (further fields, q as the user writes it, the motion from parent to child joint frame)
MOTIONS = {
    "rigid": ({}, None, np.eye(4)),
    "Rx": ({}, 0.7, about(X, 0.7)),
    "Ry": ({}, 0.7, about(Y, 0.7)),
    "Rz": ({}, 0.7, about(Z, 0.7)),
    "R": ({"axis": AXIS}, 0.7, about(AXIS, 0.7)),
    "Px": ({}, 0.7, moved(0.7 * X)),
    "Py": ({}, 0.7, moved(0.7 * Y)),
    "Pz": ({}, 0.7, moved(0.7 * Z)),
    "P": ({"axis": AXIS}, 0.7, moved(0.7 * np.array(AXIS))),
    "cylindrical": ({}, [0.7, -0.4], about(Z, 0.7) @ moved(-0.4 * Z)),
    "universal": ({}, [0.7, -0.4], about(X, 0.7) @ about(Y, -0.4)),
    "spherical": ({}, QUATERNION, moved(turn=Rotation.from_quat(QUATERNION))),
    "planar": ({}, [0.7, -0.4, 1.2], moved([0.7, -0.4, 0]) @ about(Z, 1.2)),
    "float": (
        {},
        [0.7, -0.4, 0.2, *QUATERNION],
        moved([0.7, -0.4, 0.2], Rotation.from_quat(QUATERNION)),
    ),
}


def pose(robot, link):
    """The body frame (4,4) at home."""
    R0, r0 = np.eye(3), np.zeros(3)
    K = kinematics(R0, r0, robot.home, robot)
    return frame_of_link(robot.robot_keys.link_id[link], R0, r0, K.RL, K.rL, robot)


def one_joint(kind, *, flip=False, **fields):
    extra, q, _ = MOTIONS[kind]
    ends = {"parent": "ground", "child": "b", "parent_frame": A, "child_frame": B}
    joint = {"type": kind, **ends, **extra, **fields} | ({} if q is None else {"q": q})
    if flip:
        turned = {"parent": "b", "child": "ground", "parent_frame": B, "child_frame": A}
        joint |= turned
    return {"bodies": {"b": SOLID}, "joints": {"J": joint}}


# --- where the bodies are ------------------------------------------------------------------------


@pytest.mark.parametrize("kind", MOTIONS)
def test_a_joint_moves_its_child_from_its_parent_by_its_own_motion(kind):
    robot = Robot.from_bodies(one_joint(kind))
    want = frame(A) @ MOTIONS[kind][2] @ np.linalg.inv(frame(B))
    np.testing.assert_allclose(pose(robot, "b"), want, atol=1e-14)


@pytest.mark.parametrize("kind", MOTIONS)
def test_a_joint_against_the_tree_keeps_its_coordinates(kind):
    robot = Robot.from_bodies(one_joint(kind, flip=True))
    want = frame(A) @ np.linalg.inv(MOTIONS[kind][2]) @ np.linalg.inv(frame(B))
    np.testing.assert_allclose(pose(robot, "b"), want, atol=1e-14)


@pytest.mark.parametrize("kind", ["Rx", "spherical", "float"])
@pytest.mark.parametrize("flip", [False, True])
def test_the_quaternion_of_a_body_is_that_of_its_body_frame(kind, flip):
    robot = Robot.from_bodies(one_joint(kind, flip=flip))
    q = link_quaternion(robot.home, robot.n_links_joints, robot)
    want = Rotation.from_matrix(pose(robot, "b")[:3, :3]).as_quat()
    np.testing.assert_allclose(q * np.sign(q @ want), want, atol=1e-14)


def test_a_body_frame_that_is_the_joint_frame_is_not_told_again():
    data = one_joint("Rz")
    assert Robot.from_bodies(data).links[0].frame is not None
    del data["joints"]["J"]["child_frame"]
    assert Robot.from_bodies(data).links[0].frame is None


@pytest.mark.parametrize("kind", ["cylindrical", "universal", "spherical", "planar", "float"])
@pytest.mark.parametrize("axis", [AXIS, [0, 0, -2], [-1, 0, 0]])
def test_an_axis_turns_both_joint_frames_so_that_z_is_along_it(kind, axis):
    robot = Robot.from_bodies(one_joint(kind, axis=axis))
    E = frame(A)[:3, :3].T @ pose(robot, "b")[:3, :3] @ frame(B)[:3, :3]
    turned = np.linalg.inv(frame(A)) @ pose(robot, "b") @ frame(B)
    z = np.array(axis) / np.linalg.norm(axis)
    motion = MOTIONS[kind][2]
    # The invariants of the motion along and about the axis are those about z.
    assert z @ turned[:3, 3] == pytest.approx(motion[2, 3], abs=1e-14)
    assert z @ E @ z == pytest.approx(motion[2, 2], abs=1e-14)
    assert np.trace(E) == pytest.approx(np.trace(motion[:3, :3]), abs=1e-14)


def rows(loop, robot):
    """The rows of a loop at home, as robot/loop.py tells them."""
    names = [robot.base_link.name, *(link.name for link in robot.links)]
    Ta, Tb = (
        pose(robot, names[i]) @ robot.body(i).to_mass @ T
        for i, T in ((loop.a, loop.Ta), (loop.b, loop.Tb))
    )
    p = Ta[:3, :3].T @ (Tb[:3, 3] - Ta[:3, 3])
    E = Ta[:3, :3].T @ Tb[:3, :3]
    found = {"x": p[0], "y": p[1], "z": p[2], "d": np.linalg.norm(p) - (loop.length or 0)}
    found |= {"rx": E[1, 2], "ry": E[2, 0], "rz": E[0, 1]}
    return np.array([found[name.rpartition(".")[2]] for name in loop.rows])


@pytest.mark.parametrize("kind", [kind for kind in MOTIONS if kind != "float"])
def test_a_joint_that_is_cut_is_the_loop_that_its_motion_closes(kind):
    T = frame(A) @ MOTIONS[kind][2] @ np.linalg.inv(frame(B))
    q = [*T[:3, 3], *Rotation.from_matrix(T[:3, :3]).as_quat()]
    data = one_joint(kind, cut=True)
    data["joints"]["free"] = {"type": "float", "parent": "ground", "child": "b", "q": q}
    robot = Robot.from_bodies(data)
    (loop,) = robot.loops
    assert (loop.name, loop.a, robot.links[loop.b - 1].name) == ("J", 0, "b")
    np.testing.assert_allclose(rows(loop, robot), 0, atol=1e-14)
    off = robot.integrate(robot.home, np.full(6, 0.1))
    assert np.abs(rows(loop, replace(robot, home=off))).min(initial=1.0) > 1e-4


def test_a_fourbar_is_a_tree_of_its_bodies_and_one_loop(tmp_path):
    robot = Robot.from_bodies(written(tmp_path, FOURBAR))
    assert (robot.name, robot.base, robot.base_link.name) == ("fourbar", "fixed", "ground")
    assert [link.name for link in robot.links] == ["crank", "rocker", "rod"]
    assert [joint.name for joint in robot.joints] == ["J1", "J4", "J2"]
    assert robot.parents == (0, 0, 1)
    assert [(loop.name, loop.type, loop.a, loop.b) for loop in robot.loops] == [
        ("J3", "revolute", 3, 2)
    ]
    np.testing.assert_array_equal(robot.home, [0.6, -1.1, 0.0])


def test_motors_and_limits_are_those_of_a_drives_file(tmp_path):
    robot = Robot.from_bodies(written(tmp_path, FOURBAR))
    assert robot.joints[0].drive == Drive(gear=50, motor_inertia=1e-5)
    assert robot.joints[1].limits == Limits(lower=-2, upper=2)
    assert robot.effects == ("motors", "friction")


def test_inertias_are_given_by_moments_by_name_or_whole(tmp_path):
    crank, rocker, rod = Robot.from_bodies(written(tmp_path, FOURBAR)).links
    np.testing.assert_array_equal(crank.inertia, np.diag([0.01, 0.02, 0.02]))
    np.testing.assert_array_equal(rocker.inertia, crank.inertia)
    np.testing.assert_array_equal(rod.inertia, [[0.01, 1e-3, 0], [1e-3, 0.04, 0], [0, 0, 0.04]])


def test_forces_act_at_points_from_the_centres_of_mass(tmp_path):
    motor, bushing, spring, push, piston = Robot.from_bodies(written(tmp_path, FOURBAR)).forces
    assert motor == JointPort("motor", "J1", "tau")
    assert bushing == JointSpring("bushing", "J4", 3, -0.2, 0.1)
    zero = np.zeros(3)
    assert spring == PointSpring("spring", 0, 3, zero, np.array([0.5 - 0.2, 0, 0]), 10, 0.3, 0)
    assert push == PointPort("push", "push", 3, np.array([0.25 - 0.2, 0, 0]), local=True)
    lever = np.array([-0.1, 0, 0])
    assert piston == PointPort("piston", "p", 1, zero, 2, lever)


# --- the base ------------------------------------------------------------------------------------


def test_without_ground_the_first_body_that_has_mass_floats():
    data = {
        "bodies": {"rod": {"mass": 0}, "b": SOLID, "c": ROUND},
        "joints": {"j": {"type": "rigid", "parent": "rod", "child": "b"},
                   "k": {"type": "Rz", "parent": "c", "child": "rod"}},
    }  # fmt: skip
    robot = Robot.from_bodies(data)
    assert (robot.base, robot.base_link.name, robot.nu) == ("floating", "b", 1)
    np.testing.assert_allclose(robot.base_link.T, moved(SOLID["com"]))
    assert [link.name for link in robot.links] == ["rod", "c"]


def test_a_body_alone_floats():
    robot = Robot.from_bodies({"bodies": {"b": SOLID}})
    assert (robot.base, robot.links, robot.mass) == ("floating", (), 2.0)


@pytest.mark.parametrize(
    ("key", "tie"),
    [
        ("distances", {"length": 1.2}),
        ("forces", {"type": "spring", "stiffness": 3.0}),
    ],
)
def test_where_only_a_distance_or_a_force_names_the_ground_a_float_joint_does_too(key, tie):
    data = {"bodies": {"bob": ROUND}, key: {"s": {"parent": "ground", "child": "bob", **tie}}}
    robot = Robot.from_bodies(data)
    assert (robot.base, robot.base_link.name) == ("fixed", "ground")
    assert robot.active_joints == ("float.px", "float.py", "float.pz", "float.r")
    (tied,) = (*robot.loops, *robot.forces)
    assert (tied.a, robot.links[tied.b - 1].name) == (0, "bob")
    np.testing.assert_allclose(pose(robot, "bob"), np.eye(4))


# --- distances -----------------------------------------------------------------------------------


def pendulum(**distance):
    ends = {"parent": "ground", "child": "b", "parent_point": [0, 0, 2.0]}
    joint = {"type": "float", "parent": "ground", "child": "b"}
    string = ends | {"child_point": [0, 0.1, 0]} | distance
    return {"bodies": {"b": SOLID}, "joints": {"J": joint}, "distances": {"string": string}}


def test_a_distance_is_a_loop_between_two_points():
    robot = Robot.from_bodies(pendulum(length=1.5))
    (loop,) = robot.loops
    assert (loop.name, loop.type, loop.length) == ("string", "distance", 1.5)
    assert rows(loop, robot) == pytest.approx(np.hypot(2.0, 0.1) - 1.5)


def test_a_prescribed_length_is_a_joint_that_nothing_depends_on():
    robot = Robot.from_bodies(pendulum(length="prescribed", q=1.9))
    joint, link = robot.joints[-1], robot.links[-1]
    assert (joint.name, link.name, joint.type) == ("string", "string", JointType.PRISMATIC)
    assert (joint.parent_link, joint.kinematic, link.mass) == (0, True, 0.0)
    assert robot.loops[0].length == "string"
    assert robot.home[-1] == 1.9
    assert [config.name for config in robot.kin_configs] == ["string"]


def test_prescribed_joints_are_kinematic_and_a_joint_of_several_stands_for_all():
    data = one_joint("planar") | {"prescribed": ["J"]}
    assert len(Robot.from_bodies(data).kinematic) == 3
    data["prescribed"] = ["J.rz"]
    (config,) = Robot.from_bodies(data).kin_configs
    assert config.name == "J.rz"


def test_a_joint_whose_coordinate_is_needed_is_not_cut(tmp_path):
    text = FOURBAR + "prescribed: [J3]\n"
    robot = Robot.from_bodies(written(tmp_path, text))
    assert "J3" in robot.active_joints
    assert [loop.name for loop in robot.loops] == ["J2"]


# --- what is lost, and what is doubtful ----------------------------------------------------------


def test_a_float_joint_that_is_cut_is_dropped_with_a_warning():
    data = one_joint("Rz")
    data["joints"]["free"] = {"type": "float", "parent": "ground", "child": "b"}
    with pytest.warns(SpartWarning, match="they constrain nothing: joints 'free'"):
        robot = Robot.from_bodies(data)
    assert robot.loops == ()


def test_the_limits_of_a_cut_joint_are_warned_of():
    data = one_joint("Rz", limits={"lower": -1, "upper": 1}, cut=True)
    data["joints"]["K"] = {"type": "planar", "parent": "ground", "child": "b"}
    with pytest.warns(SpartWarning, match="their limits are not used: joints 'J'"):
        Robot.from_bodies(data)


def test_a_massless_body_is_no_doubt_where_a_loop_closes_over_it():
    data = {
        "bodies": {"rod": {"mass": 0}, "b": ROUND},
        "joints": {
            "j": {"type": "universal", "parent": "ground", "child": "rod"},
            "k": {"type": "spherical", "parent": "rod", "child": "b",
                  "parent_frame": {"xyz": [1, 0, 0]}},
            "l": {"type": "Pz", "parent": "ground", "child": "b"},
        },
    }  # fmt: skip
    assert len(Robot.from_bodies(data).loops) == 1
    del data["joints"]["k"], data["joints"]["l"], data["bodies"]["b"]
    with pytest.warns(SpartWarning, match="H is singular"):
        Robot.from_bodies(data)


def test_mass_without_inertia_is_no_doubt_where_the_file_says_so():
    data = one_joint("Pz")
    data["bodies"]["b"] = {"mass": 1.0, "inertia": [0, 0, 0]}
    assert Robot.from_bodies(data).mass == 1.0
    del data["bodies"]["b"]["inertia"]
    with pytest.warns(SpartWarning, match="mass without inertia"):
        Robot.from_bodies(data)
    with pytest.raises(RobotError, match="mass without inertia"):
        Robot.from_bodies(data, strict=True)

"""Loops, forces, prescribed joints and home beside a URDF file."""

from __future__ import annotations

import numpy as np
import pytest
from bodies_text import written
from urdf_text import joint, link, robot, write

import spart_blocks as sb
from spart_blocks.base.errors import DiagramError, RobotError, SpartWarning
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.robot import JointPort, PointSpring, Robot

HEAVY = (
    '<inertial><origin xyz="0.1 0.2 0" rpy="0 0 0.5"/><mass value="2"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
)
ARMS = robot(
    link("world", ""),
    link("crank", HEAVY),
    link("rod", HEAVY),
    link("rocker"),
    joint("A", "world", "crank", extra='<axis xyz="0 0 1"/><origin xyz="0 0 0"/>'),
    joint("B", "crank", "rod", extra='<axis xyz="0 0 1"/><origin xyz="0.2 0 0"/>'),
    joint("D", "world", "rocker", extra='<axis xyz="0 0 1"/><origin xyz="0.4 0 0"/>'),
    joint("E", "world", "rocker_cap", kind="fixed"),
    link("rocker_cap", ""),
)
LOOPS = """
joints:
  C:
    type: Rz
    parent: rod
    child: rocker
    parent_frame: {xyz: [0.5, 0, 0]}
    child_frame: {xyz: [0.3, 0, 0], rpy: [0, 0, 1]}
distances:
  string: {parent: world, child: rod, child_point: [0.5, 0, 0], length: prescribed, q: 0.9}
forces:
  spring: {type: spring, parent: world, child: rod, stiffness: 2}
  motor: {type: torque, joint: A, port: tau}
prescribed: [D]
home: {A: 0.3, D: -1}
"""


@pytest.fixture
def arms(tmp_path):
    return write(tmp_path, ARMS)


def test_a_urdf_is_closed_by_the_loops_beside_it(arms, tmp_path):
    tree = Robot.from_urdf(arms)
    closed = Robot.from_urdf(arms, loops=written(tmp_path, LOOPS, "loops.yaml"))
    ids = tree.robot_keys.link_id
    assert closed.links[:-1] == tree.links
    assert [(loop.name, loop.type) for loop in closed.loops] == [
        ("C", "revolute"),
        ("string", "distance"),
    ]
    assert (closed.loops[0].a, closed.loops[0].b) == (ids["rod"], ids["rocker"])
    assert closed.forces[1] == JointPort("motor", "A", "tau")
    assert [config.name for config in closed.kin_configs] == ["D", "string"]
    assert dict(zip(closed.active_joints, closed.home, strict=True)) == {
        "A": 0.3, "B": 0.0, "D": -1.0, "string": 0.9
    }  # fmt: skip


def test_frames_and_points_are_given_in_urdf_link_frames(arms, tmp_path):
    closed = Robot.from_urdf(arms, loops=written(tmp_path, LOOPS, "loops.yaml"))
    loop, spring = closed.loops[0], closed.forces[0]
    K = kinematics(np.eye(3), np.zeros(3), closed.home, closed)
    rod = frame_of_link(loop.a, np.eye(3), np.zeros(3), K.RL, K.rL, closed)
    R, r = K.RL[loop.a - 1], K.rL[loop.a - 1]
    np.testing.assert_allclose(r + R @ loop.Ta[:3, 3], rod[:3, 3] + 0.5 * rod[:3, 0], atol=1e-15)
    np.testing.assert_allclose(R @ loop.Ta[:3, :3], rod[:3, :3], atol=1e-15)
    assert isinstance(spring, PointSpring)
    np.testing.assert_allclose(r + R @ spring.pb, rod[:3, 3], atol=1e-15)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("joints: {A: {type: Rz, parent: rod, child: rocker}}",
         "1:10: joints.A: its name 'A' is also that of a joint of the robot"),
        ("joints: {F: {type: Rz, parent: ground, child: rod}}",
         "1:32: joints.F.parent: no body 'ground'"),
        ("joints: {F: {type: Rz, parent: world, child: rod, q: 1}}",
         "1:51: joints.F.q: unknown field"),
        ("home: {a: 1}", "1:8: home.a: unknown field"),
        ("home: {A: [1, 2]}", "1:11: home.A: has shape (2,); it must be ()"),
        ("home: 3", "1:7: home: must be a mapping of joints to positions, not 3"),
        ("forces: {f: {type: torque, joint: E}}", "1:35: forces.f.joint: joint 'E' is rigid"),
        ("prescribed: [E]", "1:14: prescribed[0]: joint 'E' is rigid"),
        ("prescribed: A", "1:13: prescribed: must be a list, not 'A'"),
        ("bodies: {}", "1:1: bodies: unknown field"),
        ("joints: {string: {type: Rz, parent: world, child: rod}}\n"
         "distances: {rod: {parent: world, child: rod, length: prescribed, q: 1}}",
         "2:13: distances.rod: its name 'rod' is also that of a body"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_the_loops_is_told_where_it_is(arms, tmp_path, text, message):
    path = written(tmp_path, text, "loops.yaml")
    with pytest.raises(RobotError) as error:
        Robot.from_urdf(arms, loops=path)
    (fault,) = error.value.faults
    assert f"{fault.place}: {fault.message}" == f"{path}:{message}"


def test_a_float_joint_beside_a_urdf_constrains_nothing(arms):
    free = {"joints": {"F": {"type": "float", "parent": "world", "child": "rod"}}}
    with pytest.warns(SpartWarning, match="constrain nothing: joints 'F'"):
        assert Robot.from_urdf(arms, loops=free).loops == ()


def diagram_of(folder, robots):
    text = f"name: d\nrobots:\n  r: {robots}\nblocks:\n  c: {{type: CONSTANT, value: 1}}\n"
    return written(folder, text, "d.yaml")


def test_a_diagram_names_the_loops_of_a_urdf(arms, tmp_path):
    loops = written(tmp_path, LOOPS, "loops.yaml")
    diagram = sb.load(diagram_of(tmp_path, "{urdf: robot.urdf, loops: loops.yaml, kinematic: [A]}"))
    assert [loop.name for loop in diagram.robots["r"].loops] == ["C", "string"]
    names = {config.name for config in diagram.robots["r"].kin_configs}
    assert names == {"A", "D", "string"}
    assert loops in diagram.files


def test_a_diagram_names_a_file_of_bodies(tmp_path):
    bodies = written(tmp_path, "bodies: {b: {mass: 1, inertia: [1, 1, 1]}}")
    diagram = sb.load(diagram_of(tmp_path, "{bodies: bodies.yaml}"))
    assert diagram.robots["r"] == Robot.from_bodies(bodies)
    assert bodies in diagram.files


@pytest.mark.parametrize(
    ("robots", "text"),
    [
        ("{bodies: bodies.yaml, base: fixed}", "base does not apply to bodies"),
        ("{bodies: bodies.yaml, loops: bodies.yaml}", "loops applies to a urdf only"),
        ("{bodies: bodies.yaml, urdf: robot.urdf}", "it has urdf and bodies"),
        ("{bodies: none.yaml}", "none.yaml does not exist"),
        ("{bodies: bodies.yaml}", "bodies.yaml:1:13: bodies.b.mass: is missing"),
        ("{urdf: robot.urdf, loops: ../l.yaml}", "../l.yaml leaves the project"),
    ],
)
def test_a_mistake_in_a_robot_of_bodies_is_told(arms, tmp_path, robots, text):
    written(tmp_path, "bodies: {b: {}}")
    with pytest.raises(DiagramError) as error:
        sb.load(diagram_of(tmp_path, robots))
    assert text in str(error.value)

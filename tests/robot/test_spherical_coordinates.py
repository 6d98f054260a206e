"""Robots with spherical joints: where their variables live, and how they add up."""

from __future__ import annotations

import numpy as np
import pytest
from ball_robots import random_state, robot_with_balls
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from spart_blocks.base.errors import RobotError
from spart_blocks.base.spatial import quaternion_of_turn, turn_of_quaternion
from spart_blocks.dynamics import diff_kinematics, kinematics, velocities
from spart_blocks.robot import JointType
from spart_blocks.robot.structure import robot_to_structure

turns = st.tuples(*[st.floats(-1.8, 1.8)] * 3).map(np.array)


@pytest.fixture
def robot():
    return robot_with_balls(1)


def test_a_spherical_joint_has_four_positions_and_three_rates(robot):
    balls = [entry for entry in robot.layout if entry.spherical]
    assert [entry.name for entry in balls] == ["b1", "b3", "b5"]
    assert robot.nq == robot.nu + 3 == len(robot.position_names)
    assert len(robot.rate_names) == robot.nu
    assert robot.joints[balls[0].joint_id - 1].name == "b1.z"
    assert all(robot.neutral[entry.q].tolist() == [0, 0, 0, 1] for entry in balls)


def test_the_slices_of_qm_and_um_cover_them_in_order(robot):
    assert [i for e in robot.layout for i in range(e.q.start, e.q.stop)] == list(range(robot.nq))
    assert [i for e in robot.layout for i in range(e.u.start, e.u.stop)] == list(range(robot.nu))


@given(turns)
def test_a_turn_comes_back_from_its_quaternion(turn):
    q = quaternion_of_turn(turn)
    assert np.allclose(turn_of_quaternion(q), turn, atol=1e-14)
    assert np.allclose(Rotation.from_quat(q).as_rotvec(), turn, atol=1e-14)
    assert np.allclose(turn_of_quaternion(-q), turn, atol=1e-14)


def test_integrate_undoes_difference():
    for seed in range(4):
        robot = robot_with_balls(seed)
        a, b = (random_state(robot, k).qm for k in (1, 2))
        reached = robot.integrate(a, robot.difference(a, b))
        state = random_state(robot, 3)
        for link in ("RL", "rL"):
            want = getattr(kinematics(state.R0, state.r0, b, robot), link)
            assert np.allclose(
                getattr(kinematics(state.R0, state.r0, reached, robot), link), want, atol=1e-13
            )


def test_a_prescribed_spherical_joint_is_prescribed_in_its_three_rates(robot):
    assert robot.with_kinematic(["b3"]).kinematic == tuple(
        range(robot.layout[2].u.start, robot.layout[2].u.stop)
    )
    rows = [j for j in robot.joints if j.type is JointType.SPHERICAL]
    assert len(rows) == 9


def test_positions_move_with_the_rates():
    for seed in range(4):
        robot = robot_with_balls(seed)
        state, h = random_state(robot, 5), 1e-6
        moved = robot.integrate(state.qm, h * state.um) - robot.integrate(state.qm, -h * state.um)
        assert np.allclose(moved / (2 * h), robot.position_rates(state.qm, state.um), atol=1e-9)


def test_links_move_with_the_rates_through_any_joint():
    for seed in range(4):
        robot = robot_with_balls(seed, "fixed", 8)
        s, h = random_state(robot, 5), 1e-6
        K = kinematics(s.R0, s.r0, s.qm, robot)
        D = diff_kinematics(s.R0, s.r0, K.rL, K.e, K.g, robot)
        tL = velocities(D.Bij, D.Bi0, D.P0, D.pm, s.u0, s.um, robot).tL
        ahead, behind = (
            kinematics(s.R0, s.r0, robot.integrate(s.qm, way * s.um), robot) for way in (h, -h)
        )
        whole = [i - 1 for i in robot.carriers]
        assert np.allclose(((ahead.rL - behind.rL) / (2 * h))[whole], tL[whole, 3:], atol=1e-8)
        spin = Rotation.from_matrix(ahead.RL @ behind.RL.transpose(0, 2, 1)).as_rotvec() / (2 * h)
        assert np.allclose(spin[whole], tL[whole, :3], atol=1e-8)


def test_a_spherical_joint_is_one_configuration_variable(robot):
    assert [c.name for c in robot.configs] == list(robot.active_joints)
    marked = robot.with_kinematic(["b3"])
    assert [(c.name, c.k_index, c.frame) for c in marked.kin_configs] == [("b3", 0, "of b3.z")]
    assert [c.index for c in marked.configs] == list(range(len(robot.active_joints)))
    assert [c.name for c in marked.dyn_configs] == ["b1", "j2", "j4", "b5"]
    assert "of b3.z" in robot.config("b3").masses
    assert marked.with_kinematic([c.name for c in marked.kin_configs]) == marked


def test_an_axis_of_a_spherical_joint_is_no_joint(robot):
    why = "'b3.x' is no joint, but one axis of the spherical joint 'b3'"
    with pytest.raises(RobotError, match=why):
        robot.with_kinematic(["b3.x"])
    with pytest.raises(RobotError, match=f"joints: {why}"):
        robot.with_drives({"joints": {"b3.x": {"gear": 2}}})


def test_a_spherical_joint_has_no_motor(robot):
    with pytest.raises(RobotError, match="'b3' is a spherical joint: it has no motor or limits"):
        robot.with_drives({"joints": {"b3": {"gear": 2}}})
    assert robot.with_drives({"joints": {"j2": {"gear": 2}}}).effects


def test_spart_s_structure_has_no_spherical_joints(robot):
    with pytest.raises(RobotError, match="SPART's structure has no spherical joints, as 'b1'"):
        robot_to_structure(robot)

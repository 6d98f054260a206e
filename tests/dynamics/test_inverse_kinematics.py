"""Inverse kinematics reaches what can be reached, within limits, and says how near it came."""

from __future__ import annotations

import numpy as np
import pinocchio as pin
import pytest
import yaml
from robots import ROOT, golden_robot, random_robot
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.base.errors import InputError
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.dynamics.inverse_kinematics import joint_limits, rotation_vector

ARM_FILE = ROOT / "models" / "arm7.urdf"
ARM = sb.Robot.from_urdf(ARM_FILE)
TOOL = "lbr_iiwa_link_7"
DH = sb.Robot.from_dh(yaml.safe_load((ROOT / "models/spacecraft_dh_5dof.yaml").read_text()))
# Its planar arm: four links that turn about z.
PLANAR = golden_robot("spart_resolved_motion_4dof")


def pose(robot, link, q, R0=None, r0=None):
    R0, r0 = np.eye(3) if R0 is None else R0, np.zeros(3) if r0 is None else r0
    K = kinematics(R0, r0, q, robot)
    return frame_of_link(link, R0, r0, K.RL, K.rL, robot)


def within_limits(robot, rng, share=1.0):
    lower, upper = joint_limits(robot)
    lower, upper = (
        np.where(np.isfinite(lower), lower, -np.pi),
        np.where(np.isfinite(upper), upper, np.pi),
    )
    middle, half = (upper + lower) / 2, (upper - lower) / 2
    return middle + share * half * rng.uniform(-1, 1, robot.nq)


def test_arm7_reaches_200_of_200_poses_within_its_limits_as_pinocchio_sees_it():
    model = pin.buildModelFromUrdf(str(ARM_FILE))
    data, tool = model.createData(), model.getFrameId(TOOL)
    base = {"R0": ARM.base_link.T[:3, :3], "r0": ARM.base_link.T[:3, 3]}  # its URDF frame at 0
    rng = np.random.default_rng(0)
    lower, upper = joint_limits(ARM)
    assert np.isfinite(lower).all()
    reached = 0
    for seed in range(200):
        pin.framesForwardKinematics(model, data, within_limits(ARM, rng))
        target = data.oMf[tool].homogeneous.copy()
        found = sb.ik(ARM, TOOL, target, seed=seed, **base)
        assert (found.qm >= lower).all()
        assert (found.qm <= upper).all()
        pin.framesForwardKinematics(model, data, found.qm)
        error = pin.log6(data.oMf[tool].actInv(pin.SE3(target))).vector
        reached += found.converged and np.abs(error).max() < 1e-9
    assert reached == 200


def test_a_five_joint_arm_on_a_spacecraft_reaches_all_of_its_poses():
    rng = np.random.default_rng(1)
    for seed in range(60):
        base = {"R0": Rotation.random(random_state=rng).as_matrix(), "r0": rng.normal(size=3)}
        target = pose(DH, DH.n_links_joints, within_limits(DH, rng), **base)
        found = sb.ik(DH, DH.n_links_joints, target, seed=seed, **base)
        assert found.converged
        got = pose(DH, DH.n_links_joints, found.qm, **base)
        np.testing.assert_allclose(got, target, rtol=0, atol=1e-9)


@pytest.mark.parametrize("seed", range(12))
def test_random_trees_with_prismatic_joints_reach_their_poses(seed):
    robot = random_robot(seed, 8, kinds="rrp", chain=True)
    q = np.random.default_rng(seed).uniform(-1, 1, robot.nq)
    found = sb.ik(robot, "link8", pose(robot, 8, q), seed=seed)
    assert found.converged
    np.testing.assert_allclose(pose(robot, 8, found.qm), pose(robot, 8, q), atol=1e-9)


def test_a_planar_arm_takes_the_components_of_its_plane():
    q = np.radians([45, -45, -45, 45])
    link = PLANAR.n_links_joints
    target = pose(PLANAR, link, q)
    target[2, 3] += 0.5  # out of the plane: not asked for
    found = sb.ik(PLANAR, link, target, components="wz vx vy", q0=q + 0.3)
    assert found.converged
    got = pose(PLANAR, link, found.qm)
    np.testing.assert_allclose(got[:2], target[:2], atol=1e-9)
    assert not sb.ik(PLANAR, link, target, restarts=1).converged


def test_a_position_alone_leaves_the_attitude_free():
    found = sb.ik(ARM, TOOL, [0.4, 0.2, 0.6], q0=np.full(7, 0.2))
    assert found.converged
    assert found.rotation_error == 0
    np.testing.assert_allclose(pose(ARM, 7, found.qm)[:3, 3], [0.4, 0.2, 0.6], atol=1e-9)


def test_the_forms_of_a_pose_mean_the_same():
    R = Rotation.from_euler("x", 170, degrees=True)
    T = np.eye(4)
    T[:3, :3], T[:3, 3] = R.as_matrix(), [0.5, 0.1, 0.4]
    forms = [T, (T[:3, 3], R.as_quat()), (T[:3, 3], R.as_matrix()), (T[:3, 3], -R.as_quat())]
    found = [sb.ik(ARM, TOOL, form).qm for form in forms]
    for qm in found[1:]:
        np.testing.assert_allclose(qm, found[0], atol=1e-9)


def test_half_a_turn_is_not_taken_for_none():
    # At the zero position the tool points up; here it points down, exactly half a turn away.
    start = pose(ARM, 7, np.zeros(7))
    down = start[:3, :3] @ np.diag([1.0, -1.0, -1.0])
    found = sb.ik(ARM, TOOL, ([0.5, 0.0, 0.5], down), q0=np.zeros(7), strict=True)
    np.testing.assert_allclose(pose(ARM, 7, found.qm)[:3, :3], down, atol=1e-9)


def test_limits_are_kept_only_where_asked_for():
    q = np.array([0.3, -2.6, 0.2, 1.0, 0.1, 0.5, 0.0])  # the second joint is 0.5 rad beyond
    target = pose(ARM, 7, q)
    free = sb.ik(ARM, TOOL, target, q0=q + 0.01, limits=False)
    assert free.converged
    np.testing.assert_allclose(free.qm, q, atol=0.05)
    held = sb.ik(ARM, TOOL, target, q0=q + 0.01)
    lower, upper = joint_limits(ARM)
    assert ((held.qm >= lower) & (held.qm <= upper)).all()


def test_out_of_reach_gives_the_closest_and_says_how_far():
    # Straight away from the shoulder, the arm's longest reach is the closest point.
    reach = sb.ik(ARM, TOOL, [3.0, 0.0, 0.0], restarts=3)
    assert not reach.converged
    got = pose(ARM, 7, reach.qm)[:3, 3]
    assert reach.position_error == pytest.approx(np.linalg.norm(got - [3, 0, 0]), abs=1e-12)
    rng = np.random.default_rng(5)
    nearest = min(
        np.linalg.norm(pose(ARM, 7, within_limits(ARM, rng))[:3, 3] - [3, 0, 0]) for _ in range(500)
    )
    assert reach.position_error < nearest
    with pytest.raises(InputError, match=r"does not reach the pose: at best 2\.\d* m and 0 rad"):
        sb.ik(ARM, TOOL, [3.0, 0.0, 0.0], restarts=3, strict=True)


def test_the_closest_of_a_planar_arm_is_stretched_towards_the_point():
    link = PLANAR.n_links_joints
    stretched = pose(PLANAR, link, np.zeros(4))[:2, 3]
    away = sb.ik(PLANAR, link, [5.0, 5.0, 0.0], components="vx vy", restarts=5)
    root = frame_of_root(PLANAR)
    length = np.linalg.norm(stretched - root)
    assert away.position_error == pytest.approx(np.linalg.norm([5, 5] - root) - length, rel=1e-6)


def frame_of_root(robot):
    """Where the first joint of a planar arm is, in the plane."""
    return kinematics(np.eye(3), np.zeros(3), np.zeros(robot.nq), robot).rJ[0][:2]


def test_the_same_seed_finds_the_same_solution():
    target = pose(ARM, 7, within_limits(ARM, np.random.default_rng(8)))
    one, other = (sb.ik(ARM, TOOL, target, seed=4) for _ in range(2))
    np.testing.assert_array_equal(one.qm, other.qm)


def test_what_no_joint_moves_stays_where_it_is():
    found = sb.ik(ARM, 0, [9.0, 0, 0], restarts=1)
    assert not found.converged
    still = pose(ARM, 0, np.zeros(7))[:3, 3]
    assert found.position_error == pytest.approx(np.linalg.norm(still - [9, 0, 0]))
    assert sb.ik(ARM, 0, still).converged


def test_a_rotation_vector_is_scipys_up_to_half_a_turn():
    rng = np.random.default_rng(2)
    turns = [*Rotation.random(200, random_state=rng), *Rotation.from_rotvec(1e-9 * np.eye(3))]
    turns += list(Rotation.from_rotvec((np.pi - 1e-7) * np.eye(3)))
    for turn in turns:
        np.testing.assert_allclose(rotation_vector(turn.as_matrix()), turn.as_rotvec(), atol=1e-12,
                                   rtol=1e-9)  # fmt: skip
    np.testing.assert_array_equal(rotation_vector(np.eye(3)), 0)
    for axis in np.eye(3):
        half = rotation_vector(Rotation.from_rotvec(np.pi * axis).as_matrix())
        np.testing.assert_allclose(np.abs(half), np.pi * axis, atol=1e-12)


@pytest.mark.parametrize(
    ("frame", "target", "options", "text"),
    [
        ("lbr_iiwa_link_8", np.eye(4), {}, "no link 'lbr_iiwa_link_8'.*\n.*did you mean"),
        (9, np.eye(4), {}, "ids of lbr_iiwa run from 0 to 7"),
        (TOOL, np.eye(3), {}, r"pose has shape \(3, 3\), it must be \(4, 4\)"),
        (TOOL, 2 * np.eye(4), {}, "the pose has no rotation: R R' differs from 1 by 3"),
        (TOOL, np.diag([1.0, 1, -1, 1]), {}, "the pose has no rotation: it mirrors"),
        (TOOL, [0, 0, 1], {"R0": np.ones((3, 3))}, "R0 has no rotation"),
        (TOOL, [0, 0, 1], {"restarts": 1e9}, "whole numbers for iterations"),
        (TOOL, [0, 0], {}, "a pose of two is a position"),
        (TOOL, ([0, 0, 0], [0, 0, 0, 2]), {}, "quaternion of the pose has length 2"),
        (TOOL, [np.nan, 0, 0], {}, "not finite"),
        (TOOL, "here", {}, "pose must hold numbers, not 'here'"),
        (TOOL, [[1, 2, 3], [4, 5], 6], {}, "pose must hold numbers"),
        (TOOL, ([0, 0, 0], [0, 0, 1]), {}, r"rotation of the pose has shape \(3,\)"),
        (TOOL, np.eye(4), {"restarts": -1}, "0 or more restarts"),
        (TOOL, np.eye(4), {"iterations": 0}, "1 or more iterations"),
        (TOOL, np.eye(4), {"q0": [np.nan] * 7}, "a finite q0"),
        (TOOL, np.eye(4), {"components": "vx wq"}, "no component 'wq'\n.*wx"),
        (TOOL, np.eye(4), {"components": "vx vx"}, "a component twice"),
        (TOOL, [0, 0, 0], {"components": "wx"}, "a position alone has no rotation"),
        (TOOL, np.eye(4), {"q0": [0, 0]}, r"q0 has shape \(2,\), it must be \(7,\)"),
    ],
)
def test_what_is_no_task_is_refused(frame, target, options, text):
    with pytest.raises(InputError, match=text):
        sb.ik(ARM, frame, target, **options)

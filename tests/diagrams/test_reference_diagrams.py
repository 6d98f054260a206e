"""What the shipped diagrams with references show."""

from __future__ import annotations

import numpy as np
import pytest
from robots import ROOT
from same_results import assert_same_results

import spart_blocks as sb
from spart_blocks.dynamics import frame_of_link, kinematics

FOLDER = ROOT / "diagrams" / "motion"
REFERENCES = ("quintic", "trapezoid", "via_points", "file")


def tools(robot, link, results, every=25):
    """The poses (m,4,4) of a link frame at some samples of a run, and which samples."""
    R0, r0, qm = (results[f"plant.{name}"][::every] for name in ("R0", "r0", "qm"))
    number, poses = robot.robot_keys.link_id[link], []
    for R, r, q in zip(R0, r0, qm, strict=True):
        K = kinematics(R, r, q, robot)
        poses.append(frame_of_link(number, R, r, K.RL, K.rL, robot))
    return np.array(poses), slice(None, None, every)


@pytest.mark.parametrize("choice", REFERENCES)
def test_an_arm_that_starts_on_its_reference_stays_on_it(choice):
    # e'' + 20 e' + 100 e = 0 from e = e' = 0: what is left is the solver's error, 1e-8.
    results = sb.simulate(FOLDER / "joint_references.yaml", variants={"reference": choice})
    assert np.abs(results["error"]).max() < 1e-8
    assert np.ptp(results["plant.qm"], axis=0).min() > 0.15
    end = [0.1, 0, 0.2] if choice == "file" else [0.9, -0.5, -0.6]
    np.testing.assert_allclose(results["plant.qm"][-1], end, atol=1e-5)
    # The free base turned, and the whole kept its momentum of zero.
    assert np.ptp(results["plant.R0"], axis=0).max() > 0.02
    assert np.abs(results["plant.audit.h"]).max() < 1e-6


def test_the_slowest_joint_of_the_trapezoid_goes_at_its_limit():
    results = sb.simulate(FOLDER / "joint_references.yaml", variants={"reference": "trapezoid"})
    u = np.abs(results["plant.um"])
    assert u[:, :2].max() == pytest.approx(0.3, abs=1e-7)  # both go 0.8 rad, the third as much
    # 0.8 rad at 0.3 rad/s and 0.4 rad/s^2: 0.8/0.3 + 0.3/0.4 s after T = 0.2 s it rests.
    after = results.t > 0.2 + 0.8 / 0.3 + 0.3 / 0.4 + 0.01
    assert u[after].max() < 1e-6


def test_the_tool_of_a_floating_robot_goes_round_in_inertial_space():
    robot = sb.Robot.from_urdf(ROOT / "models" / "spacecraft_3dof.urdf")
    results = sb.simulate(FOLDER / "circle_by_ik.yaml")
    assert np.abs(results["attitude"]).max() > 0.1  # the base gave way
    assert results["ik.position_error"].max() < 1e-9
    poses, picked = tools(robot, "Link_EE", results)
    goal = results["circle.r"][picked]
    away = np.linalg.norm(poses[:, :3, 3] - goal, axis=1)
    # Behind by one to two periods of 10 ms at 0.24 m/s, and by the joints' error.
    assert away.max() < 0.24 * 0.02 + 1.5 * 0.012
    assert np.linalg.norm(poses[:, :3, 3] - [0, 0.8, 1.5], axis=1)[5:] == pytest.approx(
        0.15, abs=0.01
    )


def test_the_tool_of_an_arm_arrives_at_its_pose():
    robot = sb.Robot.from_urdf(ROOT / "models" / "arm7.urdf")
    results = sb.simulate(FOLDER / "pose_by_ik.yaml")
    assert results["ik.position_error"].max() < 1e-9
    assert results["ik.rotation_error"].max() < 1e-9
    poses, picked = tools(robot, "lbr_iiwa_link_7", results)
    want_r, want_R = results["pose.r"][picked], results["pose.R"][picked]
    assert np.abs(poses[:, :3, 3] - want_r).max() < 0.02
    assert np.abs(poses[:, :3, :3] - want_R).max() < 0.03
    # One second after the end the error has decayed as (1 + 30 t) exp(-30 t).
    assert np.abs(poses[-1, :3, 3] - [0.45, 0.25, 0.65]).max() < 1e-6
    assert np.abs(poses[-1, :3, :3] - want_R[-1]).max() < 1e-6
    # Straight: the tool keeps to the line between the ends.
    line = np.array([-0.05, 0.45, 0.15])
    off = np.cross(poses[:, :3, 3] - [0.5, -0.2, 0.5], line / np.linalg.norm(line))
    assert np.abs(off).max() < 2e-3


@pytest.mark.parametrize(
    ("name", "T"), [("joint_references", 0.4), ("circle_by_ik", 0.1), ("pose_by_ik", 0.03)]
)
def test_both_engines_give_the_same(name, T):
    options = {"T": T, "rtol": 1e-10, "atol": 1e-12}
    runs = [
        sb.simulate(FOLDER / f"{name}.yaml", engine=engine, **options)
        for engine in ("native", "interpreter")
    ]
    assert runs[0].info["engine"] == "native"
    assert_same_results(*runs, rel=1e-8)

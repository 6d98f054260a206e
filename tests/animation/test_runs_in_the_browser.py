"""Real runs in Chromium, from files and without a network: the scene has the robots where the run
has them.
"""

from __future__ import annotations

import numpy as np
import pytest
from browsers import needs_chromium
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.animation.plants import moving_of
from spart_blocks.base.web_build import VIEWER, found_node, is_fresh
from spart_blocks.dynamics import frame_of_link, kinematics

pytestmark = [
    needs_chromium,
    pytest.mark.skipif(not (is_fresh(VIEWER) or found_node()), reason="needs Node.js"),
]
RUNS = {
    "arm": ("diagrams/arm_computed_torque.yaml", 2.0),
    "floating dual arm": ("diagrams/dual_arm.yaml", 3.0),
    "delta robot": ("diagrams/loops/delta_pick_and_place.yaml", 0.5),
    "Stewart platform": ("diagrams/loops/stewart_platform.yaml", 0.5),
}
SOME = 20
POSES = "return arguments[0].map((time) => (spart.seek(time), spart.poses()))"


@pytest.mark.parametrize("name", RUNS)
def test_the_scene_s_poses_are_the_run_s(name, browser, tmp_path):
    file, T = RUNS[name]
    run = sb.simulate(file, T=T)
    browser.open(run.animate(tmp_path / "run.html"))
    fine = sb.simulate(file, T=T, every=T / 611)
    some = np.sort(np.random.default_rng(3).choice(len(fine.t), SOME, replace=False))
    shown = browser.run(POSES, fine.t[some].tolist())
    _, nodes = run.recompute.made_of()
    (plant,) = moving_of(nodes)
    robot, reach = plant.robot, browser.run("return spartRecording.reach")
    for k, poses in zip(some, shown, strict=True):
        s = plant.parts(fine.states[plant.name][k])
        K = kinematics(s.R0, s.r0, s.qm, robot)
        for body, pose in poses.items():
            want = frame_of_link(robot.robot_keys.link_id[body], s.R0, s.r0, K.RL, K.rL, robot)
            assert np.linalg.norm(pose[:3] - want[:3, 3]) < 1e-4 * reach
            turn = Rotation.from_quat(pose[3:]).inv() * Rotation.from_matrix(want[:3, :3].copy())
            assert turn.magnitude() < 1e-3
    assert browser.requests() == []
    assert browser.complaints() == []


def test_a_robot_at_rest_has_no_controls_of_time(browser, tmp_path):
    browser.open(sb.view(sb.Robot.from_urdf("models/arm3.urdf")).save(tmp_path / "arm.html"))
    browser.drawn()
    assert browser.find(".stage canvas").is_displayed()
    assert not browser.find(".controls").is_displayed()
    browser.press(" ")
    assert browser.complaints() == []

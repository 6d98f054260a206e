"""The poses of a recording are those of the run, also between its rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation
from tracks_of_pages import poses_at

import spart_blocks as sb
from spart_blocks.animation.plants import moving_of
from spart_blocks.animation.recording import Options, recording_of
from spart_blocks.base.errors import SpartWarning
from spart_blocks.dynamics import frame_of_link, kinematics

BALL = {
    "name": "ball-pendulum",
    "bodies": {
        "bob": {"mass": 1.0, "inertia": [0.02, 0.03, 0.01], "com": [0, 0, -0.5]},
        "tip": {"mass": 0.5, "inertia": [0.01, 0.01, 0.02], "com": [0, 0, -0.3]},
    },
    "joints": {
        "ball": {"type": "spherical", "parent": "ground", "child": "bob"},
        "knee": {
            "type": "Ry", "parent": "bob", "child": "tip",
            "parent_frame": {"xyz": [0, 0, -1.0]},
        },
    },
}  # fmt: skip


def ball_diagram():
    bd = sb.new_diagram("ball")
    robot = sb.Robot.from_bodies(BALL)
    start = {"um": {"ball": [1.0, 2.0, 3.0], "knee": 1.0}}
    plant = bd.MULTIBODY(robot, initial=start, name="plant")
    gravity = bd.GRAVITY(robot, name="gravity")
    bd.connect(gravity.wFm, plant.wFm)
    bd.connect(bd.CONSTANT(np.zeros(robot.nu), name="still"), plant.taum)
    return bd


MECHANISMS = {
    "arm": lambda: (sb.load("diagrams/arm_computed_torque.yaml"), 2.0),
    "floating dual arm": lambda: (sb.load("diagrams/dual_arm.yaml"), 3.0),
    "delta robot": lambda: (sb.load("diagrams/loops/delta_pick_and_place.yaml"), 0.5),
    "four-bar": lambda: (sb.load("diagrams/loops/four_bar.yaml"), 1.0),
    "Stewart platform": lambda: (sb.load("diagrams/loops/stewart_platform.yaml"), 0.5),
    "two robots": lambda: (sb.load("diagrams/space/catching.yaml"), 20.0),
    "integrated rates": lambda: (sb.load("diagrams/motion/circle_by_ik.yaml"), 2.0),
    "spherical joint": lambda: (ball_diagram(), 2.0),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_poses_at_random_times_are_those_of_the_kinematics(name):
    diagram, T = MECHANISMS[name]()
    results = sb.simulate(diagram, T=T)
    whole, nodes = results.recompute.made_of()
    recording = recording_of(results, nodes, whole)
    fine = sb.simulate(diagram, T=T, every=T / 611)
    some = np.sort(np.random.default_rng(5).choice(len(fine.t), 60, replace=False))
    checked = 0
    for plant in moving_of(nodes):
        reach = recording["tolerance"] / 1e-4
        for k in some:
            s = plant.parts(fine.states[plant.name][k])
            K = kinematics(s.R0, s.r0, s.qm, plant.robot)
            for body in recording["bodies"]:
                if body["robot"] != plant.name:
                    continue
                link = plant.robot.robot_keys.link_id[body["name"]]
                want = frame_of_link(link, s.R0, s.r0, K.RL, K.rL, plant.robot)
                p, turn = poses_at(body["track"], fine.t[k : k + 1])
                assert np.linalg.norm(p[0] - want[:3, 3]) < 1e-4 * reach
                off = turn[0].inv() * Rotation.from_matrix(want[:3, :3].copy())
                assert off.magnitude() < 1e-3
                checked += 1
    assert checked >= 60 * 2


def test_a_jump_of_the_state_stays_a_jump():
    results = sb.simulate("diagrams/dual_arm.yaml", T=3.0)
    whole, nodes = results.recompute.made_of()
    # As an EVENT that sets the state would leave it: two rows at one time.
    k = int(np.searchsorted(results.t, 2.0))
    at = results.t[k]
    t = np.concatenate([results.t[:k], [np.nextafter(at, 0)], results.t[k:]])
    x = results.states["plant"]
    moved = x + np.where(np.arange(x.shape[1]) == 4, 0.25, 0.0)
    states = np.concatenate([x[:k], x[k : k + 1], moved[k:]])
    jumped = replace(results, t=t, states={"plant": states}, signals={}, scopes=())
    recording = recording_of(jumped, nodes, whole)
    track = recording["bodies"][0]["track"]
    before, _ = poses_at(track, np.array([at - 2e-6]))
    after, _ = poses_at(track, np.array([at + 1e-6]))
    assert after[0, 0] - before[0, 0] == pytest.approx(0.25, abs=1e-3)


def test_a_wheel_that_turns_whole_turns_between_rows_is_seen_turning():
    robot = sb.Robot.from_bodies(
        {
            "name": "wheel",
            "bodies": {"rotor": {"mass": 1.0, "inertia": [0.01, 0.01, 0.02]}},
            "joints": {"axle": {"type": "Rz", "parent": "ground", "child": "rotor"}},
        }
    )
    bd = sb.new_diagram("wheel")
    plant = bd.MULTIBODY(robot, initial={"um": [10 * np.pi]}, name="plant")
    bd.connect(bd.CONSTANT(np.zeros(1), name="still"), plant.taum)
    results = sb.simulate(bd, T=1.0)
    assert len(results.t) < 30  # straight lines need few rows
    whole, nodes = results.recompute.made_of()
    recording = recording_of(results, nodes, whole)
    (rotor,) = [b for b in recording["bodies"] if b["name"] == "rotor"]
    times = np.linspace(0, 1, 97)
    _, turns = poses_at(rotor["track"], times)
    angle = np.unwrap(turns.as_euler("zyx")[:, 0])
    np.testing.assert_allclose(angle, 10 * np.pi * times, atol=2e-3)


def test_where_rows_are_short_the_tolerance_grows_and_is_told():
    results = sb.simulate("diagrams/dual_arm.yaml", T=3.0)
    whole, nodes = results.recompute.made_of()
    with pytest.warns(SpartWarning, match="poses are kept to .* m only"):
        recording = recording_of(results, nodes, whole, Options(most=60))
    rows = sum(body["track"]["t"]["shape"][0] for body in recording["bodies"])
    assert rows <= 60 + 7
    good = recording_of(results, nodes, whole)
    times = np.linspace(0, 3, 200)
    for rough, fine in zip(recording["bodies"], good["bodies"], strict=True):
        p, _ = poses_at(rough["track"], times)
        want, _ = poses_at(fine["track"], times)
        assert np.abs(p - want).max() < recording["tolerance"]


@pytest.mark.parametrize(("every", "doubtful"), [(0.05, False), (0.5, True)])
def test_a_record_whose_rows_are_too_far_apart_is_told(every, doubtful, recwarn):
    results = sb.simulate("diagrams/arm_computed_torque.yaml", T=4, every=every)
    whole, nodes = results.recompute.made_of()
    recording_of(results, nodes, whole)
    told = [str(one.message) for one in recwarn if "poses may be off by" in str(one.message)]
    assert len(told) == doubtful

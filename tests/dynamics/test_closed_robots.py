"""How closed robots move: mobility, actuators, inverse kinematics, singular configurations."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import yaml
from scipy.spatial.transform import Rotation
from test_loops import four_bar

from spart_blocks import Robot
from spart_blocks.base.errors import RobotError
from spart_blocks.dynamics import (
    Target,
    actuated_forces,
    actuated_inertia,
    actuated_map,
    actuated_places,
    actuated_rates,
    assemble,
    closed_ik,
    closed_projection,
    closed_rates,
    frame_of_link,
    gravity_wrenches,
    kinematics,
    loop_errors,
    loop_jacobian,
    mobility,
)

MODELS = Path(__file__).parents[2] / "models"
MOTORS = ("B", "C", "D")


@pytest.fixture(scope="module")
def delta():
    return Robot.from_bodies(MODELS / "delta_robot.yaml")


def frame(robot, qm, link):
    K = kinematics(np.eye(3), np.zeros(3), qm, robot)
    number = robot.robot_keys.link_id[link]
    return frame_of_link(number, np.eye(3), np.zeros(3), K.RL, K.rL, robot)


def test_the_delta_robot_has_three_freedoms_and_six_rods_that_spin(delta):
    found = mobility(delta)
    assert (found.freedoms, found.rank, found.redundant) == (9, 15, ())
    assert not found.singular


def test_freedoms_that_no_motor_has_are_counted(delta):
    assert mobility(delta, actuated=MOTORS).left == 6
    assert mobility(delta, actuated=MOTORS[:2]).left == 7
    assert "leave 7 of the freedoms" in str(mobility(delta, actuated=MOTORS[:2]))


def test_a_planar_linkage_follows_what_it_can_of_a_target():
    """The way out of its plane is left out, and shows in the error."""
    told = yaml.safe_load((MODELS / "five_bar.yaml").read_text())
    told["bodies"]["tip"] = {"mass": 0.0, "inertia": [0, 0, 0]}
    told["joints"]["tip"] = {
        "type": "rigid", "parent": "left_forearm", "child": "tip",
        "parent_frame": {"xyz": [0.3, 0, 0]},
    }  # fmt: skip
    robot = Robot.from_bodies(told)
    start, still, link = assemble(robot).qm, np.zeros(3), "tip"
    r = frame(robot, start, link)[:3, 3] + [0.01, 0.3, -0.02]
    found = closed_ik(start, Target(r, still, still), robot, link)
    reached = frame(robot, found.qm, link)[:3, 3]
    assert np.allclose(reached[[0, 2]], r[[0, 2]], atol=1e-12)
    assert np.allclose(found.error, reached - r, atol=1e-12)
    assert np.abs(loop_errors(found.qm, robot, True)).max() < 1e-12


def test_a_cut_joint_has_no_coordinate_and_says_so(delta):
    with pytest.raises(RobotError, match="'L' of delta_robot closes a loop and has no coordinate"):
        assemble(delta, {"L": 0.1})


def test_a_flat_parallelogram_is_singular_and_named():
    robot = four_bar(0.2, 0.5, 0.2, 0.5)
    flat = [0.0, 0.0, 0.0]
    found = mobility(robot, flat)
    assert found.singular
    assert found.loops == ("pin",)
    assert set(found.joints) == {"of crank", "of coupler", "of rocker"}
    assert found.freedoms == 2
    assert not mobility(robot, assemble(robot, [0.6, -0.6, 0.6]).qm).singular


def test_held_motors_that_do_not_hold_a_robot_are_told():
    """A rocker cannot hold the crank where crank and coupler are in line."""
    robot = four_bar()
    a = np.arccos((0.75**2 + 0.45**2 - 0.4**2) / (2 * 0.75 * 0.45))
    b = np.arccos((0.4**2 + 0.45**2 - 0.75**2) / (2 * 0.4 * 0.45))
    stretched = [a, 0.0, np.pi - b]
    assert np.abs(loop_errors(stretched, robot, True)).max() < 1e-15
    held = mobility(robot, stretched, ["of rocker"])
    assert (held.left, held.loose) == (0, ("of crank", "of coupler"))
    assert not mobility(robot, stretched, ["of crank"]).singular


def test_assembly_folds_links_that_start_in_a_line():
    """There no step of Newton's closes the loop further."""
    robot = four_bar(0.3, 0.5, 0.4, 0.45)
    found = assemble(robot, np.zeros(3))
    assert np.abs(loop_errors(found.qm, robot, True)).max() < 1e-12


def test_forward_and_inverse_kinematics_of_the_delta_robot_agree(delta):
    home = assemble(delta).qm
    names = {entry.name: entry.q.start for entry in delta.layout}
    turns = dict(zip(MOTORS, (0.2, -0.1, 0.15), strict=True))
    motors = {name: home[names[name]] + turn for name, turn in turns.items()}
    forward = assemble(delta, motors, hold=MOTORS)
    there = frame(delta, forward.qm, "end_effector")[:3, 3]
    inverse = assemble(delta, place={"end_effector": there})
    for name in MOTORS:
        assert inverse.qm[names[name]] == pytest.approx(motors[name], abs=1e-11)


def test_following_a_target_gives_positions_rates_and_accelerations(delta):
    """Against differences along a path that the link is on."""

    def path(t):
        middle = frame(delta, assemble(delta).qm, "end_effector")[:3, 3]
        return middle + 0.03 * np.array([np.sin(3 * t), np.cos(2 * t), np.sin(t)])

    h, t = 1e-3, 0.4
    places = [path(t + k * h) for k in (-1, 0, 1)]
    vd = 0.03 * np.array([3 * np.cos(3 * t), -2 * np.sin(2 * t), np.cos(t)])
    ad = 0.03 * np.array([-9 * np.sin(3 * t), -4 * np.cos(2 * t), -np.sin(t)])
    start, still = assemble(delta).qm, np.zeros(3)
    q = [closed_ik(start, Target(r, still, still), delta, "end_effector").qm for r in places]
    got = closed_ik(start, Target(places[1], vd, ad), delta, "end_effector")
    assert np.abs(got.error).max() < 1e-12
    assert np.abs(loop_errors(got.qm, delta)).max() < 1e-12
    motors = actuated_places(delta, MOTORS)
    back, ahead = (delta.difference(q[1], q[k])[motors] for k in (0, 2))
    assert np.allclose((ahead - back) / (2 * h), got.um[motors], atol=1e-5)
    assert np.allclose((ahead + back) / h**2, got.umdot[motors], atol=1e-4)


def test_a_platform_follows_a_pose():
    robot = Robot.from_bodies(MODELS / "stewart_platform.yaml")
    start, h, t = assemble(robot).qm, 1e-3, 0.3
    T0, axis = frame(robot, start, "platform"), np.array([0.6, 0.0, 0.8])

    def pose(t):
        R = Rotation.from_rotvec(0.3 * np.sin(t) * axis).as_matrix() @ T0[:3, :3]
        return T0[:3, 3] + 0.02 * np.array([np.sin(2 * t), np.cos(t), 0]), R

    def follow(t, moving=False):
        r, R = pose(t)
        rates = [
            0.02 * np.array([2 * np.cos(2 * t), -np.sin(t), 0]),
            0.02 * np.array([-4 * np.sin(2 * t), -np.cos(t), 0]),
        ]
        spins = [0.3 * np.cos(t) * axis, -0.3 * np.sin(t) * axis]
        parts = [r, *rates, R, *spins] if moving else [r, *np.zeros((2, 3)), R, *np.zeros((2, 3))]
        return closed_ik(start, Target(*parts), robot, "platform", 6)

    q, got = [follow(t + k * h).qm for k in (-1, 0, 1)], follow(t, True)
    reached = frame(robot, got.qm, "platform")
    assert np.allclose(reached[:3, 3], pose(t)[0], atol=1e-12)
    assert np.allclose(reached[:3, :3], pose(t)[1], atol=1e-12)
    back, ahead = (robot.difference(q[1], q[k]) for k in (0, 2))
    legs = [k for k, name in enumerate(robot.rate_names) if name.startswith("slide")]
    assert len(legs) == 6
    assert np.allclose(((ahead - back) / (2 * h))[legs], got.um[legs], atol=1e-6)
    assert np.allclose(((ahead + back) / h**2)[legs], got.umdot[legs], atol=1e-5)


def test_inverse_dynamics_undoes_forward_dynamics(delta):
    q, rng = assemble(delta).qm, np.random.default_rng(1)
    motors = actuated_places(delta, MOTORS)
    um = actuated_rates(q, rng.normal(size=3), delta, motors)
    assert np.abs(loop_jacobian(q, delta) @ um).max() < 1e-12
    um = closed_projection(np.eye(3), np.zeros(6), q, rng.normal(size=delta.nu), delta).um
    taum, none = np.zeros(delta.nu), np.zeros(6)
    taum[motors] = rng.normal(size=3)
    _, wFm = gravity_wrenches([0, 0, -9.81], delta)
    moved = closed_rates(np.eye(3), none, q, um, none, taum, none, wFm, delta)
    wanted, zero = moved.umdot[motors], np.zeros(delta.nu)
    found = actuated_forces(np.eye(3), none, q, um, wanted, zero, none, wFm, delta, motors)
    assert np.allclose(found.umdot, moved.umdot, atol=1e-8)
    assert np.allclose(found.tau, taum[motors], atol=1e-12)


def test_actuators_feel_the_kinetic_energy_of_the_whole(delta):
    from spart_blocks.dynamics import multibody_inertia

    q, motors = assemble(delta).qm, actuated_places(delta, MOTORS)
    G, H = actuated_map(q, delta, motors), multibody_inertia(np.eye(3), assemble(delta).qm, delta)
    ua = np.array([0.3, -0.2, 0.5])
    whole = 0.5 * (G @ ua) @ H.Hm @ (G @ ua)
    assert 0.5 * ua @ actuated_inertia(q, delta, motors) @ ua == pytest.approx(whole, rel=1e-13)


@pytest.mark.parametrize(
    ("names", "told"),
    [
        ("B", "a list of names"),
        ([], "a list of names"),
        (["B", "B"], "named twice"),
        (["E"], "has 3 rates"),
        (["Q"], "no joint 'Q'"),
    ],
)
def test_wrong_actuators_are_refused(delta, names, told):
    with pytest.raises(RobotError, match=told):
        actuated_places(delta, names)

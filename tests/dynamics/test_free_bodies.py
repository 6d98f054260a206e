"""The oracles of the mechanisms agree with reference numbers and with each other."""

from pathlib import Path

import free_bodies
import linkages
import numpy as np
import pytest
from free_bodies import Placed
from robots import golden
from scipy.spatial.transform import Rotation

MODELS = Path(__file__).parents[2] / "models"
NONE = np.zeros(2)


def mechanism(name):
    return free_bodies.read(MODELS / f"{name}.yaml")


def turned(arm, angle, rate):
    """Where a link of this length along x ends, and how fast its end moves."""
    along = np.array([np.cos(angle), np.sin(angle)])
    return arm * along, arm * rate * np.array([-along[1], along[0]])


def four_bar(angles, rates):
    body = mechanism("four_bar")
    tip = turned(0.2, angles[0], rates[0])
    pivot = body.pins["J3"].Ta[1][:2]
    pinned = {"crank": (NONE, NONE), "coupler": tip, "rocker": (pivot, NONE)}
    return body, linkages.in_plane(
        body, {n: (*at, angles[k], rates[k]) for k, (n, at) in enumerate(pinned.items())}
    )


def test_a_delta_robot_of_free_bodies_moves_as_the_reference():
    delta, reference = mechanism("delta_robot"), golden("delta_robot")["reference"]
    torque, bodies = golden("delta_robot")["motor_torque"], list(delta.bodies)
    a, b, w, p = (np.array(torque[key]) for key in "abwp")
    for snapshot in reference["body_states_every_0.1s"]:
        t, placed = (
            snapshot["t"],
            {"base": Placed(np.eye(3), np.array([0, 0, 1.01]), *np.zeros((2, 3)))},
        )
        for at in snapshot["bodies"]:
            name, R = (
                bodies[at["body"]],
                Rotation.from_quat(np.roll(at["quat_wxyz"], -1)).as_matrix(),
            )
            r = at["pos"] + R @ delta.bodies[name].com
            placed[name] = Placed(R, r, R @ at["omega_body"], np.array(at["vel_com_world"]))
        assert max(free_bodies.errors(delta, placed)) < 1e-14
        loads = dict(zip("BCD", a + b * np.sin(w * t + p), strict=True))
        solved = free_bodies.accelerations(delta, placed, loads)
        motors = [
            solved.accelerations[delta.pins[joint].child][0] @ delta.pins[joint].Ta[0][:, 2]
            for joint in "BCD"
        ]
        assert np.abs(motors - np.array(reference["motor_accel"][round(100 * t)])).max() < 1e-11
        if t == 0:
            for row in reference["joint_forces_at_t0"]:
                assert (
                    np.abs(solved.force[row["joint"]] - row["force_on_child_world"]).max() < 1e-12
                )


@pytest.mark.parametrize("k", [0, 40, 100])
def test_a_four_bar_of_free_bodies_moves_as_the_reference(k):
    case = golden("fourbar")["case_torque"]
    body, placed = four_bar(case["angles"][k], case["rates"][k])
    load = {"J1": 1.2 + 2.5 * np.sin(4 * case["t"][k] + 0.3)}
    solved = free_bodies.accelerations(body, placed, load, (0, -9.81, 0))
    turns = [turn[2] for turn, _ in solved.accelerations.values()]
    assert np.abs(turns - np.array(case["accelerations"][k])).max() < 1e-11


@pytest.mark.parametrize("k", [0, 40, 100])
def test_a_four_bar_of_free_bodies_needs_the_torque_of_the_reference(k):
    case = golden("fourbar")["case_kinematic"]
    body, placed = four_bar(case["angles"][k], case["rates"][k])
    given = {"J1": case["accelerations"][k][0]}
    solved = free_bodies.accelerations(body, placed, {}, (0, -9.81, 0), given)
    assert solved.load["J1"] == pytest.approx(case["driving_torque"][k], abs=1e-11)
    for pin in ("J1", "J2", "J3", "J4"):
        assert np.abs(solved.force[pin][:2] - case[f"reaction_{pin}"][k]).max() < 1e-11


@pytest.mark.parametrize(
    ("angle", "rate", "acceleration", "gas"), [(0.7, 31, -50, -800), (2.9, -12, 400, 300)]
)
def test_a_slider_crank_of_free_bodies_agrees_with_virtual_work(angle, rate, acceleration, gas):
    body = mechanism("slider_crank")
    stroke = linkages.slider_crank(body, angle, rate, acceleration, gas)
    lean = np.arcsin(-0.05 / 0.16 * np.sin(angle))
    leaning = -0.05 / 0.16 * np.cos(angle) * rate / np.cos(lean)
    pinned = {
        "crank": (NONE, NONE, angle, rate),
        "rod": (*turned(0.05, angle, rate), lean, leaning),
        "piston": ([stroke.x, 0], [stroke.xdot, 0], 0, 0),
    }
    placed = linkages.in_plane(body, pinned)
    assert max(free_bodies.errors(body, placed)) < 1e-13
    solved = free_bodies.accelerations(
        body, placed, {"liner": gas}, (0, -9.81, 0), {"main": acceleration}
    )
    assert solved.load["main"] == pytest.approx(stroke.torque, rel=1e-11)
    assert solved.accelerations["piston"][1][0] == pytest.approx(stroke.xddot, rel=1e-11)


def test_a_stewart_platform_of_free_bodies_moves_as_its_legs_were_told():
    body, rng = mechanism("stewart_platform"), np.random.default_rng(1)
    pose = np.array([0.03, -0.05, 0.83]), Rotation.from_rotvec([0.1, -0.15, 0.2]).as_matrix()
    twist, rate = rng.normal(size=(2, 2, 3))
    placed, motion, _ = linkages.stewart(body, pose, twist, rate)
    assert max(free_bodies.errors(body, placed)) < 1e-14
    slides = tuple(f"slide_{k}" for k in range(1, 7))
    loads = free_bodies.loads_for(body, placed, motion, slides).load
    solved = free_bodies.accelerations(body, placed, loads)
    for name, moved in motion.items():
        assert np.abs(np.subtract(solved.accelerations[name], moved)).max() < 1e-10

"""Runs of mechanisms with loops: against reference motion, published states, closed forms."""

from __future__ import annotations

import shutil

import free_bodies
import linkages
import numpy as np
import pytest
import robots
from linkages import FiveBar

import spart_blocks as sb
from spart_blocks.dynamics import loop_errors, loop_jacobian
from spart_blocks.robot import Robot

LOOPS = robots.ROOT / "diagrams" / "loops"
MODELS = robots.ROOT / "models"
TIGHT = {"engine": "native", "rtol": 1e-11, "atol": 1e-13}

DELTA = """
robots: {delta: {bodies: delta_robot.yaml}}
blocks:
  time: {type: TIME}
  torque:
    type: FCN
    params: {a: [-1.35, -1.3, -1.25], b: [0.55, 0.6, 0.45], w: [11, 13, 8], p: [0, 1.9, 0.7]}
    expression: a + b*sin(w*u + p)
  gravity: {type: GRAVITY, robot: delta}
  plant: {type: CLOSED_CHAIN, robot: delta, initial: {qm: {B: 0.2, C: 0.32, D: 0.45}}}
  plate: {type: END_EFFECTOR, robot: delta, frame: end_effector}
wires:
  - time -> torque
  - torque -> plant.tau
  - gravity.wFm -> plant.wFm
  - plant.R0 -> plate.R0
  - plant.r0 -> plate.r0
  - plant.qm -> plate.qm
run: {T: 0.5, every: 0.01, log: [plant.qm, plant.um, plate.rp, plate.R]}
"""


@pytest.fixture
def run(load, tmp_path, monkeypatch):
    """run(text): a diagram of a YAML text, the models beside it. Not compiled, which takes
    longer than these runs do; the shipped diagrams are."""
    monkeypatch.setenv("SPART_COMPILER", "none")

    def simulated(text):
        for model in ("delta_robot", "five_bar"):
            shutil.copy(MODELS / f"{model}.yaml", tmp_path)
        return sb.simulate(load(text), **TIGHT)

    return simulated


def test_the_delta_robot_moves_as_the_reference(run):
    results, reference = run(DELTA), robots.golden("delta_robot")["reference"]
    assert np.abs(results["plant.qm"][:, :3] - reference["motor_angle"]).max() < 1e-11
    assert np.abs(results["plant.um"][:, :3] - reference["motor_rate"]).max() < 1e-10
    assert np.abs(results["plate.rp"] - reference["ee_pos_world"]).max() < 1e-11
    assert np.abs(results["plate.R"] - np.eye(3)).max() < 1e-11  # the rods keep it level


@pytest.fixture(scope="module")
def four_bar():
    return sb.simulate(LOOPS / "four_bar.yaml", every=0.01, **TIGHT)


def joint_values(angles):
    """J1, J3 and J2 of the angles of crank, coupler and rocker from the horizontal."""
    crank, coupler, rocker = np.array(angles).T
    return np.column_stack([crank, rocker, coupler - crank])


def test_the_driven_four_bar_moves_as_the_reference(four_bar):
    case = robots.golden("fourbar")["case_torque"]
    assert np.abs(four_bar["bar.qm"] - joint_values(case["angles"])).max() < 1e-9
    assert np.abs(four_bar["bar.um"] - joint_values(case["rates"])).max() < 1e-8


def test_the_led_four_bar_moves_and_pushes_as_the_reference(four_bar):
    case = robots.golden("fourbar")["case_kinematic"]
    assert np.abs(four_bar["led.qm"] - joint_values(case["angles"])).max() < 1e-10
    assert np.abs(four_bar["led.um"] - joint_values(case["rates"])).max() < 1e-9
    assert np.abs(four_bar["led.tau_k"][:, 0] - case["driving_torque"]).max() < 1e-8
    assert np.abs(four_bar["led.lam"] - case["reaction_J4"]).max() < 1e-8


def test_andrews_mechanism_reaches_the_published_coordinates():
    results = sb.simulate(LOOPS / "andrews_squeezer.yaml", **TIGHT)
    end = robots.golden("andrews_squeezer")["published_reference_t_0.03"]["q"]
    beta, theta, gamma, phi, delta, Omega, epsilon = end
    wanted = np.array([beta, gamma, delta, epsilon, theta, phi, Omega])
    assert np.abs(results["plant.qm"][-1] / wanted - 1).max() < 1e-8


def test_the_five_bar_moves_as_its_equations_in_the_motors_say(run):
    text = """
robots: {arm: {bodies: five_bar.yaml}}
blocks:
  time: {type: TIME}
  torque: {type: FCN, expression: ["0.5 + sin(5*u)", "-0.7 + sin(3*u + 1)"]}
  gravity: {type: GRAVITY, robot: arm}
  arm: {type: CLOSED_CHAIN, robot: arm, initial: {qm: {left: 2.2, right: 0.8}}}
wires: [time -> torque, torque -> arm.tau, gravity.wFm -> arm.wFm]
run: {T: 0.5, every: 0.01, log: [arm.qm]}
"""
    results = run(text)
    five = FiveBar(free_bodies.read(MODELS / "five_bar.yaml"))
    torque = lambda t: np.array([0.5 + np.sin(5 * t), -0.7 + np.sin(3 * t + 1)])  # noqa: E731
    motion = five.run((2.2, 0.8), torque, results.t)
    assert np.abs(results["arm.qm"][:, :2] - motion[:, :2]).max() < 1e-9
    assert np.abs(results["arm.um"][:, :2] - motion[:, 2:]).max() < 1e-8


def test_the_slider_crank_asks_for_the_torque_that_virtual_work_gives():
    results = sb.simulate(LOOPS / "slider_crank.yaml", T=0.3, **TIGHT)
    engine = free_bodies.read(MODELS / "slider_crank.yaml")
    gas = -500 * (0.115 / (0.225 - results["engine.qm"][:, 1]) - 1)
    stroke = linkages.slider_crank(engine, results["engine.qm"][:, 0], 30.0, 0.0, gas)
    assert np.ptp(stroke.torque) > 50
    assert np.abs(results["engine.qm"][:, 1] - stroke.x).max() < 1e-12
    assert np.abs(results["engine.um"][:, 1] - stroke.xdot).max() < 1e-10
    assert np.abs(results["engine.tau_k"][:, 0] - stroke.torque).max() < 1e-8


def test_a_bob_on_a_pulled_string_swings_and_pulls_as_the_closed_form():
    results = sb.simulate(LOOPS / "string_pendulum.yaml", T=9, **TIGHT)
    robot = Robot.from_bodies(MODELS / "string_pendulum.yaml")

    def length(t):
        w, pull = 5.72, 0.06
        turns = (1 - np.cos(w * t), w * np.sin(w * t), w**2 * np.cos(w * t))
        return tuple((l0 - pull * turn) for l0, turn in zip((1.26, 0, 0), turns, strict=True))

    x, z = results["bob.qm"][0, :2]
    angle, rate = linkages.string_pendulum(results.t, np.arctan2(x, -z), length)
    l = length(results.t)
    assert np.ptp(angle) > 0.7
    assert np.abs(results["bob.qm"][:, 3] - l[0]).max() < 1e-10
    wanted = np.column_stack([l[0] * np.sin(angle), -l[0] * np.cos(angle)])
    assert np.abs(results["bob.qm"][:, :2] - wanted).max() < 1e-9
    tension = linkages.string_tension(0.8, angle, rate, l)
    assert np.abs(-results["bob.tau_k"][:, 0] - tension).max() < 1e-8
    errors = [abs(loop_errors(q, robot)).max() for q in results["bob.qm"]]
    assert max(errors) < 1e-12


def test_the_loops_of_a_four_bar_stay_closed_for_a_minute():
    results = sb.simulate(LOOPS / "four_bar.yaml", engine="native", T=60, every=0.1, rtol=1e-6)
    robot = Robot.from_bodies(MODELS / "four_bar.yaml")
    assert np.ptp(results["bar.qm"][:, 0]) > 100  # rad: it goes round and round
    for q, u in zip(results["bar.qm"], results["bar.um"], strict=True):
        assert np.abs(loop_errors(q, robot)).max() < 1e-9
        assert np.abs(loop_jacobian(q, robot) @ u).max() < 1e-9

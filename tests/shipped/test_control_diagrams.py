"""What the diagrams in diagrams/control/ show: each controller's error bound, as a number."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

import spart_blocks as sb
from spart_blocks import dynamics

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "diagrams" / "control"
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


def run(name, overrides=(), **options):
    file = FOLDER / f"{name}.yaml"  # the program of a file is kept, and found again
    return sb.simulate(sb.load(file, overrides=overrides) if overrides else file, **options)


@cache
def shipped(name):
    return run(name, **TIGHT)


@cache
def robot(name):
    return sb.Robot.from_urdf(ROOT / "models" / name)


# --- JOINT_PID, JOINT_PID_S ---------------------------------------------------------------


def test_an_integral_removes_what_constant_loads_leave():
    results = shipped("joint_pid")
    assert np.abs(results["arm.qm"][-1] - [0.6, 0.5, 0.8]).max() < 1e-6
    assert np.abs(results["sc.qm"][-1] - [0.5, -0.3, 0.2]).max() < 1e-6
    np.testing.assert_allclose(results["sc_pid.tau"][-1], [1, 0.5, -0.3], atol=1e-4)
    # Without it the arm's second joint sags by load / kp, the load that of its weight.
    without = run("joint_pid", {"blocks.arm_pid.ki": [0, 0, 0]}, log=["arm_pid.tau"])
    sag = without["arm.qm"][-1] - [0.6, 0.5, 0.8]
    np.testing.assert_allclose(sag, -without["arm_pid.tau"][-1] / [60, 120, 40], atol=1e-6)
    assert sag[1] > 0.1


def test_the_integral_does_not_wind_up_at_the_limits():
    results = shipped("joint_pid")
    largest = np.abs(results["arm_pid.tau"]).max(axis=0)
    assert (largest <= [20, 40, 12]).all()
    assert (largest == [20, 40, 12]).any()
    winding = run("joint_pid", {"blocks.arm_pid.Tt": 1e6})

    def overshoot(results):
        return results["arm.qm"][:, 1].max() - 0.5

    assert overshoot(results) < 0.02
    assert overshoot(winding) > 5 * overshoot(results)


# --- GRAVITY_COMPENSATION --------------------------------------------------------------------


def test_with_its_loads_carried_a_pd_controller_leaves_no_error():
    results = run("gravity_compensation", log=["arm_carry.tau", "sc_carry.tau"], **TIGHT)
    goal = np.array([0.6, 0.5, 0.8])
    assert np.abs(results["arm.qm"][-1] - goal).max() < 1e-6
    assert np.abs(results["sc.qm"][-1] - [0.5, 0.6, -0.4]).max() < 1e-6
    assert np.abs(results["sc_carry.tau"][-1]).min() > 0.4  # 0.3 m/s^2 do ask for torques

    def potential(q):
        K = dynamics.kinematics(np.eye(3), np.zeros(3), q, robot("arm3.urdf"))
        energy = dynamics.potential_energy(np.zeros(3), K.rL, [0, 0, -9.81], robot("arm3.urdf"))
        return energy.item()

    h = 1e-5
    slope = [(potential(goal + h * d) - potential(goal - h * d)) / (2 * h) for d in np.eye(3)]
    np.testing.assert_allclose(results["arm_carry.tau"][-1], slope, atol=1e-6)


# --- OPERATIONAL_SPACE, IMPEDANCE, TRANSPOSE_JACOBIAN ------------------------------------------


@pytest.mark.parametrize("law", ["arm_law", "sc_law"])
def test_the_error_of_a_frame_obeys_its_equation(law):
    # e'' + 10 e' + 25 e = 0 from e0 and e'(0) = v0, the rate of the wave at its start.
    results = shipped("operational_space")
    e, t = results[f"{law}.error"], results.t[:, None]
    w = 2 * np.pi * 0.2
    v0 = w * np.array([0, 0.2, 0.1] if law == "arm_law" else [0.1, 0, 0.1])
    exact = (e[0] + (v0 + 5 * e[0]) * t) * np.exp(-5 * t)
    assert np.abs(e - exact).max() < 1e-6
    assert np.abs(e).max() > 0.05


def test_the_base_of_the_spacecraft_goes_where_the_arm_s_motion_pushes_it():
    results = run("operational_space", log=["sc.r0"], T=3)
    assert np.ptp(results["sc.r0"], axis=0).max() > 0.01
    assert np.abs(results["sc.audit.p"]).max() < 1e-6


def test_an_arm_gives_way_by_force_over_stiffness():
    results = run("impedance", log=["arm_law.error", "sc.r0"], **TIGHT)
    way = results["arm_law.error"][:, 3:]
    assert np.abs(way[-1] + np.array([20, -10, 5]) / [500, 400, 250]).max() < 1e-6
    before = np.searchsorted(results.t, 3.0)
    assert np.abs(way[before]).max() < 1e-5
    # The knocked spacecraft drifts, the tip of its arm is where it was.
    assert np.abs(results["sc_law.error"]).max() > 1e-3
    assert np.abs(results["sc_law.error"][-1]).max() < 1e-6
    drift = results["sc.r0"][-1] - results["sc.r0"][results.t.searchsorted(6.0)]
    assert np.linalg.norm(drift) > 0.03


@pytest.mark.parametrize(("plant", "stiffness"), [("arm", 200), ("sc", 50)])
def test_the_energy_of_motion_and_springs_only_falls(plant, stiffness):
    results = shipped("transpose_jacobian")
    e = results[f"{plant}_law.error"]
    V = results[f"{plant}.audit.energy"] + stiffness / 2 * (e * e).sum(axis=1)
    assert V[0] > 1
    assert np.diff(V).max() < 1e-8 * V[0]
    assert V[-1] < 1e-10 * V[0]
    assert np.abs(e[-1]).max() < 1e-6


# --- ATTITUDE_PD -------------------------------------------------------------------------------


def test_a_spacecraft_turns_the_shorter_way_round():
    results = run("attitude_pd", log=["one.R0", "two.R0"], every=0.01, **TIGHT)
    yaw = np.unwrap(np.arctan2(results["one.R0"][:, 1, 0], results["one.R0"][:, 0, 0]))
    turned = np.degrees(yaw[-1] - yaw[0])
    assert turned == pytest.approx(170, abs=1e-3)  # and not -190
    assert np.abs(results["one.R0"][-1] - np.eye(3)).max() < 1e-5
    wanted = sb.spatial.quaternion_rotation(np.array([-0.5, 0.5, -0.5, -0.5]))
    assert np.abs(results["two.R0"][-1] - wanted).max() < 1e-6


@pytest.mark.parametrize(
    ("plant", "stiffness", "goal"),
    [("one", 60, [0.3, 0.5, -0.8]), ("two", 12, [0.5, -0.3, 0.4, -0.2, 0.3, 0.1])],
)
def test_the_energy_of_a_turning_spacecraft_only_falls(plant, stiffness, goal):
    # V = kinetic + 4 kp (1 - |w|) + springs of the arm, w the scalar part of the error.
    results = run("attitude_pd", log=[f"{plant}.qm"], **TIGHT)
    e, q = results[f"{plant}_law.error"], results[f"{plant}.qm"] - goal
    w = np.sqrt(1 - (e * e).sum(axis=1) / 4)
    V = results[f"{plant}.audit.energy"] + 4 * 60 * (1 - w) + stiffness / 2 * (q * q).sum(axis=1)
    assert V[0] > 100
    assert np.diff(V).max() < 1e-8 * V[0]
    assert V[-1] < 1e-6 * V[0]

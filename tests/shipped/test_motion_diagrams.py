"""The diagrams of diagrams/motion show what their comments claim."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
import robots
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks import dynamics

FOLDER = Path(__file__).parents[2] / "diagrams" / "motion"
DIAGRAMS = sorted(FOLDER.glob("*.yaml"))
TWIST = np.array([0, 0, 0.01, -0.03, 0.02, 0])  # SPART's example [rad/s, m/s]
TIGHT = {"rtol": 1e-10, "atol": 1e-12}


@cache
def run(name):
    results = sb.simulate(FOLDER / f"{name}.yaml", engine="native")
    assert results.complete
    return results


def momenta(results, k):
    """p and h of the k-th sample from the twists of all links, by SPART's robot itself."""
    robot = robots.golden_robot("spart_resolved_motion_4dof")
    R0, r0, qm = (results[f"plant.{name}"][k] for name in ("R0", "r0", "qm"))
    K = dynamics.kinematics(R0, r0, qm, robot)
    D = dynamics.diff_kinematics(R0, r0, K.rL, K.e, K.g, robot)
    V = dynamics.velocities(*D, results["base.u0"][k], results["rates.um"][k], robot)
    I = dynamics.inertias(R0, K.RL, robot)
    return np.concatenate(dynamics.momentum(*V, *I, r0, K.rL, robot))


@pytest.mark.parametrize("name", ["resolved_motion", "desired_reaction"])
def test_the_end_effector_follows_spart_s_twist_for_twenty_seconds(name):
    results = run(name)
    assert results.t[-1] == 20.0
    assert np.abs(results["tip.tp"] - TWIST).max() < 1e-9
    # And so it comes to where the twist leads.
    start, end = results["tip.rp"][0], results["tip.rp"][-1]
    assert np.abs(end - start - 20 * TWIST[3:]).max() < 1e-7
    R = results["tip.R"]
    angle = np.arctan2(*(R[-1] @ R[0].T)[[1, 0], [0, 0]])
    assert abs(angle - 0.2) < 1e-7
    of_q = Rotation.from_quat(results["tip.q"]).as_matrix()  # also past the base's half turn
    assert np.abs(of_q - R).max() < 1e-12


@pytest.mark.parametrize("name", ["resolved_motion", "desired_reaction"])
def test_momentum_stays_zero_while_the_base_floats(name):
    results = run(name)
    samples = range(0, len(results.t), max(1, len(results.t) // 200))
    assert max(np.abs(momenta(results, k)).max() for k in samples) < 1e-10
    assert np.abs(results["base.u0"]).max() > 1e-3  # it does move


def test_the_generalized_jacobian_is_the_end_effector_s_own():
    results = run("resolved_motion")
    assert np.abs(results["star_error"]).max() < 1e-9
    assert np.abs(results["momentum"]).max() < 1e-10  # H0 u0 + H0m um, of KINEMATICS_DYNAMICS
    assert np.ptp(results["all.r_com"], axis=0).max() < 1e-8


def test_the_base_turns_only_where_nothing_forbids_it():
    turned, held = run("resolved_motion"), run("desired_reaction")
    assert np.abs(turned["plant.R0"] - np.eye(3)).max() > 1.0
    assert np.abs(held["base.u0"][:, :3]).max() < 1e-12
    assert np.abs(held["plant.R0"] - np.eye(3)).max() < 1e-11


def test_the_base_comes_to_rest_as_its_gains_say():
    # e'' + 2 e' + e = 0 from rest: e = e0 (1 + t) exp(-t), whatever the arm does.
    results = sb.simulate(FOLDER / "base_control.yaml", T=10, **TIGHT)
    t = results.t[:, None]
    exact = np.array([0.2, -0.1, 0.05]) * (1 + t) * np.exp(-t)
    assert np.abs(results["plant.r0"] - exact).max() < 1e-8
    # About one axis the error's sine comes back: never over, and gone in the end.
    roll = results["attitude"][:, 0]
    assert roll.min() > -1e-6
    assert roll[-1] < 1e-4
    assert np.abs(results["plant.qm"][-1] - [0.5, -0.3, 0.2]).max() < 5e-3


def test_both_redundant_arms_move_their_tips_as_told_and_one_of_them_with_less_energy():
    results = run("base_control")
    td = np.array([0, 0, 0, -0.02, 0.01, -0.01])
    assert np.abs(results["second_tip.tp"] - td).max() < 1e-9
    assert np.abs(results["first_tip.tp"] - td).max() < 1e-6  # damped by 1e-4
    robot = sb.Robot.from_urdf(FOLDER / "../../models/arm7.urdf")
    H = dynamics.multibody_inertia(np.eye(3), results["first.qm"][0], robot).Hm
    least, thrifty = results["least.um"][0], results["thrifty.um"][0]
    assert np.linalg.norm(least) < 0.99 * np.linalg.norm(thrifty)
    assert thrifty @ H @ thrifty < 0.99 * (least @ H @ least)


def test_every_block_of_resolved_motion_is_in_a_shipped_diagram():
    used = {line.split("type: ")[1].split(",")[0].strip("} \n")
            for path in DIAGRAMS for line in path.read_text(encoding="utf-8").splitlines()
            if "type: " in line}  # fmt: skip
    assert used >= {
        *("BASE_REACTION", "GENERALIZED_JACOBIAN", "END_EFFECTOR", "KINEMATICS_DYNAMICS"),
        *("RESOLVED_RATE", "RESOLVED_RATE_MIN_ENERGY", "DESIRED_REACTION", "BASE_CONTROL"),
        "STATE_INTEGRATOR",
    }

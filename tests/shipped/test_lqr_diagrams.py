"""diagrams/control/lqr.yaml: an arm and a spacecraft under regulators found from the plants."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.integrate import simpson
from scipy.linalg import expm
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks.program.tracing.gains import designed_gains

FILE = Path(__file__).parents[2] / "diagrams" / "control" / "lqr.yaml"
SMALL = 1e-4
# The weights of the file, 1 / largest^2.
ARM_Q = np.diag([100.0] * 7 + [0.04] * 7)
ARM_R = np.diag(1 / np.array([50, 50, 20, 20, 5, 2, 0.5]) ** 2)
SHIP_Q = np.diag([100.0] * 9 + [0.0] * 9)
SHIP_R = np.diag(1 / np.array([20, 20, 20, 50, 50, 50, 10, 10, 10]) ** 2)


@pytest.fixture(scope="module")
def diagram():
    return sb.load(FILE)


@pytest.fixture(scope="module")
def gains(diagram):
    return designed_gains(diagram)


@pytest.fixture(scope="module")
def small_motion(diagram, gains):
    """A run from near both set-points: t, and the deviations of the arm and of the ship."""
    rng = np.random.default_rng(6)
    arm, ship = gains["hold"].point["arm"], gains["fly"].point["ship"]
    turned = Rotation.from_quat(ship[:4]) * Rotation.from_rotvec(SMALL * rng.normal(size=3))
    start = {
        "arm": arm + SMALL * np.r_[rng.normal(size=7), np.zeros(7)],
        "ship": np.r_[turned.as_quat(), ship[4:] + SMALL * rng.normal(size=15)],
    }
    run = sb.simulate(diagram, initial=start, T=8, every=1e-3, rtol=1e-10, atol=1e-14)
    states = run.states["ship"]
    turn = Rotation.from_quat(ship[:4]).inv() * Rotation.from_quat(states[:, :4])
    seen = np.hstack([turn.as_rotvec(), states[:, 4:] - ship[4:]])
    return run.t, {"hold": run.states["arm"] - arm, "fly": seen}


@pytest.mark.parametrize("block", ["hold", "fly"])
def test_near_its_point_the_loop_moves_as_its_poles_say(gains, small_motion, block):
    t, deviations = small_motion
    gain, found = gains[block], deviations[block]
    loop = gain.A - gain.B @ gain.K
    for k in range(0, len(t), 250):
        # What is left out is of second order in the displacement, 1e-4 of it.
        left = np.abs(found[k] - expm(loop * t[k]) @ found[0]).max()
        assert left < 20 * SMALL * np.abs(found[0]).max()


@pytest.mark.parametrize(
    ("block", "Q", "R"), [("hold", ARM_Q, ARM_R), ("fly", SHIP_Q, SHIP_R)], ids=["arm", "ship"]
)
def test_the_cost_of_a_small_displacement_is_that_of_the_riccati_matrix(
    gains, small_motion, block, Q, R
):
    t, deviations = small_motion
    gain, x = gains[block], deviations[block]
    u = -x @ gain.K.T
    rates = np.einsum("ki,ij,kj->k", x, Q, x) + np.einsum("ki,ij,kj->k", u, R, u)
    assert simpson(rates, x=t) == pytest.approx(x[0] @ gain.S @ x[0], rel=1e-3)


def test_another_gain_costs_more(gains):
    """The Riccati matrix is the least cost: a gain of 1.2 K costs more, by its Lyapunov
    equation."""
    from scipy.linalg import solve_continuous_lyapunov

    gain, K = gains["hold"], 1.2 * gains["hold"].K
    cost = solve_continuous_lyapunov((gain.A - gain.B @ K).T, -(ARM_Q + K.T @ ARM_R @ K))
    assert np.linalg.eigvalsh(cost - gain.S).min() > 0


def test_both_come_to_rest_from_far(diagram):
    run = sb.simulate(diagram, T=10)
    assert np.abs(run["arm.qm"][-1] - [0.2, 0.5, -0.1, 0.8, 0.1, 0.4, 0]).max() < 1e-6
    ship = run.states["ship"][-1]
    want = sb.spart.DCM_quat(sb.spart.Angles321_DCM(np.array([0.3, -0.2, 0.4])))
    assert abs(abs(ship[:4] @ np.ravel(want)) - 1) < 1e-9
    assert np.abs(ship[7:10] - [0.5, -0.3, 0.2]).max() < 1e-4

"""The motion of a frame and the equation of the joints alone, on fixed and free bases."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import robot_with_balls

from spart_blocks import dynamics

BASES = ("fixed", "floating")


def case(seed, base):
    robot = robot_with_balls(1, bodies=4) if seed == 1 else robots.random_robot(120 + seed, 6)
    robot = robot.with_base(base)
    s = robots.random_state(robot, seed)
    return robot, s if base == "floating" else s.held()


def equations(robot, s):
    return dynamics.joint_equations(s.R0, s.u0, s.qm, s.um, s.tau0, s.wF0, s.wFm, robot)


def accelerated(robot, s):
    """The state with the accelerations that its forces make."""
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    return replace(s, u0dot=rates.u0dot, umdot=rates.umdot)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("seed", range(3))
def test_the_equation_of_the_joints_is_what_forward_dynamics_obeys(seed, base, close):
    robot, s = case(seed, base)
    s = accelerated(robot, s)
    H, h, G, g = equations(robot, s)
    close(H @ s.umdot + h, s.taum, "taum", rel=1e-9)
    close(g - G @ s.umdot, s.u0dot, "u0dot", rel=1e-9)
    close(H, H.T, "H")
    assert np.linalg.eigvalsh(H).min() > 0


@pytest.mark.parametrize("seed", range(3))
def test_with_no_force_on_the_base_it_is_sparts_floating_inverse_dynamics(seed, close):
    robot, s = case(seed, "floating")
    s = replace(s, tau0=np.zeros(6))
    H, h, G, g = equations(robot, s)
    out = robots.everything(robot, s)
    close(H @ s.umdot + h, out["taum_floating"], "taum", rel=1e-10)
    close(g - G @ s.umdot, out["u0dot_floating"], "u0dot", rel=1e-10)


@pytest.mark.parametrize("base", BASES)
@pytest.mark.parametrize("link", [0, 4, 6])
def test_a_frame_s_twist_is_the_rate_of_its_pose_and_its_drift_that_of_its_twist(link, base, close):
    robot, s = case(1, base)
    s = accelerated(robot, s)
    link = (0, *robot.carriers)[link]

    def frame(s):
        return dynamics.frame_motion(link, s.R0, s.r0, s.qm, s.u0, s.um, robot)

    now = frame(s)
    close(now.t[3:], robots.rate(lambda h: frame(robots.moved(s, h, robot)).r), "v", rel=1e-8)
    turning = robots.rate(lambda h: frame(robots.moved(s, h, robot)).R) @ now.R.T
    close(now.t[:3], turning[[2, 0, 1], [1, 2, 0]], "omega", rel=1e-8)
    tdot = now.J.J0 @ s.u0dot + now.J.Jm @ s.umdot + now.drift
    close(tdot, robots.rate(lambda h: frame(robots.moved(s, h, robot)).t), "tdot", rel=1e-7)


@pytest.mark.parametrize("seed", range(3))
def test_at_zero_momentum_the_joints_alone_move_the_frame(seed, close):
    robot, s = case(seed, "floating")
    H, G = dynamics.base_answer(s.R0, s.qm, robot)
    s = replace(s, u0=-G @ s.um)  # what the base does where the momentum is zero
    out, books = robots.everything(robot, s), robots.bookkeeping(robot, s, np.zeros(3))
    assert np.abs(np.concatenate([books["p"], books["h"]])).max() < 1e-12
    frame = dynamics.frame_motion(6, s.R0, s.r0, s.qm, s.u0, s.um, robot)
    close(dynamics.joint_jacobian(frame.J, G) @ s.um, frame.t, "t", rel=1e-11)
    close(s.um @ H @ s.um / 2, books["kinetic"].item(), "kinetic energy", rel=1e-11)
    close(H, out["Hm"] - out["H0m"].T @ np.linalg.solve(out["H0"], out["H0m"]), "H", rel=1e-11)


def test_on_a_fixed_base_the_joints_have_the_whole_inertia(close):
    robot, s = case(2, "fixed")
    H, G = dynamics.base_answer(s.R0, s.qm, robot)
    close(H, robots.everything(robot, s)["Hm"], "H", rel=1e-11)
    assert not G.any()

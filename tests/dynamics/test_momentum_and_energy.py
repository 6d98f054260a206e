"""Momentum, energy and gravity against mechanics itself."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import robot_with_balls

from spart_blocks import dynamics

GRAVITY = np.array([0.3, -0.2, -9.81])


@pytest.fixture(params=range(6))
def moving(request):
    """A random tree and a state whose accelerations are those of its forces."""
    seed = request.param
    robot = robots.random_robot(seed + 100, 3 + 2 * seed) if seed < 5 else robot_with_balls(seed)
    s = robots.random_state(robot, seed)
    s = replace(s, u0=s.u0 / 2, um=s.um / 2)
    out = robots.everything(robot, s)
    return robot, replace(s, u0dot=out["u0dot_FD"], umdot=out["umdot_FD"]), out


def after(robot, s, name):
    # `moved` keeps the second order in h only, enough for first derivatives.
    return lambda h: robots.bookkeeping(robot, robots.moved(s, h, robot), GRAVITY)[name]


def test_energy_is_half_u_H_u_and_momentum_half_its_gradient(moving, close):
    robot, s, out = moving
    H, _ = robots.whole(out)
    u = np.concatenate([s.u0, s.um])
    got = robots.bookkeeping(robot, s, GRAVITY)
    close(got["kinetic"], [0.5 * u @ H @ u], "kinetic energy", rel=1e-11)
    share = H @ u  # of the base: angular about its centre of mass in base axes, linear
    close(got["p"], share[3:6], "linear momentum", rel=1e-11)
    angular = s.R0 @ share[:3] + np.cross(s.r0, share[3:6])
    close(got["h"], angular, "angular momentum", rel=1e-11)


def test_momentum_changes_by_the_external_forces_alone(moving, close):
    robot, s, out = moving
    force = s.tau0[3:] + s.wF0[3:] + s.wFm[:, 3:].sum(axis=0)
    moment = s.R0 @ s.tau0[:3] + s.wF0[:3] + np.cross(s.r0, s.tau0[3:] + s.wF0[3:])
    moment = moment + s.wFm[:, :3].sum(axis=0) + np.cross(out["rL"], s.wFm[:, 3:]).sum(axis=0)
    close(robots.rate(after(robot, s, "p"), 1e-3), force, "dp/dt", rel=1e-7)
    close(robots.rate(after(robot, s, "h"), 1e-3), moment, "dh/dt", rel=1e-7)


def test_energy_changes_by_the_power_of_all_forces(moving, close):
    robot, s, out = moving
    twists = np.concatenate([out["t0"], out["tL"].ravel()])
    power = s.tau0 @ s.u0 + s.taum @ s.um + np.concatenate([s.wF0, s.wFm.ravel()]) @ twists
    close(robots.rate(after(robot, s, "kinetic"), 1e-3), [power], "dT/dt", rel=1e-7)


def test_weights_do_the_work_that_potential_energy_loses(moving, close):
    robot, s, out = moving
    got = robots.bookkeeping(robot, s, GRAVITY)
    power = got["wF0"] @ out["t0"] + (got["wFm"] * out["tL"]).sum()
    close(robots.rate(after(robot, s, "potential"), 1e-3), [-power], "dV/dt", rel=1e-7)
    # Its gradient along the rates is N' w, coordinate by coordinate.
    wanted = -out["N"].T @ np.concatenate([got["wF0"], got["wFm"].ravel()])
    for k, unit in enumerate(np.eye(6 + robot.nu)):
        nudge = replace(s, u0=unit[:6], um=unit[6:], u0dot=np.zeros(6), umdot=np.zeros(robot.nu))
        slope = robots.rate(after(robot, nudge, "potential"), 1e-3)
        assert abs(slope[0] - wanted[k]) < 1e-8 * np.abs(wanted).max()


def test_the_weight_of_everything_acts_at_the_centre_of_mass(moving, close):
    robot, s, out = moving
    wF0, wFm = dynamics.gravity_wrenches(GRAVITY, robot)
    close(wF0[3:] + wFm[:, 3:].sum(axis=0), robot.mass * GRAVITY, "weight")
    moment = np.cross(s.r0, wF0[3:]) + np.cross(out["rL"], wFm[:, 3:]).sum(axis=0)
    close(moment, np.cross(out["r_com"], robot.mass * GRAVITY), "moment", rel=1e-11)
    assert not wF0[:3].any()
    assert not wFm[:, :3].any()


def test_the_centre_of_mass_moves_with_the_linear_momentum(moving, close):
    robot, s, out = moving
    velocity = dynamics.center_of_mass(s.u0[3:], out["tL"][:, 3:], robot)
    close(robot.mass * velocity, robots.bookkeeping(robot, s, GRAVITY)["p"], "m v", rel=1e-11)

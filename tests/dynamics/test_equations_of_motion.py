"""What must hold whatever the numbers: equations of motion, rates, symmetry, round trips."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import robot_with_balls
from hypothesis import given, settings
from hypothesis import strategies as st

from spart_blocks import dynamics
from spart_blocks.dynamics import multibody_rates

seeds = st.integers(0, 2**31)
trees = st.builds(
    robots.random_robot, seed=seeds, n=st.integers(0, 12), chain=st.booleans()
) | st.builds(robot_with_balls, seed=seeds, bodies=st.integers(1, 5))
few = settings(max_examples=25)


def udot(out):
    return np.concatenate([out["u0dot_FD"], out["umdot_FD"]])


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_the_equations_of_motion_close(robot, seed, close):
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    H, C = robots.whole(out)
    u, tau = np.concatenate([s.u0, s.um]), np.concatenate([s.tau0, s.taum])
    w = np.concatenate([s.wF0, s.wFm.ravel()])
    pushed = np.abs(out["N"].T) @ np.abs(w) + np.abs(tau)
    residual = H @ udot(out) + C @ u - tau - out["N"].T @ w
    assert np.abs(residual).max() <= 1e-10 * max(pushed.max(), np.abs(C @ u).max())
    needed = np.concatenate([out["tau0_ID"], out["taum_ID"]])
    asked = np.concatenate([s.u0dot, s.umdot])
    close(needed, H @ asked + C @ u - out["N"].T @ w, "ID is H udot + C u - N' w", rel=1e-11)


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_inverse_dynamics_undoes_forward_dynamics(robot, seed, close):
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    back = robots.everything(robot, replace(s, u0dot=out["u0dot_FD"], umdot=out["umdot_FD"]))
    got = np.concatenate([back["tau0_ID"], back["taum_ID"]])
    scale = max(np.abs(out["tau0_ID"]).max(), np.abs(udot(out)).max(), 1.0)
    assert np.abs(got - np.concatenate([s.tau0, s.taum])).max() <= 1e-10 * scale


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_floating_inverse_dynamics_leaves_the_base_undriven(robot, seed, close):
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    free = replace(s, tau0=np.zeros(6), taum=out["taum_floating"])
    motion = robots.everything(robot, free)
    close(motion["u0dot_FD"], out["u0dot_floating"], "u0dot", rel=1e-9, floor=1e-9)
    close(motion["umdot_FD"], s.umdot, "umdot", rel=1e-8, floor=1e-8)


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_the_inertia_matrix_is_symmetric_positive_definite(robot, seed, close):
    out = robots.everything(robot, robots.random_state(robot, seed))
    H, _ = robots.whole(out)
    close(H, H.T, "H")
    assert np.linalg.eigvalsh(H).min() > 0
    masses = [robot.base_link.mass, *(link.mass for link in robot.links)]
    M = np.zeros((6 * len(masses),) * 2)
    for i, (inertia, mass) in enumerate(zip([out["I0"], *out["Im"]], masses, strict=True)):
        M[6 * i : 6 * i + 3, 6 * i : 6 * i + 3] = inertia
        M[6 * i + 3 : 6 * i + 6, 6 * i + 3 : 6 * i + 6] = mass * np.eye(3)
    close(H, out["N"].T @ M @ out["N"], "H is N' M N", rel=1e-11)


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_rates_are_the_derivatives_of_what_they_are_rates_of(robot, seed, close):
    s = robots.random_state(robot, seed)
    s = replace(s, u0=s.u0 / 2, um=s.um / 2)
    out = robots.everything(robot, s, link=robot.n_links_joints)

    def after(name):
        return lambda h: robots.everything(robot, robots.moved(s, h, robot), robot.n_links_joints)[
            name
        ]

    close(out["tL"][:, 3:], robots.rate(after("rL")), "rL", rel=1e-8, floor=1e-9)
    close(out["Ndot"], robots.rate(after("N")), "Ndot", rel=1e-8, floor=1e-9)
    close(out["Jmpdot"], robots.rate(after("Jmp")), "Jmdot", rel=1e-8, floor=1e-9)
    close(out["J0pdot"], robots.rate(after("J0p")), "J0dot", rel=1e-8, floor=1e-9)
    close(out["tLdot"], robots.rate(after("tL")), "tLdot", rel=1e-8, floor=1e-9)
    close(out["t0dot"], robots.rate(after("t0")), "t0dot", rel=1e-8, floor=1e-9)
    # With C = N' (M Ndot + Mdot N), the rate of H is C + C': Hdot - 2C is skew.
    _, C = robots.whole(out)
    Hdot = robots.rate(
        lambda h: robots.whole(robots.everything(robot, robots.moved(s, h, robot)))[0]
    )
    close(C + C.T, Hdot, "Hdot", rel=1e-8, floor=1e-8)


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_twists_are_the_natural_orthogonal_complement_times_the_rates(robot, seed, close):
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    u, du = np.concatenate([s.u0, s.um]), np.concatenate([s.u0dot, s.umdot])
    twists = np.concatenate([out["t0"], out["tL"].ravel()])
    rates = np.concatenate([out["t0dot"], out["tLdot"].ravel()])
    close(out["N"] @ u, twists, "N u")
    close(out["N"] @ du + out["Ndot"] @ u, rates, "N udot + Ndot u", rel=1e-11)


@few
@given(robot=trees, seed=st.integers(0, 1000))
def test_the_plant_s_recursion_agrees_with_spart_s(robot, seed, close):
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    got = multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    close(np.concatenate([got.u0dot, got.umdot]), udot(out), "floating", rel=1e-10)
    close(got.reaction, np.zeros(6), "a floating base has no reaction")
    held = s.held()
    out = robots.everything(robot, held)
    fixed = multibody_rates(
        s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot.with_base("fixed")
    )
    want = dynamics.fixed_forward_dynamics(
        s.taum, s.wFm, out["tL"], out["pm"], out["Im"], out["Bij"], out["Bi0"], s.um, robot
    )
    close(fixed.umdot, want, "fixed", rel=1e-10)
    close(fixed.u0dot, np.zeros(6), "a fixed base does not accelerate")
    needed = robots.everything(robot, replace(held, wF0=s.wF0, umdot=want))["tau0_ID"] - s.tau0
    reaction = np.concatenate([s.R0 @ needed[:3], needed[3:]])
    close(fixed.reaction, reaction, "the ground's wrench is ID's tau0 less tau0", rel=1e-9)


def test_the_equations_do_not_close_with_a_wrong_convective_matrix():
    robot = robots.random_robot(11, 6)
    s = robots.random_state(robot, 11)
    out = robots.everything(robot, s)
    H, C = robots.whole(out)
    u, tau = np.concatenate([s.u0, s.um]), np.concatenate([s.tau0, s.taum])
    w = np.concatenate([s.wF0, s.wFm.ravel()])
    right = H @ udot(out) + C @ u - tau - out["N"].T @ w
    wrong = H @ udot(out) + C.T @ u - tau - out["N"].T @ w
    assert np.abs(right).max() < 1e-9 < 1e-3 < np.abs(wrong).max()


def test_a_lone_base_obeys_newton_and_euler(close):
    robot = robots.random_robot(1, 0)
    s = robots.random_state(robot, 1)
    out = robots.everything(robot, s)
    I, w = robot.base_link.inertia, s.u0[:3]
    turn = s.tau0[:3] + s.R0.T @ s.wF0[:3] - np.cross(w, I @ w)
    close(out["u0dot_FD"][:3], np.linalg.solve(I, turn), "Euler", rel=1e-11)
    close(out["u0dot_FD"][3:], (s.tau0[3:] + s.wF0[3:]) / robot.mass, "Newton")


@pytest.mark.parametrize("seed", range(5))
def test_frame_of_link_undoes_the_offset_to_the_centre_of_mass(seed, close):
    robot = robots.random_robot(seed, 8)
    s = robots.random_state(robot, seed)
    out = robots.everything(robot, s)
    for i in range(robot.n_links_joints + 1):
        T = dynamics.frame_of_link(i, s.R0, s.r0, out["RL"], out["rL"], robot)
        body = robot.links[i - 1] if i else robot.base_link
        R, r = (out["RL"][i - 1], out["rL"][i - 1]) if i else (s.R0, s.r0)
        com = np.eye(4)
        com[:3, :3], com[:3, 3] = R, r
        close(T @ body.T, com, f"link {i}")

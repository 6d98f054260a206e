"""Robots with spherical joints against mechanics itself, through every orientation.

The laws that any tree obeys, and Pinocchio, are asked of such robots beside others, in
test_equations_of_motion.py, test_momentum_and_energy.py, test_task.py, test_pinocchio.py
and test_symbols.py.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls
from scipy.integrate import solve_ivp
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.base.errors import InputError, SingularInertiaError
from spart_blocks.dynamics.joint_effects import joint_load
from spart_blocks.robot import BaseLink, Drive, Joint, JointType, Limits, Link, Robot
from spart_blocks.robot.checks import singular_joints

TREES = [(seed, base) for seed in range(4) for base in ("floating", "fixed")]
NONE = np.zeros(6)


@pytest.fixture(params=TREES, ids=lambda tree: f"{tree[1]}-{tree[0]}")
def tree(request):
    seed, base = request.param
    robot = robot_with_balls(seed, base, 4 + seed)
    return robot, random_state(robot, seed)


def test_the_plant_s_forces_and_inertia_are_spart_s(tree, close):
    robot, s = tree
    out = robots.everything(robot, s)
    got = dynamics.multibody_forces(s.R0, s.u0, s.qm, s.um, s.u0dot, s.umdot, s.wF0, s.wFm, robot)
    close(np.concatenate(got), np.concatenate([out["tau0_ID"], out["taum_ID"]]), "tau0 and taum")
    for name, block in dynamics.multibody_inertia(s.R0, s.qm, robot)._asdict().items():
        close(block, out[name], name)


def hybrid_of_spart(robot, s, umdot_k):
    """What SPART's FD gives for prescribed joints, without u0dot on a fixed base."""
    out = robots.everything(robot.with_kinematic([]), s)
    at = (out["pm"], out["I0"], out["Im"], out["Bij"], out["Bi0"])
    if robot.base == "floating":
        got = dynamics.forward_dynamics(
            s.tau0, s.taum, s.wF0, s.wFm, out["t0"], out["tL"], out["P0"], *at, s.u0, s.um,
            robot, umdot_k,
        )  # fmt: skip
        return got.umdot, got.tau_k
    return dynamics.fixed_forward_dynamics(
        s.taum, s.wFm, out["tL"], at[0], *at[2:], s.um, robot, umdot_k
    )


def test_prescribed_spherical_joints_move_as_told_and_tell_what_they_need(tree, close):
    robot, s = tree
    balls = [entry.name for entry in robot.layout if entry.spherical]
    robot = robot.with_kinematic({balls[0], balls[-1]})  # b4 is one against the tree
    umdot_k = s.umdot[list(robot.kinematic)]
    where = (s.R0, s.u0, s.qm, s.um)
    rates = dynamics.hybrid_rates(*where, s.tau0, s.taum, s.wF0, s.wFm, robot, umdot_k)
    for got, want in zip(
        (rates.umdot, rates.tau_k), hybrid_of_spart(robot, s, umdot_k), strict=True
    ):
        close(got, want, "against SPART's", rel=1e-10)
    forces = dynamics.multibody_forces(*where, rates.u0dot, rates.umdot, s.wF0, s.wFm, robot)
    needed = np.array(s.taum)
    needed[list(robot.kinematic)] += rates.tau_k
    close(forces.taum, needed, "taum", rel=1e-10)


# --- one body on a ball -------------------------------------------------------------------


def body_on_a_ball(inertia, mass=2.0, arm=(0.0, 0.0, 0.0), against=False):
    """A body on the ground; inertia (3,3) about its centre of mass, which is at arm (3,)."""
    axes, kind, still = (-np.eye(3) if against else np.eye(3)), JointType.SPHERICAL, np.eye(4)
    joints = [
        Joint(k + 1, f"b.{name}", kind, k + 1, k, k + 1, axes[k], still)
        for k, name in enumerate("xyz")
    ]
    out = np.eye(4)
    out[:3, 3] = arm
    nothing = np.zeros((3, 3))
    links = [Link(k + 1, f"row{k}", k + 1, still, 0.0, nothing) for k in range(2)]
    links.append(Link(3, "body", 3, out, mass, np.asarray(inertia, float)))
    ground = BaseLink("ground", still, 1.0, np.eye(3))
    return Robot("top", tuple(links), tuple(joints), ground, base="fixed")


def plant(robot, q, u, gravity=(0.0, 0.0, 0.0), tau=None):
    wF0, wFm = dynamics.gravity_wrenches(np.array(gravity), robot)
    tau = np.zeros(robot.nu) if tau is None else tau
    return dynamics.multibody_rates(np.eye(3), NONE, q, u, NONE, tau, wF0, wFm, robot).umdot


def run(robot, q, u, T, gravity=(0.0, 0.0, 0.0)):
    """qm (nq,) and um (nu,) after T [s]."""

    def rates(t, x):
        q, u = x[: robot.nq], x[robot.nq :]
        return np.concatenate([robot.position_rates(q, u), plant(robot, q, u, gravity)])

    found = solve_ivp(rates, (0, T), np.concatenate([q, u]), "DOP853", rtol=1e-11, atol=1e-12)
    return found.y[: robot.nq, -1], found.y[robot.nq :, -1]


INERTIA = np.array([[0.3, 0.02, -0.01], [0.02, 0.4, 0.03], [-0.01, 0.03, 0.2]])
HALF_TURNS = [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0.6, 0, 0.8, 0], [0, 0, 0, -1]]


def test_no_orientation_is_special(close):
    """A body on a ball in a field, against Euler's equation about the ball, all over SO(3)."""
    arm, g = np.array([0.1, -0.2, 0.3]), np.array([1.0, 2.0, -9.0])
    about = INERTIA + 2.0 * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    w, tau = np.array([0.7, -1.1, 0.4]), np.array([0.2, 0.5, -0.3])
    everywhere = Rotation.random(60, random_state=1).as_quat()
    for against in (False, True):
        robot = body_on_a_ball(INERTIA, arm=arm, against=against)
        sense = -1 if against else 1
        for q in [*everywhere, *-everywhere[:5], *np.array(HALF_TURNS, float)]:
            R = Rotation.from_quat(q * [sense, sense, sense, 1]).as_matrix()
            close(dynamics.multibody_inertia(np.eye(3), q, robot).Hm, about, "Hm")
            moment = tau + np.cross(arm, R.T @ (2.0 * g)) - np.cross(w, about @ w)
            want = sense * np.linalg.solve(about, moment)
            close(plant(robot, q, sense * w, g, sense * tau), want, "umdot")
            s = replace(random_state(robot, 1), qm=q, um=sense * w, taum=sense * tau)
            wFm = dynamics.gravity_wrenches(g, robot).wFm
            s = replace(s, R0=np.eye(3), wFm=wFm).held()
            close(hybrid_of_spart(robot, s, None), want, "SPART's umdot")


def test_a_ball_is_not_three_revolutes_in_a_row(close):
    """At zero they have the same rates; the same motion then has other accelerations."""
    ball, w = body_on_a_ball(INERTIA), np.array([1.5, -0.8, 1.1])
    kind = JointType.REVOLUTE
    row = replace(ball, joints=tuple(replace(joint, type=kind) for joint in ball.joints))
    euler = np.linalg.solve(INERTIA, -np.cross(w, INERTIA @ w))
    got, other = plant(ball, ball.neutral, w), plant(row, np.zeros(3), w)
    close(got, euler, "Euler's equation")
    # Their axes turn with the link before: x' = 0, y' = w_x x, z' = (w_x + w_y) x.
    x, y, z = w[0] * np.eye(3)[0], w[1] * np.eye(3)[1], w[2] * np.eye(3)[2]
    close(other, euler - np.cross(x, y) - np.cross(x + y, z), "three revolutes")
    assert np.abs(other - got).max() > 1
    close(got - other, np.cross(x, y) + np.cross(x + y, z), "the difference")


def test_a_symmetric_top_precesses_as_euler_has_it(close):
    A, C, T = 0.3, 0.5, 4.0
    robot, w = body_on_a_ball(np.diag([A, A, C])), np.array([0.8, 0.0, 2.0])
    q, u = run(robot, robot.neutral, w, T)
    turned = (C - A) / A * w[2] * T  # w turns about z in the body, the body about L
    close(u, [w[0] * np.cos(turned), w[0] * np.sin(turned), w[2]], "w in the body", rel=1e-9)
    L = np.diag([A, A, C]) @ w
    spin = Rotation.from_rotvec([0, 0, -turned])
    whole = Rotation.from_rotvec(T * L / A) * spin
    close((whole.inv() * Rotation.from_quat(q)).magnitude(), 0.0, "the turn", floor=1e-9)


@pytest.mark.parametrize("against", [False, True])
def test_a_tumbling_body_keeps_its_angular_momentum_about_the_ball(against, close):
    arm = np.array([0.2, 0.1, -0.3])
    robot = body_on_a_ball(INERTIA, arm=arm, against=against)
    about = dynamics.multibody_inertia(np.eye(3), robot.neutral, robot).Hm
    u = np.array([2.0, -1.0, 3.0])
    q, after = run(robot, robot.neutral, u, 2.0)
    R = Rotation.from_quat(q * [-1, -1, -1, 1] if against else q)
    close(R.apply(about @ after), about @ u, "L", rel=1e-9)
    close(after @ about @ after, u @ about @ u, "energy", rel=1e-9)


def test_a_heavy_top_precesses_steadily_where_the_books_have_it(close):
    """A W^2 cos(a) - C s W + m g l = 0: rate W, tilt a, spin s about its axis."""
    A, C, m, length, g, W, tilt = 0.05, 0.02, 2.0, 0.15, 9.81, 6.0, 0.6
    spin = (A * W**2 * np.cos(tilt) + m * g * length) / (C * W)
    robot = body_on_a_ball(np.diag([A - m * length**2] * 2 + [C]), m, (0, 0, length))
    tilted = Rotation.from_rotvec([tilt, 0, 0])
    own = W * tilted.inv().apply([0, 0, 1])
    own[2] = spin
    q, _ = run(robot, tilted.as_quat(), own, 0.3, (0, 0, -g))
    axis = Rotation.from_quat(q).apply([0, 0, 1])
    want = Rotation.from_rotvec([0, 0, 0.3 * W]).apply(tilted.apply([0, 0, 1]))
    close(axis, want, "the axis", rel=1e-8)


def test_a_point_mass_on_a_ball_is_refused_whichever_way_it_lies():
    robot = body_on_a_ball(np.zeros((3, 3)), arm=(0.3, 0.4, -0.5))
    assert singular_joints(robot)[0] == ("b.x",)
    s = replace(random_state(robot, 1), R0=np.eye(3)).held()
    for solve in (lambda: plant(robot, s.qm, s.um), lambda: hybrid_of_spart(robot, s, None)):
        with pytest.raises(SingularInertiaError, match=r"joint 'b\.x' moves nothing"):
            solve()
    assert singular_joints(body_on_a_ball(INERTIA)) == ((), False)


# --- what stands beside a ball ------------------------------------------------------------


def test_stops_and_friction_find_their_joints_behind_a_ball(close):
    robot = robot_with_balls(1, "fixed", 4)
    entry = robot.layout[-1]
    assert (entry.q.start, entry.u.start) == (9, 7)
    joints = list(robot.joints)
    drive = Drive(viscous=0.5, stiffness=100.0, dissipation=0.0)
    last = replace(joints[entry.joint_id - 1], drive=drive, limits=Limits(-0.2, 0.3))
    joints[entry.joint_id - 1] = last
    driven = replace(robot, joints=tuple(joints)).with_effects(["friction", "stops"])
    s = random_state(robot, 2)
    s.qm[9] = 0.4
    load = joint_load(s.um, driven, s.qm)
    close(load, np.eye(robot.nu)[7] * (100.0 * 0.1 + 0.5 * s.um[7]), "load")
    out = robots.everything(robot, s)
    got = dynamics.inverse_dynamics(
        *(s.wF0, s.wFm, out["t0"], out["tL"], out["t0dot"], out["tLdot"], out["P0"], out["pm"]),
        *(out["I0"], out["Im"], out["Bij"], out["Bi0"], driven, s.qm),
    )
    close(got.taum, out["taum_ID"] + load, "taum of ID", rel=1e-11)


@pytest.mark.parametrize("seed", range(4))
def test_inverse_kinematics_turns_balls(seed):
    robot = robot_with_balls(seed, "fixed", 4)
    link = robot.layout[-1].joint_id
    s = random_state(robot, seed)
    K = dynamics.kinematics(np.eye(3), np.zeros(3), s.qm, robot)
    pose = dynamics.frame_of_link(link, np.eye(3), np.zeros(3), K.RL, K.rL, robot)
    found = sb.ik(robot, link, pose, restarts=5, components="wx wy wz")
    assert found.converged
    again = robot.with_unit_quaternions(found.qm)
    assert np.abs(again - found.qm).max() < 1e-15
    K = dynamics.kinematics(np.eye(3), np.zeros(3), found.qm, robot)
    reached = dynamics.frame_of_link(link, np.eye(3), np.zeros(3), K.RL, K.rL, robot)
    assert np.abs(reached[:3, :3] - pose[:3, :3]).max() < 1e-9


def test_inverse_kinematics_refuses_a_quaternion_that_is_none():
    robot = robot_with_balls(1, "fixed", 2)
    with pytest.raises(InputError, match="q0: the quaternion of b1 has length 0, it must be 1"):
        sb.ik(robot, 3, np.eye(4), q0=np.zeros(robot.nq))

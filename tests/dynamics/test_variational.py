"""The variational step: what it keeps exactly, how its error falls, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import casadi as ca
import numpy as np
import pytest
from ball_robots import random_state, robot_with_balls
from robots import random_robot
from scipy.integrate import solve_ivp
from scipy.optimize import brentq
from test_loops import at, closed_robot, four_bar

from spart_blocks import dynamics
from spart_blocks.base.spatial import quaternion_rate, rotation_quaternion
from spart_blocks.dynamics import (
    assemble,
    closed_projection,
    closed_rates,
    loop_errors,
    loop_jacobian,
)
from spart_blocks.dynamics.kinetic_gradient import kinetic_terms
from spart_blocks.dynamics.variational import HeldInputs, PlantMotion, variational_step
from spart_blocks.program.tracing.symbol import column_of, symbols
from spart_blocks.robot import BaseLink, Joint, JointSpring, JointType, Link, Robot

MODELS = Path(__file__).parents[2] / "models"
UPRIGHT, NONE = np.array([0, 0, 0, 1.0]), np.zeros(6)
G = 9.81


def pendulum(*lengths: float, **more) -> Robot:
    """Point masses of 1 kg on rods in a row, hanging along -z, turning about x."""
    joints, links, x = [], [], np.array([1.0, 0, 0])
    for k, length in enumerate(lengths, start=1):
        T = at(0, 0, 0) if k == 1 else np.eye(4)
        joints.append(Joint(k, f"j{k}", JointType.REVOLUTE, k, k - 1, k, x, T))
        links.append(Link(k, f"rod{k}", k, at(0, 0, -length), 1.0, np.zeros((3, 3))))
    base = BaseLink("ground", np.eye(4), 0.0, np.zeros((3, 3)))
    return Robot("pendulum", tuple(links), tuple(joints), base, base="fixed", **more)


def free(robot: Robot, **given) -> HeldInputs:
    """No forces but those given."""
    n, nu = robot.n_links_joints, robot.nu
    nothing = HeldInputs(NONE, np.zeros(nu), NONE, np.zeros((n, 6)), np.zeros(len(robot.kinematic)))
    return nothing._replace(**given)


def weights(robot: Robot) -> HeldInputs:
    w = dynamics.gravity_wrenches([0, 0, -G], robot)
    return free(robot, wF0=w.wF0, wFm=w.wFm)


def resting(robot: Robot, qm, um) -> PlantMotion:
    """The motion of a robot on a fixed base."""
    return PlantMotion(UPRIGHT, np.zeros(3), np.asarray(qm, float), NONE, np.asarray(um, float))


def moving(robot: Robot, seed: int) -> PlantMotion:
    s = random_state(robot, seed)
    qm, u0, um = s.qm, s.u0, s.um
    if robot.loops:
        _, qm, u0, um = closed_projection(s.R0, u0, assemble(robot).qm, um, robot)
    return PlantMotion(rotation_quaternion(s.R0), s.r0, qm, u0, um)


def after(steps: int, h: float, motion: PlantMotion, held: HeldInputs, robot: Robot) -> PlantMotion:
    for _ in range(steps):
        motion = variational_step(h, motion, held, robot)
    return motion


def books(motion: PlantMotion, robot: Robot) -> tuple[np.ndarray, np.ndarray]:
    """Momenta about the origin, and the kinetic energy."""
    m, R0 = motion, motion.R0
    K = dynamics.kinematics(R0, m.r0, m.qm, robot)
    D = dynamics.diff_kinematics(R0, m.r0, K.rL, K.e, K.g, robot)
    t = dynamics.velocities(D.Bij, D.Bi0, D.P0, D.pm, m.u0, m.um, robot)
    own = dynamics.inertias(R0, K.RL, robot)
    p = dynamics.momentum(t.t0, t.tL, own.I0, own.Im, m.r0, K.rL, robot)
    return np.concatenate(p), dynamics.kinetic_energy(t.t0, t.tL, own.I0, own.Im, robot)


def weight_energy(motion: PlantMotion, robot: Robot) -> float:
    K = dynamics.kinematics(motion.R0, motion.r0, motion.qm, robot)
    return float(dynamics.potential_energy(motion.r0, K.rL, [0, 0, -G], robot)[0])


def many_steps(
    h: float, start: PlantMotion, held: HeldInputs, robot: Robot, steps: int
) -> list[PlantMotion]:
    """The motions of a fixed-base robot, by CasADi."""
    column, x = symbols("x", (robot.nq + robot.nu,))
    motion = start._replace(qm=x[: robot.nq], um=x[robot.nq :])
    end = variational_step(h, motion, held, robot)
    step = ca.Function("step", [column], [column_of(np.concatenate([end.qm, end.um]))])
    states = np.array(step.mapaccum(steps)(np.concatenate([start.qm, start.um]))).T
    return [start._replace(qm=s[: robot.nq], um=s[robot.nq :]) for s in states]


# --- what it keeps ------------------------------------------------------------------------


@pytest.mark.parametrize("make", [robot_with_balls, closed_robot])
def test_a_free_floating_robot_keeps_its_momentum_and_nearly_its_energy(make):
    robot = make(0, "floating", bodies=4)
    start = moving(robot, 0)
    end = after(20, 0.01, start, free(robot), robot)
    (p0, e0), (p1, e1) = books(start, robot), books(end, robot)
    assert np.abs(p1 - p0).max() < 1e-12 * np.abs(p0).max()
    assert abs(e1 - e0) < 1e-4 * e0


def test_a_step_back_undoes_a_step():
    robot = robot_with_balls(1, "floating", bodies=4)
    start = moving(robot, 1)
    back = after(3, -0.02, after(3, 0.02, start, free(robot), robot), free(robot), robot)
    for x, y in zip(back, start, strict=True):
        assert np.abs(x - y).max() < 1e-11


def canonical_map(step, robot, qm, um) -> np.ndarray:
    """d(q1, p1)/d(q0, p0) of a step, by differences in (q, p)."""
    n, at_rest = robot.nu, np.zeros((robot.n_links_joints, 6))

    def momentum(q, u):
        return kinetic_terms(np.eye(3), NONE, q, u, NONE, at_rest, robot).p[6:]

    def mapped(z):
        Hm = dynamics.multibody_inertia(np.eye(3), z[:n], robot).Hm
        q, u = step(z[:n], np.linalg.solve(Hm, z[n:]))
        return np.concatenate([q, momentum(q, u)])

    z0, d = np.concatenate([qm, momentum(qm, um)]), 1e-5
    return np.array([(mapped(z0 + d * e) - mapped(z0 - d * e)) / (2 * d) for e in np.eye(2 * n)]).T


def test_a_step_is_symplectic_and_heuns_is_not():
    robot, h = random_robot(3, 3, kinds="rrp", chain=True), 0.1
    robot = Robot(robot.name, robot.links, robot.joints, robot.base_link, base="fixed")
    held, rng = weights(robot), np.random.default_rng(0)
    qm, um = rng.normal(size=(2, 3))

    def own(q, u):
        end = variational_step(h, resting(robot, q, u), held, robot, iterations=20)
        return end.qm, end.um

    def rates(q, u):
        forces = NONE, np.zeros(3), held.wF0, held.wFm
        return dynamics.hybrid_rates(np.eye(3), NONE, q, u, *forces, robot).umdot

    def heun(q, u):
        a = rates(q, u)
        b = rates(q + h * u, u + h * a)
        return q + h * (u + h * a / 2), u + h * (a + b) / 2

    J = np.block([[np.zeros((3, 3)), np.eye(3)], [-np.eye(3), np.zeros((3, 3))]])
    for step, symplectic in ((own, True), (heun, False)):
        M = canonical_map(step, robot, qm, um)
        assert (np.abs(M.T @ J @ M - J).max() < 1e-7) == symplectic


def test_the_energy_of_a_double_pendulum_does_not_drift():
    robot, h, steps = pendulum(1.0, 1.0), 0.01, 20_000
    start = resting(robot, [1.0, 0.5], [0.0, 0.0])
    motions = many_steps(h, start, weights(robot), robot, steps)[:: steps // 400]
    energy = np.array([books(m, robot)[1][0] + weight_energy(m, robot) for m in motions])
    halves = energy[:200].mean() - energy[200:].mean()
    assert np.ptp(energy) < 0.02  # [J], of about 20; h^2 of it
    assert abs(halves) < 0.1 * np.ptp(energy)


def test_a_four_bar_stays_closed_and_keeps_its_energy():
    robot = four_bar()
    qm = assemble(robot).qm
    um = closed_projection(np.eye(3), NONE, qm, [5.0, 0, 0], robot).um
    held = free(robot)
    motions = many_steps(0.005, resting(robot, qm, um), held, robot, 10_000)[::100]
    energy = np.array([books(m, robot)[1][0] for m in motions])
    opened = max(np.abs(loop_errors(m.qm, robot)).max() for m in motions)
    opening = max(np.abs(loop_jacobian(m.qm, robot) @ m.um).max() for m in motions)
    assert opened < 1e-12
    assert opening < 1e-12
    assert np.ptp(energy) < 0.01 * energy.mean()
    assert abs(energy[:50].mean() - energy[50:].mean()) < 0.1 * np.ptp(energy)


# --- against other formulations ---------------------------------------------------------


def pull(a: float, b: float) -> float:
    return -G * np.sin((a + b) / 2)


def next_angle(a: float, momentum: float, h: float) -> float:
    """Of the pendulum's discrete Euler-Lagrange equation, solved for itself."""
    return brentq(lambda b: (b - a) / h - h / 2 * pull(a, b) - momentum, a - 3, a + 3)


def test_a_pendulum_s_angles_solve_its_discrete_euler_lagrange_equation():
    """That of trep's tutorial: 1 kg on 1 m, from 3 pi/4 at rest, by steps of 0.1 s. At rest
    here means a momentum of zero."""
    robot, h = pendulum(1.0), 0.1
    motion, held = resting(robot, [0.75 * np.pi], [0.0]), weights(robot)

    angles = [motion.qm[0], next_angle(motion.qm[0], 0.0, h)]
    while len(angles) < 51:
        a, b = angles[-2:]
        angles.append(next_angle(b, (b - a) / h + h / 2 * pull(a, b), h))
    for angle in angles[1:]:
        motion = variational_step(h, motion, held, robot)
        assert motion.qm[0] == pytest.approx(angle, abs=1e-9)


def test_an_oscillator_keeps_its_energy_and_turns_as_the_midpoint_rule_has_it():
    spring = JointSpring("swing", joint="j1", stiffness=25.0, rest=0.3)
    robot, h = pendulum(1.0, forces=(spring,)), 0.1
    end = after(7, h, resting(robot, [0.8], [0.0]), free(robot), robot)
    angle = 7 * 2 * np.arctan(5.0 * h / 2)
    assert end.qm[0] - 0.3 == pytest.approx(0.5 * np.cos(angle), abs=1e-11)
    assert end.um[0] == pytest.approx(-2.5 * np.sin(angle), abs=1e-11)


def reference(motion: PlantMotion, held: HeldInputs, robot: Robot, T: float) -> PlantMotion:
    """The motion at T, by a solver with error control."""
    sizes = np.cumsum([4, 3, robot.nq, 6])

    def rates(t, x):
        m = PlantMotion(*np.split(x, sizes))
        forces = held.tau0, held.taum, held.wF0, held.wFm
        solve = closed_rates if robot.loops else dynamics.hybrid_rates
        a = solve(m.R0, m.u0, m.qm, m.um, *forces, robot, held.umdot_k)
        turn = quaternion_rate(m.quaternion, m.u0[:3])
        return np.concatenate([turn, m.u0[3:], robot.position_rates(m.qm, m.um), a.u0dot, a.umdot])

    run = solve_ivp(rates, (0, T), np.concatenate(motion), method="DOP853", rtol=1e-9, atol=1e-11)
    return PlantMotion(*np.split(run.y[:, -1], sizes))


def sliding() -> Robot:
    """A tree with a prescribed joint and viscous friction."""
    robot = random_robot(2, 4, kinds="rrp")
    drives = {"joints": {name: {"viscous": 0.4} for name in robot.active_joints}}
    return robot.with_drives(drives).with_kinematic(robot.active_joints[1:2])


def forced(robot: Robot) -> HeldInputs:
    """Constant forces of every kind."""
    rng = np.random.default_rng(3)
    n, k = robot.n_links_joints, len(robot.kinematic)
    wFm = rng.normal(size=(n, 6))
    return HeldInputs(rng.normal(size=6), rng.normal(size=robot.nu), rng.normal(size=6), wFm,
                rng.normal(size=k))  # fmt: skip


@pytest.mark.parametrize(
    "robot",
    [
        robot_with_balls(0, "floating", bodies=3),
        sliding(),
        closed_robot(2, "fixed"),
        Robot.from_bodies(MODELS / "string_pendulum.yaml"),
    ],
    ids=["balls", "friction and a prescribed joint", "a loop with a ball", "a prescribed length"],
)
def test_the_error_is_of_second_order(robot):
    start, held, T = moving(robot, 0), forced(robot), 0.16
    want, errors = reference(start, held, robot, T), []
    for steps in (8, 16):
        got = after(steps, T / steps, start, held, robot)
        apart = robot.difference(want.qm, got.qm)
        errors.append(np.abs(np.concatenate([apart, got.r0 - want.r0, got.u - want.u])).max())
    order = np.log2(errors[0] / errors[1])
    assert order == pytest.approx(2.0, abs=0.2)


# --- what it is told, and what it refuses ---------------------------------------------------


def test_prescribed_joints_move_as_they_are_told():
    robot, h = sliding(), 0.02
    start, held = moving(robot, 5), forced(robot)
    end, (k,), (rise,) = variational_step(h, start, held, robot), robot.kinematic, held.umdot_k
    assert end.qm[k] == pytest.approx(start.qm[k] + h * start.um[k] + h * h / 2 * rise, abs=1e-14)
    assert end.um[k] == pytest.approx(start.um[k] + h * rise, abs=1e-14)


def test_a_stuck_joint_stays_while_the_others_move():
    robot = pendulum(1.0, 1.0).with_drives({"joints": {"j1": {"coulomb": 50.0}}})
    held = weights(robot)._replace(modes=np.array([0.0]))
    end = after(5, 0.01, resting(robot, [1.0, 0.5], [0.0, 1.0]), held, robot)
    alone = after(5, 0.01, resting(pendulum(1.0), [1.5], [1.0]), weights(pendulum(1.0)),
                  pendulum(1.0))  # fmt: skip
    assert end.qm[0] == 1.0
    assert end.um[0] == 0.0
    assert end.qm[1] == pytest.approx(alone.qm[0] - 1.0, abs=1e-12)


@pytest.mark.parametrize("iterations", [2, 3])
def test_a_step_that_has_not_converged_is_no_number(iterations):
    robot = pendulum(1.0, 1.0)
    start = resting(robot, [1.0, 0.5], [3.0, -2.0])
    end = variational_step(0.05, start, weights(robot), robot, iterations)
    assert np.isnan(end.um).all()
    assert np.isfinite(variational_step(0.05, start, weights(robot), robot).um).all()

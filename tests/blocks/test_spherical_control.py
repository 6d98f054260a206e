"""Controllers, inverse kinematics and the audit of robots with spherical joints."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls
from scipy.spatial.transform import Rotation
from tops import Top

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.base.errors import InputError
from spart_blocks.diagram import new_diagram


def test_joint_pd_turns_a_spherical_joint_the_shortest_way(make, close):
    robot = robot_with_balls(2)
    s, other = random_state(robot, 1), random_state(robot, 2)
    kp, kd = np.arange(1.0, robot.nu + 1), 0.5
    [tau] = make("JOINT_PD", kp, kd, robot=robot).output(
        0.0, [other.qm, other.um, s.qm, s.um], None
    )
    close(tau, kp * robot.difference(s.qm, other.qm) + kd * (other.um - s.um))
    shapes = [port.shape for port in make("JOINT_PD", 1, 1, robot=robot).in_ports]
    assert shapes == [(robot.nq,), (robot.nu,), (robot.nq,), (robot.nu,)]
    with pytest.raises(InputError, match=f"kp has 2 entries, the robot has {robot.nu} active"):
        make("JOINT_PD", [1, 2], 1, robot=robot)


def test_joint_pd_without_its_robot_is_refused_where_positions_are_quaternions():
    bd = Top().diagram(None)
    plant = next(block for block in bd.blocklist if block.name == "plant")
    ports = [port.name for port in plant.out_ports]
    ctrl = bd.JOINT_PD(1.0, 1.0, name="ctrl")
    for number, name in ((2, "qm"), (3, "um")):
        bd.connect(plant[ports.index(name)], ctrl[number])
    bd.connect(bd.CONSTANT(np.array([0.0, 0, 0, 1]), name="qd"), ctrl[0])
    bd.connect(ctrl, bd.NULL(name="end"))
    with pytest.raises(
        sb.SpartError, match=r"ctrl\.um.*: the inputs of ctrl do not fit together\n"
    ):
        sb.simulate(bd, T=0.1, engine="interpreter")


@pytest.mark.parametrize("base", ["floating", "fixed"])
def test_computed_torque_gives_the_joints_the_accelerations_it_wants(base, make, close):
    robot = robot_with_balls(4, base)
    s, other = random_state(robot, 1), random_state(robot, 2)
    s = replace(s, tau0=np.zeros(6))
    block = make("COMPUTED_TORQUE", robot, kp=4.0, kd=3.0)
    desired = [other.qm, other.um, other.umdot]
    inputs = [*desired, s.wF0, s.wFm, s.R0, s.r0, s.qm, s.u0, s.um]
    [tau] = block.output(0.0, inputs, None)
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, tau, s.wF0, s.wFm, robot)
    error = robot.difference(s.qm, other.qm)
    close(rates.umdot, other.umdot + 3.0 * (other.um - s.um) + 4.0 * error, rel=1e-9)


def test_an_audit_balances_where_forces_and_motion_belong_together(make):
    robot = robot_with_balls(4, bodies=3)
    s = random_state(robot, 1)
    rates = dynamics.multibody_rates(s.R0, s.u0, s.qm, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
    s = replace(s, u0dot=rates.u0dot, umdot=rates.umdot)
    audit, x = make("AUDIT", robot), np.zeros(7)

    def inputs(now):
        return [now.tau0, now.taum, now.wF0, now.wFm, now.R0, now.r0, now.qm, now.u0, now.um]

    xdot = audit.deriv(0.0, inputs(s), x)

    def moved(h):
        """The state a time h later, to second order."""
        turn = Rotation.from_rotvec(h * (s.u0[:3] + h / 2 * s.u0dot[:3])).as_matrix()
        return replace(
            s,
            R0=s.R0 @ turn,
            r0=s.r0 + h * (s.u0[3:] + h / 2 * s.u0dot[3:]),
            qm=robot.integrate(s.qm, h * (s.um + h / 2 * s.umdot)),
            u0=s.u0 + h * s.u0dot,
            um=s.um + h * s.umdot,
        )

    def balances(h):
        return np.concatenate(
            [np.ravel(v) for v in audit.output(0.0, inputs(moved(h)), x + h * xdot)[4:]]
        )

    assert np.abs(robots.rate(balances, 1e-3)).max() < 1e-7 * np.abs(xdot).max()


# --- references -----------------------------------------------------------------------------

MOTIONS = {
    "QUINTIC": {"duration": 2.0, "T": 0.2},
    "TRAPEZOID": {"velocity": 0.9, "acceleration": 1.5, "T": 0.2},
    "TRAPEZOID in a time": {"duration": 2.0, "blend": 0.3, "T": 0.2},
}


@pytest.mark.parametrize("name", MOTIONS)
def test_a_reference_turns_spherical_joints_about_one_axis(name, make, close):
    robot = robot_with_balls(4)
    q0, qf = random_state(robot, 1).qm, random_state(robot, 2).qm
    block = make(name.split()[0], q0, qf, robot=robot, **MOTIONS[name])
    shapes = [port.shape for port in block.out_ports]
    assert shapes == [(robot.nq,), (robot.nu,), (robot.nu,)]
    way, end = robot.difference(q0, qf), float(block.edges()[-1][0])
    for t, want in ((0.0, q0), (end + 1, robot.integrate(q0, way))):
        q, u, a = block.output(t, [], None)
        close(q, want)
        close([u, a], np.zeros((2, robot.nu)))
    close(robot.difference(block.output(end, [], None)[0], qf), np.zeros(robot.nu))
    h = 1e-4
    for t in np.linspace(0.3, 0.7, 4) * end:
        before, (q, u, a), after = (block.output(t + k * h, [], None) for k in (-1, 0, 1))
        close(np.cross(robot.difference(q0, q)[1:4], way[1:4]), np.zeros(3), floor=1e-12)
        close(robot.difference(before[0], after[0]) / (2 * h), u, "u", rel=1e-6)
        close((after[1] - before[1]) / (2 * h), a, "a", rel=1e-6, floor=1e-9)


def test_a_reference_is_traced_with_its_ends_as_parameters(close):
    robot = robot_with_balls(4)
    q0, qf, other = (random_state(robot, k).qm for k in (1, 2, 3))
    bd = new_diagram("reference")
    block = bd.QUINTIC(q0, qf, 2.0, robot=robot, name="plan")
    program = sb.trace(bd)
    slots = {slot.name: slot for slot in program.parameters}
    assert list(slots) == [f"plan.{name}" for name in ("q0", "qf", "duration", "T")]
    p = program.p.copy()
    for given in (qf, other):
        p[slots["plan.qf"].part] = block.qf = given
        y = np.array(program.outputs(0.7, program.x0, program.xd0, p)).ravel()
        close(y, np.concatenate(block.output(0.7, [], None)), rel=1e-12)


def test_a_spherical_joint_rests_at_the_ends_of_a_reference(make):
    robot = robot_with_balls(4)
    q = random_state(robot, 1).qm
    with pytest.raises(InputError, match="rate0 of b2 must be zero: it turns about one axis"):
        make("QUINTIC", q, q, 1.0, rate0=0.1, robot=robot)
    with pytest.raises(InputError, match="qf: the quaternion of b2 has length 0"):
        make("TRAPEZOID", q, np.zeros(robot.nq), duration=1.0, robot=robot)


# --- inverse kinematics ---------------------------------------------------------------------


def arm():
    """A chain of two balls and three joints; its last link."""
    robot = robot_with_balls(4, "fixed")
    last = robot.n_links_joints
    return robot, last


def pose_at(robot, link, qm):
    K = dynamics.kinematics(np.eye(3), np.zeros(3), qm, robot)
    return dynamics.frame_of_link(link, np.eye(3), np.zeros(3), K.RL, K.rL, robot)


@pytest.mark.parametrize("seed", range(4))
def test_inverse_kinematics_turns_spherical_joints(seed, close):
    robot, link = arm()
    target = pose_at(robot, link, random_state(robot, seed).qm)
    found = sb.ik(robot, link, target, seed=seed)
    assert found.converged
    close(pose_at(robot, link, found.qm), target, rel=1e-9)
    close(robot.with_unit_quaternions(found.qm), found.qm)


def test_the_ik_block_follows_a_pose(make, close):
    robot, link = arm()
    near = random_state(robot, 1).qm
    goal = robot.integrate(near, 0.05 * np.ones(robot.nu))
    target = pose_at(robot, link, goal)
    bd = new_diagram("ik")
    block = make("IK", robot, link, near, iterations=6, clock=bd.clock(0.1, name="c"))
    x = block.next(0.0, [target[:3, 3], target[:3, :3], np.eye(3), np.zeros(3)], block._x0)
    close(pose_at(robot, link, x[:-2]), target, rel=1e-6)
    with pytest.raises(InputError, match=r"q0: the quaternion of b2 has length 0,"):
        make("IK", robot, link, np.zeros(robot.nq), clock=bd.clock(0.1, name="d"))
    with pytest.raises(InputError, match=r"q0: the quaternion of b2 has length 0,"):
        sb.ik(robot, link, target, q0=np.zeros(robot.nq))

"""Loop constraints and closed dynamics: against finite differences and published motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ball_robots import random_state, robot_with_balls, transform

from spart_blocks.base.errors import RobotError
from spart_blocks.dynamics import (
    assemble,
    closed_projection,
    closed_rates,
    dropped_rows,
    hybrid_rates,
    kept_rows,
    kinematics,
    loop_bias,
    loop_errors,
    loop_jacobian,
    loop_jacobian_dot,
    multibody_forces,
)
from spart_blocks.robot import BaseLink, Coupling, Joint, JointType, Link, Loop, Robot
from spart_blocks.robot.loop import ROWS


def at(x, y, z=0.0):
    T = np.eye(4)
    T[:3, 3] = x, y, z
    return T


def four_bar(crank=0.2, coupler=0.55, rocker=0.4, ground=0.45) -> Robot:
    """Planar, of spatial revolute joints; the pin between coupler and rocker is the loop."""
    inertia, z = np.diag([1e-3, 2e-2, 2e-2]), np.array([0, 0, 1.0])
    frames = (at(0, 0), at(crank / 2, 0), at(ground, 0))
    lengths, parents = (crank, coupler, rocker), (0, 1, 0)
    names = ("crank", "coupler", "rocker")
    joints = tuple(
        Joint(k + 1, f"of {name}", JointType.REVOLUTE, k + 1, parent, k + 1, z, T)
        for k, (name, parent, T) in enumerate(zip(names, parents, frames, strict=True))
    )
    links = tuple(
        Link(k + 1, name, k + 1, at(length / 2, 0), 1.0, inertia)
        for k, (name, length) in enumerate(zip(names, lengths, strict=True))
    )
    pin = Loop("pin", "revolute", 2, 3, at(coupler / 2, 0), at(rocker / 2, 0))
    base = BaseLink("ground", np.eye(4), 0.0, np.zeros((3, 3)))
    return Robot("four-bar", links, joints, base, base="fixed", loops=(pin,), home=[0.6, -0.2, 1])


def closed_robot(seed: int, base: str, kind: str = "spherical", bodies: int = 5) -> Robot:
    """A random tree with a loop between its first and its last link, which close at home."""
    rng, robot = np.random.default_rng(seed), robot_with_balls(seed, base, bodies)
    s, Ta = random_state(robot, seed + 100), transform(rng)
    K = kinematics(np.eye(3), np.zeros(3), s.qm, robot)
    a, b = next(link.id for link in robot.links if link.mass), len(robot.links)
    poses = []
    for link in (a, b):
        T = np.eye(4)
        T[:3, :3], T[:3, 3] = K.RL[link - 1], K.rL[link - 1]
        poses.append(T)
    Tb = np.linalg.inv(poses[1]) @ poses[0] @ Ta
    if kind == "distance":
        Tb[:3, 3] += [0.7, 0, 0]
    single = [entry.name for entry in robot.layout if not entry.spherical]
    law = Coupling(single[0], single[-1], -0.7, 0.1) if kind.endswith("coupling") else None
    loop = Loop("it", kind, a, b, Ta, Tb, 0.7 if kind == "distance" else None, law)
    return replace(robot, loops=(loop,), home=s.qm)


@pytest.mark.parametrize("kind", ROWS)
def test_jacobian_and_bias_are_the_derivatives_of_the_errors(kind):
    for seed in (0, 1, 3):
        robot = closed_robot(seed, "fixed", kind)
        s, h = random_state(robot, seed), 1e-5
        ahead, behind = (robot.integrate(s.qm, way * s.um) for way in (h, -h))
        rate = (loop_errors(ahead, robot, True) - loop_errors(behind, robot, True)) / (2 * h)
        J = loop_jacobian(s.qm, robot, True)
        assert np.allclose(J @ s.um, rate, atol=1e-8)
        turn = (loop_jacobian(ahead, robot, True) - loop_jacobian(behind, robot, True)) / (2 * h)
        assert np.allclose(turn @ s.um, loop_bias(s.qm, s.um, robot, True), atol=1e-7)


def test_the_rate_of_the_jacobian_is_whole_with_spherical_joints():
    robot = closed_robot(3, "fixed", "revolute")
    s, h = random_state(robot, 3), 1e-5
    ahead, behind = (robot.integrate(s.qm, way * s.um) for way in (h, -h))
    turn = (loop_jacobian(ahead, robot) - loop_jacobian(behind, robot)) / (2 * h)
    assert np.allclose(turn, loop_jacobian_dot(s.qm, s.um, robot), atol=1e-7)


def test_a_planar_loop_of_spatial_joints_keeps_two_rows_and_names_the_others():
    robot = four_bar()
    assert dropped_rows(robot) == ("pin.z", "pin.rx", "pin.ry")
    assert kept_rows(robot) == (0, 1)


def test_assembly_closes_the_loop_and_holds_what_it_is_told_to():
    robot = four_bar()
    found = assemble(robot, {"of crank": 0.9}, hold=["of crank"])
    assert found.qm[0] == 0.9
    assert found.error < 1e-12
    assert np.abs(loop_errors(found.qm, robot, True)).max() < 1e-12


def test_assembly_tells_which_loop_cannot_close_and_by_how_much():
    robot = four_bar(crank=0.1, coupler=0.2, rocker=0.1, ground=1.0)
    with pytest.raises(RobotError, match=r"loop 'pin' cannot close: its ends stay 0\.6"):
        assemble(robot)


@pytest.mark.parametrize("kind", ["revolute", "cylindrical", "planar", "rigid", "prismatic"])
def test_a_loop_does_not_close_half_a_turn_away(kind):
    """There the rows vanish too: they tell axes that are parallel, not which way they point."""
    turn, rows = np.diag([1.0, -1.0, -1.0, 1.0]), [JointType.PRISMATIC] * 2 + [JointType.REVOLUTE]
    axes = (np.eye(3)[0], np.eye(3)[1], np.eye(3)[2])
    joints = tuple(
        Joint(i + 1, f"j{i}", rows[i], i + 1, i, i + 1, axes[i], np.eye(4)) for i in range(3)
    )
    links = tuple(Link(i, f"l{i}", i, np.eye(4), 1.0, np.eye(3)) for i in (1, 2, 3))
    base = BaseLink("ground", np.eye(4), 0.0, np.zeros((3, 3)))
    robot = Robot("slide", links, joints, base, base="fixed")
    square = replace(robot, loops=(Loop("pin", kind, 0, 3, np.eye(4), np.eye(4)),))
    assert assemble(square, [0.1, 0.2, 0.3]).error < 1e-12
    over = replace(robot, loops=(Loop("pin", kind, 0, 3, turn, np.eye(4)),))
    with pytest.raises(RobotError, match="'pin' cannot close: its ends stay 180 degrees askew"):
        assemble(over)


def test_closed_rates_satisfy_newton_and_the_loops():
    """H udot + h - tau = J' lam, with H and h those of the open tree."""
    for base in ("fixed", "floating"):
        robot = closed_robot(2, base)
        s = random_state(robot, 5)
        q = robot.home
        got = closed_rates(s.R0, s.u0, q, s.um, s.tau0, s.taum, s.wF0, s.wFm, robot)
        J = loop_jacobian(q, robot)
        assert np.allclose(J @ got.umdot, -loop_bias(q, s.um, robot), atol=1e-10)
        pushed = s.taum + J.T @ got.lam
        free = hybrid_rates(s.R0, s.u0, q, s.um, s.tau0, pushed, s.wF0, s.wFm, robot)
        assert np.allclose(got.umdot, free.umdot, atol=1e-9)
        assert np.allclose(got.u0dot, free.u0dot, atol=1e-9)


def wrenches_of(loop, lam, robot, K):
    """What docs/closed_chains.md says of lam, as wrenches on the links (n,6), inertial, at
    their centres of mass, and on the base (6,), whose centre of mass is the origin."""
    wrench, r = np.zeros((len(robot.links) + 1, 6)), np.vstack([np.zeros(3), K.rL])
    R = np.concatenate([np.eye(3)[None], K.RL])
    (Ra, ra), (_, rb) = (
        (R[link] @ T[:3, :3], r[link] + R[link] @ T[:3, 3])
        for link, T in ((loop.a, loop.Ta), (loop.b, loop.Tb))
    )
    ways = [loop.a]
    while ways[-1]:
        ways.append(robot.parents[ways[-1] - 1])
    both = loop.b
    while both not in ways:
        both = robot.parents[both - 1]
    whole = ROWS[loop.type][:3] == ("x", "y", "z")

    def act(link, force, moment, point):
        wrench[link] += [*(moment + np.cross(point - r[link], force)), *force]

    for name, value in zip(ROWS[loop.type], lam, strict=True):
        if name == "d":
            force, moment = value * (rb - ra) / np.linalg.norm(rb - ra), np.zeros(3)
        elif name.startswith("r"):
            sign = {"rx": -1, "ry": 1, "rz": -1}[name]
            force, moment = np.zeros(3), sign * value * Ra[:, "xyz".index(name[1])]
        else:
            axes = R[both] if whole else Ra
            force, moment = value * axes[:, "xyz".index(name)], np.zeros(3)
        act(loop.b, force, moment, rb)
        act(loop.a, -force, -moment, rb)
    return wrench[0], wrench[1:]


@pytest.mark.parametrize("kind", [kind for kind in ROWS if not kind.endswith("coupling")])
@pytest.mark.parametrize("seed", [2, 4])
def test_lam_acts_as_the_page_says(kind, seed):
    robot = closed_robot(seed, "fixed", kind)
    q, s = robot.home, random_state(robot, seed)
    K = kinematics(np.eye(3), np.zeros(3), q, robot)
    for loop_turned in (robot, replace(robot, loops=(_other_way(robot.loops[0]),))):
        lam = np.random.default_rng(seed).normal(size=len(ROWS[kind]))
        got = loop_jacobian(q, loop_turned, True).T @ lam
        wF0, wFm = wrenches_of(loop_turned.loops[0], lam, loop_turned, K)
        none, still = np.zeros(6), np.zeros(robot.nu)
        unloaded, loaded = (
            multibody_forces(np.eye(3), none, q, 0 * s.um, none, still, f0, fm, robot).taum
            for f0, fm in ((none, 0 * wFm), (wF0, wFm))
        )
        assert np.allclose(got, unloaded - loaded, atol=1e-12 * np.abs(lam).max())


def _other_way(loop):
    return replace(loop, a=loop.b, b=loop.a, Ta=loop.Tb, Tb=loop.Ta)


def test_projection_closes_positions_and_rates_and_keeps_momentum():
    robot = closed_robot(2, "floating")
    s = random_state(robot, 5)
    closed = closed_projection(s.R0, s.u0, robot.home, s.um, robot)
    J = loop_jacobian(robot.home, robot)
    assert np.abs(J @ closed.um).max() < 1e-12
    q = robot.integrate(robot.home, 1e-4 * s.um)
    back = closed_projection(s.R0, s.u0, q, s.um, robot)
    assert np.abs(loop_errors(back.qm, robot)).max() < 1e-13
    assert np.abs(loop_jacobian(back.qm, robot) @ back.um).max() < 1e-13


def test_a_massless_body_between_two_joints_moves_as_one_of_little_mass():
    """Its own inertia is singular; with the loop closed the motion is not."""
    heavy = four_bar()
    massless = replace(heavy.links[1], mass=0.0, inertia=np.zeros((3, 3)))
    light = replace(heavy.links[1], mass=1e-9, inertia=np.eye(3) * 1e-12)
    q, zero = assemble(heavy).qm, np.zeros(6)
    got = [
        closed_rates(
            np.eye(3), zero, q, np.zeros(3), zero, np.array([1.0, 0, 0.3]), zero, np.zeros((3, 6)),
            replace(heavy, links=(heavy.links[0], link, heavy.links[2])),
        ).umdot
        for link in (massless, light)
    ]  # fmt: skip
    assert np.allclose(*got, rtol=1e-6)


def test_too_many_prescribed_joints_are_refused():
    robot = four_bar().with_kinematic(["of crank", "of rocker"])
    with pytest.raises(RobotError, match="leave too few freedoms for the prescribed joints"):
        kept_rows(robot)

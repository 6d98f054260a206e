"""BODY_POSES: where the bodies of a robot are, those asked for only."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import robots
from ball_robots import random_state, robot_with_balls
from scipy.spatial.transform import Rotation

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.diagram import new_diagram


@pytest.fixture
def make(bdsim_runtime):
    """make(robot, ...): a block by itself."""
    return bdsim_runtime._blocklibrary["BODY_POSES"]["class"]


@pytest.mark.parametrize("seed", [1, 2])
def test_bodies_are_where_the_kinematics_have_their_frames(seed, make, close):
    robot = robot_with_balls(seed)
    s = random_state(robot, seed)
    names = [robot.links[-1].name, "base", robot.links[2].name]
    block = make(robot, names)
    r, R = block.output(0.0, [s.R0, s.r0, s.qm], None)
    assert [port.shape for port in block.out_ports] == [r.shape, R.shape] == [(3, 3), (3, 3, 3)]
    K = dynamics.kinematics(s.R0, s.r0, s.qm, robot)
    for k, name in enumerate(names):
        link = robot.robot_keys.link_id[name]
        T = dynamics.frame_of_link(link, s.R0, s.r0, K.RL, K.rL, robot)
        close(r[k], T[:3, 3], name)
        close(R[k], T[:3, :3], name)


def test_all_bodies_with_mass_come_where_none_is_named(make):
    robot = robot_with_balls(2)
    massive = [link.id for link in robot.links if link.mass]
    assert make(robot).links == (0, *massive)
    assert make(robot.with_base("fixed")).links == tuple(massive)
    assert len(massive) < robot.n_links_joints


def test_a_fixed_base_without_a_wire_is_at_the_origin_and_not_turned(make, close):
    robot = robots.random_robot(5, 4).with_base("fixed")
    s = robots.random_state(robot, 1)
    plain = make(robot).output(0.0, [np.eye(3), np.zeros(3), s.qm], None)
    bd = new_diagram("poses")
    qm = bd.CONSTANT(s.qm, name="qm")
    block = bd.BODY_POSES(robot, name="poses")
    bd.connect(qm, block[2])
    for k in range(2):
        bd.connect(block[k], bd.NULL(name=f"end{k}"))
    for engine in ("native", "interpreter"):
        run = sb.simulate(bd, T=0.1, engine=engine)
        close(run["poses.r"][0], plain[0], engine)
        close(run["poses.R"][0], plain[1], engine)


def test_a_program_computes_the_branches_of_the_bodies_asked_for_only():
    robot = robots.random_robot(5, 8, chain=True).with_base("fixed")
    sizes = []
    for bodies in ("link1", "link8"):
        bd = new_diagram("poses")
        angles = bd.INTEGRATOR(x0=[0.1] * robot.nq, name="qm")
        bd.connect(bd.CONSTANT(np.zeros(robot.nq), name="still"), angles)
        bd.connect(angles, bd.BODY_POSES(robot, bodies, name="poses")[2])
        sizes.append(sb.trace(bd).outputs.n_instructions())
    assert sizes[0] < sizes[1] / 4


def test_a_fixed_base_may_be_wired(make, close):
    robot = robots.random_robot(5, 4).with_base("fixed")
    s = robots.random_state(robot, 1)
    r, R = make(robot).output(0.0, [s.R0, s.r0, s.qm], None)
    r1, R1 = make(robot).output(0.0, [np.eye(3), np.zeros(3), s.qm], None)
    close(R, s.R0 @ R1)
    close(r, s.r0 + r1 @ s.R0.T)


def test_wrong_bodies_say_what_is_wrong(make):
    robot = robots.random_robot(12, 5)
    for bodies, message in [
        (["link1", "lnik3"], "bodies: no link 'lnik3' on tree12: did you mean 'link3'"),
        (["link1", "link2", "link1"], "bodies names 'link1' twice"),
        ([], "bodies is an empty list"),
        ([7], "bodies: link is 7; ids of tree12 run from 0 to 5"),
    ]:
        with pytest.raises(ValueError, match=message):
            make(robot, bodies)
    light = replace(robot, links=tuple(replace(link, mass=0.0) for link in robot.links))
    with pytest.raises(ValueError, match="no link of tree12 has mass: name some in bodies"):
        make(light.with_base("fixed"))


def test_a_body_turns_with_its_ball(make, close):
    robot = robot_with_balls(1, "fixed")
    turn = Rotation.from_rotvec([0.3, -0.4, 0.9])
    first = robot.layout[0]
    assert first.spherical
    name = robot.links[first.joint_id - 1].name
    block, q = make(robot, name), robot.neutral.copy()
    [before] = block.output(0.0, [np.eye(3), np.zeros(3), q], None)[1]
    q[first.q] = turn.as_quat()
    [after] = block.output(0.0, [np.eye(3), np.zeros(3), q], None)[1]
    T = robot.joints[0].T[:3, :3]
    close(after, T @ turn.as_matrix() @ T.T @ before, "turned in the joint's frame", rel=1e-11)

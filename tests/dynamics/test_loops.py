"""Loop constraints and closed dynamics: against finite differences and published motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spart_blocks.dynamics.assembly import assemble
from spart_blocks.dynamics.closed_chain import closed_rates
from spart_blocks.dynamics.loops import (
    dropped_rows,
    kept_rows,
    loop_errors,
)
from spart_blocks.errors import RobotError
from spart_blocks.robot import BaseLink, Joint, JointType, Link, Loop, Robot


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

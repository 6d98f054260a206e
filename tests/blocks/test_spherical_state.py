"""The state of a plant whose robot has spherical joints: its start, its names, its rates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from ball_robots import random_state, robot_with_balls
from scipy.spatial.transform import Rotation

from spart_blocks.base import spatial
from spart_blocks.base.errors import InputError
from spart_blocks.block_support.plants.state import PlantState

BASES = ("floating", "fixed")


def start_of(s, base):
    given = {"r0": s.r0, "quaternion": spatial.dcm_quat(s.R0.T), "qm": s.qm, "um": s.um}
    return given | ({"u0": s.u0} if base == "floating" else {})


def block_of(bdsim_runtime, name, robot, **given):
    return bdsim_runtime._blocklibrary[name]["class"](robot, **given)


@pytest.mark.parametrize("base", BASES)
def test_a_state_integrator_turns_the_joints_as_integrate_does(base, bdsim_runtime, close):
    robot = robot_with_balls(3, base)
    s = random_state(robot, 1)
    start = {k: v for k, v in start_of(s, base).items() if k not in ("u0", "um")}
    block = block_of(bdsim_runtime, "STATE_INTEGRATOR", robot, initial=start)
    x = np.asarray(block.getstate0())
    close(block.output(0.0, [None, None], x)[2], s.qm)
    h = 1e-4
    back, forth = (robot.integrate(s.qm, sign * h * s.um) for sign in (-1, 1))
    got = block.deriv(0.0, [s.u0, s.um], x)[-robot.nq :]
    close(got, (forth - back) / (2 * h), rel=1e-7)


@pytest.mark.parametrize("base", BASES)
def test_stretched_quaternions_are_read_at_unit_length_and_pulled_back(base, close):
    robot = robot_with_balls(4, base)
    s = random_state(robot, 1)
    state = PlantState(robot)
    pose, x0 = state.initial(start_of(s, base))
    ball = next(entry for entry in robot.layout if entry.spherical)
    first = len(x0) - robot.nq - robot.nu - (6 if base == "floating" else 0)
    part = slice(first + ball.q.start, first + ball.q.stop)
    x = x0.copy()
    x[part] *= 1.01
    close(state.split(x, pose).qm, s.qm)
    close(state.project(x), x0)
    rate = np.concatenate(state.pose_rates(x, s.u0, s.um))
    assert rate[part] @ x[part] < 0
    assert np.abs(np.concatenate(state.pose_rates(x0, s.u0, s.um))[part] @ x0[part]) < 1e-14


@pytest.mark.parametrize("base", BASES)
def test_every_entry_of_the_state_has_a_name(base):
    robot = robot_with_balls(3, base)
    state = PlantState(robot)
    names = state.names
    assert len(names) == len(state.initial(None)[1]) == len(set(names))
    ball = next(entry.name for entry in robot.layout if entry.spherical)
    assert [n for n in names if n.startswith(f"qm.{ball}.")] == [f"qm.{ball}.q{c}" for c in "xyzw"]
    assert [n for n in names if n.startswith(f"um.{ball}.")] == [f"um.{ball}.{c}" for c in "xyz"]


def joints_of(robot):
    balls = [entry for entry in robot.layout if entry.spherical]
    return balls[0], balls[1], next(entry for entry in robot.layout if not entry.spherical)


def test_joints_start_by_name(close):
    robot = robot_with_balls(3)
    one, other, plain = joints_of(robot)
    angles, q = [0.1, -0.2, 0.3], np.array([1.0, 2.0, 3.0, 4.0]) / np.sqrt(30)
    given = {
        "qm": {one.name: {"angles321": angles}, other.name: q.tolist(), plain.name: 0.3},
        "um": {one.name: [1, 2, 3]},
    }
    state = PlantState(robot)
    s = state.split(state.initial(given)[1], (None, None))
    R = spatial.angles321_dcm(angles).T
    close(Rotation.from_quat(s.qm[one.q]).as_matrix(), R)
    close(s.qm[other.q], q)
    close(s.qm[plain.q], [0.3])
    close(s.um[one.u], [1, 2, 3])
    assert np.count_nonzero(s.um) == 3


def test_joints_that_nobody_names_start_from_home_or_at_neutral(close):
    robot = robot_with_balls(3)
    _, other, plain = joints_of(robot)
    at_home = replace(robot, home=random_state(robot, 2).qm)
    for r, rest in ((robot, robot.neutral), (at_home, at_home.home)):
        state = PlantState(r)
        close(state.split(state.initial(None)[1], (None, None)).qm, rest)
        qm = state.split(state.initial({"qm": {plain.name: 0.3}})[1], (None, None)).qm
        close(qm[other.q], rest[other.q])
        close(qm[plain.q], [0.3])


def test_a_joint_of_several_axes_takes_a_list_over_them(close):
    robot = robot_with_balls(3)
    one, _, plain = joints_of(robot)
    rows = {one.joint_id, one.joint_id - 1, one.joint_id - 2, plain.joint_id}
    grouped = tuple(replace(j, group="c") if j.id in rows else j for j in robot.joints)
    state = PlantState(replace(robot, joints=grouped))
    first = one.q.start < plain.q.start
    q, w = [0.0, 0.6, 0.0, 0.8], [1.0, 2.0, 3.0]
    both, rates = ([*q, 0.3], [*w, 4.0]) if first else ([0.3, *q], [4.0, *w])
    s = state.split(state.initial({"qm": {"c": both}, "um": {"c": rates}})[1], (None, None))
    close(s.qm[one.q], q)
    close(s.qm[plain.q], [0.3])
    close(s.um[one.u], w)
    close(s.um[plain.u], [4.0])


def wrong(key, value, robot):
    one, _, plain = joints_of(robot)
    return {"qm": {}, "um": {}, key: {{"ball": one, "plain": plain}[k].name: v
                                      for k, v in value.items()}}  # fmt: skip


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("qm", {"ball": [1, 1, 0, 0]}, r"the quaternion of b\d has length 1\.41421, it must be 1"),
        ("qm", {"ball": [0, 0, 0]}, r"qm: b\d takes a list of 4 numbers, not \[0, 0, 0\]"),
        ("qm", {"ball": {"rpy": [0, 0, 0]}}, r"qm: b\d takes a quaternion, or \{angles321: \["),
        ("qm", {"ball": {"angles321": [0, 0]}}, r"b\d: angles321 has shape \(2,\), it must be"),
        ("qm", {"plain": [1, 2]}, r"qm: j\d takes one number, not \[1, 2\]"),
        ("qm", {"plain": "up"}, r"qm: j\d must hold numbers, not 'up'"),
        ("um", {"ball": [0, 0, 0, 1]}, r"um: b\d takes a list of 3 numbers"),
    ],
)
def test_a_wrong_start_says_what_is_wrong(key, value, message):
    robot = robot_with_balls(3)
    with pytest.raises(InputError, match=message):
        PlantState(robot).initial(wrong(key, value, robot))


def test_a_vector_is_as_wide_as_positions_or_rates():
    robot = robot_with_balls(3)
    state = PlantState(robot)
    with pytest.raises(InputError, match=rf"um has shape .*, it must be \({robot.nu},\)"):
        state.initial({"um": np.zeros(robot.nq)})
    with pytest.raises(InputError, match=r"the quaternion of b\d has length 0,"):
        state.initial({"qm": np.zeros(robot.nq)})

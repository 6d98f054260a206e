"""Mimic joints of a URDF file are coupled to the joints that they name."""

from __future__ import annotations

import numpy as np
import pytest
from urdf_text import joint, link, robot, write

from spart_blocks import Robot
from spart_blocks.base.errors import RobotError
from spart_blocks.dynamics import assemble, loop_errors, loop_jacobian, mobility, row_names

FIVE = [link(name) for name in "abcde"]


def mimics(name, multiplier="", offset=""):
    given = {"multiplier": multiplier, "offset": offset}
    more = "".join(f' {key}="{value}"' for key, value in given.items() if value)
    return f'<mimic joint="{name}"{more}/>'


def of(folder, *joints, **options):
    return Robot.from_urdf(write(folder, robot(*FIVE, *joints)), **options)


@pytest.fixture
def hand(tmp_path):
    """j1 = 2 j0 + 0.1 turns, j2 = -0.3 j0 slides, j3 = j1 turns."""
    return of(
        tmp_path,
        joint("j0", "a", "b"),
        joint("j3", "d", "e", extra=mimics("j1")),
        joint("j1", "a", "c", extra=mimics("j0", "2", "0.1")),
        joint("j2", "a", "d", "prismatic", mimics("j0", "-0.3")),
    )


def test_a_mimic_joint_is_a_row_of_the_loops(hand):
    assert set(row_names(hand)) == {"mimic j1.rq", "mimic j2.q", "mimic j3.rq"}
    place = {entry.name: entry.u.start for entry in hand.layout}
    q = np.random.default_rng(1).normal(size=4)
    value = {name: q[k] for name, k in place.items()}
    laws = {"mimic j1.rq": value["j1"] - 2 * value["j0"] - 0.1}
    laws |= {
        "mimic j2.q": value["j2"] + 0.3 * value["j0"],
        "mimic j3.rq": value["j3"] - value["j1"],
    }
    np.testing.assert_allclose(loop_errors(q, hand), [laws[row] for row in row_names(hand)])
    J = np.zeros((3, 4))
    for row, name in enumerate(row_names(hand)):
        own = name.removeprefix("mimic ").split(".")[0]
        other, ratio = {"j1": ("j0", 2), "j2": ("j0", -0.3), "j3": ("j1", 1)}[own]
        J[row, place[own]], J[row, place[other]] = 1, -ratio
    np.testing.assert_allclose(loop_jacobian(q, hand), J)


def test_the_home_of_the_robot_keeps_them(hand):
    named = dict(zip(hand.active_joints, hand.home, strict=True))
    assert named == {"j0": 0, "j1": 0.1, "j2": 0, "j3": 0.1}
    assert mobility(hand).freedoms == 1
    there = assemble(hand, {"j0": 0.5}, hold=["j0"]).qm
    named = dict(zip(hand.active_joints, there, strict=True))
    assert named == pytest.approx({"j0": 0.5, "j1": 1.1, "j2": -0.15, "j3": 1.1}, abs=1e-12)


def test_defaults_are_a_multiplier_of_one_and_no_offset(tmp_path):
    made = of(
        tmp_path,
        *(joint(f"j{k}", "a", "bcd"[k], extra="" if k == 0 else mimics("j0")) for k in range(3)),
        joint("f", "a", "e", "fixed", mimics("j0")),  # moves nothing
    )
    laws = [(loop.coupling.ratio, loop.coupling.offset) for loop in made.loops]
    assert laws == [(1, 0), (1, 0)]
    assert str(made.loops[0].coupling) == "j1 = 1 j0"


def test_they_can_be_left_to_move_on_their_own(tmp_path):
    joints = [joint("j0", "a", "b"), joint("j1", "a", "c", extra=mimics("j0"))]
    joints += [joint("f", "a", "d", "fixed"), joint("g", "a", "e", "fixed")]
    assert not of(tmp_path, *joints, mimic=False).loops
    assert of(tmp_path, *joints).n_q == 2


@pytest.mark.parametrize(
    ("extra", "why"),
    [
        ('<mimic multiplier="2"/>', "joint 'j1': <mimic> names no joint"),
        (mimics("j9"), r"joint 'j1': mimic joint 'j9' does not exist\n.*(did you mean|it has)"),
        (mimics("f"), "joint 'j1': mimic joint 'f' is fixed; it has no position"),
        (mimics("j1"), r"joint 'j1' mimics itself\n.*let one of the joints move by itself"),
        (mimics("j2"), "joint 'j1' mimics itself, by way of 'j2'"),
        (mimics("j0", "two"), r"<mimic multiplier> is not a number: 'two'"),
        (mimics("j0", "1", "nan"), r"<mimic offset> is nan; it must be finite"),
        (mimics("j0") * 2, r"joint 'j1' has 2 <mimic> elements; it takes one"),
    ],
)
def test_what_cannot_be_followed_is_told_with_its_line(tmp_path, extra, why):
    joints = [joint("j0", "a", "b"), joint("j1", "a", "c", extra=extra)]
    joints += [joint("j2", "a", "d", extra=mimics("j1")), joint("f", "a", "e", "fixed")]
    with pytest.raises(RobotError, match=rf"robot.urdf:8.*{why}"):
        of(tmp_path, *joints)


def test_a_long_row_of_joints_that_follow_each_other_is_read_in_linear_time(tmp_path):
    n = 2000
    links = [link(f"l{k}") for k in range(n + 1)]
    joints = [
        joint(f"j{k}", "l0", f"l{k + 1}", extra=mimics(f"j{k + 1}", "-1") if k < n - 1 else "")
        for k in range(n)
    ]
    made = Robot.from_urdf(write(tmp_path, robot(*links, *joints)))
    assert len(made.loops) == n - 1
    assert not made.home.any()

"""Robots of link objects, and of YAML files of them, are the toolbox's robots."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

import spart_blocks as sb
from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.dynamics import frame_of_link, kinematics, multibody_inertia
from spart_blocks.robot import JointType, Robot

ROOT = Path(__file__).parents[2]
GOLDEN = json.loads((ROOT / "tests/golden/rt_link.json").read_text())
PUMA = ROOT / "models/puma560.yaml"
EYE = np.eye(4)


def golden_robot(name):
    robot = GOLDEN["robots"][name]
    return Robot.from_links(
        sb.Link(
            [entry["alpha"], entry["a"], entry["theta"], entry["d"]],
            "modified" if robot["mdh"] else "standard",
            **{key: entry[key] for key in ("offset", "m", "r", "I", "Jm", "G", "B", "Tc")},
        )
        for entry in robot["links"]
    )


def end_frame(robot, q, link=None):
    """The frame (4,4) of a link of a robot at q, by default of its last."""
    k = kinematics(EYE[:3, :3], np.zeros(3), q, robot)
    number = len(robot.links) if link is None else robot.robot_keys.link_id[link]
    return frame_of_link(number, EYE[:3, :3], np.zeros(3), k.RL, k.rL, robot)


# --- the same robot as the toolbox's ----------------------------------------------------------


@pytest.mark.parametrize("name", GOLDEN["robots"])
def test_the_puma_reaches_where_the_toolboxs_does(name):
    robot = golden_robot(name)
    for state in GOLDEN["robots"][name]["states"]:
        assert_allclose(end_frame(robot, state["q"]), state["fkine"], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", GOLDEN["robots"])
def test_the_puma_without_motors_has_the_toolboxs_inertia(name):
    bare = golden_robot(name).with_effects(())
    for state in GOLDEN["robots"][name]["states"]:
        H = multibody_inertia(np.eye(3), np.array(state["q"]), bare).Hm
        assert_allclose(H, state["inertia_without_motor"], rtol=0, atol=1e-11)


def test_the_shipped_puma_is_the_golden_one():
    shipped, golden = Robot.from_links(PUMA), golden_robot("puma560_standard")
    for mine, theirs in zip(shipped.joints, golden.joints, strict=True):
        assert mine.drive == theirs.drive
        assert_allclose(mine.T, theirs.T, rtol=0, atol=1e-15)
    for mine, theirs in zip(shipped.links, golden.links, strict=True):
        assert (mine.mass, mine.name) == (theirs.mass, theirs.name)
        assert_allclose(mine.T, theirs.T, rtol=0, atol=1e-15)
        assert_array_equal(mine.inertia, theirs.inertia)
    assert shipped.name == "puma560"
    assert shipped.joints[1].limits.upper == pytest.approx(np.radians(110))


@st.composite
def chains(draw):
    """Links of one convention with joints of both types, offsets, flips and inertias."""
    mdh = draw(st.integers(0, 1))
    figures = st.floats(-2, 2)
    return [
        sb.Link(
            draw(st.tuples(figures, figures, figures, figures, st.integers(0, 1))),
            mdh=mdh,
            offset=draw(figures),
            flip=draw(st.booleans()),
            m=draw(st.floats(0.5, 2)),
            r=draw(st.tuples(figures, figures, figures)),
            I=np.diag(draw(st.tuples(*[st.floats(1, 1.5)] * 3))),
        )
        for _ in range(draw(st.integers(1, 4)))
    ]


@given(chains(), st.lists(st.floats(-3, 3), min_size=4, max_size=4), st.booleans())
@settings(deadline=None, max_examples=50)
def test_links_lie_where_the_product_of_their_transforms_puts_them(chain, q, with_tool):
    tool = sb.Link([0.3, 0.1, 0.2, 0.4]).link(0.7) if with_tool else None
    robot = Robot.from_links(chain, tool=tool)
    q = np.array(q[: len(chain)])
    k = kinematics(np.eye(3), np.zeros(3), q, robot)
    A = EYE
    for i, link in enumerate(chain):
        A = A @ link.link(q[i])
        assert_allclose(k.RL[i], A[:3, :3], atol=1e-12)
        assert_allclose(k.rL[i], A[:3, :3] @ link.r + A[:3, 3], atol=1e-12)
    assert_allclose(end_frame(robot, q), A if tool is None else A @ tool, atol=1e-12)


def test_every_frame_of_modified_links_goes_by_its_links_name():
    chain = [sb.Link([0.1 * i, 0.2, 0, 0.3], "mod", m=1, I=np.eye(3)) for i in range(3)]
    robot, q = Robot.from_links(chain), np.array([0.1, 0.2, 0.3])
    A = EYE
    for i, link in enumerate(chain):
        A = A @ link(q[i])
        assert_allclose(end_frame(robot, q, f"link{i + 1}"), A, atol=1e-15)


# --- what it is made of -----------------------------------------------------------------------


def a_link(**fields):
    return sb.Link(**{"A": 0.3, "m": 1, "I": np.eye(3), **fields})


def test_joints_bring_limits_motors_and_effects():
    motor = {"G": -50, "Jm": 1e-4, "B": 1e-3, "Tc": [0.4, -0.3], "qlim": [-1, 2]}
    robot = Robot.from_links([a_link(**motor, flip=True), a_link(sigma=1, name="lift")])
    first, second = robot.joints[:2]
    assert (first.name, first.type, second.name) == ("j1", JointType.REVOLUTE, "lift")
    assert second.type is JointType.PRISMATIC
    drive = first.drive
    assert (drive.gear, drive.motor_inertia, drive.viscous) == (-50, 1e-4, 1e-3)
    assert drive.coulomb == (0.4, -0.3)
    assert (first.limits.lower, first.limits.upper) == (-1, 2)
    assert (second.drive, second.limits) == (None, None)
    assert_array_equal(first.axis, [0, 0, -1])
    assert robot.effects == ("motors", "friction")
    assert Robot.from_links([a_link()], effects=()).effects == ()
    assert (robot.base, robot.base_link.mass) == ("fixed", 0)


def test_an_end_of_its_own_is_a_massless_link():
    robot = Robot.from_links([a_link()])
    assert [link.name for link in robot.links] == ["link1", "ee"]
    assert (robot.links[-1].mass, robot.joints[-1].type) == (0, JointType.FIXED)
    assert (robot.n_q, robot.active_joints) == (1, ("j1",))
    straight = Robot.from_links([a_link(A=0)])
    assert [link.name for link in straight.links] == ["link1"]


def test_a_floating_base_has_its_own_mass_and_place():
    T = sb.Link([0.1, 0.2, 0.3, 0.4]).link(0.5)
    inertia = np.diag([1, 1.5, 2])
    robot = Robot.from_links(
        [a_link()], base="floating", base_mass=100, base_inertia=inertia, base_transform=T
    )
    assert (robot.base, robot.base_link.mass, robot.mass) == ("floating", 100, 101)
    assert_array_equal(robot.base_link.inertia, inertia)
    assert_allclose(end_frame(robot, [0.2]), T @ a_link().link(0.2), atol=1e-15)


def test_a_motors_inertia_keeps_a_massless_link_from_being_doubted():
    driven = [a_link(), sb.Link(Jm=1e-3)]
    assert Robot.from_links(driven).effects
    for chain, effects in ((driven, ()), ([a_link(), sb.Link()], ("motors",))):
        with pytest.warns(SpartWarning, match=r"H is singular: joint 'j2'"):
            Robot.from_links(chain, effects=effects)


def test_bare_geometry_is_no_reason_to_warn():
    assert Robot.from_links([sb.Link([0, 1, 0, 0])] * 1).mass == 0


@pytest.mark.parametrize(
    ("links", "text"),
    [
        ([], "there are no links"),
        ([[0, 0, 0, 0]], "takes Link objects, not [0, 0, 0, 0]"),
        ([sb.Link(), sb.Link(mdh=1)], "have one convention; they are 1 standard, 2 modified"),
        ([sb.Link(name="a"), sb.Link(name="a")], "joint name 'a' is used twice"),
        ([sb.Link(name="j2"), sb.Link()], "joint name 'j2' is used twice"),
        ([sb.Link(I=np.diag([1, -1, 1]))], "links[0]: inertia is indefinite"),
        ([sb.Link(G=0, Jm=1)], "links[0]: G is 0, but the motor has inertia"),
    ],
)
def test_what_is_no_robot_is_refused(links, text):
    with pytest.raises(RobotError) as error:
        Robot.from_links(links)
    assert text in str(error.value)


def test_wrong_arguments_are_refused():
    for arguments, text in (
        ({"base": "free"}, "must be 'fixed' or 'floating'"),
        ({"tool": np.ones((4, 4))}, "tool: is no homogeneous transform"),
        ({"base_transform": np.eye(3)}, "base_transform: has shape"),
        ({"base_mass": -1}, "base: mass is -1 kg"),
        ({"effects": ["motor"]}, "no effect 'motor'"),
    ):
        with pytest.raises(RobotError) as error:
            Robot.from_links([a_link()], **arguments)
        assert text in str(error.value), arguments


# --- files ------------------------------------------------------------------------------------


def file_of(folder, text):
    path = folder / "arm.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_has_rows_and_fields(tmp_path):
    path = file_of(
        tmp_path,
        """
        convention: mod
        base_mass: 3
        tool: [[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]]
        links:
          - [0, 0, 0, 0.1, 0, 2, 0, 0, 0.1, 1, 1, 1, 0, 0, 0]
          - {dh: [0.5, 0.2, 0, 0], m: 1, I: [1, 1, 1, 0, 0, 0], qlim: [-1, 1], name: wrist}
          - {dyn: [0, 0.3, 0, 0, 1, 1], offset: 0.2, flip: true}
        """,
    )
    robot = Robot.from_links(path)
    second = sb.Link([0.5, 0.2, 0, 0], "mod", m=1, I=np.eye(3), qlim=[-1, 1], name="wrist")
    third = sb.Link([0, 0.3, 0, 0, 1, 1], "mod", offset=0.2, flip=True)
    first = sb.Link([0, 0, 0, 0.1, 0, 2, 0, 0, 0.1, 1, 1, 1, 0, 0, 0], "mod")
    tool = np.array([[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0.1], [0, 0, 0, 1]])
    same = Robot.from_links([first, second, third], name="arm", base_mass=3, tool=tool)
    assert (robot.joints, robot.links) == (same.joints, same.links)
    assert (robot.name, robot.base_link, robot.source) == ("arm", same.base_link, str(path))


def test_every_mistake_of_a_file_has_its_line_and_column(tmp_path):
    path = file_of(
        tmp_path,
        "nam: x\n"
        "links:\n"
        "  - [0, 0, 0]\n"
        "  - {dh: [0, 0, 0, 0, 0, 0, 0], dyn: [1]}\n"
        "  - {alpha: a, aplha: 1, Tc: [1, 1], qlim: [2, 1], convention: m}\n"
        "  - 3\n",
    )
    with pytest.raises(RobotError) as error:
        Robot.from_links(path)
    found = {(f.place.line, f.place.column): f.message for f in error.value.faults}
    second = {(4, 10), (4, 38)}
    third = {(5, 13), (5, 16), (5, 30), (5, 44), (5, 64)}
    assert found.keys() == {(1, 1), (3, 5), (6, 5)} | second | third
    assert found[3, 5].startswith("links[0]: a row of a link has 3 numbers")
    assert found[5, 44] == "links[2].qlim: qlim is [2, 1]; the lower limit is above the upper one"
    assert "links[1].dh: a row of dh has 4 to 5 numbers, not 7" in found[4, 10]
    assert "no convention 'm'" in found[5, 64]
    assert "did you mean 'alpha'" in str(error.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty\n  a file of links has links:"),
        ("links: []", "there are no links"),
        ("name: x", "links: is missing"),
        ("links: 3", "links: must be a list"),
        ("links: [[0, 0, 0, 0]]\nconvention: std", "2:13: convention: no convention 'std'"),
        ("links: [{G: 0, Jm: 1}]", "1:13: links[0]: G is 0"),
        (f"links: [{'1, ' * 1001}]", "has 1001 entries; the most is 1000"),
        ("links: [", "not YAML"),
    ],
)
def test_a_file_that_is_no_robot_says_why(tmp_path, text, message):
    with pytest.raises(RobotError) as error:
        Robot.from_links(file_of(tmp_path, text))
    assert message in str(error.value)

"""A wrong URDF is refused with the line, the cause and, where there is one, the remedy."""

from __future__ import annotations

import numpy as np
import pytest
from urdf_text import INERTIAL, body, joint, link, robot, write

from spart_blocks.base.errors import RobotError
from spart_blocks.robot import Robot

A, B, C = link("a"), link("b"), link("c")
AB = joint("ab", "a", "b")


def with_origin(text: str) -> str:
    return robot(A, B, joint("ab", "a", "b", extra=f"<origin {text}/>"))


def with_inertial(text: str) -> str:
    return robot(link("a", f"<inertial>{text}</inertial>"))


def with_axis(text: str, kind: str = "revolute") -> str:
    return robot(A, B, joint("ab", "a", "b", kind, f"<axis {text}/>"))


MOMENTS = '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/>'

# what: (text, line or None, fragments of the message)
CASES = {
    "empty file": ("", None, ["the file is empty"]),
    "white space": (" \n \n", None, ["the file is empty"]),
    "not XML": ("robot: {links: []}", 1, ["not well-formed XML"]),
    "unclosed": ('<robot name="r">\n<link name="a">\n</robot>', 3, ["not well-formed XML", "link"]),
    "other root": ("\n<html></html>", 2, ["<html>", "<robot>"]),
    "SDF": ("<sdf/>", 1, ["<sdf>", "export the robot as URDF"]),
    "no links": ("<robot/>", 1, ["the robot has no links"]),
    "two roots": (robot(A, B), 3, ["2 links have no parent", "'a', 'b'", "one root"]),
    "a loop": (
        robot(A, B, C, joint("bc", "b", "c"), joint("cb", "c", "b")),
        6,
        ["loop: 'b' -> 'c' -> 'b'"],
    ),
    "only a loop": (
        robot(A, B, AB, joint("ba", "b", "a")),
        5,
        ["loop: 'a' -> 'b' -> 'a'", "no link is left to be the root"],
    ),
    "a joint on itself": (robot(A, joint("aa", "a", "a")), 3, ["loop: 'a' -> 'a'"]),
    "two parents": (
        robot(A, B, C, AB, joint("ac", "a", "c"), joint("bc", "b", "c")),
        7,
        ["link 'c' has two parents", "'ac' (line 6)", "'bc'"],
    ),
    "unknown parent": (
        robot(link("arm_1"), B, joint("j", "arm1", "b")),
        4,
        ["joint 'j': parent link 'arm1' does not exist", "did you mean 'arm_1'?"],
    ),
    "unknown child": (
        robot(A, link("tool"), joint("j", "a", "toool")),
        4,
        ["child link 'toool' does not exist", "did you mean 'tool'?"],
    ),
    "link twice": (robot(A, A), 3, ["link name 'a' is used twice", "first on line 2"]),
    "joint twice": (
        robot(A, B, C, AB, joint("ab", "b", "c")),
        6,
        ["joint name 'ab' is used twice", "first on line 5"],
    ),
    "nameless link": (robot("<link/>"), 2, ["a <link> has no name"]),
    "nameless joint": (robot(A, B, joint("", "a", "b")), 4, ["a <joint> has no name"]),
    "no parent": (
        robot(A, B, '<joint name="j" type="fixed"><child link="b"/></joint>'),
        4,
        ["joint 'j' has no parent link"],
    ),
    "no child": (
        robot(A, '<joint name="j" type="fixed"><parent link="a"/><child/></joint>'),
        3,
        ["joint 'j' has no child link"],
    ),
    "no type": (
        robot(A, B, '<joint name="j"><parent link="a"/><child link="b"/></joint>'),
        4,
        ["joint 'j' has no type", "fixed, revolute, continuous or prismatic"],
    ),
    "unknown type": (
        robot(A, B, joint("ab", "a", "b", "revolut")),
        4,
        ["unknown type 'revolut'", "did you mean 'revolute'?"],
    ),
    "planar": (
        robot(A, B, joint("ab", "a", "b", "planar")),
        4,
        ["joints of type 'planar' are not supported", "two prismatic joints and one revolute"],
    ),
    "floating": (
        robot(A, B, joint("ab", "a", "b", "floating")),
        4,
        ["joints of type 'floating' are not supported", "base: floating"],
    ),
    "spherical": (
        robot(A, B, joint("ab", "a", "b", "spherical")),
        4,
        ["joints of type 'spherical' are not supported", "three revolute"],
    ),
    "ball": (robot(A, B, joint("ab", "a", "b", "ball")), 4, ["type 'ball' are not supported"]),
    "zero axis": (with_axis('xyz="0 0 0"'), 4, ["joint 'ab': the axis is zero"]),
    "no axis": (with_axis(""), 4, ["joint 'ab': <axis> has no xyz"]),
    "short axis": (with_axis('xyz="0 1"'), 4, ["<axis xyz> has 2 numbers", "takes 3"]),
    "NaN": (with_origin('xyz="0 nan 0"'), 4, ["<origin xyz> is nan", "finite"]),
    "inf": (with_origin('rpy="0 -inf 0"'), 4, ["<origin rpy> is -inf", "finite"]),
    "overflow": (with_origin('xyz="0 1e999 0"'), 4, ["<origin xyz> is 1e999"]),
    "a word": (with_origin('xyz="0 one 0"'), 4, ["<origin xyz> is not a number: 'one'"]),
    "underscore": (with_origin('xyz="0 1_0 0"'), 4, ["not a number: '1_0'"]),
    "comma": (with_origin('xyz="0,1,0"'), 4, ["<origin xyz> has 1 numbers, '0,1,0'"]),
    "four numbers": (with_origin('xyz="0 1 0 0"'), 4, ["has 4 numbers", "takes 3"]),
    "two origins": (
        robot(A, B, joint("ab", "a", "b", extra="<origin/><origin/>")),
        4,
        ["joint 'ab' has 2 <origin> elements"],
    ),
    "negative mass": (
        with_inertial('<mass value="-2"/>' + MOMENTS),
        2,
        ["link 'a': mass is -2 kg"],
    ),
    "no mass value": (with_inertial("<mass/>" + MOMENTS), 2, ["link 'a': <mass> has no value"]),
    "no moment": (
        with_inertial('<mass value="1"/>' + MOMENTS.replace('iyz="0"', "")),
        2,
        ["link 'a': <inertia> has no iyz"],
    ),
    "indefinite": (
        robot(body("a", 1, 1, 1, -0.5)),
        2,
        ["link 'a': inertia is indefinite", "-0.5 kg m^2"],
    ),
    "indefinite by products": (
        with_inertial('<mass value="1"/>' + MOMENTS.replace('ixy="0"', 'ixy="1.5"')),
        2,
        ["link 'a': inertia is indefinite"],
    ),
    "two inertials": (robot(link("a", INERTIAL * 2)), 2, ["link 'a' has 2 <inertial>"]),
    "limit": (
        robot(A, B, joint("ab", "a", "b", extra='<limit lower="low"/>')),
        4,
        ["joint 'ab': <limit lower> is not a number: 'low'"],
    ),
    "xacro element": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro">\n<xacro:include/></robot>',
        2,
        ["this is a xacro file", "xacro robot.urdf.xacro > robot.urdf", "pip install xacro"],
    ),
    "xacro expression": (
        robot(A, B, joint("ab", "a", "b", extra='<origin xyz="0 0 ${height}"/>')),
        4,
        ["this is a xacro file"],
    ),
}


@pytest.mark.parametrize("what", CASES)
def test_a_wrong_file_is_refused_with_line_and_cause(what, tmp_path):
    text, line, fragments = CASES[what]
    path = write(tmp_path, text)
    with pytest.raises(RobotError) as caught:
        Robot.from_urdf(path)
    (fault,) = caught.value.faults  # one mistake, one fault
    assert fault.place.file == str(path)
    assert fault.place.line == line
    for fragment in fragments:
        assert fragment in str(fault)


def test_a_mere_xacro_namespace_is_no_xacro_file(tmp_path):
    text = robot(A).replace("<robot", '<robot xmlns:xacro="http://www.ros.org/wiki/xacro"')
    assert Robot.from_urdf(write(tmp_path, text)).n_links_joints == 0


def test_all_faults_of_a_file_come_together_in_order(tmp_path):
    text = robot(
        body("a", -1, 1, 1, 1),
        link("b"),
        joint("ab", "a", "bb"),
        joint("ac", "a", "c", extra='<axis xyz="0 0 0"/>'),
        link("c"),
        joint("cc", "c", "c"),
        joint("odd", "a", "b", "helical", '<origin xyz="1 2"/>'),
    )
    with pytest.raises(RobotError) as caught:
        Robot.from_urdf(write(tmp_path, text))
    lines = [fault.place.line for fault in caught.value.faults]
    assert lines == sorted(lines)
    found = {(fault.place.line, fault.message.split(":")[0]) for fault in caught.value.faults}
    assert {
        (2, "link 'a'"),
        (4, "joint 'ab'"),
        (5, "joint 'ac'"),
        (8, "joint 'odd'"),
    } <= found
    assert sum(fault.place.line == 8 for fault in caught.value.faults) == 2
    assert any("two parents" in fault.message for fault in caught.value.faults)


def test_what_cannot_be_opened_is_refused(tmp_path):
    cases = [(tmp_path / "none.urdf", "no such file"), (tmp_path, "is a directory")]
    cases.append((tmp_path / "a\0b", "cannot be opened"))
    for path, fragment in cases:
        with pytest.raises(RobotError, match=fragment):
            Robot.from_urdf(path)
    with pytest.raises(RobotError, match="not a regular file"):
        Robot.from_urdf("/dev/zero")


def test_text_that_is_not_utf8_is_refused_at_its_line(tmp_path):
    latin = b'<robot name="r">\n<link name="Stra\xdfe"/></robot>'
    with pytest.raises(RobotError, match=r"robot\.urdf:2: not UTF-8: byte 0xdf"):
        Robot.from_urdf(write(tmp_path, latin))
    with pytest.raises(RobotError, match="not UTF-8"):
        Robot.from_urdf(write(tmp_path, robot(A).encode("utf-16")))


def test_a_byte_order_mark_and_accents_are_read(tmp_path):
    loaded = Robot.from_urdf(write(tmp_path, robot(link("Arm_é")).encode("utf-8-sig")))
    assert loaded.base_link.name == "Arm_é"


def test_a_wrong_base_is_refused(tmp_path):
    path = write(tmp_path, robot(A))
    with pytest.raises(RobotError, match=r"'sliding'.*'fixed' or 'floating'"):
        Robot.from_urdf(path, base="sliding")
    with pytest.raises(RobotError, match="'fixed' or 'floating'"):
        Robot.from_urdf(path).with_base("sliding")


def test_unknown_names_by_the_thousand_are_refused_in_time(tmp_path):
    elements = [link(f"link_{i}") for i in range(3000)]
    elements += [joint(f"j{i}", f"link_{i}", f"lonk_{i}") for i in range(3000)]
    with pytest.raises(RobotError) as caught:
        Robot.from_urdf(write(tmp_path, robot(*elements)))
    assert len(caught.value.faults) == 201
    assert str(caught.value).endswith("there may be more: the rest is not read")


def test_defaults_are_those_of_urdf(tmp_path):
    text = robot(A, B, C, AB, joint("bc", "b", "c", "fixed", '<axis xyz="0 0 0"/>'))
    loaded = Robot.from_urdf(write(tmp_path, text))
    np.testing.assert_array_equal(loaded.joints[0].axis, [1, 0, 0])
    np.testing.assert_array_equal(loaded.joints[0].T, np.eye(4))
    np.testing.assert_array_equal(loaded.joints[1].axis, [0, 0, 0])
    assert loaded.joints[0].limits is None


def test_limits_are_kept(tmp_path):
    extra = '<limit lower="-1" upper="2" effort="30" velocity="inf"/>'
    kinds = ("revolute", "continuous", "prismatic", "fixed")
    links = [link(f"l{i}") for i in range(5)]
    joints = [joint(f"j{i}", "l0", f"l{i + 1}", kind, extra) for i, kind in enumerate(kinds)]
    loaded = Robot.from_urdf(write(tmp_path, robot(*links, *joints)))
    limits = [j.limits and (j.limits.lower, j.limits.upper) for j in loaded.joints]
    assert limits == [(-1, 2), (-np.inf, np.inf), (-1, 2), None]
    assert loaded.joints[0].limits.effort == 30
    assert loaded.joints[0].limits.velocity == np.inf


def test_the_base_floats_unless_massless_or_world(tmp_path):
    cases = [(A, "floating"), (link("a", ""), "fixed"), (link("world"), "fixed")]
    for element, base in cases:
        path = write(tmp_path, robot(element))
        assert Robot.from_urdf(path).base == base
        assert Robot.from_urdf(path, base="fixed").base == "fixed"

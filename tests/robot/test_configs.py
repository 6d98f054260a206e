"""Configuration variables: dynamic before kinematic, and what depends on each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from urdf_text import joint, link, robot, write

from spart_blocks.base.errors import RobotError
from spart_blocks.robot import Robot

ROOT = Path(__file__).parents[2]
ALONG_Y = '<axis xyz="0 1 0"/>'


@pytest.fixture
def tree(tmp_path):
    """base - A - (B - C - E, D): C is massless, the joint of D is fixed."""
    return Robot.from_urdf(
        write(
            tmp_path,
            robot(
                *(link("base"), link("A"), link("B"), link("C", ""), link("D"), link("E")),
                *(joint("a", "base", "A"), joint("b", "A", "B"), joint("c", "B", "C")),
                *(joint("e", "C", "E", extra=ALONG_Y), joint("d", "A", "D", kind="fixed")),
            ),
        )
    )


def test_all_variables_of_a_plain_robot_are_dynamic(tree):
    assert [c.name for c in tree.configs] == ["a", "b", "c", "e"]
    assert tree.dyn_configs == tree.configs
    assert tree.kin_configs == ()
    assert [(c.index, c.k_index, c.kinematic) for c in tree.configs] == [
        (i, None, False) for i in range(4)
    ]


def test_each_tells_the_link_it_moves_and_the_masses_that_depend_on_it(tree):
    assert [c.frame for c in tree.configs] == ["A", "B", "C", "E"]
    assert tree.config("a").masses == ("A", "B", "E", "D")
    assert tree.config("b").masses == ("B", "E")
    assert tree.config("c").masses == ("E",)


def test_kinematic_ones_come_last_in_the_order_of_um(tree):
    marked = tree.with_kinematic(["c", "a"])
    assert [c.name for c in marked.configs] == ["b", "e", "a", "c"]
    assert [c.index for c in marked.configs] == [0, 1, 2, 3]
    assert [c.k_index for c in marked.configs] == [None, None, 0, 1]
    assert [c.name for c in marked.dyn_configs] == ["b", "e"]
    assert [c.name for c in marked.kin_configs] == ["a", "c"]
    assert [marked.dyn_configs[c.index] for c in marked.dyn_configs] == [*marked.dyn_configs]
    assert [marked.kin_configs[c.k_index] for c in marked.kin_configs] == [*marked.kin_configs]
    assert marked.config("c").kinematic
    assert marked.active_joints == tree.active_joints
    assert marked.with_kinematic(()) == tree


def test_a_floating_base_adds_none():
    dual_arm = Robot.from_urdf(ROOT / "models/dual_arm.urdf")
    assert dual_arm.base == "floating"
    assert len(dual_arm.configs) == dual_arm.nu == 6
    left = ("left_link1", "left_link2", "left_link3", "left_tool")
    assert dual_arm.config("left_joint1").masses == left


def test_a_name_that_is_none_is_told_with_the_nearest(tmp_path):
    path = write(tmp_path, robot(link("a"), link("b"), joint("shoulder", "a", "b")))
    with pytest.raises(RobotError) as error:
        Robot.from_urdf(path).config("sholder")
    assert "no configuration variable 'sholder' on r\n  did you mean 'shoulder'?" in str(
        error.value
    )


def test_a_name_that_is_used_twice_is_an_error(tree):
    doubled = tuple(replace(j, name="a") if j.name == "b" else j for j in tree.joints)
    with pytest.raises(RobotError, match="joint name 'a' is used twice"):
        _ = replace(tree, joints=doubled).configs


def test_a_fixed_joint_cannot_be_prescribed(tree):
    with pytest.raises(RobotError, match="joint 'd' of r is fixed"):
        tree.with_kinematic(["d"])
    with pytest.raises(RobotError, match="no joint 'x' on r\n  it has a, b, c, e"):
        tree.with_kinematic(["x"])


def test_a_variable_cannot_be_changed(tree):
    with pytest.raises(AttributeError):
        tree.configs[0].kinematic = True

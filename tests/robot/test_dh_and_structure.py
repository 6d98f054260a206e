"""DH data and SPART's structure: wrong fields are refused by name, right ones round-trip."""

from __future__ import annotations

import copy
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot
from spart_blocks.robot._transforms import rotation_x, rotation_y, rotation_z
from spart_blocks.robot.structure import robot_to_structure

ROOT = Path(__file__).parents[2]


def load(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "tests/golden" / f"{name}.json").read_text())


STRUCTURE = load("spart_sc_3dof")["robot"] | {"con": load("spart_sc_3dof")["connectivity"]}
DH = load("spart_dh_5dof")["dh_data"]
REMOVE = object()


def spoilt(data: dict[str, Any], path: str, value: object) -> dict[str, Any]:
    """A copy with one field, such as links.2.mass, set or removed."""
    data = copy.deepcopy(data)
    *way, last = [int(key) if key.isdigit() else key for key in path.split(".")]
    inner: Any = data
    for key in way:
        inner = inner[key]
    if value is REMOVE:
        del inner[last]
    else:
        inner[last] = value
    return data


SHEAR = [[1, 1, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
MIRROR = [[-1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]
STRUCTURE_CASES = [
    ("links", REMOVE, "links: is missing"),
    ("links", {}, "links: must be a list"),
    ("base_link", REMOVE, "base_link: is missing"),
    ("base_link", 3, "base_link: must be a mapping with name, T, mass, inertia, not 3"),
    ("lnks", [], "lnks: unknown field\n  did you mean 'links'?"),
    ("n_q", 4, "n_q: is 4; it must be 3"),
    ("n_links_joints", 6, "n_links_joints: is 6; it must be 5"),
    ("links.1.id", 7, r"links[1].id: is 7; it must be 2"),
    ("links.1.id", 2.5, r"links[1].id: must be a whole number, not 2.5"),
    ("links.1.parent_joint", 1, "links[1].parent_joint: is 1; it must be 2"),
    ("links.2.mass", -1, "links[2]: mass is -1 kg"),
    ("links.2.mass", "10", "links[2].mass: must be a number, not '10'"),
    ("links.2.mass", True, "links[2].mass: must be a number, not True"),
    ("links.2.mass", float("nan"), "links[2].mass: has an entry that is not finite"),
    ("links.2.mass", 1e40, "links[2].mass: has an entry beyond 1e+30"),
    ("links.2.inertia", [1, 1, 1], "links[2].inertia: has shape (3,); it must be (3, 3)"),
    ("links.2.inertia", [[1], [1, 2]], "links[2].inertia: must be numbers of shape (3, 3)"),
    ("links.2.inertia", [[1, 1, 0], [0, 1, 0], [0, 0, 1]], "links[2]: inertia is not symmetric"),
    ("links.2.inertia", np.diag([1, 1, -1]), "links[2]: inertia is indefinite"),
    ("links.2.T", SHEAR, "links[2].T: is no rigid transform"),
    ("links.2.T", MIRROR, "links[2].T: is no rigid transform"),
    ("links.2.T", np.ones((4, 4)), "links[2].T: is no homogeneous transform"),
    ("joints.1.type", 3, "joints[1].type: is 3; it must be 0 (fixed), 1 (revolute)"),
    ("joints.1.q_id", 2, "q_id of the active joints must be 1 to 3, each once"),
    ("joints.0.q_id", 1, "joints[0].q_id: is 1; a fixed joint has -1"),
    ("joints.1.parent_link", 2, "joints[1].parent_link: is 2; the parent of link 2 must have"),
    ("joints.1.parent_link", -1, "joints[1].parent_link: is -1"),
    ("joints.1.child_link", 3, "joints[1].child_link: is 3; it must be 2"),
    ("joints.1.axis", [0, 0, 0], "joints[1].axis: is zero"),
    ("joints.1.axis", [0, 1], "joints[1].axis: has shape (2,); it must be (3,)"),
    ("joints.1", None, "joints[1]: must be a mapping"),
    ("joints.4", REMOVE, "there are 5 links and 4 joints"),
    ("joints.1.name", "joint3", "joint name 'joint3' is used twice"),
    ("joints.1.name", 4, "joints[1].name: must be a text, not 4"),
    ("joints.1.limits", {"low": 1}, "joints[1].limits.low: unknown field"),
    ("con.child.1.0", 0, "con.child: does not agree with the parent links"),
    ("con.branch", [[1]], "con.branch: has shape (1, 1); it must be (5, 5)"),
]


@pytest.mark.parametrize(("path", "value", "message"), STRUCTURE_CASES)
def test_a_wrong_structure_is_refused_by_field(path, value, message):
    with pytest.raises(RobotError) as caught:
        Robot.from_spart(spoilt(STRUCTURE, path, value))
    assert message in str(caught.value)


def test_all_wrong_fields_of_a_structure_come_together():
    wrong = spoilt(spoilt(STRUCTURE, "links.2.mass", -1), "joints.1.axis", [0, 0, 0])
    with pytest.raises(RobotError) as caught:
        Robot.from_spart(spoilt(wrong, "nq", 3))
    assert len(caught.value.faults) == 3


@pytest.mark.parametrize("data", [None, 3, [], "robot"])
def test_what_is_no_mapping_is_refused(data):
    for make in (Robot.from_spart, Robot.from_dh):
        with pytest.raises(RobotError, match="the data: must be a mapping"):
            make(data)


def test_names_con_and_counts_are_optional():
    bare = {key: STRUCTURE[key] for key in ("links", "joints", "base_link")}
    robot = Robot.from_spart(bare)
    assert robot.links == Robot.from_spart(STRUCTURE).links
    assert robot.robot_keys.link_id == {"base": 0} | {f"link{i}": i for i in range(1, 6)}
    assert robot.active_joints == ("joint2", "joint3", "joint4")


def test_a_column_axis_as_matlab_has_it_is_read():
    robot = Robot.from_spart(spoilt(STRUCTURE, "joints.1.axis", [[0], [0], [1]]))
    np.testing.assert_array_equal(robot.joints[1].axis, [0, 0, 1])


def test_an_axis_of_another_length_is_normalised_with_a_warning():
    with pytest.warns(SpartWarning, match="normalised: joints 'joint2'"):
        robot = Robot.from_spart(spoilt(STRUCTURE, "joints.1.axis", [0, 0, 2]))
    np.testing.assert_array_equal(robot.joints[1].axis, [0, 0, 1])


@pytest.mark.parametrize(
    "file", ["models/arm7.urdf", "models/dual_arm.urdf", "tests/robot/models/branched.urdf"]
)
def test_the_structure_of_a_robot_makes_the_same_robot(file):
    robot = Robot.from_urdf(ROOT / file)
    through_json = json.loads(json.dumps(robot_to_structure(robot), allow_nan=False))
    again = Robot.from_spart(through_json, base=robot.base)
    assert again == replace(robot, source=None)


def test_doubtful_structures_warn_and_strict_refuses():
    wrong = spoilt(STRUCTURE, "links.2.inertia", np.zeros((3, 3)))
    with pytest.warns(SpartWarning, match="mass without inertia: link 'link3'"):
        Robot.from_spart(wrong)
    with pytest.raises(RobotError, match="link 'link3': mass without inertia"):
        Robot.from_spart(wrong, strict=True)


DH_CASES = [
    ("n", 4, "n: is 4, but man has 5 entries"),
    ("n", REMOVE, "n: is missing"),
    ("man", REMOVE, "man: is missing"),
    ("man.1.type", 0, "man[1].type: is 0; it must be 1 (revolute) or 2 (prismatic)"),
    ("man.1.DH", REMOVE, "man[1].DH: is missing"),
    ("man.1.DH.alpha", REMOVE, "man[1].DH.alpha: is missing"),
    ("man.1.DH.alfa", 1, "man[1].DH.alfa: unknown field\n  did you mean 'alpha'?"),
    ("man.1.DH.a", "x", "man[1].DH.a: must be a number, not 'x'"),
    ("man.1.b", [0, 1], "man[1].b: has shape (2,); it must be (3,)"),
    ("man.1.mass", -2, "man[1]: mass is -2 kg"),
    ("man.1.I", np.diag([1, 1, -1]), "man[1]: inertia is indefinite"),
    ("base", REMOVE, "base: is missing"),
    ("base.T_L0_J1", SHEAR, "base.T_L0_J1: is no rigid transform"),
    ("EE.d", [1], "EE.d: has shape (1,)"),
]


@pytest.mark.parametrize(("path", "value", "message"), DH_CASES)
def test_wrong_dh_data_are_refused_by_field(path, value, message):
    with pytest.raises(RobotError) as caught:
        Robot.from_dh(spoilt(DH, path, value))
    assert message in str(caught.value)
    assert len(caught.value.faults) == 1


def test_the_end_effector_is_optional():
    plain = Robot.from_dh(spoilt(DH, "EE", {"theta": 0, "d": 0}))
    assert Robot.from_dh(spoilt(DH, "EE", REMOVE)) == plain


def test_a_dh_robot_may_be_fixed():
    assert Robot.from_dh(DH, base="fixed").base == "fixed"
    for make, data in ((Robot.from_dh, DH), (Robot.from_spart, STRUCTURE)):
        with pytest.raises(RobotError, match="'fixed' or 'floating'"):
            make(data, base="loose")


@pytest.mark.parametrize("turns", [-3, -1, 1, 2, 5])
def test_a_quarter_turn_of_eleven_decimals_is_exact_and_one_of_four_is_not(turns):
    written = round(turns * np.pi / 2, 11)
    for rotation in (rotation_x, rotation_y, rotation_z):
        assert set(np.abs(rotation(written)).flat) == {0.0, 1.0}
        np.testing.assert_allclose(rotation(written), rotation(turns * np.pi / 2), atol=0)
        rough = rotation(round(turns * np.pi / 2, 4))
        assert len(set(np.abs(rough).flat)) > 2

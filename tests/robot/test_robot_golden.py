"""The models give the structures that SPART itself made of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from spart_blocks.base.errors import SpartWarning
from spart_blocks.robot import Robot
from spart_blocks.robot._transforms import WRITTEN
from spart_blocks.robot.dh import dh_serial_to_robot
from spart_blocks.robot.urdf import urdf2robot

ROOT = Path(__file__).parents[2]
URDF_CASES = [
    ("spart_sc_3dof", "models/spacecraft_3dof.urdf", "floating"),
    ("spart_kuka_iiwa", "models/arm7.urdf", "fixed"),
    ("spart_branched", "tests/robot/models/branched.urdf", "floating"),
]
DH_CASES = ["spart_dh_5dof", "spart_dh_prismatic", "spart_resolved_motion_4dof"]
STRUCTURES = [case[0] for case in URDF_CASES] + DH_CASES


def golden(name: str) -> dict[str, Any]:
    return json.loads((ROOT / "tests/golden" / f"{name}.json").read_text())


def assert_same(robot: Robot, wanted: dict[str, Any]) -> None:
    assert robot.name == wanted["name"]
    assert robot.n_q == wanted["n_q"]
    assert robot.n_links_joints == wanted["n_links_joints"]
    bodies = [(robot.base_link, wanted["base_link"])]
    bodies += list(zip(robot.links, wanted["links"], strict=True))
    for body, entry in bodies:
        assert body.mass == entry["mass"]
        np.testing.assert_allclose(body.inertia, entry["inertia"], rtol=0, atol=1e-12)
    framed = zip(robot.links + robot.joints, wanted["links"] + wanted["joints"], strict=True)
    for made, entry in framed:
        # An angle written with eleven decimals, as 1.57079632679, is read as a quarter turn.
        np.testing.assert_allclose(made.T, entry["T"], rtol=0, atol=1e-12 + WRITTEN)
    for joint, entry in zip(robot.joints, wanted["joints"], strict=True):
        np.testing.assert_allclose(joint.axis, entry["axis"], rtol=0, atol=1e-12)
        for key in ("id", "type", "q_id", "parent_link", "child_link"):
            assert getattr(joint, key) == entry[key]


@pytest.mark.parametrize(("name", "file", "base"), URDF_CASES)
def test_a_urdf_model_gives_spart_s_structure_ids_and_names(name, file, base):
    wanted = golden(name)
    robot, keys = urdf2robot(ROOT / file)
    assert_same(robot, wanted["robot"])
    assert keys.link_id == wanted["keys"]["link"]
    assert keys.joint_id == wanted["keys"]["joint"]
    assert keys.q_id == wanted["keys"]["q"]
    assert robot.base == base


@pytest.mark.filterwarnings("ignore:.*triangle inequality")
@pytest.mark.parametrize("name", DH_CASES)
def test_dh_data_give_spart_s_structure_and_end_effector(name):
    wanted = golden(name)
    robot, T_Ln_EE = dh_serial_to_robot(wanted["dh_data"])
    assert_same(robot, wanted["robot"])
    np.testing.assert_allclose(T_Ln_EE, wanted["T_Ln_EE"], rtol=0, atol=1e-12)


@pytest.mark.filterwarnings("ignore::spart_blocks.base.errors.SpartWarning")
@pytest.mark.parametrize("name", STRUCTURES)
def test_connectivity_maps_are_spart_s(name):
    wanted = golden(name)
    con = Robot.from_spart(wanted["robot"]).con
    for key in ("branch", "child", "child_base"):
        given = np.array(wanted["connectivity"][key]).reshape(getattr(con, key).shape)
        np.testing.assert_array_equal(getattr(con, key), given)


def test_the_yaml_model_is_spart_s_dh_tutorial():
    data = yaml.safe_load((ROOT / "models/spacecraft_dh_5dof.yaml").read_text())
    assert Robot.from_dh(data) == Robot.from_dh(golden("spart_dh_5dof")["dh_data"])


def test_the_simple_spacecraft_warns_that_it_is_made_of_point_masses():
    with pytest.warns(SpartWarning, match="mass without inertia: links 'Spacecraft', 'Left_Panel'"):
        robot = Robot.from_urdf(ROOT / "models/simple_spacecraft.urdf")
    assert (robot.n_links_joints, robot.n_q, robot.mass) == (3, 0, 160)
    np.testing.assert_array_equal(robot.links[0].T[:3, 3], [0, -1.5, 0])
    np.testing.assert_array_equal(robot.joints[2].T[:3, 3], [0, 0, 1])


def test_every_shipped_urdf_but_the_point_masses_is_without_doubt():
    files = sorted((ROOT / "models").glob("*.urdf"))
    assert len(files) >= 4
    for file in files:
        if file.name != "simple_spacecraft.urdf":
            Robot.from_urdf(file, strict=True)


def test_the_dual_arm_has_the_joints_of_its_reference():
    reference = golden("floating_momentum")
    robot = Robot.from_urdf(ROOT / "models/dual_arm.urdf")
    assert list(robot.active_joints) == reference["torque"]["joints"]
    assert robot.mass == pytest.approx(reference["total_mass"], abs=1e-12)

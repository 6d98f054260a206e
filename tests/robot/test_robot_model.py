"""The robot is a value: frozen, picklable, comparable; its layout names every variable."""

from __future__ import annotations

import logging
import pickle
from dataclasses import FrozenInstanceError, replace
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.robot import JointType, Robot
from spart_blocks.robot.urdf import urdf2robot

FILE = Path(__file__).parent / "models" / "branched.urdf"


@pytest.fixture(scope="module")
def branched() -> Robot:
    return Robot.from_urdf(FILE)


def test_a_robot_survives_a_pickle_and_stays_read_only(branched):
    copy = pickle.loads(pickle.dumps(branched))
    assert copy == branched
    assert copy.con == branched.con
    with pytest.raises(ValueError, match="read-only"):
        copy.links[0].T[0, 0] = 2


def test_a_robot_cannot_be_changed(branched):
    with pytest.raises(FrozenInstanceError):
        branched.name = "other"
    with pytest.raises(FrozenInstanceError):
        branched.links[0].mass = 1.0
    for array in (branched.links[0].inertia, branched.joints[0].axis, branched.con.branch):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 0


def test_equality_is_by_value(branched):
    assert branched == Robot.from_urdf(FILE)
    heavier = replace(branched.links[0], mass=branched.links[0].mass + 1)
    assert branched != replace(branched, links=(heavier, *branched.links[1:]))
    assert branched != branched.with_base("fixed")


def test_equal_robots_compare_their_arrays_once(branched, monkeypatch):
    again = Robot.from_urdf(FILE)
    assert branched == again
    monkeypatch.setattr(np, "array_equal", None)
    assert branched == again
    assert again == branched


def test_the_layout_gives_each_active_joint_its_slices(branched):
    assert [entry.name for entry in branched.layout] == list(branched.active_joints)
    assert [entry.q for entry in branched.layout] == [slice(i, i + 1) for i in range(7)]
    assert [entry.u for entry in branched.layout] == [slice(i, i + 1) for i in range(7)]
    for entry in branched.layout:
        joint = branched.joints[entry.joint_id - 1]
        assert joint.type is not JointType.FIXED
        assert branched.u_index[joint.id - 1] == entry.q.start
    assert (branched.nq, branched.nu) == (7, 7)


def test_difference_undoes_integrate(branched):
    rng = np.random.default_rng(1)
    qa, v = rng.normal(size=(2, 7))
    np.testing.assert_allclose(branched.difference(qa, branched.integrate(qa, v)), v, atol=1e-15)


def test_children_come_depth_first_in_file_order(branched):
    names = [joint.name for joint in branched.joints]
    assert names[:4] == ["boom_r", "tip", "boom_cam", "left_1"]
    assert branched.parents == (0, 1, 1, 0, 4, 5, 4, 0, 8)


def test_urdf2robot_returns_the_keys_and_logs_when_asked(caplog, capsys):
    with caplog.at_level(logging.INFO, logger="spart_blocks.robot.urdf"):
        robot, keys = urdf2robot(FILE)
        assert not caplog.records
        urdf2robot(str(FILE), True)
    assert len(caplog.records) == 1 + robot.n_links_joints
    assert keys.joint_id["boom_cam"] == 3
    assert capsys.readouterr().out == ""


def test_the_base_link_frame_leads_from_the_urdf_link_to_its_centre_of_mass(branched):
    np.testing.assert_array_equal(branched.base_link.T[:3, 3], [-0.186311, 0.12483, -0.117486])


def test_a_robot_with_other_masses_is_analysed_by_these(branched):
    mass, inertia = branched.matter
    heavier = branched.with_matter(2 * mass, 2 * inertia)
    assert heavier.nominal is heavier

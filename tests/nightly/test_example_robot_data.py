"""Real robots: every URDF of the PyPI package example-robot-data loads, or should not.

Run with the package installed: pytest tests/nightly/test_example_robot_data.py
"""

from __future__ import annotations

import warnings
from importlib import metadata
from pathlib import Path

import numpy as np
import pytest

from spart_blocks.base.errors import RobotError, SpartWarning
from spart_blocks.robot import Robot
from spart_blocks.robot.checks import singular_joints

pin = pytest.importorskip("pinocchio")

ANTENNAS = tuple(
    f"link 'base_antenna_{side}_link': inertia is indefinite" for side in ("left", "right")
)
REFUSED = {
    "romeo_description/urdf/romeo_laas_small.urdf": (
        "link 'body': inertia is indefinite",
        "link 'LHipPitch_link': inertia is indefinite",
        "link 'RHipPitch_link': inertia is indefinite",
    ),
    "tiago_description/robots/tiago.urdf": ANTENNAS,
    "tiago_description/robots/tiago_dual.urdf": ANTENNAS,
    "tiago_description/robots/tiago_no_hand.urdf": ANTENNAS,
    "ur_description/urdf/ur3.urdf": ("the robot has no links",),
}
# H is singular in these, in every configuration, for the joints of the massless fingers.
SINGULAR = {"romeo_description/urdf/romeo.urdf"}


def _files() -> dict[str, Path]:
    try:
        listed = metadata.files("example-robot-data") or []
    except metadata.PackageNotFoundError:
        return {}
    found = [Path(str(file.locate())) for file in listed if file.suffix == ".urdf"]
    return {str(path).split("/robots/", 1)[1]: path for path in sorted(found)}


FILES = _files()
pytestmark = pytest.mark.skipif(not FILES, reason="example-robot-data is not installed")
LOADED = [name for name in FILES if name not in REFUSED]


def load(name: str, base: str = "floating") -> Robot:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SpartWarning)
        return Robot.from_urdf(FILES[name], base=base)


def test_the_list_of_refusals_names_files_that_exist():
    assert set(REFUSED) | SINGULAR <= set(FILES)
    assert len(FILES) >= 60


@pytest.mark.parametrize("name", REFUSED)
def test_a_robot_that_cannot_be_is_refused_for_the_right_reason(name):
    with pytest.raises(RobotError) as caught:
        Robot.from_urdf(FILES[name])
    messages = [fault.message for fault in caught.value.faults]
    assert len(messages) == len(REFUSED[name])
    for message, reason in zip(messages, REFUSED[name], strict=True):
        assert message.startswith(reason)


@pytest.mark.parametrize("name", LOADED)
def test_links_sit_where_pinocchio_puts_them(name):
    robot, model = load(name), pin.buildModelFromUrdf(str(FILES[name]))
    data = model.createData()
    pin.framesForwardKinematics(model, data, pin.neutral(model))
    assert robot.n_q == model.nv
    T_base = [robot.base_link.T]  # URDF root link to each centre of mass, at qm = 0
    for link, joint in zip(robot.links, robot.joints, strict=True):
        T_base.append(T_base[joint.parent_link] @ joint.T @ link.T)
        # A URDF link frame is its joint's frame; body and joint frames may share a name.
        frame = data.oMf[model.getBodyId(link.name)].homogeneous
        T_joint = T_base[joint.parent_link] @ joint.T
        np.testing.assert_allclose(T_joint, frame, rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LOADED)
def test_mass_and_centre_of_mass_are_pinocchio_s(name):
    robot, model = load(name), pin.buildModelFromUrdf(str(FILES[name]), pin.JointModelFreeFlyer())
    data = model.createData()
    pin.centerOfMass(model, data, pin.neutral(model))
    T, moment = [robot.base_link.T], robot.base_link.mass * robot.base_link.T[:3, 3]
    for link, joint in zip(robot.links, robot.joints, strict=True):
        T.append(T[joint.parent_link] @ joint.T @ link.T)
        moment = moment + link.mass * T[-1][:3, 3]
    assert robot.mass == pytest.approx(data.mass[0], rel=1e-12)
    np.testing.assert_allclose(moment / robot.mass, data.com[0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", LOADED)
def test_h_is_called_singular_exactly_where_it_is(name):
    joints, base_singular = singular_joints(load(name))
    model = pin.buildModelFromUrdf(str(FILES[name]), pin.JointModelFreeFlyer())
    data = model.createData()
    q = pin.randomConfiguration(model, np.full(model.nq, -1.0), np.full(model.nq, 1.0))
    H = pin.crba(model, data, q)
    H = np.triu(H) + np.triu(H, 1).T
    scale = np.sqrt(np.maximum(np.diag(H), 1e-300))
    smallest = np.linalg.eigvalsh(H / np.outer(scale, scale))[0]
    assert bool(joints or base_singular) == (name in SINGULAR)
    assert (smallest < 1e-12) == (name in SINGULAR)

"""LQR: its ports, its equation, and what it refuses."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from spart_blocks.base.errors import InputError
from spart_blocks.block_support.plants.minimal_state import attitude_error
from spart_blocks.diagram import new_diagram
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.robot import Robot

MODELS = Path(__file__).parents[2] / "models"
SHIP = Robot.from_urdf(MODELS / "spacecraft_3dof.urdf")
ARM = Robot.from_urdf(MODELS / "arm7.urdf", base="fixed")


def made(K, **arguments):
    return find_type("LQR").construct(new_diagram("one"), "ctrl", {"K": K, **arguments})


def test_the_control_of_joints_is_that_of_the_docstring():
    K, hold = np.arange(18.0).reshape(3, 6), np.array([1.0, -2.0, 3.0])
    place = np.array([0.1, 0.2, 0.3])
    block = made(K, robot=SHIP, setpoint={"qm": place}, hold=hold)
    qd, ud, uff, qm, um = np.arange(15.0).reshape(5, 3) / 7
    [u] = block.output(0.0, [qd, ud, uff, qm, um], None)
    want = hold + uff + K @ np.r_[qd + place - qm, ud - um]
    assert u == pytest.approx(want, rel=1e-14)


def test_the_control_of_a_free_base_is_that_of_the_docstring():
    rng = np.random.default_rng(3)
    K = rng.normal(size=(9, 18))
    place = {"r0": [1, 2, 3], "quaternion": [0, 0, np.sin(0.2), np.cos(0.2)], "qm": [0.1, 0.2, 0.3]}
    block = made(K, robot=SHIP, controls=["tau0", "taum"], setpoint=place)
    assert [port.name for port in block.in_ports] == [
        "qd",
        "ud",
        "uff",
        "R0",
        "r0",
        "qm",
        "u0",
        "um",
    ]
    assert [port.name for port in block.out_ports] == ["tau0", "taum"]
    qd, ud, r0, qm, um = rng.normal(size=(5, 3))
    uff, u0 = rng.normal(size=9), rng.normal(size=6)
    turn = Rotation.from_rotvec([0.3, -0.2, 0.5])
    R0 = (Rotation.from_quat(place["quaternion"]) * turn).as_matrix()
    tau0, taum = block.output(0.0, [qd, ud, uff, R0, r0, qm, u0, um], None)
    turned = 2 * turn.as_quat(canonical=True)[:3]
    x = np.r_[turned, r0 - [1, 2, 3], qm - qd - [0.1, 0.2, 0.3], u0, um - ud]
    assert np.r_[tau0, taum] == pytest.approx(uff - K @ x, rel=1e-12)


@pytest.mark.parametrize("angle", [0.0, 1e-9, 0.5, 3.0, np.pi - 1e-3])
def test_the_turn_is_twice_the_vector_part_of_the_error_quaternion(angle):
    axis = np.array([2.0, -1.0, 2.0]) / 3
    start = Rotation.from_rotvec([0.4, 0.5, -0.6])
    turned = start * Rotation.from_rotvec(angle * axis)
    found = attitude_error(start.as_matrix(), turned.as_matrix())
    # Near half a turn the trace loses what it subtracts: an error of 1e-16 / cos^2.
    assert found == pytest.approx(2 * np.sin(angle / 2) * axis, abs=1e-9)


def test_half_a_turn_is_a_number():
    half = np.diag([1.0, -1.0, -1.0])
    assert np.isfinite(attitude_error(np.eye(3), half)).all()


def test_any_plant_s_state_is_fed_back():
    block = made([[1.0, 2.0], [3.0, 4.0]], hold=[1.0, 1.0])
    assert [port.name for port in block.in_ports] == ["xd", "uff", "x"]
    [u] = block.output(0.0, [np.array([1.0, 0.0]), np.zeros(2), np.array([0.5, 1.0])], None)
    assert u.tolist() == [1 + 0.5 - 2, 1 + 1.5 - 4]
    [u] = made([1.0, 2.0]).output(0.0, [np.zeros(2), 0.0, np.array([0.5, 1.0])], None)
    assert u == -2.5


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"K": np.ones((3, 5)), "robot": SHIP}, r"K has shape \(3, 5\), takes \(3, 6\)"),
        ({"K": np.ones((3, 6)), "robot": SHIP, "hold": [1.0]}, r"hold has shape \(1,\), K gives"),
        ({"K": [[1.0, float("nan")]]}, "K must be a list or a matrix of finite numbers"),
        ({"K": 2.0}, "K must be a list or a matrix"),
        ({"K": "high"}, "K must be numbers, not 'high'"),
        ({"K": [[1.0]], "setpoint": {"qm": [0]}}, "setpoint is for a robot, and the block has"),
        ({"K": [[1.0]], "robot": SHIP, "controls": "tau0"}, r"controls is .*\[tau0, taum\]"),
        (
            {"K": [[1.0]], "robot": ARM, "controls": ["tau0", "taum"]},
            "controls names tau0, but the base is fixed",
        ),
        ({"K": [[1.0]], "robot": SHIP, "setpoint": {"um": [0]}}, "initial has no entry 'um'"),
    ],
)
def test_what_cannot_be_is_refused(arguments, message):
    with pytest.raises(InputError, match=message):
        made(arguments.pop("K"), **arguments)


def test_a_gain_still_to_be_found_gives_nothing():
    block = made({"lqr": {"plant": "plant", "Q": 1, "R": 1}}, robot=SHIP)
    with pytest.raises(RuntimeError, match="K is not found yet"):
        block.output(0.0, [np.zeros(3)] * 5, None)

"""One mechanism told in any order and sense is one mechanism."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest
import yaml

from spart_blocks.dynamics import assemble, frame_of_link, kinematics
from spart_blocks.robot import Robot

MODELS = Path(__file__).parents[2] / "models"


def turned(joint):
    """The joint from its child to its parent: its inverse motion has the opposite coordinates."""
    swapped = {"parent": "child", "child": "parent", "parent_frame": "child_frame",
               "child_frame": "parent_frame"}  # fmt: skip
    joint = {swapped.get(key, key): value for key, value in joint.items()}
    q = joint.get("q")
    if isinstance(q, list):
        joint["q"] = [-q[0], -q[1], -q[2], q[3]]
    elif q is not None:
        joint["q"] = -q
    return joint


def told_otherwise(data, seed):
    """The same mechanism with its bodies and joints in another order, some joints turned."""
    rng = random.Random(seed)
    joints = {
        name: turned(joint) if rng.random() < 0.5 else joint
        for name, joint in rng.sample([*data["joints"].items()], len(data["joints"]))
    }
    bodies = dict(rng.sample([*data["bodies"].items()], len(data["bodies"])))
    return data | {"bodies": bodies, "joints": joints}


def poses(data, held):
    robot = Robot.from_bodies(data)
    qm = assemble(robot, hold=held).qm
    R0, r0 = np.eye(3), np.zeros(3)
    K = kinematics(R0, r0, qm, robot)
    return {
        name: frame_of_link(robot.robot_keys.link_id[name], R0, r0, K.RL, K.rL, robot)
        for name in data["bodies"]
    }


@pytest.mark.parametrize("seed", range(4))
def test_the_delta_robot_is_assembled_alike(seed):
    data = yaml.safe_load((MODELS / "delta_robot.yaml").read_text())
    motors = ["B", "C", "D"]
    for name in motors:  # held, so that the tree has them whatever is cut
        data["joints"][name]["gear"] = 1
    want = poses(data, motors)
    found = poses(told_otherwise(data, seed), motors)
    for body in ("upper_link_1", "upper_link_2", "upper_link_3"):
        np.testing.assert_allclose(found[body], want[body], atol=1e-12)
    # The lower links may turn about themselves, which nothing settles.
    np.testing.assert_allclose(found["end_effector"], want["end_effector"], atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("model", "held"),
    [("four_bar", ["J1"]), ("five_bar", ["left", "right"]), ("andrews_squeezer", ["O"])],
)
def test_a_linkage_is_assembled_alike(model, held, seed):
    data = yaml.safe_load((MODELS / f"{model}.yaml").read_text())
    for name in held:
        data["joints"][name]["gear"] = 1
    want, found = poses(data, held), poses(told_otherwise(data, seed), held)
    for body, T in want.items():
        np.testing.assert_allclose(found[body], T, atol=1e-9)

"""Recordings of robots at rest: in their home configuration, or in a plant's initial pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.spatial.transform import Rotation

from spart_blocks.animation.meshes import MeshStore
from spart_blocks.animation.packed import Floats, plain
from spart_blocks.animation.plants import Pose, plants_of
from spart_blocks.animation.recording import (
    DEFAULT,
    Options,
    Recording,
    body_of,
    drawing,
    scene_reach,
)
from spart_blocks.animation.shapes import Looks, looks_of
from spart_blocks.base.errors import InputError, RobotError
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.dynamics.assembly import assemble
from spart_blocks.robot import Robot

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.network.nodes import Node

GAP = 1.3
"""Distance of adjacent robots, relative to the sum of their reaches."""


def still_of(robots: Sequence[Robot], given: Options = DEFAULT, name: str = "") -> Recording:
    """The recording of robots side by side, each in its home configuration. Raises InputError if
    there are none."""
    if not robots:
        raise InputError("there is no robot to show")
    poses = [(np.eye(3), np.zeros(3), _home(robot)) for robot in robots]
    labels = _labels(robots)
    store = MeshStore(given.detail)
    looks = [looks_of(r, store, pose, given.root) for r, pose in zip(robots, poses, strict=True)]
    x = 0.0
    for k in range(1, len(robots)):
        x += GAP * (looks[k - 1].reach + looks[k].reach)
        poses[k] = (np.eye(3), np.array([x, 0.0, 0.0]), poses[k][2])
    return _recording(robots, labels, poses, looks, store, name or robots[0].name, "")


def start_of(nodes: Sequence[Node], diagram: Diagram, given: Options = DEFAULT) -> Recording:
    """The recording of a diagram's plants in their initial poses."""
    plants = plants_of(nodes, diagram.name)
    poses = [plant.start() for plant in plants]
    store = MeshStore(given.detail)
    looks = [
        looks_of(plant.robot, store, pose, given.root)
        for plant, pose in zip(plants, poses, strict=True)
    ]
    robots, labels = [plant.robot for plant in plants], [plant.name for plant in plants]
    return _recording(robots, labels, poses, looks, store, diagram.name, drawing(diagram))


def _home(robot: Robot) -> Any:
    """The home configuration, adjusted so that the robot's loops close if possible."""
    home = robot.neutral if robot.home is None else robot.home
    if not robot.loops:
        return home
    try:
        return assemble(robot, home).qm
    except RobotError:
        return home


def _labels(robots: Sequence[Robot]) -> list[str]:
    names = [robot.name for robot in robots]
    return [name if names.count(name) == 1 else f"{name} {k}" for k, name in enumerate(names, 1)]


def _recording(
    robots: Sequence[Robot],
    labels: Sequence[str],
    poses: Sequence[Pose],
    looks: Sequence[Looks],
    store: MeshStore,
    name: str,
    picture: str,
) -> Recording:
    bodies: list[dict[str, Any]] = []
    for robot, label, (R0, r0, qm), seen in zip(robots, labels, poses, looks, strict=True):
        first = len(bodies)
        K = kinematics(R0, r0, qm, robot)
        for body in seen.bodies:
            T = frame_of_link(body.link, R0, r0, K.RL, K.rL, robot)
            bodies.append({**body_of(body, robot, label, first), "track": _still(T)})
    return {
        "format": 1,
        "name": name,
        "start": 0.0,
        "end": 0.0,
        "reach": scene_reach([np.asarray(pose[1], dtype=float) for pose in poses], looks),
        "bodies": bodies,
        "meshes": store.packed(),
        "arrows": [],
        "signals": [],
        "scopes": [],
        "diagram": picture,
    }


def _still(T: Floats) -> dict[str, Any]:
    q = Rotation.from_matrix(np.array(T[:3, :3])).as_quat()
    return {"t": plain(np.zeros(1)), "p": plain(T[None, :3, 3]), "q": plain(q[None])}

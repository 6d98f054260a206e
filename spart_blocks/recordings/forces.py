"""Forces and torques on the bodies of a run, as arrows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.animation.body_curves import Poses
from spart_blocks.animation.plants import DrawnForce, pushes
from spart_blocks.recordings.mcap_file import McapFile
from spart_blocks.recordings.scene import WORLD, Actor
from spart_blocks.recordings.schemas import foxglove, protobuf_channel
from spart_blocks.recordings.templates import Floats, Template, hole, stamp_of_rows, template_of
from spart_blocks.results.run_data import RunData

LONGEST = 0.35
"""Length of the arrow of the largest force, and of the largest torque, relative to the robots'
reach."""
_COLOURS = {"force": (0.91, 0.35, 0.05, 1.0), "torque": (0.44, 0.28, 0.91, 1.0)}
_WIDTH = 9
"""Numbers of an arrow: its position, orientation, and the lengths of shaft and head."""
_HEAD = 0.25
"""Length of the head relative to the arrow."""


@dataclass(frozen=True)
class PlacedForce:
    """A force or torque that acts at points (N, 3) [m] of the world."""

    force: DrawnForce
    at: Floats


def forces_of(
    actors: Sequence[Actor], states: Sequence[Floats], poses: Sequence[Poses], results: RunData
) -> Iterator[PlacedForce]:
    """The forces and torques on the links' centres of mass. states (N, n), poses: of each robot."""
    for actor, x, found in zip(actors, states, poses, strict=True):
        for one in pushes(actor.moving, x, results):
            com = actor.moving.robot.body(one.link).to_mass[:3, 3]
            yield PlacedForce(one, found.p[:, one.link] + _turned(found.q[:, one.link], com))


def force_rows(
    file: McapFile, forces: Sequence[PlacedForce], reach: float, first: int
) -> tuple[list[tuple[int, Template]], Floats]:
    """Declare the channel of forces: its messages and its rows (N, n). reach [m]: of the robots.
    first: the column of the first number."""
    update, parts, column = foxglove("SceneUpdate")(), list[Floats](), first
    largest = {kind: _largest(forces, kind) for kind in _COLOURS}
    for placed in forces:
        force = placed.force
        entity = update.entities.add(id=f"{force.name} {force.kind}", frame_id=WORLD)
        stamp_of_rows(entity.timestamp)
        entity.metadata.add(key="unit", value="N" if force.kind == "force" else "N m")
        arrow = entity.arrows.add(shaft_diameter=0.012 * reach, head_diameter=0.03 * reach)
        holes = [hole(column + k) for k in range(_WIDTH)]
        position, orientation = arrow.pose.position, arrow.pose.orientation
        position.x, position.y, position.z = holes[:3]
        orientation.x, orientation.y, orientation.z, orientation.w = holes[3:7]
        arrow.shaft_length, arrow.head_length = holes[7:]
        colour = arrow.color
        colour.r, colour.g, colour.b, colour.a = _COLOURS[force.kind]
        length = LONGEST * reach * np.linalg.norm(force.v, axis=1) / largest[force.kind]
        lengths = [(1 - _HEAD) * length, _HEAD * length]
        parts.append(np.column_stack([placed.at, directions(force.v), *lengths]))
        column += _WIDTH
    channel = protobuf_channel(file, "/forces", type(update))
    return [(channel, template_of(update))], np.concatenate(parts, axis=1)


def _largest(forces: Sequence[PlacedForce], kind: str) -> float:
    sizes = [np.linalg.norm(one.force.v, axis=1).max() for one in forces if one.force.kind == kind]
    return max(map(float, sizes), default=0.0) or 1.0


def _turned(q: Floats, v: Floats) -> Floats:
    """A vector (3,) turned by unit quaternions (N, 4), scalar-last."""
    axis, scalar = q[:, :3], q[:, 3:]
    once = np.cross(axis, v)
    found: Floats = v + 2 * (scalar * once + np.cross(axis, once))
    return found


def directions(v: Floats) -> Floats:
    """Unit quaternions (N, 4), scalar-last, that turn the axis x into the directions of vectors
    (N, 3): about the bisector by half a turn."""
    size = np.linalg.norm(v, axis=1, keepdims=True)
    unit = np.divide(v, size, out=np.tile([1.0, 0.0, 0.0], (len(v), 1)), where=size > 0)
    between = unit + np.array([1.0, 0.0, 0.0])
    length = np.linalg.norm(between, axis=1, keepdims=True)
    side = np.tile([0.0, 1.0, 0.0], (len(v), 1))
    axis = np.divide(between, length, out=side, where=length > 1e-9)
    return np.concatenate([axis, np.zeros((len(v), 1))], axis=1)

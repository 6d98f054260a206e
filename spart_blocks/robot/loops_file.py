"""Loops, forces and prescribed joints of a robot from a separate YAML file.

joints:     # what closes the loops; frames are given in the body (URDF link) frames
  pin: {type: Rz, parent: rod, child: rocker, parent_frame: {xyz: [0.5, 0, 0]}}
home: {crank_joint: 0.6}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from spart_blocks.robot._bodies_fields import NamedBodies
from spart_blocks.robot._bodies_forces import Coordinates, forces_of, prescribed_of
from spart_blocks.robot._bodies_joints import (
    closed_robot,
    distances_of,
    joints_of,
    lengths_of,
    loops_of,
    note_name_clashes,
)
from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._fields import FieldReader, read_yaml
from spart_blocks.robot._record import Floats
from spart_blocks.robot.robot_model import RobotModel

SECTIONS = "a file of loops has joints: or distances:, and may have forces:, prescribed:, home:"
_FILE = ("joints", "distances", "forces", "prescribed", "home")


def robot_with_loops(robot: RobotModel, loops: str | Path | Mapping[str, Any]) -> RobotModel:
    """The robot with these loops, forces, prescribed joints and home; see Robot.from_urdf."""
    document = read_yaml(loops, SECTIONS) if isinstance(loops, (str, Path)) else None
    faults = Faults()
    top = FieldReader(loops if document is None else document.data, "", faults, _FILE, document)
    ids = robot.robot_keys.link_id
    places = NamedBodies(ids, {name: robot.body(i).to_mass for name, i in ids.items()})
    joints, _ = joints_of(top, places, cut=True)
    distances = distances_of(top, places)
    note_name_clashes(list(ids), joints, distances, [joint.name for joint in robot.joints])
    coordinates = _coordinates(robot)
    forces = forces_of(top, places, coordinates, [])
    prescribed = prescribed_of(top, coordinates, [])
    given = _home(top, robot) | lengths_of(distances)
    faults.raise_if_any()
    where = document.file if document else robot.name
    loops_made = [*loops_of(joints, ids, where), *(distance.loop for distance in distances)]
    closed = replace(robot, forces=(*robot.forces, *forces))
    return closed_robot(closed, loops_made, distances, prescribed, given)


def _coordinates(robot: RobotModel) -> Coordinates:
    """The coordinates of a robot's joints that forces and prescriptions may name."""
    moving = {name: name for name in robot.active_joints}
    balls = frozenset(entry.name for entry in robot.layout if entry.spherical)
    fixed = {joint.name: () for joint in robot.joints if joint.q_id < 1}
    return Coordinates(moving, balls, fixed)


def _home(top: FieldReader, robot: RobotModel) -> dict[str, Floats]:
    """The given positions, by joint."""
    if "home" not in top.data:
        return {}
    value = top.data["home"]
    if not isinstance(value, Mapping):
        top.note(f"must be a mapping of joints to positions, not {quote(value)}", "home")
        return {}
    widths = {entry.name: entry.q.stop - entry.q.start for entry in robot.layout}
    reader = FieldReader(value, "home", top.faults, [*widths], top.document, ("home",))
    return {
        name: reader.array(name, () if width == 1 else (width,))
        for name, width in widths.items()
        if name in value
    }

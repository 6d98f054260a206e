"""Motors, friction and limits of a robot's joints from a separate YAML file.

joints:
  shoulder: {gear: 100, motor_inertia: 2e-4, viscous: 1.5e-3, coulomb: 0.4, qlim: [-2, 2]}
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeVar

from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._fields import FieldReader, noting, read_yaml
from spart_blocks.robot.drive import DEFAULT_EFFECTS, Drive, Limits
from spart_blocks.robot.robot_model import RobotModel

MOST_FAULTS = 100
"""Number of faults after which reading stops."""

_SECTIONS = "a file of drives has joints: and for each of them gear, motor_inertia, ..."
_NUMBERS = ("gear", "motor_inertia", "viscous", "stiffness", "dissipation")
_PAIRS = ("coulomb", "static")
_TOGETHER = ("static", "stribeck")
"""Fields that are checked together, and against coulomb."""
_DRIVE = (*_NUMBERS, *_PAIRS, "stribeck")
DRIVE_FIELDS = (*_DRIVE, "limits", "qlim")
"""The fields of the drive and the limits of a joint."""

_LIMITS = ("lower", "upper", "effort", "velocity")


AnyRobot = TypeVar("AnyRobot", bound=RobotModel)


def robot_with_drives(robot: AnyRobot, drives: str | Path | Mapping[str, Any]) -> AnyRobot:
    """The robot with these drives at its joints; see Robot.with_drives."""
    document = None
    if isinstance(drives, (str, Path)):
        document = read_yaml(drives, _SECTIONS)
    data = drives if document is None else document.data
    top = FieldReader(data, "", Faults(), ("joints",), document)
    table = top.get("joints")
    if not isinstance(table, Mapping):
        if "joints" in top.data:
            top.note(f"must be a mapping of joints, not {quote(table)}", "joints")
        table = {}
    joints = {joint.name: joint for joint in robot.joints}
    moving = set(robot.active_joints)
    for name, entry in table.items():
        if len(top.faults.found) > MOST_FAULTS:
            break
        if name not in moving or name not in joints:
            place = document.key_place("joints", name) if document else None
            if name in moving:
                why, hint = f"{quote(name)} is a spherical joint: it has no motor or limits", None
            else:
                why = robot.not_moving(str(name))
                hint = top.faults.hint_for(str(name), robot.active_joints)
            top.faults.add(f"joints: {why}", place, hint)
            continue
        keys = ("joints", name)
        reader = FieldReader(entry, f"joints.{name}", top.faults, DRIVE_FIELDS, document, keys)
        joint = joints[name]
        drive, limits = drive_and_limits(reader, joint.drive, joint.limits)
        joints[name] = replace(joint, drive=drive, limits=limits)
    top.faults.raise_if_any()
    return replace(robot, joints=tuple(joints.values())).with_effects(DEFAULT_EFFECTS)


def drive_and_limits(
    reader: FieldReader, drive: Drive | None = None, limits: Limits | None = None
) -> tuple[Drive | None, Limits | None]:
    """The drive and the limits from the fields of a joint, or its previous ones."""
    before, given = len(reader.faults.found), dict[str, Any]()
    for key in _DRIVE:
        if key in reader.data:
            told = len(reader.faults.found)
            given[key] = _pair(reader, key) if key in _PAIRS else reader.number(key)
            if len(reader.faults.found) == told and key not in _TOGETHER:
                with noting(reader, key):
                    Drive(**{key: given[key]})
    sound = len(reader.faults.found) == before
    if given and sound:
        with noting(reader, next((key for key in _TOGETHER if key in given), "")):
            drive = Drive(**given)
    return drive, _limits(limits, reader)


def _pair(reader: FieldReader, key: str) -> tuple[float, float]:
    """A pair, or one number for both directions."""
    if isinstance(reader.data[key], (list, tuple)):
        forward, backward = reader.array(key, (2,)).tolist()
        return forward, backward
    symmetric = reader.number(key)
    return symmetric, -symmetric


def _limits(had: Limits | None, reader: FieldReader) -> Limits | None:
    """The limits, with given ones replaced."""
    limits = had or Limits()
    if "qlim" in reader.data:
        if "limits" in reader.data:
            reader.note("is given beside limits; give one of them", "qlim")
        lower, upper = reader.array("qlim", (2,)).tolist()
        made, key = replace(limits, lower=lower, upper=upper), "qlim"
    elif "limits" in reader.data:
        inner, key = reader.inner("limits", _LIMITS), "limits"
        made = replace(
            limits, **{name: inner.number(name) for name in _LIMITS if name in inner.data}
        )
        for name in ("effort", "velocity"):
            if getattr(made, name) < 0:
                inner.note(f"is {getattr(made, name):g}; it must not be negative", name)
    else:
        return had
    if made.lower > made.upper:
        text = f"the lower limit, {made.lower:g}, is above the upper one, {made.upper:g}"
        reader.note(text, key)
    return made

"""Positions and rates of a robot's joints as users give them, by name or as vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from spart_blocks.base import spatial
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.spatial import Array, array
from spart_blocks.robot import Robot
from spart_blocks.robot.coordinates import checked_configuration


def joint_values(value: Any, key: Literal["qm", "um"], robot: Robot) -> Array:
    """The values of `qm` (nq,) or `um` (nu,) of a plant's `initial`.

    A vector, or a mapping: a joint takes a number, a spherical one the four of a quaternion or
    {angles321: [x, y, z]}, or its three rates; a joint of several axes, of which each is a joint on
    its own, takes a list over them. Joints not named are at rest, at the robot's home if it has
    one. Raises InputError.
    """
    out = _rest(robot) if key == "qm" else np.zeros(robot.nu)
    if value is None:
        return out
    what = f"initial {key}"
    if not isinstance(value, Mapping):
        out = array(value, (len(out),), what).copy()
        return checked_configuration(out, robot.layout, what) if key == "qm" else out
    places = _places(robot, key)
    balls = {entry.name for entry in robot.layout if entry.spherical}
    for name, given in value.items():
        if name not in places:
            hint = did_you_mean(str(name), places)
            raise InputError(Fault(f"{what}: {absent(str(name), robot)}", hint=hint))
        if key == "qm" and name in balls and isinstance(given, Mapping):
            given = _quaternion(given, f"{what}: {name}")
        out[places[name]] = _numbers(given, len(places[name]), f"{what}: {name}")
    return checked_configuration(out, robot.layout, what) if key == "qm" else out


def absent(name: str, robot: Robot) -> str:
    """The reason why a name is not that of a joint with a coordinate."""
    cut = any(loop.name == name for loop in robot.loops)
    return robot.not_moving(name) if cut else f"no active joint {name!r}"


def _rest(robot: Robot) -> Array:
    """The default values of joints."""
    return np.array(robot.neutral if robot.home is None else robot.home, dtype=float)


def _places(robot: Robot, key: str) -> dict[str, list[int]]:
    """The entries of each joint, and of each joint with several axes."""
    places: dict[str, list[int]] = {}
    for entry in robot.layout:
        part = entry.q if key == "qm" else entry.u
        numbers = list(range(part.start, part.stop))
        places[entry.name] = numbers
        group = robot.joints[entry.joint_id - 1].group
        if group is not None and group != entry.name:
            places.setdefault(group, []).extend(numbers)
    return places


def _quaternion(given: Mapping[str, Any], what: str) -> Array:
    if set(given) != {"angles321"}:
        text = f"{what} takes a quaternion, or {{angles321: [x, y, z]}}, not {dict(given)!r}"
        raise InputError(text)
    angles = array(given["angles321"], (3,), f"{what}: angles321")
    return spatial.dcm_quat(spatial.angles321_dcm(angles))


def _numbers(given: Any, width: int, what: str) -> Array:
    try:
        numbers = np.asarray(given, dtype=float)
    except (TypeError, ValueError):
        raise InputError(f"{what} must hold numbers, not {given!r}") from None
    if numbers.size != width or numbers.ndim > 1:
        takes = "one number" if width == 1 else f"a list of {width} numbers"
        raise InputError(f"{what} takes {takes}, not {given!r}")
    return numbers

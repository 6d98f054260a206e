"""Checks whether the forces of a robot can act on it."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from spart_blocks.robot._faults import Faults, names_list, quote
from spart_blocks.robot.force import Force, JointPort, JointSpring, PointPort, PointSpring
from spart_blocks.robot.robot_model import RobotModel


def check_forces(robot: RobotModel) -> None:
    """Raise RobotError for every force that cannot act on the robot."""
    faults, seen = Faults(), set()
    for force in robot.forces:
        wrong = [*_wrong_numbers(force), *_wrong_place(force, robot, faults)]
        if force.name in seen:
            wrong.append(("the name is used twice", None))
        seen.add(force.name)
        for message, hint in wrong:
            faults.add(f"force {quote(force.name)}: {message}", hint=hint)
    faults.raise_if_any()


Wrong = Iterator[tuple[str, str | None]]
"""What is wrong, and a hint."""


def _wrong_numbers(force: Force) -> Wrong:
    for key in ("stiffness", "damping", "free_length", "rest"):
        value = getattr(force, key, 0.0)
        if not math.isfinite(value):
            yield f"{key} is {value!r}; it must be a finite number", None
        elif value < 0 and key != "rest":
            yield f"{key} is {value:g}; it must not be negative", None


def _wrong_place(force: Force, robot: RobotModel, faults: Faults) -> Wrong:
    if isinstance(force, (JointSpring, JointPort)):
        return _wrong_joint(force, robot, faults)
    if isinstance(force, (PointSpring, PointPort)):
        return _wrong_points(force, robot)
    return iter([(f"{type(force).__name__} is no kind of force that acts on a robot", None)])


def _wrong_joint(force: JointSpring | JointPort, robot: RobotModel, faults: Faults) -> Wrong:
    name, entries = quote(force.joint), {entry.name: entry for entry in robot.layout}
    entry, ball = entries.get(force.joint), entries.get(force.joint.rpartition(".")[0])
    if entry is None and ball is not None and ball.spherical:
        yield f"{name} is no joint, but a row of one", f"name the spherical joint {ball.name!r}"
    elif entry is None:
        groups = ((e.name, robot.joints[e.joint_id - 1].group) for e in robot.layout)
        rows = [row for row, group in groups if group == force.joint]
        if rows:
            yield f"joint {name} has several axes", f"name one of {names_list(rows)}"
        else:
            yield robot.not_moving(force.joint), faults.hint_for(force.joint, robot.active_joints)
    elif entry.spherical and isinstance(force, JointPort):
        yield f"joint {name} is spherical; a port drives a joint with one axis", None
    elif entry.spherical and isinstance(force, JointSpring) and force.rest:
        yield (
            f"rest is {force.rest:g}; at the spherical joint {name} a spring rests where the "
            "joint's two frames agree",
            "leave rest out, and turn one of the frames",
        )


def _wrong_points(force: PointSpring | PointPort, robot: RobotModel) -> Wrong:
    bodies = [robot.base_link.name, *(link.name for link in robot.links)]
    ends = [(force.a, force.pa)]
    if force.b is not None:
        ends.append((force.b, np.zeros(0) if force.pb is None else force.pb))
    for link, point in ends:
        if not 0 <= link < len(bodies):
            yield f"there is no link {link}; {robot.name} has 0 to {len(bodies) - 1}", None
            continue
        name, moved = quote(bodies[link]), robot.carriers[link - 1] if link else 0
        if moved != link:
            hint = f"name {bodies[moved]!r}"
            yield f"link {name} is inside a spherical joint", hint
        if np.shape(point) != (3,) or not np.isfinite(point).all():
            yield f"the point on link {name} must be three finite numbers", None
    if force.a == force.b:
        yield "both points are on one link, where it does nothing", None
    if force.b is not None and isinstance(force, PointPort) and force.local:
        yield "local is for a force at one point; one between two is along their line", None

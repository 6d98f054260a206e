"""Mimic joints of URDF as couplings of a robot's joints.

<mimic joint="other" multiplier="k" offset="o"/> says q = k q_other + o. That is a constraint with
forces on both joints, as with gears or a rod, not a prescribed motion. Source: the URDF
specification (wiki.ros.org/urdf/XML/joint).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._urdf_elements import JointElement
from spart_blocks.robot.loop import Coupling, Loop
from spart_blocks.robot.parts import JointType
from spart_blocks.robot.robot_model import RobotModel


def note_wrong_mimics(joints: Sequence[JointElement], faults: Faults) -> None:
    """Note mimic joints that follow a missing joint, a fixed joint, or themselves."""
    known = {joint.name: joint for joint in joints}
    _, circular = _leaders_first({j.name: j.mimic.joint for j in joints if j.mimic is not None})
    for joint in joints:
        if joint.mimic is None or not joint.mimic.joint:
            continue
        name, owner = joint.mimic.joint, f"joint {quote(joint.name)}"
        if name not in known:
            message = f"{owner}: mimic joint {quote(name)} does not exist"
            faults.add(message, joint.mimic.place, faults.hint_for(name, [*known]))
        elif known[name].type is JointType.FIXED:
            message = f"{owner}: mimic joint {quote(name)} is fixed; it has no position to follow"
            faults.add(message, joint.mimic.place)
        elif joint.name in circular:
            message = f"{owner} mimics itself" + (
                "" if name == joint.name else f", by way of {quote(name)}"
            )
            hint = "let one of the joints move by itself"
            faults.add(message, joint.mimic.place, hint)


def _leaders_first(followed: Mapping[str, str]) -> tuple[list[str], set[str]]:
    """The mimic joints, each after the one that it follows; and those that follow themselves,
    directly or through others.
    """
    order: list[str] = []
    done: set[str] = set()
    circular: set[str] = set()
    for start in followed:
        path: dict[str, None] = {}
        name = start
        while name in followed and name not in done and name not in path:
            path[name] = None
            name = followed[name]
        if name in path:
            names = list(path)
            circular.update(names[names.index(name) :])
        order += reversed(path)
        done.update(path)
    return order, circular


def with_mimics(robot: RobotModel, joints: Sequence[JointElement]) -> RobotModel:
    """The robot with a coupling for each mimic joint, and a home that fulfils them."""
    mimics = {joint.name: joint.mimic for joint in joints if joint.mimic is not None}
    if not mimics:
        return robot
    moved = {joint.name: joint for joint in robot.joints}
    loops = tuple(
        Loop(
            f"mimic {name}",
            "sliding coupling" if moved[name].type is JointType.PRISMATIC else "turning coupling",
            moved[mimic.joint].child_link,
            moved[name].child_link,
            np.eye(4),
            np.eye(4),
            coupling=Coupling(name, mimic.joint, mimic.multiplier, mimic.offset),
        )
        for name, mimic in mimics.items()
    )
    home = np.array(robot.neutral if robot.home is None else robot.home)
    places = {entry.name: entry.q.start for entry in robot.layout}
    for name in _leaders_first({name: mimic.joint for name, mimic in mimics.items()})[0]:
        mimic = mimics[name]
        home[places[name]] = mimic.multiplier * home[places[mimic.joint]] + mimic.offset
    return replace(robot, loops=(*robot.loops, *loops), home=home)

"""URDF files to robots, with SPART's ids and frames.

Source: SPART's manual, "Robot Model" and urdf2robot; the URDF specification
(wiki.ros.org/urdf/XML).
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from lxml import etree

from spart_blocks.base.errors import Fault, Place, RobotError, warn
from spart_blocks.robot._faults import Faults, names_list, quote, reading
from spart_blocks.robot._transforms import rigid_inverse
from spart_blocks.robot._tree import Tree, TreeEdge, build_tree
from spart_blocks.robot._urdf_elements import ElementReader, JointElement, LinkElement, line_of
from spart_blocks.robot._xml import XACRO_HINT, read_xml
from spart_blocks.robot.checks import report_doubts
from spart_blocks.robot.drives_file import robot_with_drives
from spart_blocks.robot.loop import Coupling, Loop
from spart_blocks.robot.loops_file import robot_with_loops
from spart_blocks.robot.parts import BaseLink, Joint, JointType, Link, RobotKeys
from spart_blocks.robot.robot_model import Base, RobotModel

MOST_ELEMENTS = 10_000
"""Largest number of links, and of joints; reading these takes some seconds."""
_logger = logging.getLogger(__name__)
_OTHER_FORMATS = {
    "sdf": "this is an SDF file; export the robot as URDF",
    "mujoco": "this is an MJCF (MuJoCo) file; export the robot as URDF",
    "COLLADA": "this is a COLLADA mesh, not a robot",
}


def urdf2robot(filename: str | Path, verbose_flag: bool = False) -> tuple[RobotModel, RobotKeys]:
    """SPART's reader: a robot and its name-to-id maps from a URDF file.

    verbose_flag: log each link and joint (logger spart_blocks.robot.urdf, level INFO).
    """
    robot = read_urdf(filename)
    if verbose_flag:
        _log(robot)
    return robot, robot.robot_keys


def read_urdf(
    path: str | Path,
    *,
    base: Base | None = None,
    strict: bool = False,
    drives: str | Path | Mapping[str, Any] | None = None,
    loops: str | Path | Mapping[str, Any] | None = None,
    mimic: bool = True,
) -> RobotModel:
    """The robot of a URDF file.

    base: 'fixed' or 'floating'; by default floating, unless the root link is massless or called
    world. strict: doubtful inertias are errors instead of warnings. Joint types are fixed,
    revolute, continuous and prismatic. mimic: a mimic joint is coupled to the joint that it names,
    see Robot.from_urdf; otherwise it moves independently. Limits, damping and friction are stored
    in the joints; they act if the robot's effects include them. drives: see Robot.with_drives;
    loops: see Robot.from_urdf. Raises RobotError with every fault of the file.
    """
    if base not in (None, "fixed", "floating"):
        raise RobotError(f"base is {base!r}; it must be 'fixed' or 'floating'")
    file = Path(path)
    root = read_xml(file)
    _check_root(root, str(file))
    faults = Faults()
    reader = ElementReader(str(file), etree.QName(root).namespace, faults)
    told = {kind: list(reader.children(root, kind)) for kind in ("link", "joint")}
    for kind, elements in told.items():
        if len(elements) > MOST_ELEMENTS:
            text = f"the robot has {len(elements)} {kind}s; the most is {MOST_ELEMENTS}"
            raise RobotError(Fault(text, Place(str(file), line_of(elements[-1]))))
    links = [reader.link(element) for element in told["link"]]
    joints = [reader.joint(element) for element in told["joint"]]
    if not links:
        reader.note(root, "the robot has no links")
    note_wrong_mimics(joints, faults)
    tree = _tree(links, joints, faults)
    faults.raise_if_any()
    assert tree is not None  # a tree that could not be built has left a fault
    robot = _assemble(root.get("name") or file.stem, links, joints, tree, base, str(file))
    if mimic:
        robot = with_mimics(robot, joints)
    if drives is not None:
        with reading(drives):
            robot = robot_with_drives(robot, drives)
    if loops is not None:
        robot = robot_with_loops(robot, loops)
    places = {("link", link.name): link.place for link in links}
    places |= {("joint", joint.name): joint.place for joint in joints}
    report_doubts(robot, strict=strict, places=places)
    _warn_of_joints(joints, str(file))
    return robot


def _check_root(root: etree._Element, file: str) -> None:
    """Reject documents that are not URDF, and xacro files that were not expanded."""
    faults = Faults()
    place = Place(file, line_of(root))
    tag = str(etree.QName(root).localname)
    if tag != "robot":
        faults.add(
            f"the root element is <{tag}>; a URDF file has <robot>", place, _OTHER_FORMATS.get(tag)
        )
    xacro = _first_xacro(root)
    if xacro is not None:
        # A mere xmlns:xacro stays behind in expanded files, so it is no sign of xacro.
        faults.add("this is a xacro file", Place(file, line_of(xacro)), XACRO_HINT)
    faults.raise_if_any()


def _first_xacro(root: etree._Element) -> etree._Element | None:
    for element in root.iter(etree.Element):
        namespace = str(etree.QName(element).namespace or "")
        if "xacro" in namespace.lower():
            return element
        if any("${" in str(value) or "$(" in str(value) for value in element.attrib.values()):
            return element
    return None


def _tree(
    links: Sequence[LinkElement], joints: Sequence[JointElement], faults: Faults
) -> Tree | None:
    places: dict[str, Place] = {}
    for link in links:
        if link.name in places and link.name:
            faults.add(
                f"link name {quote(link.name)} is used twice; first on line "
                f"{places[link.name].line}",
                link.place,
            )
        places.setdefault(link.name, link.place)
    _note_double_joints(joints, faults)
    names = list(places)
    edges, incomplete = [], 0
    for joint in joints:
        sound = joint.parent is not None and joint.child is not None
        for role, name in (("parent", joint.parent), ("child", joint.child)):
            if name is not None and name not in places:
                sound = False
                faults.add(
                    f"joint {quote(joint.name)}: {role} link {quote(name)} does not exist",
                    joint.place,
                    faults.hint_for(name, names),
                )
        if sound:
            edges.append(TreeEdge(joint.name, joint.parent or "", joint.child or "", joint.place))
        else:
            incomplete += 1
    return build_tree(places, edges, faults, incomplete=incomplete) if places else None


def _note_double_joints(joints: Sequence[JointElement], faults: Faults) -> None:
    places: dict[str, Place] = {}
    for joint in joints:
        if joint.name in places and joint.name:
            faults.add(
                f"joint name {quote(joint.name)} is used twice; first on line "
                f"{places[joint.name].line}",
                joint.place,
            )
        places.setdefault(joint.name, joint.place)


def _assemble(
    name: str,
    links: Sequence[LinkElement],
    joints: Sequence[JointElement],
    tree: Tree,
    base: Base | None,
    source: str,
) -> RobotModel:
    """Number the tree as SPART does and put the frames at the centres of mass."""
    by_name = {link.name: link for link in links}
    root = by_name[tree.root]
    ids = {tree.root: 0}
    made_links, made_joints = [], []
    n_q = 0
    for i, index in enumerate(tree.order, start=1):
        joint = joints[index]
        parent, link = by_name[joint.parent or ""], by_name[joint.child or ""]
        kind = joint.type or JointType.FIXED
        n_q += kind is not JointType.FIXED
        ids[link.name] = i
        made_joints.append(
            Joint(
                id=i,
                name=joint.name,
                type=kind,
                q_id=-1 if kind is JointType.FIXED else n_q,
                parent_link=ids[parent.name],
                child_link=i,
                axis=joint.axis,
                T=rigid_inverse(parent.T) @ joint.T,
                limits=joint.limits,
                drive=joint.drive,
            )
        )
        made_links.append(Link(i, link.name, i, link.T, link.mass, link.inertia))
    default: Base = "fixed" if root.mass == 0 or root.name == "world" else "floating"
    return RobotModel(
        name=name,
        links=tuple(made_links),
        joints=tuple(made_joints),
        base_link=BaseLink(root.name, root.T, root.mass, root.inertia),
        base=base or default,
        source=source,
    )


def _warn_of_joints(joints: Sequence[JointElement], file: str) -> None:
    kinds = (
        (
            [joint.name for joint in joints if not joint.near_unit],
            "the axis was not of unit length and has been normalised",
        ),
        (
            [joint.name for joint in joints if _empty(joint)],
            "the lower limit is above the upper one",
        ),
    )
    for names, message in kinds:
        if names:
            subject = "joint" if len(names) == 1 else "joints"
            warn(f"{file}: {message}: {subject} {names_list(names)}")


def _empty(joint: JointElement) -> bool:
    return joint.limits is not None and joint.limits.lower > joint.limits.upper


def _log(robot: RobotModel) -> None:
    _logger.info("%s: %r, root link %s", robot.source, robot, robot.base_link.name)
    for link, joint in zip(robot.links, robot.joints, strict=True):
        _logger.info(
            "%d: joint %s (%s) from link %d to link %s, %g kg",
            *(link.id, joint.name, joint.type.name.lower()),
            *(joint.parent_link, link.name, link.mass),
        )


# --- mimic joints ---------------------------------------------------------------------------------
# Mimic joints of URDF as couplings of a robot's joints.
#
# <mimic joint="other" multiplier="k" offset="o"/> says q = k q_other + o. That is a constraint with
# forces on both joints, as with gears or a rod, not a prescribed motion. Source: the URDF
# specification (wiki.ros.org/urdf/XML/joint).


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

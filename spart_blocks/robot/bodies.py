"""Robots from lists of bodies and joints in any order and direction, which may form loops.

The graph of bodies and joints becomes a tree and chords (robot/graph.py). A joint of the tree
is its rows (robot/joint_kinds.py), against the tree their inverse; a chord is the loop
constraint of the joint that it cuts. Link axes are those of the body at its centre of mass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Place
from spart_blocks.robot._bodies_fields import MOST_FAULTS, NamedBodies, entries, note_name
from spart_blocks.robot._bodies_forces import (
    Coordinates,
    Needed,
    forces_of,
    prescribed_of,
    relinked,
)
from spart_blocks.robot._bodies_joints import (
    BodyJoint,
    Distance,
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
from spart_blocks.robot._transforms import rigid_inverse, translation
from spart_blocks.robot.checks import inertia_faults, report_doubts
from spart_blocks.robot.drive import DEFAULT_EFFECTS
from spart_blocks.robot.force import Force, PointPort, PointSpring
from spart_blocks.robot.graph import GROUND, BodiesGraph, GraphJoint, Tie, spanning_tree
from spart_blocks.robot.joint_kinds import KINDS, is_ball, with_suffix
from spart_blocks.robot.parts import BaseLink, Joint, JointType, Link
from spart_blocks.robot.robot_model import Base, RobotModel

SECTIONS = "a file of bodies has bodies: and joints:, and may have distances:, forces: and more"
_FILE = ("name", "bodies", "joints", "distances", "forces", "prescribed")
_BODY = ("mass", "com", "inertia")
_LISTS = (list, tuple, np.ndarray)
_INERTIA = ("ixx", "iyy", "izz", "ixy", "ixz", "iyz")
_ORDER = ((0, 3, 4), (3, 1, 5), (4, 5, 2))  # of those six in the matrix


@dataclass(frozen=True)
class Body:
    """A body as read. com (3,) [m]: its centre of mass, in the body frame. inertia (3,3)
    [kg m^2]: about the centre of mass, in the axes of the body frame."""

    name: str
    mass: float
    com: Floats
    inertia: Floats
    point_mass: bool = False


@dataclass(frozen=True)
class Bodies:
    """The contents of a file of bodies. In forces and distances 0 is the ground and body i the
    i-th of the list. prescribed: coordinates. grounded: whether anything names the ground.
    """

    name: str
    source: str | None
    bodies: Mapping[str, Body]
    joints: Mapping[str, BodyJoint]
    distances: Sequence[Distance]
    forces: Sequence[Force]
    prescribed: Sequence[str]
    graph: BodiesGraph
    grounded: bool
    places: Mapping[tuple[str, str], Place]


def robot_from_bodies(
    source: str | Path | Mapping[str, Any], *, strict: bool = False
) -> RobotModel:
    """The robot of a file of bodies, or of its contents; see Robot.from_bodies."""
    read = read_bodies(source)
    robot = robot_of(read)
    report_doubts(
        robot,
        strict=strict,
        places=read.places,
        point_masses={body.name for body in read.bodies.values() if body.point_mass},
    )
    return robot


def bodies_graph(source: str | Path | Mapping[str, Any]) -> BodiesGraph:
    """The tree and the chords of a file of bodies, or of its contents. Raises RobotError with
    every fault.
    """
    return read_bodies(source).graph


# --- reading -------------------------------------------------------------------------------------


def read_bodies(source: str | Path | Mapping[str, Any]) -> Bodies:
    """Read the contents of a file of bodies; RobotError with every fault."""
    document = read_yaml(source, SECTIONS) if isinstance(source, (str, Path)) else None
    faults = Faults()
    top = FieldReader(source if document is None else document.data, "", faults, _FILE, document)
    bodies, places = _bodies(top)
    if top.usable and not bodies and not faults.found:
        top.note("there are no bodies", "bodies")
    joints, lost = joints_of(top, places)
    distances = distances_of(top, places)
    note_name_clashes([GROUND, *bodies], joints, distances)
    coordinates, needed = _coordinates(top, joints), list[Needed]()
    forces = forces_of(top, places, coordinates, needed)
    prescribed = prescribed_of(top, coordinates, needed)
    grounded = names_ground(joints, distances, forces)
    name = top.text("name", Path(document.file).stem if document else "bodies")
    if not bodies:
        faults.raise_if_any()
    graph = _graph(top, bodies, joints, needed, complete=not lost)
    faults.raise_if_any()
    return Bodies(
        name=name,
        source=document.file if document else None,
        bodies=bodies,
        joints={joint.name: joint for joint in joints},
        distances=distances,
        forces=forces,
        prescribed=prescribed,
        graph=graph,
        grounded=grounded,
        places=_written(top, bodies, joints),
    )


def _bodies(top: FieldReader) -> tuple[dict[str, Body], NamedBodies]:
    """The bodies by name, and the places that joints and forces may name, the ground first."""
    found: dict[str, Body] = {}
    for name, reader in entries(top, "bodies", _BODY, required=True):
        if name == GROUND:
            note_name(reader, "the ground is the fixed frame, and no body", "leave it out")
            continue
        mass = reader.number("mass")
        com = reader.array("com", (3,)) if "com" in reader.data else np.zeros(3)
        inertia = _inertia(reader) if "inertia" in reader.data else np.zeros((3, 3))
        for message in inertia_faults(mass, inertia):
            reader.note(message)
        told = "inertia" in reader.data and not inertia.any()
        found[name] = Body(name, mass, com, inertia, point_mass=told)
    ids = {name: i for i, name in enumerate((GROUND, *found))}
    masses = {name: translation(body.com) for name, body in found.items()}
    return found, NamedBodies(ids, {GROUND: np.eye(4), **masses})


def _inertia(reader: FieldReader) -> Floats:
    """The moments and, where they are given, products of inertia as a matrix (3,3)."""
    value = reader.data["inertia"]
    if isinstance(value, Mapping):
        inner = reader.inner("inertia", _INERTIA)
        moments = [inner.number(key) for key in _INERTIA[:3]]
        six = np.array([*moments, *(inner.number(key, 0.0) for key in _INERTIA[3:])])
        return np.array([[six[i] for i in row] for row in _ORDER])
    if isinstance(value, _LISTS) and any(isinstance(row, _LISTS) for row in value):
        return reader.array("inertia", (3, 3))
    return np.diag(reader.array("inertia", (3,)))


def names_ground(
    joints: Sequence[BodyJoint], distances: Sequence[Distance], forces: Sequence[Force]
) -> bool:
    """Whether anything is connected to the ground, which is then part of the robot."""
    if any(GROUND in (joint.parent, joint.child) for joint in joints):
        return True
    if any(0 in (distance.loop.a, distance.loop.b) for distance in distances):
        return True
    return any(
        0 in (force.a, force.b) for force in forces if isinstance(force, (PointSpring, PointPort))
    )


def _written(
    top: FieldReader, bodies: Mapping[str, Body], joints: Sequence[BodyJoint]
) -> dict[tuple[str, str], Place]:
    """The places of links and rows of joints in the file, for doubts about them."""
    if top.document is None:
        return {}
    places = {("link", name): top.document.key_place("bodies", name) for name in bodies}
    for joint in joints:
        place = top.document.key_place("joints", joint.name)
        places |= {("joint", name): place for name in joint.names}
    return places


def _coordinates(top: FieldReader, joints: Sequence[BodyJoint]) -> Coordinates:
    """The coordinates of these joints that forces and prescriptions may name."""
    given = top.data.get("joints")
    names = {str(name) for name in given} if isinstance(given, Mapping) else set()
    owners: dict[str, str] = {}
    balls: set[str] = set()
    groups: dict[str, tuple[str, ...]] = {}
    for joint in joints:
        for suffix, name in zip(KINDS[joint.kind].coordinates, joint.coordinates, strict=True):
            owners[name] = joint.name
            if is_ball(joint.kind, suffix):
                balls.add(name)
        if joint.coordinates != (joint.name,):
            groups[joint.name] = joint.coordinates
    misread = frozenset(names - {joint.name for joint in joints})
    return Coordinates(owners, frozenset(balls), groups, misread)


def _graph(
    top: FieldReader,
    bodies: Mapping[str, Body],
    joints: Sequence[BodyJoint],
    needed: Sequence[Needed],
    *,
    complete: bool,
) -> BodiesGraph:
    """The tree and the chords. If all joints are known, notes a fault for each body that no
    joint reaches, and for each cut joint whose coordinate is needed.
    """
    keep = {need.joint for need in needed}
    ties = [
        Tie(j.name, j.kind, j.parent, j.child, j.name in keep or j.drive is not None, j.cut)
        for j in joints
    ]
    heavy = next((body.name for body in bodies.values() if body.mass > 0), None)
    graph = spanning_tree(list(bodies), ties, heavy)
    if complete:
        _note_unreached(top, graph)
        _note_cut(graph, joints, needed)
    return graph


def _note_unreached(top: FieldReader, graph: BodiesGraph) -> None:
    root = f"body {quote(graph.floating)}, the base" if graph.floating else "the ground"
    for name in graph.unreached[:MOST_FAULTS]:
        place = top.document.key_place("bodies", name) if top.document else None
        hint = "tie it to another body, or to the ground with a joint of type float"
        top.faults.add(f"bodies.{name}: no joint leads to it from {root}", place, hint)


def _note_cut(graph: BodiesGraph, joints: Sequence[BodyJoint], needed: Sequence[Needed]) -> None:
    """Note the cut joints whose coordinates are needed."""
    cut = {chord.joint for chord in graph.chords}
    for need in needed:
        if need.joint in cut:
            _note_needed_chord(need.reader, need.joint, need.why, need.key)
    told = {need.joint for need in needed}
    for joint in joints:
        if joint.name in cut - told and joint.drive is not None:
            _note_needed_chord(joint.reader, joint.name, "it has a motor or friction", "")


def _note_needed_chord(reader: FieldReader, joint: str, why: str, key: str | int) -> None:
    keys = (*reader.keys, "prescribed", key) if isinstance(key, int) else (*reader.keys, key)
    place = reader.document.place(*(k for k in keys if k != "")) if reader.document else None
    where = f"prescribed[{key}]" if isinstance(key, int) else reader.where
    message = f"{where}: joint {quote(joint)} closes a loop and has no coordinate, but {why}"
    hint = "all joints of this loop are needed in the tree: leave one of them free"
    reader.faults.add(message, place, hint)


# --- to a robot ----------------------------------------------------------------------------------


@dataclass
class _Tree:
    """The links and joints so far, and the ids of the bodies' links."""

    ids: dict[str, int]
    links: list[Link] = field(default_factory=list)
    joints: list[Joint] = field(default_factory=list)
    active: int = 0

    def add(self, joint: Joint, link: Link) -> int:
        """Add a joint with the link it carries; their ids and q_id are given here."""
        i = len(self.links) + 1
        moves = joint.type is not JointType.FIXED
        self.active += moves
        q_id = self.active if moves else -1
        self.joints.append(replace(joint, id=i, child_link=i, q_id=q_id))
        self.links.append(replace(link, id=i, parent_joint=i))
        return i


def robot_of(read: Bodies) -> RobotModel:
    """The robot of a file's contents. Warns of data lost with a cut joint."""
    base: Base = "fixed"
    base_link = BaseLink(GROUND, np.eye(4), 0.0, np.zeros((3, 3)))
    tree = _Tree({GROUND: 0})
    for joint in read.graph.tree:
        if joint.added and not read.grounded:
            body = read.bodies[joint.child]
            base_link = BaseLink(body.name, translation(body.com), body.mass, body.inertia)
            base, tree.ids = "floating", {body.name: 0}
        else:
            _add_rows(tree, joint, _joint_of(joint, read), read.bodies[joint.far])
    ids = {place: tree.ids.get(name, 0) for place, name in enumerate((GROUND, *read.bodies))}
    robot = RobotModel(
        name=read.name,
        links=tuple(tree.links),
        joints=tuple(tree.joints),
        base_link=base_link,
        base=base,
        source=read.source,
        forces=tuple(relinked(force, ids) for force in read.forces),
    )
    cut = [read.joints[chord.joint] for chord in read.graph.chords]
    loops = loops_of(cut, tree.ids, read.source or read.name)
    loops += [replace(d.loop, a=ids[d.loop.a], b=ids[d.loop.b]) for d in read.distances]
    robot = closed_robot(robot, loops, read.distances, read.prescribed, _home(read))
    drives = any(joint.drive for joint in robot.joints)
    return robot.with_effects(DEFAULT_EFFECTS) if drives else robot


def _joint_of(joint: GraphJoint, read: Bodies) -> BodyJoint:
    """The joint as read; for a model without ground the added joint, between body frames."""
    if not joint.added:
        return read.joints[joint.name]
    Tc = translation(-read.bodies[joint.child].com)
    reader = FieldReader({}, "", Faults(), ())
    z = np.array([0.0, 0.0, 1.0])
    return BodyJoint(joint.name, "float", GROUND, joint.child, np.eye(4), Tc, z, reader)


def _add_rows(tree: _Tree, edge: GraphJoint, joint: BodyJoint, body: Body) -> None:
    """Add the rows of a joint of the tree, with its body at the last row."""
    rows = joint.rows(against=edge.flipped)
    near, far = joint.parent_frame, joint.child_frame
    if edge.flipped:
        near, far = far, near
    T, parent, group = near, tree.ids[edge.near], joint.name if len(rows) > 1 else None
    for row in rows[:-1]:
        made = Joint(0, row.name, row.type, 0, parent, 0, row.axis, T, group=group)
        parent = tree.add(made, Link(0, row.name, 0, np.eye(4), 0.0, np.zeros((3, 3))))
        T = np.eye(4)
    last = rows[-1]
    made = Joint(0, last.name, last.type, 0, parent, 0, last.axis, T, joint.limits, joint.drive)
    to_mass, from_mass = rigid_inverse(far), translation(-body.com)
    frame = None if np.array_equal(far, from_mass) else from_mass
    link = Link(0, body.name, 0, to_mass, body.mass, body.inertia, frame)
    tree.ids[body.name] = tree.add(replace(made, group=group), link)


def _home(read: Bodies) -> dict[str, Floats]:
    """The positions given in the file, by coordinate."""
    given = {
        with_suffix(joint.name, suffix): q
        for joint in read.joints.values()
        for suffix, q in joint.q.items()
    }
    return given | lengths_of(read.distances)

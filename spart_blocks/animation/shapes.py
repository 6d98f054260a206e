"""The bodies of a robot and their shapes: visuals of its URDF, or boxes with the same inertia."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.spatial.transform import Rotation

from spart_blocks.animation.meshes import MeshStore, mesh_file
from spart_blocks.animation.packed import Floats
from spart_blocks.base.errors import InputError, warn
from spart_blocks.diagram.written.files import project_root
from spart_blocks.dynamics import frame_of_link, kinematics
from spart_blocks.robot import Robot
from spart_blocks.robot.parts import JointType
from spart_blocks.robot.visuals import Visual, read_visuals

# --- Boxes of equal density and inertia -----------------------------------------------------------


THINNEST = 1e-3
"""Shortest side of a box relative to its longest, so that a rod or a plate still has faces."""


@dataclass(frozen=True)
class InertiaBox:
    """A box. sides (3,) [m]; R (3, 3): its columns are the principal axes, along the sides."""

    sides: Floats
    R: Floats


def inertia_box(mass: float, inertia: ArrayLike) -> InertiaBox | None:
    """The box with this mass [kg] and inertia (3,3) [kg m^2] about its centre of mass.

    The inertia of a box about its axis x is m (b^2 + c^2) / 12, so a^2 is 6 (Iy + Iz - Ix) / m. If
    this is negative, no body has the inertia, and 0 is used. None if mass or inertia is zero, as
    for a point.
    """
    if not mass > 0:
        return None
    moments, R = np.linalg.eigh(np.asarray(inertia, dtype=float))
    squares = 6 * (moments.sum() - 2 * moments) / mass
    sides = np.sqrt(np.maximum(squares, 0.0))
    longest = float(sides.max())
    if not 0 < longest < np.inf:
        return None
    if np.linalg.det(R) < 0:
        R[:, 2] *= -1
    return InertiaBox(np.maximum(sides, THINNEST * longest), R)


Shape = dict[str, Any]
ROD = 0.006
"""Radius of the rods between joints, relative to the robot's size."""
_GREY = (0.72, 0.74, 0.77, 1.0)
_ROD_COLOUR = (0.35, 0.37, 0.42, 1.0)
_PALETTE = (
    *((0.27, 0.45, 0.77, 1.0), (0.87, 0.52, 0.20, 1.0), (0.33, 0.62, 0.35, 1.0)),
    *((0.70, 0.34, 0.58, 1.0), (0.80, 0.68, 0.21, 1.0), (0.25, 0.62, 0.66, 1.0)),
)
_MOST_TOLD = 10
_MOST_NAMED = 3


@dataclass(frozen=True)
class ShownBody:
    """A group of links that are fixed to each other. link: id of the first; welded: the frames
    (4,4) [m] of all its links, relative to the first. parent: index of the body that carries it, or
    -1. com (3,) [m]: centre of mass. reach [m]: the largest distance of a shape from its frame."""

    link: int
    name: str
    parent: int
    welded: dict[int, Floats]
    com: Floats
    shapes: list[Shape] = field(default_factory=list)
    reach: float = 0.0


@dataclass(frozen=True)
class Looks:
    """The bodies of a robot, and its reach [m]: the largest distance of a shape from its base in
    the given configuration."""

    bodies: tuple[ShownBody, ...]
    reach: float


def looks_of(
    robot: Robot,
    store: MeshStore,
    pose: tuple[Any, Any, Any] | None = None,
    root: Path | None = None,
) -> Looks:
    """The bodies of a robot and their shapes. pose: R0, r0 and qm for which its reach is computed;
    root: the folder that contains its meshes, by default that of its project."""
    R0, r0, qm = (np.eye(3), np.zeros(3), robot.neutral) if pose is None else pose
    K = kinematics(R0, r0, qm, robot)
    frames = [frame_of_link(i, R0, r0, K.RL, K.rL, robot) for i in range(len(robot.links) + 1)]
    seen = _Seen(robot, store, root)
    size = _size(robot, frames)
    bodies = []
    for body in _bodies(robot, frames):
        for link, T in body.welded.items():
            for shape, reach in seen.shapes(link, size):
                body.shapes.append(_moved(shape, T))
                body = replace(body, reach=max(body.reach, float(np.linalg.norm(T[:3, 3])) + reach))
        bodies.append(body)
    kept = _with_parents([b for b in bodies if b.shapes or _mass(robot, b)], robot)
    base = frames[0][:3, 3]
    far = (np.linalg.norm(frames[b.link][:3, 3] - base) + b.reach for b in kept)
    seen.tell()
    return Looks(kept, float(max(far, default=0.0)) or 1.0)


def _mass(robot: Robot, body: ShownBody) -> float:
    return float(sum(robot.body(link).mass for link in body.welded))


# --- the bodies ---------------------------------------------------------------------------


def _bodies(robot: Robot, frames: Sequence[Floats]) -> list[ShownBody]:
    """The bodies of a robot, each with all links that are fixed to it."""
    carrier = [0]
    for joint in robot.joints:
        fixed = joint.type is JointType.FIXED
        carrier.append(carrier[joint.parent_link] if fixed else joint.child_link)
    groups: dict[int, dict[int, Floats]] = {}
    for link, first in enumerate(carrier):
        T: Floats = np.linalg.inv(frames[first]) @ frames[link]
        groups.setdefault(first, {})[link] = T
    return [
        ShownBody(first, robot.body(first).name, -1, welded, _com(robot, welded))
        for first, welded in groups.items()
    ]


def _com(robot: Robot, welded: dict[int, Floats]) -> Floats:
    """The centre of mass (3,) [m] of the links of a body, in its frame."""
    masses = np.array([robot.body(link).mass for link in welded])
    centres = np.array([(T @ robot.body(link).to_mass)[:3, 3] for link, T in welded.items()])
    found: Floats = masses @ centres / masses.sum() if masses.sum() > 0 else centres[0]
    return found


def _with_parents(bodies: list[ShownBody], robot: Robot) -> tuple[ShownBody, ...]:
    places = {link: k for k, body in enumerate(bodies) for link in body.welded}

    def parent(body: ShownBody) -> int:
        link = body.link
        while link:
            link = robot.parents[link - 1]
            if link in places:
                return places[link]
        return -1

    return tuple(replace(body, parent=parent(body)) for body in bodies)


def _size(robot: Robot, frames: Sequence[Floats]) -> float:
    """The approximate size of a robot [m], from its frames and the inertia boxes of its links."""
    points = [T @ robot.body(link).to_mass for link, T in enumerate(frames)]
    origins = np.array([*(T[:3, 3] for T in frames), *(T[:3, 3] for T in points)])
    boxes = (inertia_box(robot.body(k).mass, robot.body(k).inertia) for k in range(len(frames)))
    largest = max((float(np.linalg.norm(box.sides)) for box in boxes if box), default=0.0)
    return float(np.linalg.norm(np.ptp(origins, axis=0))) + largest or 1.0


# --- their shapes -------------------------------------------------------------------------


class _Seen:
    """Makes the shapes of links in their frames, and collects notes on what cannot be shown."""

    def __init__(self, robot: Robot, store: MeshStore, root: Path | None) -> None:
        self.robot, self.store, self.notes = robot, store, list[str]()
        self.unseen: list[tuple[Visual, InputError]] = []
        self.visuals: dict[str, list[Visual]] = {}
        source = robot.source or ""
        if source.lower().endswith(".urdf"):
            self.urdf = Path(source)
            self.root = root or project_root(self.urdf.absolute())
            try:
                self.visuals, faults = read_visuals(source)
                self.notes += [str(fault) for fault in faults]
            except InputError as error:
                self.notes.append(f"{error}; it is shown by boxes")

    def shapes(self, link: int, size: float) -> list[tuple[Shape, float]]:
        """The shapes of a link in its frame, and the largest distance [m] of each from the
        origin."""
        name = self.robot.body(link).name
        if name not in self.visuals:
            return list(_stand_ins(self.robot, link, size))
        found, missing = list[tuple[Shape, float]](), False
        for visual in self.visuals[name]:
            try:
                found += self._visual(visual)
            except InputError as error:
                missing = True
                self.unseen.append((visual, error))
        if missing and not found:
            return list(_stand_ins(self.robot, link, size))
        return found

    def _visual(self, visual: Visual) -> list[tuple[Shape, float]]:
        far, size = float(np.linalg.norm(visual.T[:3, 3])), visual.size
        base = {"pose": pose_of(visual.T), "colour": list(visual.colour or _GREY)}
        if visual.kind == "box":
            reach = float(np.linalg.norm(size)) / 2
            return [({"kind": "box", "size": list(size), **base}, far + reach)]
        if visual.kind == "cylinder":
            shape = {"kind": "cylinder", "radius": size[0], "length": size[1]}
            return [({**shape, **base}, far + float(np.hypot(size[0], size[1] / 2)))]
        if visual.kind == "sphere":
            return [({"kind": "sphere", "radius": size[0], **base}, far + size[0])]
        places = self.store.add(mesh_file(visual.mesh or "", self.urdf, self.root))
        found = []
        for place in places:
            mesh = self.store.meshes[place]
            shape = {"kind": "mesh", "mesh": place, "scale": list(size), **base}
            if visual.colour is None:
                shape["colour"] = list(mesh.colour)
            found.append((shape, far + mesh.reach * max(map(abs, size))))
        return found

    def tell(self) -> None:
        """Warn of visuals that cannot be shown, once for those with the same reason."""
        notes = [*self.notes, *_grouped(self.unseen)]
        if notes:
            some = notes[:_MOST_TOLD]
            more = len(notes) - len(some)
            rest = [f"and {more} more"] if more else []
            head = f"{self.robot.name}: not all is shown as its URDF says:"
            warn("\n  ".join([head, *some, *rest]))


def _grouped(unseen: Iterable[tuple[Visual, InputError]]) -> Iterator[str]:
    """A note on the visuals of each reason, with the names of the first few."""
    groups: dict[tuple[str, str], list[Visual]] = {}
    for visual, error in unseen:
        fault = error.faults[0]
        reason = fault.message.removeprefix(f"{visual.mesh} ")
        reason = reason if reason != fault.message else f": {reason}"
        groups.setdefault((reason, fault.hint or ""), []).append(visual)
    for (reason, hint), visuals in groups.items():
        first, *others = visuals
        space = "" if reason.startswith(":") else " "
        note = f"{first.place}: {first.mesh}{space}{reason}"
        if others:
            names = [str(visual.mesh) for visual in others[:_MOST_NAMED]]
            more = len(others) - len(names)
            names += [f"{more} more"] if more else []
            note += f"; the same of {', '.join(names)}"
        yield f"{note}\n    {hint}" if hint else note


def _stand_ins(robot: Robot, link: int, size: float) -> list[tuple[Shape, float]]:
    """Shapes for a link without visuals, in its frame, with the reach [m] of each: a box with its
    inertia at its centre of mass, and rods from there to its joints."""
    body = robot.body(link)
    T = body.to_mass
    colour = list(_PALETTE[link % len(_PALETTE)])
    found: list[tuple[Shape, float]] = []
    far = float(np.linalg.norm(T[:3, 3]))
    box = inertia_box(body.mass, body.inertia)
    if box is not None:
        place = T.copy()
        place[:3, :3] = T[:3, :3] @ box.R
        shape = {"kind": "box", "size": box.sides.tolist(), "pose": pose_of(place)}
        reach = far + float(np.linalg.norm(box.sides)) / 2
        found.append(({**shape, "colour": colour, "stands_for": "inertia"}, reach))
    elif body.mass > 0:
        shape = {"kind": "sphere", "radius": 3 * ROD * size, "pose": pose_of(T), "colour": colour}
        found.append((shape, far + 3 * ROD * size))
    points = _joints_at(robot, link)
    points = [(T @ [*point, 1.0])[:3] for point in points]
    centre = T[:3, 3] if body.mass > 0 or not points else points[0]
    for point in points:
        rod = _rod(centre, point, ROD * size)
        if rod is not None:
            reach = max(float(np.linalg.norm(end)) for end in (centre, point)) + ROD * size
            found.append((rod, reach))
    return found


def _joints_at(robot: Robot, link: int) -> list[Floats]:
    """The points (3,) [m] where joints and loops are attached to a link, relative to its centre of
    mass."""
    points: list[Floats] = []
    if link:
        T: Floats = np.asarray(np.linalg.inv(robot.links[link - 1].T), dtype=float)
        points.append(T[:3, 3])
    points += [joint.T[:3, 3] for joint in robot.joints if joint.parent_link == link]
    for loop in robot.loops:
        if loop.coupling is None:
            points += [T[:3, 3] for end, T in ((loop.a, loop.Ta), (loop.b, loop.Tb)) if end == link]
    return points


def _rod(a: Floats, b: Floats, radius: float) -> Shape | None:
    """A cylinder from a to b (3,) [m]; None if the points coincide."""
    along = b - a
    length = float(np.linalg.norm(along))
    if length < radius:
        return None
    T = np.eye(4)
    T[:3, :3] = Rotation.align_vectors([along / length], [[0.0, 0.0, 1.0]])[0].as_matrix()
    T[:3, 3] = (a + b) / 2
    shape = {"kind": "cylinder", "radius": radius, "length": length, "pose": pose_of(T)}
    return {**shape, "colour": list(_ROD_COLOUR)}


# --- poses --------------------------------------------------------------------------------


def pose_of(T: ArrayLike) -> list[float]:
    """[x, y, z, qx, qy, qz, qw] of a transform (4,4), scalar-last."""
    T = np.array(T, dtype=float)  # SciPy takes no read-only arrays
    q = Rotation.from_matrix(T[:3, :3]).as_quat()
    return [float(f"{value:.7g}") for value in (*T[:3, 3], *q)]


def _moved(shape: Shape, T: Floats) -> Shape:
    """A shape expressed in another frame; T (4,4) is the pose of its present frame there."""
    place = np.eye(4)
    place[:3, 3] = shape["pose"][:3]
    place[:3, :3] = Rotation.from_quat(shape["pose"][3:]).as_matrix()
    return {**shape, "pose": pose_of(T @ place)}

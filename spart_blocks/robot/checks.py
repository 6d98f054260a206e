"""Checks of masses and inertias, shared by all readers. Faults are impossible values: always
errors. Doubts are values that no real body has, or that make the generalized inertia matrix H
singular: warnings, or errors with strict=True.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from spart_blocks.base.errors import Fault, Place, RobotError, warn
from spart_blocks.robot._faults import MOST_FAULTS, names_list
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import skew
from spart_blocks.robot.parts import BaseLink, Joint, JointType, Link
from spart_blocks.robot.robot_model import RobotModel

MAGNITUDE_LIMIT = 1e30  # in SI units; keeps products of figures far from overflow
ROUNDING = 1e-6  # relative: files print inertias with few digits
SINGULAR = 1e-12  # relative: an inertia about an axis that is zero up to rounding
NEGLIGIBLE = 1e-12  # [m^2] inertia by mass below which an inertia is noise: (1 um)^2
AXIS_ROUNDING = 1e-3  # an axis written with three digits is still meant to be a unit one


@dataclass(frozen=True)
class Doubt:
    """One kind of doubtful values, and the links or joints that have them."""

    what: str
    subject: str  # "link" or "joint"
    names: tuple[str, ...]
    hint: str

    def warning(self) -> str:
        """One text for all names, to avoid many warnings for a large robot."""
        subject = self.subject if len(self.names) == 1 else f"{self.subject}s"
        return f"{self.what}: {subject} {names_list(self.names)}\n  {self.hint}"

    def faults(self, places: Mapping[tuple[str, str], Place]) -> list[Fault]:
        """One fault for each name, at its place in the file."""
        return [
            Fault(
                f"{self.subject} {name!r}: {self.what}", places.get((self.subject, name)), self.hint
            )
            for name in self.names
        ]


def inertia_faults(mass: float, inertia: Floats) -> list[str]:
    """The faults of a mass [kg] and an inertia (3,3) [kg m^2], both finite."""
    faults = []
    if mass < 0:
        faults.append(f"mass is {mass:g} kg; it cannot be negative")
    size = np.abs(inertia).max()
    if np.abs(inertia - inertia.T).max() > ROUNDING * size:
        faults.append("inertia is not symmetric")
    elif size > NEGLIGIBLE * abs(mass):
        moments = np.linalg.eigvalsh(inertia / size)
        if moments[0] < -ROUNDING * np.abs(moments).max():
            faults.append(
                f"inertia is indefinite: its smallest principal moment is "
                f"{moments[0] * size:.4g} kg m^2"
            )
    return faults


def unit_axis(axis: Floats) -> tuple[Floats, bool] | None:
    """The axis (3,) at unit length and whether it was near that; None if it is zero."""
    size = np.abs(axis).max()
    if size == 0:
        return None
    scaled = axis / size  # first, so that tiny axes do not underflow in the norm
    length = float(np.linalg.norm(scaled))
    return scaled / length, bool(abs(length * size - 1) <= AXIS_ROUNDING)


def doubts(robot: RobotModel, point_masses: Iterable[str] = ()) -> list[Doubt]:
    """All doubts about the inertias of a robot, one entry for each kind. A fixed base-link never
    moves, so its values are not checked. H may be singular for joints in loops and for prescribed
    joints, so these are not checked. point_masses: links that are meant to have mass without
    inertia.
    """
    bodies: list[Link | BaseLink] = list(robot.links)
    if robot.base == "floating":
        bodies.insert(0, robot.base_link)
    return [*_body_doubts(bodies, set(point_masses)), *_singular_doubts(robot)]


def _body_doubts(bodies: Iterable[Link | BaseLink], points: set[str]) -> list[Doubt]:
    triangle, no_inertia, no_mass = [], [], []
    for body in bodies:
        size = np.abs(body.inertia).max()
        if size > NEGLIGIBLE * body.mass:
            low, mid, high = np.linalg.eigvalsh(body.inertia / size)
            if low + mid < high * (1 - ROUNDING):
                triangle.append(body.name)
            if body.mass == 0:
                no_mass.append(body.name)
        elif body.mass > 0 and body.name not in points:
            no_inertia.append(body.name)
    kinds = [
        Doubt(
            "inertia breaks the triangle inequality (one principal moment exceeds the sum of "
            "the other two)",
            "link",
            tuple(triangle),
            "no rigid body has such an inertia; check signs, units and rounding",
        ),
        Doubt(
            "mass without inertia",
            "link",
            tuple(no_inertia),
            "a point mass: give its moments about the centre of mass",
        ),
        Doubt(
            "inertia without mass",
            "link",
            tuple(no_mass),
            "no rigid body has inertia and no mass; give it a mass, or neither",
        ),
    ]
    return [kind for kind in kinds if kind.names]


def _singular_doubts(robot: RobotModel) -> list[Doubt]:
    joints, base_singular = singular_joints(robot)
    looped = _joints_in_loops(robot)
    joints = tuple(name for name in joints if name not in looped)
    found = []
    if joints:
        what = "nothing with inertia moves about or along the axis, so H is singular"
        hint = "give the links beyond it mass and inertia, or make the joint fixed"
        found.append(Doubt(what, "joint", joints, hint))
    if base_singular:
        what = "the floating base moves without inertia, so H is singular"
        hint = "give the base-link mass and inertia, or use base: fixed"
        found.append(Doubt(what, "link", (robot.base_link.name,), hint))
    return found


def _joints_in_loops(robot: RobotModel) -> set[str]:
    """The joints in loops, for which H may be singular, and the prescribed joints."""
    names = {joint.name for joint in robot.joints if joint.kinematic}
    for loop in robot.loops:
        if loop.coupling is not None:
            names |= {loop.coupling.joint, loop.coupling.other}
            continue
        for i in set(_path(loop.a, robot)) ^ set(_path(loop.b, robot)):
            names.add(robot.joints[i - 1].name)
    return names


def _path(link: int, robot: RobotModel) -> list[int]:
    """The ids of the joints between the base-link and a link."""
    path = []
    while link:
        path.append(link)
        link = robot.parents[link - 1]
    return path


def report_doubts(
    robot: RobotModel,
    *,
    strict: bool,
    places: Mapping[tuple[str, str], Place] | None = None,
    lumped: bool = False,
    point_masses: Iterable[str] = (),
) -> None:
    """Warn of each kind of doubt once; with strict, raise RobotError with all of them.

    places: where ("link", name) or ("joint", name) stands in the file. lumped: the values were
    identified at joints, and are not those of bodies. point_masses: links that are meant to have
    mass without inertia.
    """
    if lumped and not any(array.any() for array in robot.matter):
        return
    found = _singular_doubts(robot) if lumped else doubts(robot, point_masses)
    if strict and found:
        faults = [fault for doubt in found for fault in doubt.faults(places or {})]
        rest = len(faults) - MOST_FAULTS
        more = [Fault(f"and {rest} more doubtful figures")] if rest > 0 else []
        raise RobotError([*faults[:MOST_FAULTS], *more])
    where = f"{robot.source or robot.name}: "
    for doubt in found:
        warn(where + doubt.warning())


def singular_joints(robot: RobotModel) -> tuple[tuple[str, ...], bool]:
    """The joints about which nothing has inertia, and whether the floating base has none.

    H is singular exactly where D = S' IA S of the articulated-body recursion is zero
    for some joint, or the articulated inertia of the base is singular; D has the motor's
    inertia G^2 Jm, where motors are among the robot's effects. This runs the
    inward pass once, at one generic configuration, so it finds what is singular in
    every configuration: a joint that moves only massless links, point masses on its
    axis, or two joints on one axis with nothing between; not a gimbal lock.
    Source: R. Featherstone, Rigid Body Dynamics Algorithms (2008), ch. 7.
    """
    IA = [_spatial_inertia(robot.base_link), *(_spatial_inertia(link) for link in robot.links)]
    singular, size = [], 0.0
    inner = {ball + k for ball in robot.balls for k in (1, 2)}
    for link, joint in zip(reversed(robot.links), reversed(robot.joints), strict=True):
        I_J = _moved(IA[link.id], link.T)
        if joint.type is not JointType.FIXED:
            S = np.zeros(6)
            rows = slice(3, 6) if joint.type is JointType.PRISMATIC else slice(0, 3)
            S[rows] = joint.axis
            U = I_J @ S
            D = float(S @ U) + _motor_inertia(joint, robot)
            if joint.id + 1 not in inner:  # rows of a spherical joint count as a block
                size = np.trace(I_J[rows, rows])
            noise = SINGULAR * size
            if noise < D:
                I_J = I_J - np.outer(U, U) / D
            else:
                singular.append(joint.name)
        turns = np.eye(4) if joint.id in inner else _displacement(joint)
        IA[joint.parent_link] = IA[joint.parent_link] + _moved(I_J, joint.T @ turns)
    base_singular = robot.base == "floating" and _is_singular(IA[0])
    return tuple(reversed(singular)), base_singular


def _motor_inertia(joint: Joint, robot: RobotModel) -> float:
    """The inertia of the joint's motor at the joint [kg m^2 or kg], where it counts."""
    drive = joint.drive if "motors" in robot.effects else None
    return drive.gear**2 * drive.motor_inertia if drive else 0.0


def _spatial_inertia(body: Link | BaseLink) -> Floats:
    inertia = np.zeros((6, 6))
    inertia[:3, :3] = body.inertia
    inertia[3:, 3:] = body.mass * np.eye(3)
    return inertia


def _moved(inertia: Floats, T: Floats) -> Floats:
    """The spatial inertia (6,6), angular first, in the frame that T (4,4) leads from."""
    R = T[:3, :3]
    X = np.zeros((6, 6))
    X[:3, :3] = X[3:, 3:] = R
    X[:3, 3:] = skew(T[:3, 3]) @ R
    moved: Floats = X @ inertia @ X.T
    return moved


def _displacement(joint: Joint) -> Floats:
    """T (4,4) of the joint at a generic value: another for each joint, never special."""
    q = 0.5 + (joint.id * 0.6180339887498949) % 1.0
    T = np.eye(4)
    if joint.type in (JointType.REVOLUTE, JointType.SPHERICAL):
        axis = joint.axis if joint.type is JointType.REVOLUTE else np.array([0.6, 0.48, 0.64])
        K = skew(axis)
        T[:3, :3] += np.sin(q) * K + (1 - np.cos(q)) * K @ K
    elif joint.type is JointType.PRISMATIC:
        T[:3, 3] = q * joint.axis
    return T


def _is_singular(inertia: Floats) -> bool:
    diagonal = np.diag(inertia)
    if diagonal.min() <= 0:
        return True
    scale = np.sqrt(diagonal)
    return bool(np.linalg.eigvalsh(inertia / np.outer(scale, scale))[0] <= SINGULAR)

"""URDF elements to records: numbers, origins, inertials, joints, each with its line.

Elements that the dynamics does not need (visual, collision, material, transmission, gazebo,
safety_controller, calibration) are skipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from lxml import etree

from spart_blocks.base.errors import Place
from spart_blocks.robot._faults import Faults, quote
from spart_blocks.robot._record import Floats
from spart_blocks.robot._transforms import urdf_origin
from spart_blocks.robot.checks import MAGNITUDE_LIMIT, inertia_faults, unit_axis
from spart_blocks.robot.drive import Drive, Limits
from spart_blocks.robot.parts import JointType

JOINT_TYPES = {
    "fixed": JointType.FIXED,
    "revolute": JointType.REVOLUTE,
    "continuous": JointType.REVOLUTE,
    "prismatic": JointType.PRISMATIC,
}
UNSUPPORTED_TYPES = {
    "floating": "make it the root link with base: floating, or build it of three prismatic and "
    "three revolute joints with massless links between",
    "planar": "build it of two prismatic joints and one revolute joint with massless links between",
    "ball": "build it of three revolute joints with massless links between",
    "spherical": "build it of three revolute joints with massless links between",
}

_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?", re.ASCII)
_INFINITE = re.compile(r"[+-]?inf(?:inity)?", re.IGNORECASE)
_NOT_A_NUMBER = re.compile(r"[+-]?nan", re.IGNORECASE)
_INERTIA = ("ixx", "ixy", "ixz", "iyy", "iyz", "izz")


@dataclass(frozen=True)
class LinkElement:
    """A <link>: T (4,4) from its frame to its centre of mass, mass, inertia (3,3)."""

    name: str
    place: Place
    T: Floats
    mass: float
    inertia: Floats


@dataclass(frozen=True)
class MimicElement:
    """A <mimic>: the name of the followed joint, multiplier, and offset [rad or m]."""

    joint: str
    multiplier: float
    offset: float
    place: Place


@dataclass(frozen=True)
class JointElement:
    """A <joint>: the links by name (None where not given), T (4,4) its origin, axis (3,)."""

    name: str
    place: Place
    type: JointType | None
    parent: str | None
    child: str | None
    T: Floats
    axis: Floats
    near_unit: bool
    mimic: MimicElement | None
    limits: Limits | None
    drive: Drive | None


class ElementReader:
    """Reads the elements of one file, noting every fault."""

    def __init__(self, file: str, namespace: str | None, faults: Faults) -> None:
        self.file, self.namespace, self.faults = file, namespace, faults

    def place(self, element: etree._Element) -> Place:
        """The place of an element."""
        return Place(self.file, line_of(element))

    def children(self, element: etree._Element, tag: str) -> Iterator[etree._Element]:
        """The child elements of a tag, in the namespace of the root."""
        wanted = f"{{{self.namespace}}}{tag}" if self.namespace else tag
        return element.iterchildren(wanted)

    def note(self, element: etree._Element, message: str, hint: str | None = None) -> None:
        """Note a fault at an element."""
        self.faults.add(message, self.place(element), hint)

    def _only(self, element: etree._Element, tag: str, owner: str) -> etree._Element | None:
        found = list(self.children(element, tag))
        if len(found) > 1:
            self.note(found[1], f"{owner} has {len(found)} <{tag}> elements; it takes one")
        return found[0] if found else None

    # --- numbers ----------------------------------------------------------------

    def _numbers(
        self, element: etree._Element, attribute: str, count: int, owner: str
    ) -> Floats | None:
        """The numbers of an attribute; None, with the fault noted, if they are invalid."""
        words = str(element.get(attribute, "")).split()
        where = f"{owner}: <{_tag(element)} {attribute}>"
        if len(words) != count:
            given = quote(element.get(attribute))
            self.note(element, f"{where} has {len(words)} numbers, {given}; it takes {count}")
            return None
        values = np.zeros(count)
        for index, word in enumerate(words):
            reason = self._why_not_a_number(word)
            if reason:
                self.note(element, f"{where} {reason}")
                return None
            values[index] = float(word)
        return values

    @staticmethod
    def _why_not_a_number(word: str) -> str | None:
        if _INFINITE.fullmatch(word) or _NOT_A_NUMBER.fullmatch(word):
            return f"is {word}; it must be finite"
        if len(word) > 400 or not _NUMBER.fullmatch(word):
            return f"is not a number: {quote(word)}"
        if abs(float(word)) > MAGNITUDE_LIMIT:
            return f"is {word[:40]}; beyond {MAGNITUDE_LIMIT:g} nothing can be computed with it"
        return None

    def _number(self, element: etree._Element, attribute: str, owner: str) -> float | None:
        if element.get(attribute) is None:
            self.note(element, f"{owner}: <{_tag(element)}> has no {attribute}")
            return None
        values = self._numbers(element, attribute, 1, owner)
        return None if values is None else float(values[0])

    def _vector(
        self, element: etree._Element | None, attribute: str, default: tuple[float, ...], owner: str
    ) -> Floats:
        if element is not None and element.get(attribute) is not None:
            values = self._numbers(element, attribute, 3, owner)
            if values is not None:
                return values
        return np.array(default)

    def _origin(self, element: etree._Element, owner: str) -> Floats:
        origin = self._only(element, "origin", owner)
        zero = (0.0, 0.0, 0.0)
        xyz = self._vector(origin, "xyz", zero, owner)
        return urdf_origin(xyz, self._vector(origin, "rpy", zero, owner))

    # --- links ------------------------------------------------------------------

    def link(self, element: etree._Element) -> LinkElement:
        """Read a <link>. Without <inertial> it is massless."""
        name = self._name(element, "link")
        owner = f"link {quote(name)}"
        T, mass, inertia = np.eye(4), 0.0, np.zeros((3, 3))
        inertial = self._only(element, "inertial", owner)
        if inertial is not None:
            T = self._origin(inertial, owner)
            mass, inertia = self._mass(inertial, owner), self._inertia(inertial, owner)
            for message in inertia_faults(mass, inertia):
                self.note(inertial, f"{owner}: {message}")
        return LinkElement(name, self.place(element), T, mass, inertia)

    def _mass(self, inertial: etree._Element, owner: str) -> float:
        element = self._only(inertial, "mass", owner)
        return 0.0 if element is None else self._number(element, "value", owner) or 0.0

    def _inertia(self, inertial: etree._Element, owner: str) -> Floats:
        element = self._only(inertial, "inertia", owner)
        if element is None:
            return np.zeros((3, 3))
        read = [self._number(element, key, owner) for key in _INERTIA]
        if any(value is None for value in read):
            return np.zeros((3, 3))
        xx, xy, xz, yy, yz, zz = (value or 0.0 for value in read)
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    def _name(self, element: etree._Element, kind: str) -> str:
        name = element.get("name")
        if not name:
            self.note(element, f"a <{kind}> has no name")
        return name or ""

    # --- joints -----------------------------------------------------------------

    def joint(self, element: etree._Element) -> JointElement:
        """Read a <joint>. The axis defaults to x, as in URDF."""
        name = self._name(element, "joint")
        owner = f"joint {quote(name)}"
        kind = self._joint_type(element, owner)
        axis, near_unit = self._axis(element, kind, owner)
        return JointElement(
            name=name,
            place=self.place(element),
            type=kind,
            parent=self._end(element, "parent", owner),
            child=self._end(element, "child", owner),
            T=self._origin(element, owner),
            axis=axis,
            near_unit=near_unit,
            mimic=None if kind is JointType.FIXED else self._mimic(element, owner),
            limits=self._limits(element, owner),
            drive=self._drive(element, owner),
        )

    def _mimic(self, element: etree._Element, owner: str) -> MimicElement | None:
        mimic = self._only(element, "mimic", owner)
        if mimic is None:
            return None
        name = mimic.get("joint")
        if not name:
            self.note(mimic, f"{owner}: <mimic> names no joint")
        numbers = {"multiplier": 1.0, "offset": 0.0}
        for key in numbers:
            if mimic.get(key) is not None:
                numbers[key] = self._number(mimic, key, owner) or 0.0
        return MimicElement(name or "", **numbers, place=self.place(mimic))

    def _joint_type(self, element: etree._Element, owner: str) -> JointType | None:
        text = element.get("type")
        if text in JOINT_TYPES:
            return JOINT_TYPES[text]
        takes = "it takes fixed, revolute, continuous or prismatic"
        if text is None:
            self.note(element, f"{owner} has no type; {takes}")
        elif text in UNSUPPORTED_TYPES:
            self.note(
                element,
                f"{owner}: joints of type {text!r} are not supported; {takes}",
                UNSUPPORTED_TYPES[text],
            )
        else:
            hint = self.faults.hint_for(text, [*JOINT_TYPES])
            self.note(element, f"{owner}: unknown type {quote(text)}; {takes}", hint)
        return None

    def _end(self, element: etree._Element, tag: str, owner: str) -> str | None:
        end = self._only(element, tag, owner)
        link = None if end is None else end.get("link")
        if not link:
            where = element if end is None else end
            self.note(where, f"{owner} has no {tag} link")
        return link or None

    def _axis(
        self, element: etree._Element, kind: JointType | None, owner: str
    ) -> tuple[Floats, bool]:
        axis = self._only(element, "axis", owner)
        given = self._vector(axis, "xyz", (1.0, 0.0, 0.0), owner)
        if axis is not None and axis.get("xyz") is None:
            self.note(axis, f"{owner}: <axis> has no xyz")
        if kind is JointType.FIXED:
            return np.zeros(3), True  # SPART gives a fixed joint no axis
        unit = unit_axis(given)
        if unit is None:
            if kind is not None:
                self.note(element if axis is None else axis, f"{owner}: the axis is zero")
            return np.zeros(3), True
        return unit

    def _limits(self, element: etree._Element, owner: str) -> Limits | None:
        limit = self._only(element, "limit", owner)
        if limit is None or element.get("type") == "fixed":
            return None
        effort, velocity = (self._bound(limit, key, owner) for key in ("effort", "velocity"))
        lower, upper = (self._bound(limit, key, owner) for key in ("lower", "upper"))
        if element.get("type") == "continuous" or (lower is None and upper is None):
            lower, upper = -np.inf, np.inf
        return Limits(
            lower=lower or 0.0,  # URDF's default for one that is not given
            upper=upper or 0.0,
            effort=np.inf if effort is None else effort,
            velocity=np.inf if velocity is None else velocity,
        )

    def _drive(self, element: etree._Element, owner: str) -> Drive | None:
        """Damping and friction of <dynamics>, which are those at the joint."""
        dynamics = self._only(element, "dynamics", owner)
        if dynamics is None or element.get("type") == "fixed":
            return None
        damping, friction = (
            self._loss(dynamics, key, owner) if dynamics.get(key) is not None else 0.0
            for key in ("damping", "friction")
        )
        if damping == friction == 0:
            return None
        return Drive(viscous=damping, coulomb=(friction, -friction))

    def _loss(self, dynamics: etree._Element, key: str, owner: str) -> float:
        value = self._number(dynamics, key, owner) or 0.0
        if value < 0:
            message = f"{owner}: <dynamics {key}> is {value:g}; it must not be negative"
            self.note(dynamics, message)
        return max(value, 0.0)

    def _bound(self, limit: etree._Element, key: str, owner: str) -> float | None:
        """A limit; unlike other numbers it may be infinite."""
        text = limit.get(key)
        if text is None:
            return None
        if _INFINITE.fullmatch(text.strip()):
            return float(text)
        return self._number(limit, key, owner)


def line_of(element: etree._Element) -> int | None:
    """The line of an element's start tag."""
    line: Any = element.sourceline  # lxml-stubs says int, or an ellipsis
    return line or None


def _tag(element: etree._Element) -> str:
    return str(etree.QName(element).localname)

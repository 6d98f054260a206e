"""Changes between two robots: masses, centres of mass, inertias, joints, loops."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import fields
from functools import partial
from typing import Any

import numpy as np

from spart_blocks.robot import Robot
from spart_blocks.robot.parts import BaseLink, Joint, Link
from spart_blocks.versions.differences.changes import ABSENT, Change, Kind

ROBOT = "robot"
_LIMIT_UNITS = {
    "lower": ("rad", "m"),
    "upper": ("rad", "m"),
    "effort": ("N m", "N"),
    "velocity": ("rad/s", "m/s"),
}


def robot_changes(name: str, old: Robot, new: Robot) -> Iterator[Change]:
    """The changes from one robot to another. name: what the diagram calls it."""
    if old == new:
        return
    yield from _number(f"{name}.mass", old.mass, new.mass, "kg", "of all bodies")
    yield from _value(f"{name}.base", old.base, new.base)
    yield from _value(f"{name}.effects", list(old.effects), list(new.effects))
    yield from _of_bodies(name, old, new)
    yield from _of_joints(name, old, new)
    for part in ("loops", "forces"):
        yield from _named(f"{name}.{part}", getattr(old, part), getattr(new, part))
    yield from _array(f"{name}.home", old.home, new.home, "rad, m")


def _of_bodies(name: str, old: Robot, new: Robot) -> Iterator[Change]:
    """Changes of links and of the base link, by name."""
    yield from _by_name(name, _bodies(old), _bodies(new), _of_body, _mass_text, "link")


def _bodies(robot: Robot) -> dict[str, Link | BaseLink]:
    """The base link and all links by name."""
    return {robot.base_link.name: robot.base_link} | {link.name: link for link in robot.links}


def _by_name(
    path: str,
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    changes: Callable[[str, Any, Any], Iterator[Change]],
    text: Callable[[Any], Any] = lambda one: ABSENT,
    note: str = "",
) -> Iterator[Change]:
    """Parts removed and added, and the changes of those that both robots have. text: a part in a
    line."""
    for name, one in before.items():
        if name not in after:
            yield Change(ROBOT, "removed", f"{path}.{name}", text(one), note=note)
    for name, one in after.items():
        if name not in before:
            yield Change(ROBOT, "added", f"{path}.{name}", ABSENT, text(one), note=note)
    for name, one in before.items():
        if name in after:
            yield from changes(f"{path}.{name}", one, after[name])


def _mass_text(body: Link | BaseLink) -> str:
    """A body in a line: its mass."""
    return f"{body.mass:g} kg"


def _of_body(path: str, old: Link | BaseLink, new: Link | BaseLink) -> Iterator[Change]:
    """Changes of mass, centre of mass and inertia of a body."""
    yield from _number(f"{path}.mass", old.mass, new.mass, "kg")
    a, b = old.to_mass[:3, 3], new.to_mass[:3, 3]
    yield from _array(f"{path}.centre_of_mass", a, b, "m", "in the frame of the link")
    about = "about the centre of mass, by rows"
    yield from _array(f"{path}.inertia", old.inertia, new.inertia, "kg m^2", about)


def _of_joints(name: str, old: Robot, new: Robot) -> Iterator[Change]:
    """Changes of joints, by name."""
    before, after = ({joint.name: joint for joint in one.joints} for one in (old, new))
    changes = partial(_of_joint, olds=_link_names(old), news=_link_names(new))
    yield from _by_name(name, before, after, changes, lambda one: one.type.name.lower(), "joint")


def _link_names(robot: Robot) -> dict[int, str]:
    """Names of links by id."""
    return {0: robot.base_link.name} | {link.id: link.name for link in robot.links}


def _of_joint(
    path: str, old: Joint, new: Joint, olds: dict[int, str], news: dict[int, str]
) -> Iterator[Change]:
    """Changes of a joint: type, parent, axis, frame, limits, drive."""
    yield from _value(f"{path}.type", old.type.name.lower(), new.type.name.lower(), "retyped")
    yield from _value(f"{path}.parent", olds[old.parent_link], news[new.parent_link])
    yield from _value(f"{path}.prescribed", old.kinematic, new.kinematic)
    yield from _array(f"{path}.axis", old.axis, new.axis, "")
    frame = "in the parent's frame at its centre of mass"
    yield from _array(f"{path}.origin", old.T[:3, 3], new.T[:3, 3], "m", frame)
    if not _near(old.T[:3, :3], new.T[:3, :3]):
        a, b = old.T[:3, :3].tolist(), new.T[:3, :3].tolist()
        yield Change(ROBOT, "changed", f"{path}.rotation", a, b)
    sliding = new.type.name == "PRISMATIC"
    for part, units in _LIMIT_UNITS.items():
        a, b = getattr(old.limits, part, None), getattr(new.limits, part, None)
        yield from _number(f"{path}.limits.{part}", a, b, units[sliding])
    yield from _record(f"{path}.drive", old.drive, new.drive)


def _named(path: str, old: tuple[Any, ...], new: tuple[Any, ...]) -> Iterator[Change]:
    """Changes of loops or forces, by name."""
    before, after = ({one.name: one for one in ones} for ones in (old, new))
    yield from _by_name(path, before, after, _record)


def _record(path: str, old: Any, new: Any) -> Iterator[Change]:
    """The fields of a dataclass that differ."""
    if old == new:
        return
    if old is None or new is None or type(old) is not type(new):
        yield Change(
            ROBOT, "added" if old is None else "removed" if new is None else "changed", path
        )
        return
    for item in fields(old):
        a, b = getattr(old, item.name), getattr(new, item.name)
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            yield from _array(f"{path}.{item.name}", a, b, "")
        elif a != b:
            yield Change(ROBOT, "changed", f"{path}.{item.name}", _plain(a), _plain(b))


def _plain(value: Any) -> Any:
    """A field's value as a file would have it."""
    if isinstance(value, np.ndarray):
        return value.tolist()
    simple = isinstance(value, bool | int | float | str | list) or value is None
    return value if simple else str(value)


def _value(path: str, old: Any, new: Any, kind: Kind = "changed") -> Iterator[Change]:
    """A change, if two values differ."""
    if old != new:
        yield Change(ROBOT, kind, path, old, new)


def _number(
    path: str, old: float | None, new: float | None, unit: str, note: str = ""
) -> Iterator[Change]:
    """A change, if two numbers differ by more than rounding."""
    if old == new or (old is not None and new is not None and _near(old, new)):
        return
    a, b = (ABSENT if one is None else float(one) for one in (old, new))
    yield Change(ROBOT, "changed", path, a, b, unit, note)


def _array(path: str, old: Any, new: Any, unit: str, note: str = "") -> Iterator[Change]:
    """A change, if two arrays differ by more than rounding."""
    if old is None and new is None:
        return
    if old is not None and new is not None and _near(old, new):
        return
    a, b = (ABSENT if one is None else np.asarray(one).tolist() for one in (old, new))
    yield Change(ROBOT, "changed", path, a, b, unit, note)


def _near(old: Any, new: Any) -> bool:
    """Whether values differ by no more than rounding, as of a frame computed in two ways."""
    a, b = np.asarray(old, dtype=float), np.asarray(new, dtype=float)
    if a.shape != b.shape:
        return False
    scale = np.max(np.abs(b[np.isfinite(b)]), initial=0.0)
    return bool(np.allclose(a, b, rtol=1e-12, atol=1e-13 * scale))

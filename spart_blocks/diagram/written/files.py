"""The files that a diagram names: the folder that must contain them, and its robots."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from json import JSONDecodeError
from os.path import normpath
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place, did_you_mean, told
from spart_blocks.diagram.sections.robot_section import RobotSection
from spart_blocks.diagram.written.sheets import File
from spart_blocks.robot import Robot

MAX_BYTES = 16_000_000
"""Largest size of all robots of a diagram together [bytes]; the largest public ones have 0.3 MB."""
MAX_LINKS = 1000
MOST_TOLD = 20
"""Largest number of wrong joints that are reported for a robot; each is compared with all names."""
ROOT_MARKS = ("pyproject.toml", ".git", "spart.toml")


def project_root(file: Path) -> Path:
    """The nearest folder, upwards from the file, with pyproject.toml, .git or spart.toml;
    otherwise the folder of the file. A link stands for the file that it leads to.
    """
    folder = file.resolve().parent
    for candidate in (folder, *folder.parents):
        if any((candidate / mark).exists() for mark in ROOT_MARKS):
            return candidate
    return folder


@dataclass
class Robots:
    """The robots that the files of a diagram name; each is read once. root: folder that must
    contain their files. size: bytes read so far.
    """

    root: Path
    known: dict[tuple[Any, ...], Robot | Sequence[Fault]] = field(default_factory=dict)
    size: int = 0

    def read(
        self,
        section: RobotSection,
        name: str,
        document: Document,
        faults: list[Fault],
        read: list[Path],
    ) -> Robot | None:
        """The robot that a section names, or None after adding faults.
        read: the files read so far, to which its own is added."""
        paths = self._paths(section, name, document, faults)
        if paths is None:
            return None
        read += paths.values()
        held = section.base, section.strict, section.effects
        key = (*paths.items(), *held)
        if key not in self.known:
            self.known[key] = self._robot(section, paths)
        found = self.known[key]
        if isinstance(found, Robot):
            return _prescribed(found, section, name, document, faults)
        kind = section.source[0]
        place = document.place("robots", name, kind)
        faults += [_placed(fault, place, paths[kind]) for fault in found]
        return None

    def _paths(
        self, section: RobotSection, name: str, document: Document, faults: list[Fault]
    ) -> dict[str, Path] | None:
        """The paths of the robot's file and of those of its drives and loops, by kind; None after
        a fault.
        """
        kind, given = section.source
        wanted = {kind: given, "drives": section.drives, "loops": section.loops}
        paths = {
            key: existing(text, document, self.root, document.place("robots", name, key), faults)
            for key, text in wanted.items()
            if text is not None
        }
        found = {key: path for key, path in paths.items() if path is not None}
        return found if len(found) == len(paths) else None

    def _robot(self, section: RobotSection, paths: dict[str, Path]) -> Robot | Sequence[Fault]:
        """The robot from its files, or its faults."""
        path = paths[section.source[0]]
        try:
            self.size += sum(file.stat().st_size for file in paths.values())
            if self.size > MAX_BYTES:
                hint = "robots have no meshes here: keep their links and joints only"
                return [Fault(f"the robots' files have more than {MAX_BYTES} bytes", hint=hint)]
            robot = _read(section, path, paths.get("drives"), paths.get("loops"))
            if len(robot.links) > MAX_LINKS:
                message = f"it has {len(robot.links)} links; the most is {MAX_LINKS}"
                return [Fault(message, hint="leave out what does not move on its own")]
            if section.effects is not None:
                robot = robot.with_effects(section.effects)
            return robot if section.base is None else robot.with_base(section.base)
        except InputError as error:
            return error.faults
        except JSONDecodeError as error:
            place = Place(str(path), error.lineno, error.colno)
            return [Fault(f"not JSON: {error.msg}", place, "write it with a JSON library")]
        except RecursionError:
            return [Fault("cannot be read: it is nested too deep", Place(str(path)))]
        except Exception as error:
            return [Fault(f"cannot be read: {told(error)}", Place(str(path)))]


def inside(
    given: str, document: Document, root: Path, place: Place, faults: list[Fault]
) -> Path | None:
    """The path of a file in the project, which need not exist; None, after adding a fault, if it
    is outside the project.
    """
    try:
        path = (Path(document.file).resolve().parent / given).resolve()
        limit = root.resolve()
    except (OSError, ValueError, RuntimeError) as error:
        faults.append(_cannot_open(given, place, error))
        return None
    if path.is_relative_to(limit):
        return path
    hint = f"files must lie in {limit}; give root= (--root) to widen it"
    faults.append(Fault(f"{given} leaves the project", place, hint))
    return None


def existing(
    given: str,
    document: Document,
    root: Path,
    place: Place,
    faults: list[Fault],
    most: int = MAX_BYTES,
) -> Path | None:
    """The path of an existing file that another file names by a relative path; None after a fault.
    It must be inside root and have at most `most` bytes.
    """
    path = inside(given, document, root, place, faults)
    if path is None:
        return None
    try:
        if not path.is_file():
            problem = "is not a file" if path.exists() else "does not exist"
            hint = "it is a folder: name a file in it" if path.is_dir() else f"looked for {path}"
            faults.append(Fault(f"{given} {problem}", place, hint))
        elif path.stat().st_size > most:
            faults.append(Fault(f"{given} is larger than {most} bytes", place))
        else:
            return path
    except (OSError, ValueError, RuntimeError) as error:
        faults.append(_cannot_open(given, place, error))
    return None


def _cannot_open(given: str, place: Place, error: Exception) -> Fault:
    reason = getattr(error, "strerror", None) or str(error)
    return Fault(f"cannot open {given[:80]!r}: {reason}", place)


def _read(section: RobotSection, path: Path, drives: Path | None, loops: Path | None) -> Robot:
    kind, strict = section.source[0], section.strict
    if kind == "urdf":
        given: Any = {"base": section.base, "drives": drives, "loops": loops}
        return Robot.from_urdf(path, strict=strict, mimic=section.mimic, **given)
    if kind == "bodies":
        robot = Robot.from_bodies(path, strict=strict)
    elif kind == "links":
        robot = Robot.from_links(path, base=section.base or "fixed")
    elif kind == "dh":
        robot = Robot.from_dh(read_document(path).data)
    else:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
        if isinstance(data, dict) and isinstance(data.get("robot"), dict):
            data = data["robot"]
        robot = Robot.from_spart(data)
    return robot if drives is None else robot.with_drives(drives)


def _prescribed(
    robot: Robot, section: RobotSection, name: str, document: Document, faults: list[Fault]
) -> Robot | None:
    """The robot with its prescribed joints; None after adding faults for names that are not
    joints.
    """
    moving = set(robot.active_joints)
    wrong = [n for n, joint in enumerate(section.kinematic) if joint not in moving]
    for number in wrong[:MOST_TOLD]:
        joint = section.kinematic[number]
        place = document.place("robots", name, "kinematic", number)
        hint = did_you_mean(joint, robot.active_joints)
        faults.append(Fault(f"robots.{name}.kinematic: {robot.not_moving(joint)}", place, hint))
    if wrong:
        return None
    if not section.kinematic:
        return robot
    already = [joint for joint in robot.kinematic_joints if joint not in section.kinematic]
    return robot.with_kinematic([*already, *section.kinematic])


def _placed(fault: Fault, place: Place, path: Path) -> Fault:
    if fault.place is not None:
        return fault
    return Fault(f"{path.name}: {fault.message}", place, fault.hint)


# --- Files that blocks use ------------------------------------------------------------------------


@dataclass
class UsedFiles:
    """The files that blocks of a diagram use. root: folder that must contain them. known: files
    read so far, by path; None if a file cannot be read.
    """

    root: Path
    known: dict[Path, File | None] = field(default_factory=dict)

    def use(self, given: str, user: Document) -> tuple[Path, File] | None:
        """The full path and the contents of a file. given: its path as written in the document
        `user`. None if it cannot be read.
        """
        faults: list[Fault] = []
        path = existing(given, user, self.root, user.place(), faults)
        file = None if path is None else self.read(path, given, user, faults)
        return None if path is None or file is None else (path, file)

    def read(self, path: Path, given: str, user: Document, faults: list[Fault]) -> File | None:
        """The file at a path. given: this path as written in `user`. None if it cannot be read;
        faults are added the first time.
        """
        if path not in self.known:
            shown = normpath(Path(user.file).parent / given)
            self.known[path] = None
            try:
                self.known[path] = File(replace(read_document(path), file=shown))
            except DiagramError as error:
                faults += _called(error.faults, shown)
        return self.known[path]


def _called(faults: Iterable[Fault], file: str) -> Iterable[Fault]:
    """Faults with the file name in their places replaced."""
    for fault in faults:
        place = fault.place
        yield fault if place is None else replace(fault, place=replace(place, file=file))

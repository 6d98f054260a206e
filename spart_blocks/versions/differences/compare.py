"""`diff`: the changes from one diagram file to another."""

from __future__ import annotations

import difflib
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, mapping_at
from spart_blocks.base.errors import Fault, InputError, SpartWarning
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.sections.robot_section import RobotSection
from spart_blocks.diagram.written.connections import Ports
from spart_blocks.diagram.written.files import Robots
from spart_blocks.robot import Robot
from spart_blocks.versions.differences.changes import ABSENT, Change, Difference
from spart_blocks.versions.differences.drawing_changes import drawing_changes
from spart_blocks.versions.differences.entry_changes import block_changes, section_changes
from spart_blocks.versions.differences.matched_versions import (
    DiagramVersion,
    MatchedVersions,
    PortsOfFile,
    SignalNames,
)
from spart_blocks.versions.differences.references import References, references_of
from spart_blocks.versions.differences.robots import robot_changes
from spart_blocks.versions.differences.sides import DiffSide, check_uses, two_sides
from spart_blocks.versions.differences.union import SheetMarks, Union, marks_of, unions_of
from spart_blocks.versions.differences.wire_changes import wire_changes

TEXT = "text"
MOST_LINES = 400
"""Lines of a difference of texts that are kept."""


def diff(
    old: str | Path,
    new: str | Path | None = None,
    *,
    text: bool = False,
    root: str | Path | None = None,
) -> Difference:
    """The changes from one diagram file to another.

    old, new: paths, git revisions as `"HEAD~1:servo.yaml"`, or `"/dev/null"` for no file. With one
    path, it is compared with the same file at HEAD. text: also what differs in the text only, such
    as comments. root: the folder that used files must lie in, by default the project's.
    Layout, comments, the order of keys and blocks, other ways to write the same wires, and defaults
    that are written out are no changes. A side need not be a diagram that runs. Raises InputError
    where a side cannot be read.
    """
    with two_sides(old, new, root) as (before, after):
        return difference_of(before, after, text=text)


def difference_of(old: DiffSide, new: DiffSide, *, text: bool = False) -> Difference:
    """The changes from one file to another. text: also lines that differ only in layout."""
    with collector_paused():
        for side in (old, new):
            check_uses(side)
        return _Comparison(text).of(old, new)


def pair_of(old: DiffSide, new: DiffSide) -> MatchedVersions:
    """Match the blocks of two files."""
    return MatchedVersions.of(*(DiagramVersion(side.file, _ports_in(side)) for side in (old, new)))


def signal_names(old: DiffSide, new: DiffSide) -> SignalNames:
    """The names in the new diagram of the signals of the old one."""
    with collector_paused():
        return SignalNames(pair_of(old, new))


def union_of(old: DiffSide, new: DiffSide, found: Difference) -> list[Union]:
    """Both files in one drawing: the diagram, and each subsystem that differs. found: the
    difference of the files."""
    with collector_paused():
        return unions_of(pair_of(old, new), found.changes, _changed_files(new, found))


def marks_between(old: DiffSide, new: DiffSide, found: Difference) -> list[SheetMarks]:
    """What to mark on the sheets of the new file. found: the difference of the files."""
    with collector_paused():
        return marks_of(pair_of(old, new), found.changes, _changed_files(new, found))


def _changed_files(new: DiffSide, found: Difference) -> set[str]:
    """The used files that differ, as the new file names them."""
    changed = {one.new for one in found.files if one}
    return {given for given in new.file.used if new.beside(given) in changed}


@dataclass
class _Comparison:
    """A comparison of two files and of those that they use. known: pairs of used files that have
    been compared."""

    text: bool
    known: set[tuple[str, str]] = field(default_factory=set)

    def of(self, old: DiffSide, new: DiffSide) -> Difference:
        """The difference of two files and of those that they use."""
        pair = pair_of(old, new)
        references = references_of(pair, old.data, new.data)
        changes = [
            *block_changes(pair, references, (_params(old), _params(new))),
            *wire_changes(pair),
            *drawing_changes(pair),
            *section_changes(pair, references, old.data, new.data),
        ]
        notes: list[str] = []
        changes += _of_robots(old, new, references, notes)
        if self.text:
            changes += _of_texts(old, new)
        files = tuple(self._used(old, new, pair, notes))
        return Difference(
            old.label, new.label, tuple(changes), files, references.blocks, tuple(notes)
        )

    def _used(
        self, old: DiffSide, new: DiffSide, pair: MatchedVersions, notes: list[str]
    ) -> Iterator[Difference]:
        """The differences of the files that matched blocks use, each pair once."""
        for a, b in dict.fromkeys(pair.uses()):
            sides = []
            for side, given in ((old, a), (new, b)):
                try:
                    sides.append(side.used(given))
                except InputError as error:
                    notes.append(_line(error))
            if len(sides) < 2:
                continue
            key = str(sides[0].path), str(sides[1].path)
            if key not in self.known:
                self.known.add(key)
                yield self.of(sides[0], sides[1])


def _params(side: DiffSide) -> dict[str, Any]:
    return mapping_at(side.data, "params")


def _ports_in(side: DiffSide) -> PortsOfFile:
    """A function that gives the ports of the files that a file uses. It reads each once."""
    known: dict[str, tuple[Ports, Ports]] = {}

    def ports(given: str) -> tuple[Ports, Ports]:
        if given not in known:
            try:
                used = side.used(given).file.top
                known[given] = used.inputs, used.outputs
            except InputError:
                known[given] = None, None
        return known[given]

    return ports


def _line(error: InputError) -> str:
    """The first fault of an error, in one line."""
    fault = error.faults[0]
    return f"{fault.place}: {fault.message}" if fault.place else fault.message


def _of_robots(
    old: DiffSide, new: DiffSide, references: References, notes: list[str]
) -> Iterator[Change]:
    """The changes of robots that both files have, as their model files describe them."""
    before, after = (side.data.get("robots") for side in (old, new))
    if not isinstance(before, dict) or not isinstance(after, dict):
        return
    for name, section in before.items():
        other = references.robots.get(name, name)
        if other not in after or _same_files(old, new, section, after[other]):
            continue
        a, b = _robot(old, name, notes), _robot(new, other, notes)
        if a is not None and b is not None:
            yield from robot_changes(other, a, b)


_FILES = ("urdf", "dh", "spart", "links", "bodies", "drives", "loops")


def _same_files(old: DiffSide, new: DiffSide, before: Any, after: Any) -> bool:
    """Whether two robots are written alike and the files that they name have equal contents."""
    if not isinstance(before, dict) or before != after:
        return not isinstance(before, dict)
    paths = [
        (old.path_of(given)[0], new.path_of(given)[0])
        for key in _FILES
        if isinstance(given := before.get(key), str)
    ]
    return all(a is not None and b is not None and _same_bytes(a, b) for a, b in paths)


def _same_bytes(a: Path, b: Path) -> bool:
    try:
        return a == b or (a.stat().st_size == b.stat().st_size and a.read_bytes() == b.read_bytes())
    except OSError:
        return False


def _robot(side: DiffSide, name: str, notes: list[str]) -> Robot | None:
    """A robot of a file; None, with a note, if it cannot be read."""
    if side.document is None or side.path is None or side.root is None:
        return None
    written = side.data["robots"][name]
    for key in _FILES:
        if isinstance(written, dict) and isinstance(written.get(key), str):
            side.path_of(written[key])
    faults: list[Fault] = []
    robot = None
    try:
        section = RobotSection.model_validate(written)
        beside = Document(str(side.path), side.data, side.document.root)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            robot = Robots(side.root).read(section, name, beside, faults, [])
    except ValueError as error:
        faults.append(Fault(str(error).splitlines()[0]))
    if robot is None:
        told = faults[0].message if faults else "cannot be read"
        notes.append(f"robot {name} of {side.label}: {told}")
    return robot


def _of_texts(old: DiffSide, new: DiffSide) -> Iterator[Change]:
    """The lines that differ, as one change."""
    before, after = (side.text().splitlines() for side in (old, new))
    found = list(difflib.unified_diff(before, after, lineterm="", n=0))[2:]
    if found:
        more = f"and {len(found) - MOST_LINES} more lines" if len(found) > MOST_LINES else ""
        yield Change(TEXT, "changed", "lines", ABSENT, found[:MOST_LINES], note=more)

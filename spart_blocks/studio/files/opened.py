"""An opened file: its text, the positions of its blocks, and its undo history."""

from __future__ import annotations

import asyncio
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from spart_blocks.base.document import mapping_at, parse_document, read_file
from spart_blocks.base.errors import DiagramError, Fault, InputError, Place
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.written.sheets import File
from spart_blocks.drawing.placed import Drawn, Spot, Spots
from spart_blocks.studio.files.changes import changes_of
from spart_blocks.studio.files.charts import chart_sheet, machine_at
from spart_blocks.studio.files.forms import clock_fields, param_fields, robot_fields
from spart_blocks.studio.files.mistakes import Mistakes, added, called, mistakes_of
from spart_blocks.studio.files.operations import Asked, renamed_by
from spart_blocks.studio.files.places import store, stored
from spart_blocks.studio.files.reading import (
    Reading,
    built,
    checked_only,
    is_large,
    read,
    read_first,
    slots_of,
    unbuilt,
)
from spart_blocks.studio.files.scopes import scope_at
from spart_blocks.studio.files.sheets import MadeSheet, make_sheet, sheet_parts
from spart_blocks.studio.requests import problem_of
from spart_blocks.versions.edits import (
    Edited,
    EditedFile,
    Operation,
    Patch,
    applied,
    edited_file,
    write,
)

MOST_UNDONE = 1000
_MOST_MADE = 30
"""Most sheets of a file that are kept to tell what has changed."""
Rounds = Sequence[Sequence[Patch]]
Stamp = tuple[int, int, int] | None


@dataclass(frozen=True)
class FileState:
    """The state of a file apart from its text. places: positions of blocks by sheet; chosen: the
    choice for each slot of variants."""

    places: Mapping[str, Spots] = field(default_factory=dict)
    chosen: Mapping[str, str] = field(default_factory=dict)

    def with_spots(self, sheet: str, spots: Spots) -> FileState:
        """The state with the positions of all blocks of one sheet replaced."""
        return replace(self, places={**self.places, sheet: dict(spots)})


@dataclass(frozen=True)
class Step:
    """A change that can be undone. before, after: the states. forth, back: lists of text patches
    that make and revert it; empty if only positions or choices have changed."""

    label: str
    before: FileState
    after: FileState
    forth: Rounds = ()
    back: Rounds = ()


_VERSIONS = itertools.count(time.time_ns() // 1000)
"""Versions of sheets, which no other server has given."""


@dataclass
class OpenedFile:
    """A file that is open in the page. name: its path relative to the project's root, with slashes.
    stamp: of the file when it was last read. lock: held while a request reads or changes it.
    problem: why it cannot be read at present, or None. shown: whether a sheet was asked for."""

    path: Path
    name: str
    root: Path
    reading: Reading
    state: FileState
    stamp: Stamp
    others: dict[Path, Stamp] = field(default_factory=dict)
    history: list[Step] = field(default_factory=list)
    undone: list[Step] = field(default_factory=list)
    drawn: dict[str, Drawn] = field(default_factory=dict)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    shown: bool = False
    problem: dict[str, Any] | None = None
    clients: set[Any] = field(default_factory=set)
    mistakes_known: tuple[Reading | None, Mistakes | None] = (None, None)
    made: dict[str, tuple[Reading, MadeSheet]] = field(default_factory=dict)

    @staticmethod
    def of(path: Path, name: str, root: Path) -> OpenedFile:
        """Open a file. Raises DiagramError if it cannot be read."""
        stamp = stamp_of(path)
        state = FileState(stored(path))
        try:
            reading = read_first(path, root)
        except DiagramError as error:
            raise DiagramError([called(fault, root) for fault in error.faults]) from None
        found = OpenedFile(path, name, root, reading, replace(state, chosen=reading.chosen), stamp)
        found._note_files()
        return found

    # --- what pages see ---------------------------------------------------------------------

    def opened(self) -> dict[str, Any]:
        """The description of the file that the page gets; see `Opened` of the protocol."""
        reading, data = self.reading, self.reading.data
        diagram, run = reading.diagram, mapping_at(reading.data, "run")
        T = diagram.run.T if diagram is not None else run.get("T")
        solver = diagram.run.solver if diagram is not None else run.get("solver")
        return {
            "path": self.name,
            "name": str(data.get("name") or self.path.stem),
            "description": str(data.get("description") or ""),
            "revision": reading.revision,
            "problems": self.mistakes.all,
            "undo": self.history[-1].label if self.history else None,
            "redo": self.undone[-1].label if self.undone else None,
            "variants": [
                {
                    "slot": name,
                    "choices": list(slot.choices),
                    "chosen": reading.chosen[name],
                    "default": slot.default or "",
                }
                for name, slot in slots_of(reading.file).items()
            ],
            "subsystems": list(reading.file.subsystems),
            "params": param_fields(reading),
            "robots": robot_fields(reading),
            "run": {
                "T": T if isinstance(T, int | float) and not isinstance(T, bool) else 10.0,
                "solver": solver if isinstance(solver, str) else "auto",
            },
            "clocks": clock_fields(reading),
        }

    @property
    def mistakes(self) -> Mistakes:
        """The mistakes of the current text."""
        reading, found = self.mistakes_known
        if reading is not self.reading or found is None:
            found = mistakes_of(self.reading)
            self.mistakes_known = self.reading, found
        return found

    def sheet(self, at: str) -> dict[str, Any]:
        """A sheet as the page draws it. at: path of the subsystem. Raises InputError if it does not
        exist."""
        machine = machine_at(self.reading, at)
        if machine is not None:
            self.made.pop(at, None)
            return {**chart_sheet(machine, at, self.mistakes), "version": next(_VERSIONS)}
        scope = scope_at(self.reading, at)
        reading, last = self.made.get(at, (None, None))
        parts = last.parts if last is not None and reading is self.reading else None
        known, before = self.state.places.get(scope.key, {}), self.drawn.get(scope.key)
        with collector_paused():
            if parts is None:
                parts = sheet_parts(scope, self.mistakes)
            made = make_sheet(parts, known, before, last)
        spots = made.drawn.spots
        self.drawn[scope.key] = made.drawn
        self.state = self.state.with_spots(scope.key, spots)
        if any(spot.moved and known.get(name) != spot for name, spot in spots.items()):
            store(self.path, self.state.places)
        made.data["version"] = next(_VERSIONS)
        if len(self.made) >= _MOST_MADE:
            self.made.pop(next(iter(self.made)))
        self.made[at] = self.reading, made
        return made.data

    def changed(self, at: str, version: int | None = None) -> dict[str, Any]:
        """The file and a sheet after a change. If the sheet no longer exists, the one around it.
        version: of the sheet that the page has; if it is the last one, only what differs from it is
        given."""
        while True:
            try:
                _, last = self.made.get(at, (None, None))
                sheet = self.sheet(at)
            except InputError:
                if not at:
                    raise
                at, version = at.rpartition("/")[0], None
                continue
            if last is not None and at in self.made and version == last.data["version"]:
                sheet = changes_of(last.data, sheet)
            return {"opened": self.opened(), "sheet": sheet}

    # --- changes of the text ---------------------------------------------------------------

    def edit(self, revision: str, asked: Asked) -> None:
        """Apply operations to the text and write the file. revision: of the text that the page
        has. Raises InputError for an invalid operation, and if the file has changed since that
        revision."""
        self._check(revision)
        found = edited_file(self.reading.file, asked.operations)
        before = self.state
        if asked.is_text:
            asked = replace(asked, renamed=renamed_by(self.reading.file, found.file))
        after = replace(before, places=_moved(asked, before.places))
        if found.after == found.before and after == before:
            return
        self._write(found, after.chosen)
        after = replace(after, chosen=self.reading.chosen)
        self._done(Step(asked.label, before, after, found.rounds, found.back))

    def apply(self, operations: Sequence[Operation], label: str) -> None:
        """As `edit`, for operations on the current text. label: their name in the undo history."""
        self.edit(self.reading.revision, Asked(tuple(operations), label))

    def tried(self, revision: str, asked: Asked) -> dict[str, Any]:
        """The mistakes that the file would have after operations, and whether it adds any; see
        `Tried` of the protocol. Nothing is written."""
        self._check(revision)
        found = edited_file(self.reading.file, asked.operations)
        would_be = unbuilt(self.path, self.root, found.file, self.state.chosen)
        checked = checked_only if asked.is_text and is_large(found.file) else built
        problems = mistakes_of(checked(would_be)).all
        return {"problems": problems, "right": not added(self.mistakes.all, problems)}

    def text_at(self, at: str) -> dict[str, str]:
        """The text of the file in which a sheet is written. Raises InputError for an unknown
        sheet."""
        scope = scope_at(self.reading, at)
        if scope.within is not None:
            return {"path": self.name, "revision": self.reading.revision, "text": self.reading.text}
        name = scope.path.relative_to(self.root).as_posix()
        return {"path": name, "revision": "", "text": scope.file.document.text}

    def undo(self) -> None:
        """Undo the last change. Raises InputError if there is none."""
        if not self.history:
            raise InputError("there is nothing to undo")
        step = self.history[-1]
        self._replay(step.back, step.before)
        self.undone.append(self.history.pop())

    def redo(self) -> None:
        """Redo the change that was undone last. Raises InputError if there is none."""
        if not self.undone:
            raise InputError("there is nothing to do again")
        step = self.undone[-1]
        self._replay(step.forth, step.after)
        self.history.append(self.undone.pop())

    def _replay(self, rounds: Rounds, state: FileState) -> None:
        text = self.reading.text
        if rounds:
            self._check(self.reading.revision)
            for patches in rounds:
                text = applied(text, patches)
            file = File(parse_document(text, str(self.path)))
            found = Edited(self.reading.text, text, file, tuple(tuple(p) for p in rounds))
            self._write(found, state.chosen)
        elif state.chosen != self.state.chosen:
            self.reading = read(self.path, self.root, self.reading.file, state.chosen)
        self._become(state)

    def _check(self, revision: str) -> None:
        """Raise InputError if a revision is not that of the current text, or the file is
        unreadable."""
        if self.problem is not None:
            place = self.problem.get("place", self.name)
            raise InputError(Fault("the file cannot be read now", Place(place), "mend it first"))
        if revision != self.reading.revision:
            raise InputError(Fault("the file has changed meanwhile", hint="do it again"))

    def _write(self, found: Edited, chosen: Mapping[str, str]) -> None:
        """Write an edited text and read it. Raises InputError if the file was changed by another
        program."""
        reading = read(self.path, self.root, found.file, chosen)
        raw = self.path.read_bytes() if self.path.is_file() else b""
        if raw.decode("utf-8-sig", "replace") != found.before:
            hint = "it is read again now: look at it, and do it again"
            raise InputError(Fault("the file has been changed outside", Place(self.name), hint))
        write(EditedFile(self.path, found, raw))
        self.stamp = stamp_of(self.path)
        self.reading = reading
        self._note_files()

    def settle(self, reading: Reading) -> bool:
        """Use a reading that was built in the background. Returns False if the text or the choices
        have changed since, in which case it is ignored."""
        mine = self.reading
        if not mine.pending or (reading.text, reading.chosen) != (mine.text, mine.chosen):
            return False
        self.reading = reading
        self._note_files()
        return True

    # --- changes of what is kept besides ----------------------------------------------------

    def place(self, at: str, spots: Mapping[str, Spot]) -> None:
        """Move blocks to new positions. Raises InputError for an unknown block."""
        scope = scope_at(self.reading, at)
        if scope.key not in self.state.places:
            self.sheet(at)
        known = dict(self.state.places[scope.key])
        for name in spots:
            if name not in known:
                raise InputError(f"there is no block {name[:200]!r}")
        names = ", ".join(list(spots)[:3])
        before = self.state
        self._done(Step(f"move {names}", before, before.with_spots(scope.key, known | {**spots})))

    def tidy(self, at: str) -> None:
        """Discard the positions of the blocks of a sheet, so that it is laid out anew."""
        scope = scope_at(self.reading, at)
        left = {key: spots for key, spots in self.state.places.items() if key != scope.key}
        self._done(Step("tidy", self.state, replace(self.state, places=left)))

    def choose(self, slot: str, choice: str) -> None:
        """Select the choice of a slot of variants that is shown and run. Raises InputError if the
        slot or choice does not exist."""
        slots = slots_of(self.reading.file)
        if slot not in slots or choice not in slots[slot].choices:
            raise InputError(f"there is no choice {choice[:60]!r} of {slot[:60]!r}")
        chosen = {**self.reading.chosen, slot: choice}
        if chosen == self.reading.chosen:
            return
        self.reading = read(self.path, self.root, self.reading.file, chosen)
        step = Step(f"choose {choice}", self.state, replace(self.state, chosen=chosen))
        self._done(step)

    def _done(self, step: Step) -> None:
        self.history = [*self.history, step][-MOST_UNDONE:]
        self.undone = []
        self._become(step.after)

    def _become(self, state: FileState) -> None:
        """Set the state, and store its positions if they differ."""
        for key in [key for key in self.drawn if key not in state.places]:
            del self.drawn[key]
        if state.places != self.state.places:
            store(self.path, state.places)
        self.state = state

    # --- the file outside ---------------------------------------------------------------------

    def is_stale(self) -> bool:
        """Whether the file, or one that it depends on, has probably been changed by another
        program."""
        return stamp_of(self.path) != self.stamp or any(
            stamp_of(path) != stamp for path, stamp in self.others.items()
        )

    def refresh(self) -> bool:
        """Read the file again if another program has changed it; returns whether anything is
        different. If it cannot be read, `problem` is set and the previous reading is kept."""
        stamp, had = stamp_of(self.path), self.problem
        elsewhere = any(stamp_of(path) != known for path, known in self.others.items())
        try:
            text = read_file(self.path)[1]
            same = text == self.reading.text
            if not same or elsewhere:
                file = File(parse_document(text, str(self.path)))
                self.reading = read(self.path, self.root, file, self.state.chosen)
                self._note_files()
        except DiagramError as error:
            self.stamp = stamp
            faults = [called(fault, self.root) for fault in error.faults]
            self.problem = problem_of(DiagramError(faults))
            return self.problem != had
        self.stamp, self.problem = stamp, None
        if not same:
            self.history, self.undone = [], []
            self.state = replace(self.state, chosen=self.reading.chosen)
        return not same or elsewhere or had is not None

    def _note_files(self) -> None:
        self.others = {path: stamp_of(path) for path in self.reading.files if path != self.path}


def stamp_of(path: Path) -> Stamp:
    """Modification time, size and inode of a file, to detect changes; None if it does not exist."""
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino


def _moved(asked: Asked, places: Mapping[str, Spots]) -> Mapping[str, Spots]:
    """The positions after operations: with those of new and renamed blocks, and with grouped blocks
    moved into their subsystem's sheet."""
    found: dict[str, dict[str, Spot]] = {sheet: dict(spots) for sheet, spots in places.items()}
    for (within, name), names in asked.grouped.items():
        sheet = found.get(within, {})
        inside = {one: sheet.pop(one) for one in names if one in sheet}
        if inside:
            found[name] = inside
            x, y = (sum(getattr(spot, axis) for spot in inside.values()) / len(inside)
                    for axis in ("x", "y"))  # fmt: skip
            moved = any(spot.moved for spot in inside.values())
            found[within] = {**sheet, name: Spot(x, y, moved)}
    for (within, name), to in asked.renamed.items():
        if name in found.get(within, {}):
            found[within][to] = found[within].pop(name)
    for old, new in asked.sheets.items():
        if old in found:
            found[new] = found.pop(old)
    for (within, name), spot in asked.placed.items():
        found.setdefault(within, {})[name] = spot
    return found

"""What a sweep is of: a diagram file, a diagram in memory, or a program. Each finds paths in
programs, and makes programs for what is structural."""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.diagram.files import project_root
from spart_blocks.diagram.overrides import apply_overrides, as_texts, path_in
from spart_blocks.diagram.run_options import RunOptions
from spart_blocks.diagram.tunable import QUANTITIES
from spart_blocks.diagram.variants import chosen_of, read_variants, with_choices
from spart_blocks.document import Document, Keys, read_document
from spart_blocks.errors import DiagramError, Fault, InputError, Place, brief, did_you_mean
from spart_blocks.simulation.from_file import DiagramFile, engine_of_file
from spart_blocks.simulation.native import Native
from spart_blocks.sweeps.targets import (
    INITIAL,
    MatterTarget,
    StartTarget,
    Target,
    dotted,
    matter_of,
    matter_target,
    same_nominal,
    slots_of,
    start_of,
    target_of_name,
    target_of_uses,
)
from spart_blocks.sweeps.uses import Use, uses_of_argument, uses_of_parameter, value_at

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.program import Program

Chosen = Mapping[str, str]
FRAMELESS = ("qm", "um")
"""Entries of a plant's `initial` that mean the same in any frame of its base."""


@dataclass(frozen=True)
class Found:
    """Where the value of a path stands in a program: among its parameters, in initial states of
    plants, or among the masses of a robot."""

    target: Target | None = None
    starts: tuple[StartTarget, ...] = ()
    matter: MatterTarget | None = None

    @property
    def places(self) -> Target | None:
        """The entries of p that take the value as it is."""
        return self.target if self.matter is None else self.matter.target

    @property
    def nowhere(self) -> bool:
        """Whether nothing takes the value."""
        return self.places is None and not self.starts


class Source(ABC):
    """What a sweep is of. title: its name in messages."""

    title: str
    structural = False
    """Whether values that are no parameters can be changed."""

    @abstractmethod
    def matter_overrides(self, paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
        """What keeps the masses and inertias among some paths as parameters of the program."""

    @abstractmethod
    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        """The engine of a variant with values in place of some. Raises InputError; TraceError if
        there is no program."""

    @abstractmethod
    def find(self, path: str, engine: Native, chosen: Chosen) -> Found | None:
        """Where a path stands in a program of `engine`, which may be nowhere; None if it is no
        parameter. Raises InputError if there is nothing of its name."""

    @abstractmethod
    def digest(self) -> str:
        """A digest of its contents."""

    def slots(self) -> Mapping[str, tuple[str, ...]]:
        """The choices for each slot of its variants, the chosen one first."""
        return {}

    def place(self, *keys: str | int) -> Place | None:
        """Where an entry of its `sweep:` section is written."""
        return None

    def run_option(self, path: str) -> str | None:
        """The run option that a path means, which a program need not be made anew for."""
        name = dotted(path).removeprefix("run.")
        return name if name in RunOptions.model_fields and dotted(path).startswith("run.") else None

    def written(self, path: str, chosen: Chosen) -> Any:
        """The value of a path where it is written; None without one."""
        return None

    def file(self, chosen: Chosen, overrides: Mapping[str, Any]) -> DiagramFile | None:
        """The file that `engine` loads."""
        return None

    def initial(self, block: str, chosen: Chosen) -> tuple[Mapping[str, Any] | None, str]:
        """The `initial` of a plant, None where it is unknown, and the frame that it is in."""
        return None, "com"

    def nominal(self, path: str) -> Any:
        """The value of a path in the first of the variants; None without one."""
        chosen = {slot: names[0] for slot, names in self.slots().items()}
        written = self.written(path, chosen)
        if written is not None:
            return written
        engine = self.engine(chosen, self.matter_overrides([path], chosen))
        return nominal_in(engine, self.find(path, engine, chosen))


def nominal_in(engine: Native, found: Found | None) -> Any:
    """The value of a path in a program."""
    program = engine.program
    if found is None:
        return None
    if found.places is not None:
        return found.places.of(program.p)
    for start in found.starts:
        places = start_places(engine, start)
        slot = start_of(program, start.block)
        if places is not None and slot is not None:
            return program.p[slot.part][places]
    return None


# --- initial states ------------------------------------------------------------------------


def start_places(engine: Native, start: StartTarget) -> Any:
    """The entries of a plant's state that an entry of its `initial` is; None if it is not some of
    them as they are."""
    plant = engine.plant_state(start.block)
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(plant.names):
        groups.setdefault(name.partition(".")[0], []).append(k)
    groups["u0"] = groups.get("omega0", []) + groups.get("v0", [])
    groups["quaternion"] = groups.pop("q0", [])
    key, *within = start.entry
    places = np.array(groups.get(str(key), []), dtype=np.intp)
    if not len(places) or len(within) > 1:
        return None
    if not within:
        return places
    if str(within[0]).isdecimal():
        return places[int(within[0])] if int(within[0]) < len(places) else None
    name = f"{key}.{within[0]}"
    return np.intp(plant.names.index(name)) if name in plant.names else None


def found_start(engine: Native, block: str, entry: Keys) -> StartTarget | None:
    """The entry of a plant's `initial`, if its state is a parameter and the entry part of it."""
    plant = engine.plant_state(block) if start_of(engine.program, block) is not None else None
    if plant is None or not entry:
        return None
    base = ("r0", "quaternion", "angles321", "u0", "omega0", "v0")
    if entry[0] in base and not plant.floating:
        return None  # the pose of a fixed base is a constant of the program
    known = (*base, *FRAMELESS)
    if entry[0] not in known:
        hint = did_you_mean(str(entry[0]), known)
        raise InputError(Fault(f"{block}: initial has no entry {entry[0]!r}", hint=hint))
    return StartTarget(block, entry)


# --- files -----------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class FileSource(Source):
    """A diagram file. given: with what it is loaded."""

    given: DiagramFile
    structural = True

    @property
    def title(self) -> str:  # type: ignore[override]
        return str(self.given.path)

    @cached_property
    def _written(self) -> Document:
        return read_document(self.given.path)

    @cached_property
    def _root(self) -> Path:
        return self.given.root or project_root(self.given.path.absolute())

    @cached_property
    def _documents(self) -> dict[str, Document]:
        return {}

    def _document(self, chosen: Chosen) -> Document:
        """The file with choices and its overrides in place."""
        key = json.dumps(dict(chosen), sort_keys=True)
        if key not in self._documents:
            slots = read_variants(self._written)
            asked = chosen_of(slots, {**self._asked, **chosen})
            faults: list[Fault] = []
            document = with_choices(self._written, slots, asked)
            document = apply_overrides(document, self.given.overrides, faults, self._root)
            if faults:
                raise DiagramError(faults)
            self._documents[key] = document
        return self._documents[key]

    @cached_property
    def _asked(self) -> dict[str, str]:
        return dict(chosen_of(read_variants(self._written), self.given.variants))

    def slots(self) -> Mapping[str, tuple[str, ...]]:
        slots = read_variants(self._written)
        return {
            slot: tuple(dict.fromkeys((self._asked[slot], *one.choices)))
            for slot, one in slots.items()
        }

    def place(self, *keys: str | int) -> Place | None:
        return self._written.place("sweep", *keys)

    def section(self) -> Any:
        """The raw `sweep:` section."""
        return self._written.data.get("sweep")

    def document(self) -> Document:
        """The file as it is written."""
        return self._written

    def folder_file(self, name: str) -> Path:
        """A file that the section names, beside the diagram's. Raises InputError."""
        from spart_blocks.diagram.files import existing

        faults: list[Fault] = []
        place = self._written.place("sweep", "cases")
        path = existing(name, self._written, self._root, place, faults, most=2**40)
        if path is None:
            raise InputError(faults)
        return path

    def file(self, chosen: Chosen, overrides: Mapping[str, Any]) -> DiagramFile:
        texts = as_texts({dotted(path): value for path, value in overrides.items()})
        asked = tuple(f"{s}={c}" for s, c in {**self._asked, **chosen}.items())
        return replace(self.given, overrides=(*self.given.overrides, *texts), variants=asked or ())

    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        from spart_blocks.simulation.simulate import engine_of

        made = engine_of_file(
            self.file(chosen, overrides), lambda ready: engine_of(ready, "native"), lambda run: run
        )
        assert isinstance(made, Native)
        return made

    def find(self, path: str, engine: Native, chosen: Chosen) -> Found | None:
        document, program = self._document(chosen), engine.program
        matter = self._matter(path, chosen)
        if matter is not None:
            target = matter_target(program, *matter)
            return None if target is None else Found(matter=target)
        try:
            keys = path_in(dotted(path), document, self._root)
        except InputError:
            named = target_of_name(program, dotted(path))
            if named is None:
                raise
            return Found(named)
        uses = self._uses(document, keys)
        return None if uses is None else self._of_uses(uses, keys, engine, document)

    def _uses(self, document: Document, keys: Keys) -> list[Use] | None:
        if keys[0] == "params":
            return uses_of_parameter(document, self._root, str(keys[1]), keys[2:])
        if keys[0] == "blocks" and len(keys) > 2:
            return uses_of_argument(document, self._root, str(keys[1]), str(keys[2]), keys[3:])
        return None

    def _of_uses(
        self, uses: Sequence[Use], keys: Keys, engine: Native, document: Document
    ) -> Found | None:
        arguments: list[Use] = []
        starts: list[StartTarget] = []
        for use in uses:
            start = None
            if use.argument == INITIAL and f"{use.block}.{INITIAL}" not in slots_of(engine.program):
                start = found_start(engine, use.block, use.within)
                if start is None or ("/" in use.block and start.entry[0] not in FRAMELESS):
                    return None
            if start is None:
                arguments.append(use)
            else:
                starts.append(start)
        target = None
        if arguments:
            target = target_of_uses(engine.program, arguments)
            value = value_at(document, keys)
            if target is None:
                return None
            if value is not None and not same_nominal(target, engine.program.p, value):
                return None
        return Found(target, tuple(starts))

    def _matter(self, path: str, chosen: Chosen) -> tuple[str, str, Keys] | None:
        robots = self._document(chosen).data.get("robots")
        return matter_of(dotted(path), list(robots) if isinstance(robots, Mapping) else [])

    def matter_overrides(self, paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
        document = self._document(chosen)
        had = document.data.get("tunable") or []
        more = [".".join(found[:2]) for p in paths if (found := self._matter(p, chosen))]
        more = [name for name in dict.fromkeys(more) if name not in had]
        return {"tunable": [*had, *more]} if more else {}

    def written(self, path: str, chosen: Chosen) -> Any:
        if self._matter(path, chosen) is not None:
            return None
        document = self._document(chosen)
        try:
            return value_at(document, path_in(dotted(path), document, self._root))
        except InputError:
            return None

    def run_option(self, path: str) -> str | None:
        chosen = {slot: names[0] for slot, names in self.slots().items()}
        try:
            keys = path_in(dotted(path), self._document(chosen), self._root)
        except InputError:
            return None
        return str(keys[1]) if keys[0] == "run" and len(keys) == 2 else None

    def initial(self, block: str, chosen: Chosen) -> tuple[Mapping[str, Any] | None, str]:
        document = self._document(chosen)
        given = value_at(document, ("blocks", block, INITIAL))
        frame = value_at(document, ("blocks", block, "base_frame"))
        blocks = document.data.get("blocks")
        known = isinstance(blocks, Mapping) and block in blocks
        return (given or {}) if known else None, frame or "com"

    def digest(self) -> str:
        """Of what is written in the file, besides the sweep itself and what is claimed of it, and
        of the files that it names."""
        data = {
            key: value
            for key, value in self._written.data.items()
            if key not in ("sweep", "expect", "description", "compare", "export", "realtime")
        }
        digest = hashlib.blake2b(json.dumps([data, self.given.overrides]).encode(), digest_size=16)
        digest.update(json.dumps(sorted(self._asked.items())).encode())
        for name in sorted(_texts(data)):
            path = self.given.path.parent / name
            try:
                if len(name) < 1000 and path.is_file():
                    digest.update(path.read_bytes())
            except (OSError, ValueError):
                continue
        return digest.hexdigest()


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        return {value}
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return set().union(*(_texts(item) for item in value)) if value else set()
    return set()


# --- in memory ---------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class MemorySource(Source):
    """A diagram in memory or a program: parameters alone vary."""

    given: Diagram | Program

    @property
    def title(self) -> str:  # type: ignore[override]
        return self.given.name

    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        from spart_blocks.program import Program
        from spart_blocks.simulation.kept_traces import engine_of_object
        from spart_blocks.simulation.simulate import engine_of

        if isinstance(self.given, Program):
            return Native(self.given)
        diagram = self.given
        if "tunable" in overrides:
            diagram = replace(diagram, tunable=tuple(overrides["tunable"]))
        made = engine_of_object(diagram, lambda ready: engine_of(ready, "native"))
        assert isinstance(made, Native)
        return made

    def matter_overrides(self, paths: Sequence[str], chosen: Chosen) -> dict[str, Any]:
        from spart_blocks.program import Program

        if isinstance(self.given, Program):
            return {}
        robots, had = list(self.given.robots), self.given.tunable
        more = [".".join(found[:2]) for p in paths if (found := matter_of(dotted(p), robots))]
        more = [name for name in dict.fromkeys(more) if name not in had]
        return {"tunable": [*had, *more]} if more else {}

    def find(self, path: str, engine: Native, chosen: Chosen) -> Found | None:
        program, name = engine.program, dotted(path).removeprefix("params.")
        name = name.removeprefix("blocks.")
        parts = name.split(".")
        slots = slots_of(program)
        robots = [slot.rpartition(".")[0] for slot in slots if slot.endswith(QUANTITIES)]
        matter = matter_of(name, robots)
        if matter is not None and ".".join(matter[:2]) in slots:
            target = matter_target(program, *matter)
            if target is not None:
                return Found(matter=target)
        named = target_of_name(program, name)
        if named is not None:
            return Found(named)
        if len(parts) > 2 and parts[1] == INITIAL:
            start = found_start(engine, parts[0], tuple(parts[2:]))
            if start is not None:
                return Found(starts=(start,))
        return self._unknown(path, program)

    def _unknown(self, path: str, program: Program) -> Found | None:
        if self.run_option(path) is not None:
            return None
        text = f"{path} is no parameter of the program {program.name}"
        near = did_you_mean(path, [*slots_of(program), *program.given])
        hint = "sweep the diagram's file to change what is structural"
        raise InputError(Fault(text, hint=f"{near}\n  {hint}" if near else hint))

    def digest(self) -> str:
        from spart_blocks.program.storage import to_text

        program = self.engine({}, {}).program
        return hashlib.blake2b(to_text(program).encode(), digest_size=16).hexdigest()


def source_of(given: Any) -> FileSource | MemorySource:
    """What a sweep is of: a path, a DiagramFile, a diagram, a bdsim BlockDiagram or a program."""
    from spart_blocks.program import Program

    if isinstance(given, FileSource | MemorySource):
        return given
    if isinstance(given, str | Path):
        return FileSource(DiagramFile(Path(given)))
    if isinstance(given, DiagramFile):
        return FileSource(given)
    if isinstance(given, Program):
        return MemorySource(given)
    from spart_blocks.diagram import as_diagram

    try:
        return MemorySource(as_diagram(given))
    except TypeError:
        raise InputError(f"a sweep is of a diagram or a program, not of {brief(given)}") from None

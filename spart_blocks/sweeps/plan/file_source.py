"""A diagram file as the source of a sweep."""

from __future__ import annotations

import hashlib
import json
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.document import Document, Keys, read_document, texts_in
from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    Place,
    SpartError,
    SpartWarning,
)
from spart_blocks.diagram.sections.table import FILE_SECTIONS
from spart_blocks.diagram.written.files import existing, project_root
from spart_blocks.diagram.written.overrides import apply_overrides, as_texts
from spart_blocks.diagram.written.paths import path_in
from spart_blocks.diagram.written.references import resolved_at
from spart_blocks.diagram.written.variants import chosen_of, read_variants, with_choices
from spart_blocks.measures.work import MOST_TRIED, FileWork
from spart_blocks.program import Program
from spart_blocks.program.parameter_paths import INITIAL, origin_of, standing_of
from spart_blocks.program.program import Slot
from spart_blocks.robot import Robot
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.engines.from_file import DiagramFile, engine_of_file
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import engine_of
from spart_blocks.sweeps.plan.source import (
    Chosen,
    Found,
    Source,
    dotted,
    found_of,
    matter_of,
    matter_target,
)

if TYPE_CHECKING:
    from spart_blocks.diagram.sections.expectations import Expectations

_MOST_DOCUMENTS = 64
"""Largest number of parsed documents in memory."""


@dataclass(frozen=True, eq=False)
class FileSource(Source):
    """A diagram file as the source of a sweep. given: the file, with its overrides and variants."""

    given: DiagramFile
    _documents: dict[str, Document] = field(default_factory=dict, init=False)
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

    def _document(self, chosen: Chosen, overrides: Mapping[str, Any] = {}) -> Document:
        """The parsed file with the choices of variants, its own overrides and further ones
        applied.
        """
        texts = texts_of(overrides)
        key = json.dumps([dict(chosen), texts], sort_keys=True)
        if key not in self._documents:
            slots = read_variants(self._written)
            asked = chosen_of(slots, {**self._asked, **chosen})
            faults: list[Fault] = []
            document = with_choices(self._written, slots, asked)
            texts = (*self.given.overrides, *texts)
            document = apply_overrides(document, texts, faults, self._root)
            if faults:
                raise DiagramError(faults)
            while len(self._documents) >= _MOST_DOCUMENTS:
                del self._documents[next(iter(self._documents))]
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
        return self._written.place(*keys)

    def section(self, name: str) -> Any:
        """A section as parsed, not validated; None if the file has none."""
        return self._written.data.get(name)

    def document(self) -> Document:
        """The parsed file without overrides."""
        return self._written

    def folder_file(self, name: str, *keys: str | int) -> Path:
        """The path of a file that an entry of a section names, relative to the diagram. Raises
        InputError if it is missing.
        """
        faults: list[Fault] = []
        place = self._written.place(*keys)
        path = existing(name, self._written, self._root, place, faults, most=2**40)
        if path is None:
            raise InputError(faults)
        return path

    def file(self, chosen: Chosen, overrides: Mapping[str, Any]) -> DiagramFile:
        texts = texts_of(overrides)
        asked = tuple(f"{s}={c}" for s, c in {**self._asked, **chosen}.items())
        return replace(self.given, overrides=(*self.given.overrides, *texts), variants=asked or ())

    def expectations(self) -> Expectations | None:
        """The claims of the file (`expect:`). Raises DiagramError."""
        from spart_blocks.diagram.build.loader import expectations_of

        given = self.given
        options = given.overrides, given.root, given.variants
        return expectations_of(self._written, given.path, *options)

    def problem(self, chosen: Chosen, overrides: Mapping[str, Any]) -> str | None:
        """Why the diagram cannot be loaded with some overrides; None if it can."""
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SpartWarning)
                self.file(chosen, overrides).load(self._written)
        except InputError as error:
            return error.faults[0].message
        return None

    def engine(self, chosen: Chosen, overrides: Mapping[str, Any]) -> Native:
        file = self.file(chosen, overrides)
        made = engine_of_file(
            file, lambda ready: engine_of(ready, "native"), lambda run: run, self._written
        )
        assert isinstance(made, Native)
        return made

    def check(self, path: str, chosen: Chosen) -> None:
        """Check that a path exists in a diagram that cannot be traced. Raises InputError."""
        if self._matter(path, chosen) is not None:
            text = "masses and inertias vary only where the diagram can be traced"
            raise InputError(Fault(text, hint="spart check FILE says why it cannot"))
        path_in(path, self._document(chosen), self._root)

    def find(
        self, path: str, engine: Native, chosen: Chosen, overrides: Mapping[str, Any]
    ) -> Found | None:
        document, program = self._document(chosen, overrides), engine.program
        matter = self._matter(path, chosen)
        if matter is not None:
            target = matter_target(program, *matter)
            return None if target is None else Found(matter=target)
        try:
            keys = path_in(path, document, self._root)
        except InputError:
            named = program.target(dotted(path))
            if named is None:
                raise
            return Found(named)
        return found_of(standing_of(program, keys), engine)

    def structural_values(self, path: str, engine: Native, chosen: Chosen) -> frozenset[float]:
        return origin_of(engine.program, path_in(path, self._document(chosen), self._root)).apart

    def _matter(self, path: str, chosen: Chosen) -> tuple[str, str, Keys] | None:
        return matter_of(dotted(path), self.robots_and_tunable(chosen)[0])

    def robots_and_tunable(self, chosen: Chosen) -> tuple[list[str], Sequence[str]]:
        data = self._document(chosen).data
        robots = data.get("robots")
        return list(robots) if isinstance(robots, Mapping) else [], data.get("tunable") or []

    def robot(self, name: str, chosen: Chosen) -> Robot:
        return self.file(chosen, {}).load(self._written).robots[name]

    def written(self, path: str, chosen: Chosen) -> Any:
        if self._matter(path, chosen) is not None:
            return None
        document = self._document(chosen)
        try:
            return resolved_at(document, path_in(path, document, self._root))
        except InputError:
            return None

    def run_option(self, path: str) -> str | None:
        chosen = {slot: names[0] for slot, names in self.slots().items()}
        try:
            keys = path_in(path, self._document(chosen), self._root)
        except InputError:
            return None
        return str(keys[1]) if keys[0] == "run" and len(keys) == 2 else None

    def initial(self, block: str, chosen: Chosen) -> tuple[Mapping[str, Any] | None, str]:
        document = self._document(chosen)
        given = resolved_at(document, ("blocks", block, INITIAL))
        frame = resolved_at(document, ("blocks", block, "base_frame"))
        blocks = document.data.get("blocks")
        known = isinstance(blocks, Mapping) and block in blocks
        return (given or {}) if known else None, frame or "com"

    def digest(self) -> str:
        """A digest of the sections of the file that affect runs, and of the files that
        they name.
        """
        data = {
            key: value
            for key, value in self._written.data.items()
            if key in FILE_SECTIONS and FILE_SECTIONS[key].of_runs
        }
        digest = hashlib.blake2b(json.dumps([data, self.given.overrides]).encode(), digest_size=16)
        digest.update(json.dumps(sorted(self._asked.items())).encode())
        for name in sorted(set(texts_in(data))):
            path = self.given.path.parent / name
            try:
                if len(name) < 1000 and path.is_file():
                    digest.update(path.read_bytes())
            except (OSError, ValueError):
                continue
        return digest.hexdigest()


def texts_of(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Values by path as texts of overrides."""
    return as_texts({dotted(path): value for path, value in values.items()})


# --- signals of diagrams that cannot be traced ----------------------------------------------------
# Signals of a diagram that cannot be traced into a program, in the form that metrics and claims
# use.


def signals_of(work: FileWork) -> Program:
    """A program with the signals, names and crossings of the diagram's blocks.

    It cannot be run and has no parameters; metrics and claims look up signals in it. Raises the
    error of the first run if none of the first runs can be loaded.
    """
    first: SpartError | None = None
    for k in range(min(MOST_TRIED, len(work.runs))):
        try:
            return _of_engine(work.file_of(k).reference())
        except SpartError as error:
            first = first or error
    assert first is not None
    raise first


def _of_engine(engine: Engine) -> Program:
    x, xd = engine.initial()
    slots: list[Slot] = []
    at = 0
    for name in engine.signals():
        # A signal without numbers is not measured.
        with suppress(SpartError, TypeError, ValueError):
            [value] = engine.over((name,), np.zeros(1), x[None], xd[None])
            slots.append(Slot(name, at, np.shape(value)[1:]))
            at += int(np.prod(np.shape(value)[1:], dtype=int))
    nothing: dict[str, Any] = {field.name: () for field in fields(Program)}
    mappings = ("start", "origins", "plants", "updates", "resets")
    nothing |= {name: {} for name in mappings} | {"outputs": None, "p": np.zeros(0)}
    return Program(
        **nothing
        | {
            "name": engine.title,
            "run": engine.run,
            "display": engine.display,
            "signals": tuple(slots),
            "crossings": tuple(engine.crossings),
        }
    )

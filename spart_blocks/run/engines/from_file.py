"""The engine of a diagram file. Its program comes from the cache if nothing has changed since it
was traced and checked, without loading the diagram or importing bdsim."""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.base import cache as kept
from spart_blocks.base.errors import InputError, SpartWarning, overheard, warn
from spart_blocks.base.package_state import package_state
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.standard import STANDARD
from spart_blocks.program.storage import from_text, to_text
from spart_blocks.run.engines.native import Native

if TYPE_CHECKING:
    from spart_blocks.base.document import Document
    from spart_blocks.diagram import Diagram
    from spart_blocks.program import Program
    from spart_blocks.run.engines.engine import Engine

Options = Callable[[RunOptions], RunOptions]
"""A function that changes the run options of a file."""


@dataclass(frozen=True)
class DiagramFile:
    """A diagram file with its load options: `--set` overrides, the folder that must contain its
    files, the choices for its variants as `slot=choice`, and packages of the user's blocks."""

    path: Path
    overrides: tuple[str, ...] = ()
    root: Path | None = None
    variants: tuple[str, ...] = ()
    blocks: tuple[str, ...] = ()

    def logging(self, names: Iterable[str]) -> DiagramFile:
        """The same file with these signals in its `run: log:`."""
        return replace(self, overrides=(*self.overrides, f"run.log={json.dumps(list(names))}"))

    def load(self, document: Document | None = None) -> Diagram:
        """Load the diagram. document: the file, if it is already parsed."""
        from spart_blocks.diagram.build.loader import load, load_document

        if document is not None:
            given = self.root, self.overrides, self.variants, self.blocks
            return load_document(document, self.path, *given)
        return load(
            self.path,
            overrides=self.overrides,
            root=self.root,
            variants=self.variants,
            blocks=self.blocks,
        )

    def remembered(self, options: Options = lambda run: run) -> Program | None:
        """The cached program for this file, if its files are unchanged and the changed run options
        do not affect the program; otherwise None.
        """
        folder = kept.user_folder()
        found = kept.stored(folder, self._key()) if folder and not self.blocks else None
        if found is None:
            return None
        try:
            files, told, program = _entry(found)
            if any(kept.digest(Path(path)) != digest for path, digest in files):
                return None
        except (OSError, ValueError, LookupError, TypeError, AttributeError, RuntimeError):
            return None  # written by another version: it is made again
        if options(program.run).of_program != program.run.of_program:
            return None
        for text in told:
            warn(text)
        return program

    def remember(self, diagram: Diagram, program: Program, told: Iterable[str]) -> None:
        """Store the program of the diagram in the cache. told: warnings that were given while it
        was made.
        """
        folder = kept.user_folder()
        # The user's own code can change at any time, and may contain errors where it is not used.
        own = self.blocks or diagram.packages - set(STANDARD)
        if folder is None or program.display.acting or own:
            return
        files = [self.path.absolute(), *diagram.files]
        try:
            entry = {
                "files": [(str(path), kept.digest(path)) for path in files],
                "warnings": list(told),
                "program": to_text(program),
            }
            old = kept.stored(folder, self._key())
            new = kept.keep_text(json.dumps(entry), folder, self._key(), ".program")
            if old not in (None, new):
                old.unlink(missing_ok=True)
        except (OSError, TypeError, ValueError):
            return  # a cache is a convenience

    def reference(self) -> Engine:
        """The interpreter of the diagram's blocks."""
        from spart_blocks.program.tracing.gains import wired
        from spart_blocks.run.engines.interpreter import Interpreter

        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            diagram = self.load()
        return Interpreter(diagram, wired(diagram))

    def _key(self) -> str:
        root = str(self.root.absolute()) if self.root else ""
        asked = [self.overrides, root, self.variants]
        return kept.key_of(json.dumps([str(self.path.absolute()), asked, package_state()]))


def engine_of_file(
    file: DiagramFile,
    make: Callable[[Diagram], Engine],
    options: Options,
    document: Document | None = None,
) -> Engine:
    """The engine of a file, from the cache; otherwise it is made and its program is cached.

    make: makes the engine of a loaded diagram. options: changes the file's run options. document:
    the file, if it is already parsed; if the file has changed since, nothing is cached.
    """
    found = file.remembered(options)
    if found is not None:
        return Native(replace(found, run=options(found.run)), file.reference)
    with overheard() as told:
        diagram = file.load(document)
        changed = diagram.with_sections(run=options(diagram.run))
        engine = make(changed)
    same = document is None or _holds(file.path, document)
    if same and isinstance(engine, Native) and changed.run.of_program == diagram.run.of_program:
        file.remember(diagram, replace(engine.program, run=diagram.run), told)
    return engine


def _holds(path: Path, document: Document) -> bool:
    """Whether a file still has the text of a parsed document."""
    from spart_blocks.base.document import read_file  # imports yaml, which a cached run needs not

    try:
        return read_file(path)[1] == document.text
    except InputError:
        return False


@lru_cache(maxsize=16)
def _entry(found: Path) -> tuple[list[tuple[str, str]], list[str], Program]:
    """The contents of a cache file: digests of files, warnings, program. It is parsed once, and
    the same program object is returned, which may already have a compiled loop. The name of the
    file contains the hash of its contents, so that it never changes.
    """
    entry = json.loads(found.read_text(encoding="utf-8"))
    return entry["files"], list(entry["warnings"]), from_text(entry["program"])

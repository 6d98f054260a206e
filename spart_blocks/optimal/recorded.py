"""Controls that a diagram's DATA blocks give: the optimum that was written into its file.

Such a block becomes a CONSTANT, whose value can be a control; what it gave is where the search
starts.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.base.document import Document
from spart_blocks.base.paths import split_index
from spart_blocks.diagram.written.sheets import File
from spart_blocks.program.added_signals import entries
from spart_blocks.run.engines.native import Native
from spart_blocks.run.simulate import engine_of
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.source import Chosen
from spart_blocks.versions.edits import Retype, edited_file

VALUE = ".value"


@dataclass(frozen=True, eq=False)
class EditedSource(FileSource):
    """A diagram's file with another text."""

    text: Document

    @property
    def _written(self) -> Document:
        return self.text

    def engine(self, chosen: Chosen, overrides: Mapping[str, object]) -> Native:
        """The engine, which is not cached, since no file has this text."""
        made = engine_of(self.file(chosen, overrides).load(self.text), "native")
        assert isinstance(made, Native)
        return made


@dataclass(frozen=True, eq=False)
class Recorded:
    """A diagram with its recorded controls. engine: with the DATA blocks. signals: for each control
    the signal of its block, None for one that is not recorded."""

    engine: Native
    signals: tuple[str | None, ...]


def with_constants(
    source: FileSource | MemorySource, controls: Sequence[str]
) -> tuple[FileSource | MemorySource, Recorded | None]:
    """The source with CONSTANT blocks in place of the DATA blocks that give these controls; and
    what they gave, if there are some."""
    if isinstance(source, MemorySource):
        return source, None
    given = source.document()
    blocks = given.data.get("blocks") or {}
    names = [control.removesuffix(VALUE) for control in controls]
    recorded = [
        isinstance(blocks.get(n), Mapping) and blocks[n].get("type") == "DATA" for n in names
    ]
    if not any(recorded):
        return source, None
    engine = source.engine({}, {})
    operations = []
    x, xd = engine.initial()
    now = np.array(engine.program.outputs(0.0, x, xd, engine.program.p)).ravel()
    signals: list[str | None] = []
    for name, is_data in zip(names, recorded, strict=True):
        signals.append(_signal(engine, name) if is_data else None)
        if signals[-1] is not None:
            value = now[entries(engine.program, signals[-1])].tolist()
            others = tuple(key for key in blocks[name] if key != "type")
            operations.append(Retype(name, "CONSTANT", {"value": value}, others))
    text = edited_file(File(given), operations).file.document
    return EditedSource(source.given, text=text), Recorded(engine, tuple(signals))


def _signal(engine: Native, block: str) -> str | None:
    """The only signal of a block; None if it has several."""
    names = dict.fromkeys(split_index(slot.name)[0] for slot in engine.program.signals)
    found = [name for name in names if name == block or name.startswith(f"{block}.")]
    return found[0] if len(found) == 1 else None

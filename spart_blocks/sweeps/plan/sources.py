"""Makes the source of a sweep from a diagram file, a diagram in memory, or a program."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spart_blocks.program import Program
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.sweeps.plan.file_source import FileSource
from spart_blocks.sweeps.plan.memory_source import MemorySource

__all__ = ["FileSource", "MemorySource", "source_of"]


def source_of(given: Any) -> FileSource | MemorySource:
    """The source of a sweep from a path, a DiagramFile, a diagram, a bdsim BlockDiagram or a
    program.
    """
    if isinstance(given, FileSource | MemorySource):
        return given
    if isinstance(given, str | Path):
        return FileSource(DiagramFile(Path(given)))
    if isinstance(given, DiagramFile):
        return FileSource(given)
    if isinstance(given, Program):
        return MemorySource(given)
    from spart_blocks.diagram import as_diagram

    return MemorySource(as_diagram(given))

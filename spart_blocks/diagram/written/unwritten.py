"""Parameters of blocks that a file leaves at their defaults, by name."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from spart_blocks.base.document import Document
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.diagram.written.sheets import File
from spart_blocks.diagram.written.used_files import UsedFiles


def blocks_that_take(name: str, document: Document, root: Path) -> list[str]:
    """The names of the file's blocks that have a parameter of this name. root: the folder that
    the files they use must lie in."""
    file, files = File(document), UsedFiles(root)

    @cache  # many blocks may use one file
    def takes(use: str | None, kind: str | None) -> bool:
        if use is not None:
            found = files.use(use, document)
            return found is not None and name in found[1].top.params
        if kind is None:
            return False
        if kind in file.subsystems:
            return name in file.subsystems[kind].params
        known = find_type(kind)
        return known is not None and name in known.parameters

    return [block.name for block in file.top.blocks.values() if takes(block.use, block.type)]

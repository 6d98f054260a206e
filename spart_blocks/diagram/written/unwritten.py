"""Finds blocks of a file by parameters that they have but that the file leaves at
their defaults.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

from spart_blocks.base.document import Document
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.diagram.written.files import UsedFiles
from spart_blocks.diagram.written.sheets import File


def blocks_that_take(name: str, document: Document, root: Path) -> list[str]:
    """The names of the file's blocks that have a parameter of this name. root: folder that must
    contain the files they use.
    """
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

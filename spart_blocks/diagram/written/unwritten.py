"""Parameters of blocks that a file leaves at their defaults, by name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, read_document
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.diagram.build.registry import find_type
from spart_blocks.diagram.written.files import existing


def blocks_that_take(name: str, document: Document, root: Path) -> list[str]:
    """The names of the file's blocks that have a parameter of this name. root: the folder that
    the files they use must lie in."""
    blocks = document.data.get("blocks")
    if not isinstance(blocks, Mapping):
        return []

    @cache  # many blocks may use one file
    def takes(used: str, kind: str) -> bool:
        return name in (_of_file(used, document, root) if used else _of_type(kind, document))

    return [
        str(block)
        for block, entry in blocks.items()
        if isinstance(entry, Mapping)
        and takes(str(entry.get("use", "")), str(entry.get("type", "")))
    ]


def _of_type(kind: str, document: Document) -> Mapping[str, Any]:
    subsystems = document.data.get("subsystems")
    if isinstance(subsystems, Mapping) and kind in subsystems:
        return _params_of(subsystems[kind])
    found = find_type(kind)
    return {} if found is None else found.parameters


def _of_file(used: str, document: Document, root: Path) -> Mapping[str, Any]:
    faults: list[Fault] = []  # told where the file is read as a part
    path = existing(used, document, root, document.place("blocks"), faults)
    try:
        return {} if path is None else _params_of(read_document(path).data)
    except DiagramError:
        return {}


def _params_of(section: Any) -> Mapping[str, Any]:
    params = section.get("params") if isinstance(section, Mapping) else None
    return params if isinstance(params, Mapping) else {}

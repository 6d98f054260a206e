"""YAML files that describe robots."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from spart_blocks.base.errors import DiagramError, RobotError

if TYPE_CHECKING:
    from spart_blocks.base.document import Document


def read_yaml(path: str | Path, sections: str) -> Document:
    """A file's values and their places; sections: the contents of such a file. RobotError with
    every fault of its text.
    """
    from spart_blocks.base.document import read_document

    try:
        return read_document(Path(path), sections)
    except DiagramError as error:
        raise RobotError(error.faults) from None

"""Paths of values as people write them: `params.kp`, `ctrl.kp`, `expect.final[1].within`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from spart_blocks.diagram.overrides import path_in
from spart_blocks.document import Document, Keys, Node, value_at
from spart_blocks.edits.references import SECTIONS

_SECTIONS = (*SECTIONS, "params", "blocks", "clocks", "robots", "subsystems", "variants")
_INDEX = re.compile(r"\[([0-9]{1,9})\]")
_NUMBER = re.compile(r"[0-9]{1,9}")


def keys_of(path: str, data: dict[str, Any]) -> Keys:
    """The keys and indices of a path, whole or short, in a file's values; of a whole one the last
    need not be there. Raises InputError."""
    dotted = _INDEX.sub(r".\1", path)
    keys: Keys = tuple(dotted.split("."))
    if len(keys) < 2 or keys[0] not in _SECTIONS:
        keys = path_in(dotted, Document("it", data, Node(data, 0, 0)), Path.cwd())
    found: Keys = ()
    for key in keys:
        in_list = isinstance(value_at(data, found), list) and _NUMBER.fullmatch(str(key))
        found = (*found, int(key) if in_list else key)
    return found

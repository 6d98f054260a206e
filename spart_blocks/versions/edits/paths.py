"""Paths of values as people write them: `params.kp`, `ctrl.kp`, `expect.final[1].within`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, Keys, Node, value_at
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.table import STRUCTURE, Sections
from spart_blocks.diagram.written.overrides import path_in

_SECTIONS = (*Sections.model_fields, *(name for name, row in STRUCTURE.items() if row.named))
_INDEX = re.compile(r"\[([0-9]{1,9})\]")
_NUMBER = re.compile(r"[0-9]{1,9}")


def keys_of(path: str, data: dict[str, Any]) -> Keys:
    """The keys and indices of a path, whole or short, in a file's values; of a whole one the last
    need not be there. Raises InputError."""
    dotted = _INDEX.sub(r".\1", path)
    keys: Keys = tuple(dotted.split("."))
    if "" in keys:
        raise InputError(Fault(f"the path {path[:60]!r} has an empty name"))
    if len(keys) < 2 or keys[0] not in _SECTIONS:
        keys = path_in(dotted, Document("it", data, Node(data, 0, 0)), Path.cwd())
    found: Keys = ()
    for key in keys:
        in_list = isinstance(value_at(data, found), list) and _NUMBER.fullmatch(str(key))
        found = (*found, int(key) if in_list else key)
    _refuse_indices(path, found, len(found) - dotted.count(".") - 1)
    return found


def _refuse_indices(path: str, keys: Keys, ahead: int) -> None:
    """Refuse an index, as in `final[0]`, of what is no list. ahead: how many keys a short path
    leaves out."""
    for index in _INDEX.finditer(path):
        before = _INDEX.sub(r".\1", path[: index.start()])
        if not isinstance(keys[ahead + before.count(".") + 1], int):
            hint = f"append {before}=VALUE adds an item, and makes the list where there is none"
            raise InputError(Fault(f"{before} is no list that has an item {index[0]}", hint=hint))

"""Finds what a path means in a diagram's file: `params.kp`, `ctrl.kp[1]`,
`expect.final[0].within`.

A short path is looked up: `kp` is a parameter, otherwise the only run option or block parameter of
that name; `ctrl.kp` is kp of the block (or clock) ctrl.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from spart_blocks.base.document import MAX_DEPTH, Document, Keys, YamlNode, mapping_at, value_at
from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean
from spart_blocks.base.paths import dotted, keys_of
from spart_blocks.diagram.network.composed import former_names
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.diagram.sections.table import FILE_SECTIONS, STRUCTURE, Sections
from spart_blocks.diagram.written.unwritten import blocks_that_take

SETTABLE = tuple(name for name, row in FILE_SECTIONS.items() if row.settable)
"""Sections that `--set` can change."""
WHOLE = tuple(name for name, row in STRUCTURE.items() if row.settable and not row.named)
"""Sections that can only be replaced as a whole."""
EDITABLE = (*Sections.model_fields, *(name for name, row in STRUCTURE.items() if row.named))
"""Sections in which an edit can change or add an entry by its full path."""
MOST_CHOICES = 6
"""Largest number of paths in a hint."""


def path_in(path: str, document: Document, root: Path, place: Place | None = None) -> Keys:
    """The keys, from the top of a document, for a full or short path; items of lists have integer
    keys.

    root: folder that must contain the files it uses. place: where the path is written. Raises
    InputError if there is no such entry.
    """
    try:
        if path.count(".") >= MAX_DEPTH:
            hint = "write path=value"
            raise _wrong(f"the path has more than {MAX_DEPTH} levels", hint)
        return _numbered(_full(keys_of(path), path, document, root), document.data)
    except InputError as error:
        [fault] = error.faults
        raise InputError(Fault(fault.message, place, fault.hint)) from None


def editable_path_in(path: str, data: dict[str, Any]) -> Keys:
    """As `path_in`, for edits: a full path may lead to a new entry of any section. Raises
    InputError, also for an index into something that is not a list.
    """
    keys = keys_of(path)
    if len(keys) > 1 and keys[0] in EDITABLE:
        found = _numbered(keys, data)
    else:
        found = path_in(path, Document("it", data, YamlNode(data, 0, 0)), Path.cwd())
    short = len(found) - len(keys)
    for depth, key in enumerate(keys):
        holder = value_at(data, found[: short + depth])
        if isinstance(key, int) and not isinstance(holder, list):
            before = dotted(keys[:depth])
            hint = f"append {before}=VALUE adds an item, and makes the list where there is none"
            raise _wrong(f"{before} is no list that has an item [{key}]", hint)
    return found


def _wrong(message: str, hint: str | None = None) -> InputError:
    return InputError(Fault(message, hint=hint))


def _numbered(keys: Keys, data: dict[str, Any]) -> Keys:
    """The keys with the indices of lists as integers, as in `kp.1`."""
    found: Keys = ()
    for key in keys:
        text = str(key)
        number = text.isdecimal() and len(text) < 10 and isinstance(value_at(data, found), list)
        found = (*found, int(text) if number else key)
    return found


def _full(keys: Keys, path: str, document: Document, root: Path) -> Keys:
    """The keys from the top of the file for those of a path."""
    data, name = document.data, str(keys[0])
    if name in SETTABLE:
        if len(keys) == 1 and name not in WHOLE:
            raise _wrong(f"{path!r} is a whole section", f"name a value, as {path}.NAME")
        return _checked(keys, data)
    choices = _meanings(keys, data)
    if len(choices) == 1:
        return _checked(choices[0], data)
    if choices:
        raise _wrong(f"{path!r} is ambiguous", f"write {_listed(choices)}")
    blocks = mapping_at(data, "blocks")
    if len(keys) == 1 and name in blocks:
        raise _wrong(f"{path!r} is a whole block", f"name an argument, as {path}.NAME")
    known = {*mapping_at(data, "params"), *blocks, *RunOptions.model_fields}
    if len(keys) == 1:
        holders = [("blocks", block, name) for block in blocks_that_take(name, document, root)]
        if holders:
            raise _wrong(f"there is nothing named {name!r}", f"write {_listed(holders, 1)}")
        entries = [entry for entry in blocks.values() if isinstance(entry, dict)]
        known |= {key for entry in entries for key in entry} - {"type", "use"}
    if name == "variants" and len(keys) > 1 and str(keys[1]) in blocks:
        slot = f"{keys[1]}.{keys[-1] if len(keys) > 2 else 'PARAMETER'}"
        hint = f"--variant chooses, and the parameters of what is chosen are the slot's: {slot}"
        raise _wrong("variants cannot be set", hint)
    users = [
        f"{block}.{argument}"
        for block, _, argument in (one.partition(".") for one in former_names(path))
        if block in blocks_that_take(argument, document, root)
    ]
    near = f"write {users[0]}" if users else did_you_mean(name, known)
    raise _wrong(f"there is nothing named {name!r}", near)


def _meanings(keys: Keys, data: dict[str, Any]) -> list[Keys]:
    """The possible meanings of a short path; a parameter of the file takes precedence."""
    name = keys[0]
    holders = [part for part in ("blocks", "clocks", "robots") if name in mapping_at(data, part)]
    others: list[Keys] = [(part, *keys) for part in holders] if len(keys) > 1 else []
    params = mapping_at(data, "params")
    if name in params:
        if others and not isinstance(params[name], (dict, list)):
            raise _wrong(f"parameter {name!r} is a value by itself", f"write {_listed(others)}")
        return [("params", *keys)]
    if others:
        return others
    # The name of an argument may be followed by the number of an entry alone.
    if any(not isinstance(key, int) for key in keys[1:]):
        return []
    options: list[Keys] = [("run", *keys)] if name in RunOptions.model_fields else []
    found: list[Keys] = [
        ("blocks", block, *keys)
        for block, entry in mapping_at(data, "blocks").items()
        if isinstance(entry, dict) and name in entry and name != "type"
    ]
    return options + found


def _listed(choices: Sequence[Keys], start: int = 0) -> str:
    return " or ".join(dotted(choice[start:]) for choice in choices[:MOST_CHOICES])


def _checked(keys: Keys, data: dict[str, Any]) -> Keys:
    """The keys, if the entry to replace exists; otherwise InputError, since a new entry would have
    no effect.
    """
    section, name = str(keys[0]), str(keys[1]) if len(keys) > 1 else ""
    if FILE_SECTIONS[section].named:
        known = mapping_at(data, section)
        if name not in known:
            kind = {"params": "parameter"}.get(section, section.rstrip("s"))
            raise _wrong(f"there is no {kind} {name!r}", did_you_mean(name, known))
        if len(keys) == 2 and section != "params":
            raise _wrong(f"{section}.{name} holds several values", "name one of them")
    return keys

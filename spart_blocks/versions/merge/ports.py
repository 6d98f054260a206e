"""Ports of subsystems that one side of a merge calls otherwise get this name in all versions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.written.sheets import File
from spart_blocks.versions.edits.ports import SIDES, RenamePort
from spart_blocks.versions.edits.steps import Operation


def ports_renamed(versions: Sequence[File]) -> list[list[Operation]]:
    """The operations that give ports their new names. versions: base, ours and theirs."""
    found: list[list[Operation]] = [[], [], []]
    for sheet in versions[0].sheets:
        for side in SIDES:
            before, *after = (_ports(version, sheet.keys, side) for version in versions)
            new = [dict(_new_names(before, ports)) for ports in after]
            for old in dict.fromkeys([*new[0], *new[1]]):
                names = {names[old] for names in new if old in names}
                if len(names) == 1:
                    operation = RenamePort(old, names.pop(), side, sheet.name)
                    having = [old in _ports(one, sheet.keys, side) for one in versions]
                    if all(_is_allowed(operation, one)
                           for one, has in zip(versions, having, strict=True) if has):  # fmt: skip
                        for own, has in zip(found, having, strict=True):
                            own += [operation] if has else []
    return found


def _is_allowed(operation: RenamePort, version: File) -> bool:
    try:
        operation.steps(version)
    except InputError:  # the new name is taken, or is none, or a wire cannot be read
        return False
    return True


def _ports(version: File, keys: Keys, side: str) -> tuple[str, ...]:
    """The ports of a sheet; none if it is not there, or if one is no text."""
    if keys and keys[1] not in version.subsystems:
        return ()
    sheet = version.sheet_at(keys)
    written = sheet.section.get(side)
    are_texts = isinstance(written, list) and all(isinstance(one, str) for one in written)
    return tuple(written) if isinstance(written, list) and are_texts else ()


def _new_names(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[str, str]]:
    """The names of ports that stand in the place of one that is no more there, by its name."""
    if len(before) == len(after):
        for a, b in zip(before, after, strict=True):
            if a not in after and b not in before:
                yield a, b

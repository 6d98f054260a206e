"""The diagrams that a file contains: the top one, and one for each instance of a subsystem or used
file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Keys
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.written.sheets import File, Sheet, WrittenBlock
from spart_blocks.studio.files.reading import Reading


@dataclass(frozen=True)
class Scope:
    """One diagram. at: path of its instance, "" for the top one. file, path: the file in which it
    is written. sheet: its sheet in that file. within: the name of the subsystem for edits, None if
    it is in another file. bd: bdsim's diagram as far as it is built. named: prefix of its signals,
    with `*` for the numbers of copies."""

    reading: Reading
    at: str
    file: File
    path: Path
    sheet: Sheet
    within: str | None
    bd: Any
    named: str = ""

    @property
    def keys(self) -> Keys:
        """The path of its section in its file."""
        return self.sheet.keys

    @property
    def copies(self) -> bool:
        """Whether it belongs to a subsystem that is repeated by `for_each`."""
        return "*" in self.named

    @property
    def key(self) -> str:
        """The key under which its block positions are stored."""
        if self.within is not None:
            return self.within
        return f"{self.path}:{'.'.join(map(str, self.keys))}"

    @cached_property
    def written(self) -> dict[str, WrittenBlock]:
        """Its blocks by name, with the chosen block for each slot of variants."""
        found = dict(self.sheet.blocks)
        chosen = self.reading.chosen if self.within is not None else {}
        for slot in self.file.slots.values() if not self.keys else ():
            choice = slot.choice(chosen.get(slot.name))
            if choice is not None:
                found[slot.name] = choice
        return found

    @cached_property
    def blocks(self) -> dict[str, Mapping[str, Any]]:
        """The section of each block in the file."""
        return {name: block.section for name, block in self.written.items()}

    def is_slot(self, name: str) -> bool:
        """Whether a name is that of a slot of variants."""
        return not self.keys and name in self.file.slots

    def definition(self, name: str) -> Sheet | None:
        """The subsystem of the same file that a block is an instance of; None for other blocks."""
        block = self.written.get(name)
        return None if block is None else self.file.subsystem_of(block)

    def inner(self, name: str) -> Scope | None:
        """The diagram inside a block; None for a plain block."""
        section, sheet = self.blocks.get(name, {}), self.definition(name)
        at = f"{self.at}/{name}" if self.at else name
        bd, named = self._built(name), f"{self.named}/{name}" if self.named else name
        named += "/*" if "for_each" in section else ""
        if sheet is not None:
            within = sheet.name if self.within is not None else None
            return Scope(self.reading, at, self.file, self.path, sheet, within, bd, named)
        block = self.written.get(name)
        given = block.use if block is not None else None
        used = None if given is None else self.reading.use(given, self.file)
        if used is None:
            return None
        path, file = used
        return Scope(self.reading, at, file, path, file.top, None, bd, named)

    def _built(self, name: str) -> Any:
        block = self.built(name)
        inner = attribute(block, "subsystem") if block is not None else None
        if inner is not None and "for_each" in self.blocks.get(name, {}):
            first = next((one for one in inner.blocklist if one.name == "0"), None)
            inner = getattr(first, "subsystem", None)
        return inner

    def built(self, name: str) -> Any:
        """The bdsim block of a name; None if it has mistakes."""
        if self.bd is None:
            return None
        known = self.reading.built
        if id(self.bd) not in known:
            known[id(self.bd)] = {str(one.name): one for one in self.bd.blocklist}
        return known[id(self.bd)].get(name)


def whole(reading: Reading) -> Scope:
    """The top diagram of the file."""
    return Scope(reading, "", reading.file, reading.path, reading.file.top, "", reading.bd)


def scope_at(reading: Reading, at: str) -> Scope:
    """The diagram at a path of instances, such as `arm/servo`. Raises InputError if it does not
    exist."""
    found = whole(reading)
    for name in at.split("/") if at else ():
        inner = found.inner(name)
        if inner is None:
            hint = did_you_mean(name, found.blocks)
            raise InputError(Fault(f"there is no subsystem {at[:200]!r}", hint=hint))
        found = inner
    return found

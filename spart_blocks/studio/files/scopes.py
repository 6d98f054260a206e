"""The diagrams within a file: the whole, and the instances of its subsystems and used files."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from spart_blocks.base.document import Document, Keys, mapping_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.written.wires import WireSyntaxError, WrittenWire, parse_wire
from spart_blocks.studio.files.reading import Reading, is_part, slots_of

BORDERS = ("in", "out")


@dataclass(frozen=True)
class Scope:
    """One diagram. at: the path of the instance, "" for the whole. keys: where it is written in its
    document. within: the definition that edits name; None in another file. bd: bdsim's diagram of
    it, as far as it is built. named: as its signals are named, `*` for the numbers of copies."""

    reading: Reading
    at: str
    document: Document
    file: Path
    keys: Keys
    within: str | None
    bd: Any
    named: str = ""

    @cached_property
    def section(self) -> Mapping[str, Any]:
        """The diagram as it is written."""
        return mapping_at(self.document.data, *self.keys)

    @property
    def copies(self) -> bool:
        """Whether it is of a subsystem that is repeated."""
        return "*" in self.named

    @property
    def key(self) -> str:
        """What the places of its blocks are kept under."""
        if self.within is not None:
            return self.within
        return f"{self.file}:{'.'.join(map(str, self.keys))}"

    @property
    def has_border(self) -> bool:
        """Whether it has the blocks `in` and `out`."""
        return bool(self.keys) or is_part(self.document.data)

    @cached_property
    def blocks(self) -> dict[str, dict[str, Any]]:
        """The blocks as they are written, those chosen for slots of variants among them."""
        found = {
            name: mapping_at(section)
            for name, section in mapping_at(self.section, "blocks").items()
        }
        if not self.keys:
            chosen = self.reading.chosen if self.within is not None else {}
            for slot, (choices, default) in slots_of(self.document.data).items():
                found[slot] = choices[chosen.get(slot, default)]
        return found

    def is_slot(self, name: str) -> bool:
        """Whether a block stands for the choices of a slot."""
        return not self.keys and name in mapping_at(self.document.data, "variants")

    @cached_property
    def wires(self) -> list[tuple[int, str, WrittenWire]]:
        """The wires that can be read: number, text, and what it says."""
        written = self.section.get("wires")
        found = []
        for number, text in enumerate(written if isinstance(written, list) else ()):
            if isinstance(text, str) and text.strip():
                try:
                    found.append((number, text, parse_wire(text)))
                except WireSyntaxError:
                    continue
        return found

    def names(self, side: str) -> tuple[str, ...]:
        """Its own ports: side is inputs or outputs."""
        return names_of(self.section, side)

    def definition(self, section: Mapping[str, Any]) -> Keys | None:
        """Where the subsystem of this file is written that a block is of."""
        kind = section.get("type")
        known = mapping_at(self.document.data, "subsystems")
        return ("subsystems", kind) if isinstance(kind, str) and kind in known else None

    def inner(self, name: str) -> Scope | None:
        """The diagram that a block opens; None for a plain block."""
        section = self.blocks.get(name, {})
        keys = self.definition(section)
        at = f"{self.at}/{name}" if self.at else name
        bd, named = self._built(name), f"{self.named}/{name}" if self.named else name
        named += "/*" if "for_each" in section else ""
        if keys is not None:
            within = str(keys[1]) if self.within is not None else None
            return Scope(self.reading, at, self.document, self.file, keys, within, bd, named)
        given = section.get("use")
        used = self.reading.use(given, self.document) if isinstance(given, str) else None
        if used is None:
            return None
        return Scope(self.reading, at, used[1], used[0], (), None, bd, named)

    def _built(self, name: str) -> Any:
        block = self.built(name)
        inner = attribute(block, "subsystem") if block is not None else None
        if inner is not None and "for_each" in self.blocks.get(name, {}):
            first = next((one for one in inner.blocklist if one.name == "0"), None)
            inner = getattr(first, "subsystem", None)
        return inner

    def built(self, name: str) -> Any:
        """The block of bdsim of this name; None where it has mistakes."""
        if self.bd is None:
            return None
        known = self.reading.built
        if id(self.bd) not in known:
            known[id(self.bd)] = {str(one.name): one for one in self.bd.blocklist}
        return known[id(self.bd)].get(name)


def names_of(section: Mapping[str, Any], side: str) -> tuple[str, ...]:
    """The ports that a subsystem or a file says it has."""
    written = section.get(side)
    return tuple(map(str, written)) if isinstance(written, list) else ()


def whole(reading: Reading) -> Scope:
    """The diagram of the file itself."""
    return Scope(reading, "", reading.document, reading.path, (), "", reading.bd)


def scope_at(reading: Reading, at: str) -> Scope:
    """The diagram at a path of instances. Raises InputError where there is none."""
    found = whole(reading)
    for name in at.split("/") if at else ():
        inner = found.inner(name)
        if inner is None:
            hint = did_you_mean(name, found.blocks)
            raise InputError(Fault(f"there is no subsystem {at[:200]!r}", hint=hint))
        found = inner
    return found

"""A diagram's file as it is written: its sheets of blocks and wires, and where each is in the file.

Made from a document alone: nothing is resolved, checked or built, so it is there for a file with
mistakes as well. What is not of its form is empty here; the document has its value. Sheets are read
when they are asked for.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from spart_blocks.base.document import Document, Keys, YamlNode, mapping_at
from spart_blocks.diagram.written.wires import WireSyntaxError, WrittenWire, parse_wire

GATES = ("in", "out")
"""The blocks of a sheet that stand for its own ports."""
MOST_INSTANCES = 10_000
"""Instances of subsystems that are found in a file."""


@dataclass(frozen=True, eq=False)
class WrittenBlock:
    """A block. keys: where it is written. written: its entries, or what stands in their place."""

    name: str
    keys: Keys
    written: Any

    @property
    def section(self) -> dict[str, Any]:
        """Its entries; none where it is no mapping."""
        return mapping_at(self.written)

    @property
    def uses(self) -> bool:
        """Whether it is of a file that it uses."""
        return "use" in self.section and "type" not in self.section

    @property
    def kind(self) -> str:
        """Its type, or the path of the file that it uses, as text."""
        kind = self.section.get("use" if self.uses else "type")
        return kind if isinstance(kind, str) else repr(kind)

    @property
    def type(self) -> str | None:
        """Its type, or the name of a subsystem."""
        return _text(self.section.get("type"))

    @property
    def use(self) -> str | None:
        """The path of the file that it uses."""
        return _text(self.section.get("use"))

    @property
    def parameters(self) -> dict[str, Any]:
        """All entries besides these two."""
        return {key: value for key, value in self.section.items() if key not in ("type", "use")}


@dataclass(frozen=True, eq=False)
class Sheet:
    """The blocks and wires of a file itself, or of a subsystem. keys: where it is written, () for
    the file itself. section: its entries."""

    keys: Keys
    section: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the subsystem; "" for the file itself."""
        return str(self.keys[-1]) if self.keys else ""

    @cached_property
    def blocks(self) -> dict[str, WrittenBlock]:
        """Its blocks by name, without those that stand for slots."""
        return _blocks((*self.keys, "blocks"), mapping_at(self.section, "blocks"))

    @property
    def params(self) -> dict[str, Any]:
        """Its parameters and their values."""
        return mapping_at(self.section, "params")

    @property
    def inputs(self) -> tuple[str, ...]:
        """The names of its input ports, which are the outputs of its block `in`."""
        return _names(self.section.get("inputs"))

    @property
    def outputs(self) -> tuple[str, ...]:
        """The names of its output ports, which are the inputs of its block `out`."""
        return _names(self.section.get("outputs"))

    @property
    def has_gates(self) -> bool:
        """Whether it has the blocks `in` and `out`."""
        return bool(self.keys) or "inputs" in self.section or "outputs" in self.section

    @cached_property
    def wire_texts(self) -> dict[int, str]:
        """The texts of its wires by their numbers in the list. Empty ones are no wires."""
        written = self.section.get("wires")
        texts = enumerate(written if isinstance(written, list) else ())
        return {number: text for number, text in texts if isinstance(text, str) and text}

    @property
    def wires(self) -> dict[int, WrittenWire]:
        """The wires that can be read, by their numbers."""
        return self._wires[0]

    @property
    def wrong_wires(self) -> dict[int, WireSyntaxError]:
        """Why the others cannot be read."""
        return self._wires[1]

    @cached_property
    def _wires(self) -> tuple[dict[int, WrittenWire], dict[int, WireSyntaxError]]:
        wires: dict[int, WrittenWire] = {}
        wrong: dict[int, WireSyntaxError] = {}
        for number, text in self.wire_texts.items():
            try:
                wires[number] = parse_wire(text)
            except WireSyntaxError as error:
                wrong[number] = error
        return wires, wrong


@dataclass(frozen=True, eq=False)
class Slot:
    """A block of which there are alternatives. keys: where it is written. default: the name of the
    choice that is taken when none is asked for. section: its entries."""

    name: str
    keys: Keys
    section: Mapping[str, Any]

    @property
    def default(self) -> str | None:
        """The name of the choice that is taken when none is asked for."""
        return _text(self.section.get("default"))

    @cached_property
    def choices(self) -> dict[str, WrittenBlock]:
        """Its alternatives by name, those that are mappings."""
        written = mapping_at(self.section, "choices")
        right = {name: one for name, one in written.items() if isinstance(one, dict)}
        return _blocks((*self.keys, "choices"), right)

    def choice(self, asked: str | None = None) -> WrittenBlock | None:
        """The choice of a name; without such a one the default, or else the first."""
        for name in (asked, self.default, *self.choices):
            if name is not None and name in self.choices:
                return self.choices[name]
        return None


@dataclass(frozen=True, eq=False)
class File:
    """A file of blocks: a diagram, or one with ports that others use."""

    document: Document

    @staticmethod
    def of(data: dict[str, Any]) -> File:
        """A file of plain values, without a text."""
        return File(Document("it", data, YamlNode(data, 0, 0)))

    @property
    def data(self) -> dict[str, Any]:
        """Its plain values."""
        return self.document.data

    @cached_property
    def top(self) -> Sheet:
        """The sheet of the file itself."""
        return Sheet((), self.data)

    @cached_property
    def subsystems(self) -> dict[str, Sheet]:
        """Its subsystems by name."""
        written = mapping_at(self.data, "subsystems")
        return {name: Sheet(("subsystems", name), mapping_at(one)) for name, one in written.items()}

    @cached_property
    def slots(self) -> dict[str, Slot]:
        """Its slots of variants by name."""
        written = mapping_at(self.data, "variants")
        return {name: Slot(name, ("variants", name), mapping_at(one))
                for name, one in written.items()}  # fmt: skip

    @property
    def sheets(self) -> Iterator[Sheet]:
        """All its sheets, its own first."""
        yield self.top
        yield from self.subsystems.values()

    def sheet_at(self, keys: Keys) -> Sheet:
        """The sheet that is written at a path: () or ("subsystems", name)."""
        return self.subsystems[str(keys[1])] if keys else self.top

    def blocks(self) -> Iterator[WrittenBlock]:
        """The blocks of all sheets, and the choices for all slots."""
        for sheet in self.sheets:
            yield from sheet.blocks.values()
        for slot in self.slots.values():
            yield from slot.choices.values()

    @property
    def used(self) -> dict[str, None]:
        """The paths of the files that these use, as they are written."""
        return {block.use: None for block in self.blocks() if block.use is not None}

    def subsystem_of(self, block: WrittenBlock) -> Sheet | None:
        """The subsystem that a block is of; None for others."""
        return self.subsystems.get(block.type) if block.type is not None else None

    def instances(self) -> Iterator[tuple[str, Sheet]]:
        """Each sheet as often as it is in the diagram, and what the names of its blocks begin
        with there: "" for the file itself, then `arm/` for the block arm. A subsystem that contains
        itself ends there."""
        waiting = deque([("", self.top, frozenset[str]())])
        seen = 0
        while waiting:
            prefix, sheet, around = waiting.popleft()
            yield prefix, sheet
            for block in sheet.blocks.values() if seen < MOST_INSTANCES else ():
                inner = self.subsystem_of(block)
                if inner is not None and inner.name not in around:
                    seen += 1
                    waiting.append((f"{prefix}{block.name}/", inner, around | {inner.name}))


def _blocks(keys: Keys, written: Mapping[str, Any]) -> dict[str, WrittenBlock]:
    return {name: WrittenBlock(name, (*keys, name), one) for name, one in written.items()}


def _names(written: Any) -> tuple[str, ...]:
    return tuple(map(str, written)) if isinstance(written, list) else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

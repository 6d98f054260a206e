"""A diagram's file as written: its sheets of blocks and wires, and their paths in the file.

This needs only a document: nothing is resolved, checked or built, so that it also works for a file
with faults. Entries of a wrong form appear as empty; the document has their values. Sheets are
read when they are needed.
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
"""The blocks of a sheet that represent its own ports."""
Name = tuple[Keys, str]
"""A block: the path of its sheet in the file, and its own name. A choice is on its slot."""
TOP: Keys = ()
"""The path of the sheet of the diagram itself."""
SUBSYSTEM, VARIANT = "subsystems", "variants"
"""First keys of the paths of subsystems and of slots of variants."""
MOST_INSTANCES = 10_000
"""Largest number of instances of subsystems that are listed."""


@dataclass(frozen=True, eq=False)
class WrittenBlock:
    """A block. keys: its path in the file. written: its mapping of entries, or another value if it
    is wrong.
    """

    name: str
    keys: Keys
    written: Any

    @cached_property
    def section(self) -> dict[str, Any]:
        """Its entries; empty if it is not a mapping."""
        return mapping_at(self.written)

    @property
    def uses(self) -> bool:
        """Whether it uses another file (`use:`)."""
        return "use" in self.section and "type" not in self.section

    @property
    def kind(self) -> str:
        """Its type, or the path of the file that it uses, as text."""
        kind = self.section.get("use" if self.uses else "type")
        return kind if isinstance(kind, str) else repr(kind)

    @cached_property
    def type(self) -> str | None:
        """Its type, or the name of a subsystem."""
        return _text(self.section.get("type"))

    @property
    def use(self) -> str | None:
        """The path of the file that it uses."""
        return _text(self.section.get("use"))

    @property
    def parameters(self) -> dict[str, Any]:
        """All entries except `type` and `use`."""
        return {key: value for key, value in self.section.items() if key not in ("type", "use")}


@dataclass(frozen=True, eq=False)
class Sheet:
    """The blocks and wires of a file, or of a subsystem in it. keys: its path, () for the file
    itself. section: its entries.
    """

    keys: Keys
    section: Mapping[str, Any]

    @property
    def name(self) -> str:
        """The name of the subsystem; "" for the file itself."""
        return str(self.keys[-1]) if self.keys else ""

    @cached_property
    def blocks(self) -> dict[str, WrittenBlock]:
        """Its blocks by name, without variant slots."""
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

    @property
    def rest(self) -> dict[str, Any]:
        """Its entries without blocks, wires and what only its drawing has."""
        others = "blocks", "wires", "drawing"
        return {key: one for key, one in self.section.items() if key not in others}

    @property
    def drawing(self) -> dict[str, Any]:
        """Its section `drawing`; empty if there is none."""
        return mapping_at(self.section, "drawing")

    @cached_property
    def wire_texts(self) -> dict[int, str]:
        """The texts of its wires by their index in the list. Empty ones are left out."""
        written = self.section.get("wires")
        texts = enumerate(written if isinstance(written, list) else ())
        return {number: text for number, text in texts if isinstance(text, str) and text}

    @property
    def wires(self) -> dict[int, WrittenWire]:
        """The wires that can be parsed, by index."""
        return self._wires[0]

    @property
    def wrong_wires(self) -> dict[int, WireSyntaxError]:
        """The errors of the wires that cannot be parsed, by index."""
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
    """A variant slot: a block with alternatives. keys: its path in the file. section:
    its entries.
    """

    name: str
    keys: Keys
    section: Mapping[str, Any]

    @property
    def default(self) -> str | None:
        """The name of the default choice."""
        return _text(self.section.get("default"))

    @cached_property
    def choices(self) -> dict[str, WrittenBlock]:
        """Its alternatives by name, those that are mappings."""
        written = mapping_at(self.section, "choices")
        right = {name: one for name, one in written.items() if isinstance(one, dict)}
        return _blocks((*self.keys, "choices"), right)

    @property
    def rest(self) -> dict[str, Any]:
        """Its entries without the choices."""
        return {key: one for key, one in self.section.items() if key != "choices"}

    def choice(self, asked: str | None = None) -> WrittenBlock | None:
        """The choice of this name; otherwise the default, otherwise the first one."""
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
        """A file made from plain data, without text."""
        return File(Document("it", data, YamlNode(data, 0, 0)))

    @property
    def data(self) -> dict[str, Any]:
        """Its data."""
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
        """All its sheets, the top one first."""
        yield self.top
        yield from self.subsystems.values()

    def sheet_at(self, keys: Keys) -> Sheet:
        """The sheet at a path: () or ("subsystems", name)."""
        return self.subsystems[str(keys[1])] if keys else self.top

    def blocks(self) -> Iterator[WrittenBlock]:
        """The blocks of all sheets, and the choices for all slots."""
        for sheet in self.sheets:
            yield from sheet.blocks.values()
        for slot in self.slots.values():
            yield from slot.choices.values()

    @property
    def used(self) -> dict[str, None]:
        """The paths of the files that its blocks use, as written."""
        return {block.use: None for block in self.blocks() if block.use is not None}

    def subsystem_of(self, block: WrittenBlock) -> Sheet | None:
        """The subsystem of this file that a block is an instance of; None for other blocks."""
        return self.subsystems.get(block.type) if block.type is not None else None

    def instances(self) -> Iterator[tuple[str, Sheet]]:
        """Each instance of a sheet with the prefix of its blocks' names: "" for the file itself,
        `arm/` for the block arm. A subsystem inside itself is not expanded.
        """
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


def is_slot(sheet: Keys) -> bool:
    """Whether the path of a sheet is that of a slot of variants, whose blocks are its choices."""
    return sheet[:1] == (VARIANT,)


def blocks_path(sheet: Keys) -> Keys:
    """The path of a sheet's blocks, or of a slot's choices."""
    return (*sheet, "choices" if is_slot(sheet) else "blocks")


def block_path(name: Name) -> Keys:
    """The path of a block."""
    return (*blocks_path(name[0]), name[1])


def _blocks(keys: Keys, written: Mapping[str, Any]) -> dict[str, WrittenBlock]:
    return {name: WrittenBlock(name, (*keys, name), one) for name, one in written.items()}


def _names(written: Any) -> tuple[str, ...]:
    return tuple(map(str, written)) if isinstance(written, list) else ()


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None

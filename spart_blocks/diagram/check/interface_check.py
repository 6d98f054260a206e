"""Checks that all choices for a variant slot have the same ports with the same shapes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from shlex import quote
from textwrap import indent
from typing import Any

import yaml

from spart_blocks.base.document import Document, mapping_at
from spart_blocks.base.errors import DiagramError, Fault
from spart_blocks.block_support.ports import Port, input_ports, output_ports
from spart_blocks.diagram.build.connect import signal_name
from spart_blocks.diagram.check.first_values import Failure, Shape, first_values
from spart_blocks.diagram.diagram import Diagram
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.diagram.sections.schema import VariantSection
from spart_blocks.diagram.written.sheets import File
from spart_blocks.diagram.written.variants import Chosen
from spart_blocks.diagram.written.wires import WireSyntaxError
from spart_blocks.diagram.written.wrapper import INNER, wrapper_of


@dataclass(frozen=True)
class BlockInterface:
    """A block's ports; their shapes are those declared, or those at the start of a run."""

    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]

    def __str__(self) -> str:
        return f"{_shown(self.inputs)} -> {_shown(self.outputs)}"

    @staticmethod
    def of(block: Any) -> BlockInterface:
        """The interface of a bdsim block, as it declares it."""
        return BlockInterface(input_ports(block), output_ports(block))

    def has_ports_of(self, other: BlockInterface, used: Iterable[str]) -> bool:
        """Whether the same wires can be connected to both. used: ports that wires name; an
        optional input that no wire names may be missing, and so may an output.
        """
        names = set(used)
        return _same(self.inputs, other.inputs, names) and _same(
            *_read(self.outputs, other.outputs, names), names
        )

    def has_shapes_of(self, other: BlockInterface) -> bool:
        """Whether all shapes that are known in both are equal."""
        mine, others = self.outputs, other.outputs
        if not (_numbered(mine) or _numbered(others)):
            mine, others = _in_both(mine, others), _in_both(others, mine)
        pairs = zip(mine, others, strict=True)
        return all(a.shape is None or b.shape is None or a.shape == b.shape for a, b in pairs)


def _shown(ports: tuple[Port, ...]) -> str:
    texts = [
        port.name + ("?" if port.optional else "") + (f" {port.shape}" if port.shape else "")
        for port in ports
    ]
    return ", ".join(texts) or "nothing"


def _in_both(ports: tuple[Port, ...], others: tuple[Port, ...]) -> tuple[Port, ...]:
    """The ports that others have too, by name."""
    names = {port.name for port in others}
    return tuple(sorted((p for p in ports if p.name in names), key=lambda port: port.name))


def _read(
    mine: tuple[Port, ...], others: tuple[Port, ...], used: set[str]
) -> tuple[tuple[Port, ...], tuple[Port, ...]]:
    """The outputs of two blocks without those that no wire reads. All of them, if a wire may read
    one without its name or by its number."""
    names = {port.name for port in (*mine, *others)} & used
    if not names or any(name.isdecimal() for name in used):
        return mine, others
    return tuple(p for p in mine if p.name in names), tuple(p for p in others if p.name in names)


def _numbered(ports: tuple[Port, ...]) -> bool:
    """Whether the ports have only numbers as names."""
    return all(port.name.isdecimal() for port in ports)


def _same(mine: tuple[Port, ...], others: tuple[Port, ...], used: set[str]) -> bool:
    if _numbered(mine) or _numbered(others):
        return len(mine) == len(others)
    numbers = [int(name) for name in used if name.isdecimal()]
    if any(
        [p.name for p in mine[k : k + 1]] != [p.name for p in others[k : k + 1]] for k in numbers
    ):
        return False
    needed = [
        {p.name for p in ports if not p.optional or p.name in used} for ports in (mine, others)
    ]
    return needed[0] == needed[1]


@dataclass(frozen=True)
class Choices:
    """The choices of a file, and how to build it with some of them.

    block: builds only a slot's block, None after a fault; diagram: builds the whole diagram. Both
    raise DiagramError for other faults.
    """

    document: Document
    slots: Mapping[str, VariantSection]
    block: Callable[[Chosen, str], Any]
    diagram: Callable[[Chosen], Diagram]

    def check(self) -> None:
        """Raise DiagramError for all choices whose interface differs from that of the default."""
        faults: list[Fault] = []
        for slot, variants in self.slots.items():
            used = set(_ports_used(self.document, slot))
            first = self._interface(slot, variants.default, used, None, faults)
            others = [choice for choice in variants.choices if choice != variants.default]
            for choice in others if first is not None else ():
                self._interface(slot, choice, used, first, faults)
        if faults:
            raise DiagramError(dict.fromkeys(faults))

    def _interface(
        self,
        slot: str,
        choice: str,
        used: set[str],
        first: BlockInterface | None,
        faults: list[Fault],
    ) -> BlockInterface | None:
        """The interface of a choice. first: that of the default; a fault is added if
        they differ.
        """
        chosen = {name: section.default for name, section in self.slots.items()} | {slot: choice}
        try:
            mine = BlockInterface.of(self.block(chosen, slot))
            if first is not None and not mine.has_ports_of(first, used):
                faults.append(self._unlike("ports", slot, choice, mine, first))
                return None
            found, failure = _with_shapes(self.diagram(chosen), slot, mine)
        except DiagramError as error:
            faults += error.faults
            return None
        if first is not None and failure and failure.of_shapes:
            faults.append(self._unlike("shapes", slot, choice, found, first, failure.text))
        elif first is not None and failure:
            place = self.document.key_place("variants", slot, "choices", choice)
            faults.append(Fault(f"{slot}: {choice} fails: {failure.text}", place, failure.where))
        elif first is not None and not found.has_shapes_of(first):
            faults.append(self._unlike("shapes", slot, choice, found, first))
        return found

    def _unlike(
        self,
        what: str,
        slot: str,
        choice: str,
        mine: BlockInterface,
        first: BlockInterface,
        failure: str | None = None,
    ) -> Fault:
        default = self.slots[slot].default
        message = f"{slot}: {choice} has other {what} than {default}" + (
            f": {failure}" if failure else ""
        )
        place = self.document.key_place("variants", slot, "choices", choice)
        hint = f"{choice}: {mine}\n  {default}: {first}"
        edit: tuple[str, ...] = ()
        if what == "ports":
            with suppress(WireSyntaxError):  # a port whose name no wire can write
                told, edit = self._wrapper(slot, choice, mine, first)
                hint += f"\n{told}"
        return Fault(message, place, hint, edit)

    def _wrapper(
        self, slot: str, choice: str, mine: BlockInterface, first: BlockInterface
    ) -> tuple[str, tuple[str, ...]]:
        """The wrapper that gives a choice the ports of the default, and the edit that writes it."""
        used = set(_ports_used(self.document, slot))
        texts, lacking = _wires_within(mine, first, used)
        block = mapping_at(self.document.data, "variants", slot, "choices", choice)
        wrapper = wrapper_of(File(self.document), slot, choice, block, texts)
        edit = ("wrap", f"{slot}.{choice}", *texts)
        words = " ".join(map(quote, (self.document.file, *edit)))
        written = yaml.safe_dump(
            {"subsystems": {wrapper.name: wrapper.section}}, sort_keys=False, width=90,
            default_flow_style=None, allow_unicode=True,
        )  # fmt: skip
        note = f" (still to be wired: {', '.join(lacking)})" if lacking else ""
        told = f"wrap it{note}: spart edit {words}"
        head = f"this writes {choice}: {{type: {wrapper.name}}}, and"
        return indent(f"{told}\n{head}\n{indent(written.rstrip(), '  ')}", "  "), edit


def _wires_within(
    mine: BlockInterface, first: BlockInterface, used: set[str]
) -> tuple[list[str], list[str]]:
    """The wires in a wrapper of a choice, and the ports that have none: ports of one name are
    paired, then the others in their order.
    """
    numbered = any(name.isdecimal() for name in used)  # then the places of ports count
    inputs = [p for p in first.inputs if numbered or not p.optional or p.name in used]
    needed = [port for port in mine.inputs if not port.optional]
    pairs = _pairs(_gate_names(inputs, "u"), mine.inputs, needed)
    read = _read(first.outputs, first.outputs, used)[0]
    outs = _pairs(_gate_names(read, "y"), mine.outputs, mine.outputs)
    texts = [f"in.{a} -> {INNER}.{b}" if b else f"in.{a}" for a, b in pairs.items()]
    texts += [f"{INNER}.{b} -> out.{a}" for a, b in outs.items() if b]
    fed = set(pairs.values())
    lacking = [f"{INNER}.{port.name}" for port in needed if port.name not in fed]
    return texts, lacking + [f"out.{a}" for a, b in outs.items() if not b]


def _gate_names(ports: Sequence[Port], letter: str) -> list[str]:
    """Names for the ports of a wrapper; numbers become u, or u0, u1, ..."""
    if not _numbered(tuple(ports)):
        return [port.name for port in ports]
    return [letter] if len(ports) == 1 else [f"{letter}{k}" for k in range(len(ports))]


def _pairs(names: list[str], ports: Sequence[Port], needed: Sequence[Port]) -> dict[str, str]:
    """For each name the name of its port, "" for none. needed: ports that take what is left."""
    same = {port.name for port in ports} & set(names)
    rest = iter([port.name for port in needed if port.name not in same])
    return {name: name if name in same else next(rest, "") for name in names}


def _ports_used(document: Document, slot: str) -> Iterable[str]:
    """The ports of a block that the wires of the file name."""
    for wire in File(document).top.wires.values():
        for end in (wire.source, *wire.ends):
            if end.block == slot and end.port is not None:
                yield end.port


def _with_shapes(
    diagram: Diagram, slot: str, interface: BlockInterface
) -> tuple[BlockInterface, Failure | None]:
    """The interface with the shapes at the initial time, and the error of the slot's block there,
    if any.
    """
    wiring = flatten(diagram.bd, diagram.places, diagram.run)
    shapes, failure = first_values(wiring, slot)
    sources = {wire.end.port: wire.start for wire in diagram.bd.wirelist
               if wire.end.block.name == slot}  # fmt: skip
    inputs = tuple(
        replace(port, shape=_shape_of(sources.get(number), shapes) or port.shape)
        for number, port in enumerate(interface.inputs)
    )
    outputs = tuple(
        replace(port, shape=shapes.get(f"{slot}.{port.name}", shapes.get(slot, port.shape)))
        for port in interface.outputs
    )
    return BlockInterface(inputs, outputs), failure


def _shape_of(source: Any, shapes: Mapping[str, Shape]) -> Shape | None:
    return None if source is None else shapes.get(signal_name(source.block, source.port))

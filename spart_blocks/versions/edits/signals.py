"""Renames a signal of a bus wherever the bus leads, and wherever it is named.

A signal is followed from port to port, on all sheets of the file: along wires that carry the bus,
through the blocks of buses, and through ports of subsystems. Wires by name (`bus.* -> law`) to a
block whose inputs keep their names are written out for this signal.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from spart_blocks.base.document import Keys, mapping_at
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.diagram.written.conditions import CONDITIONS
from spart_blocks.diagram.written.sheets import GATES, File, Sheet, WrittenBlock
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End, WrittenWire, parse_wire
from spart_blocks.versions.differences.units import port_names_of
from spart_blocks.versions.edits.operations import check_name, home_of, sheet_of
from spart_blocks.versions.edits.renaming import signals_renamed
from spart_blocks.versions.edits.steps import (
    InsertItem,
    Operation,
    RemoveValue,
    SetValue,
    Step,
    ordered,
    wires_of,
)

CREATOR, SELECTOR, ASSIGNMENT = BUSES = ("BUS_CREATOR", "BUS_SELECTOR", "BUS_ASSIGNMENT")
Side = Literal["in", "out"]
_BUS = "bus"


@dataclass(frozen=True)
class RenameSignal(Operation):
    """Rename a signal of a bus, also in the blocks and subsystems that the bus leads to, in wires,
    and wherever it is named. block: a block of buses; signal: as the bus has it, `qm` or `arm.qm`;
    new: its name, without the bus within the bus that it is in.
    """

    block: str
    signal: str
    new: str
    within: str = ""

    def steps(self, file: File) -> list[Step]:
        sheet = sheet_of(file, self.within)
        home_of(file, sheet, self.block)
        found = sheet.blocks.get(self.block)
        if found is None or found.type not in BUSES:
            raise InputError(f"{self.block} is no block of buses")
        check_name(self.new)
        around, dot, _ = self.signal.rpartition(".")
        follow = _Follow(file)
        follow.port(sheet, self.block, "out", self.signal, f"{around}{dot}{self.new}")
        follow.all()
        if not follow.found:
            known = sorted(follow.known)
            hint = did_you_mean(self.signal, known)
            raise InputError(Fault(f"{self.block} has no signal {self.signal!r}", hint=hint))
        return follow.steps()


@dataclass(frozen=True)
class _Port:
    """A signal at the ports of one side of a block, with its new name."""

    sheet: Sheet
    block: str
    side: Side
    old: str
    new: str

    def renamed(self, name: str) -> str | None:
        """The new name of a port or signal; None where it keeps its name."""
        if name == self.old or name.startswith(f"{self.old}."):
            return self.new + name[len(self.old) :]
        return None


@dataclass
class _Follow:
    """Follows signals through a file. texts: of the changed wires. found: whether the signal is
    anywhere; known: other signals that were seen."""

    file: File
    waiting: list[_Port] = field(default_factory=list)
    seen: set[tuple[Keys, str, Side, str]] = field(default_factory=set)
    texts: dict[tuple[Keys, int], str | None] = field(default_factory=dict)
    more: list[tuple[Keys, str]] = field(default_factory=list)
    values: list[Step] = field(default_factory=list)
    names: dict[str, str] = field(default_factory=dict)
    known: set[str] = field(default_factory=set)
    found: bool = False

    def port(self, sheet: Sheet, block: str, side: Side, old: str, new: str) -> None:
        """Follow the signal from here too."""
        key = sheet.keys, block, side, old
        if key not in self.seen:
            self.seen.add(key)
            self.waiting.append(_Port(sheet, block, side, old, new))

    def all(self) -> None:
        """Follow the signal to all of its ends."""
        while self.waiting:
            one = self.waiting.pop()
            self._through(one)
            for number, wire in self._wires(one.sheet):
                if one.side == "out" and wire.source.block == one.block:
                    self._downstream(one, number, wire)
                elif one.side == "in" and any(end.block == one.block for end in wire.ends):
                    self._upstream(one, number, wire)
            if one.side == "out":
                for prefix, sheet in self.file.instances():
                    if sheet is one.sheet:
                        path = f"{prefix}{one.block}"
                        self.names[f"{path}.{one.old}"] = f"{path}.{one.new}"

    def steps(self) -> list[Step]:
        """The changes of the file."""
        steps = list(self.values)
        for (keys, number), text in self.texts.items():
            path = (*keys, "wires", number)
            steps.append(RemoveValue(path) if text is None else SetValue(path, text))
        steps += [InsertItem((*keys, "wires"), text) for keys, text in dict.fromkeys(self.more)]
        return ordered([*steps, *signals_renamed(self.file.data, self.names)])

    def _wires(self, sheet: Sheet) -> Iterator[tuple[int, WrittenWire]]:
        for number, wire in wires_of(sheet).items():
            text = self.texts.get((sheet.keys, number), wire.text)
            if text is not None:
                yield number, wire if text == wire.text else parse_wire(text)

    def _block(self, one: _Port) -> WrittenBlock | None:
        return one.sheet.blocks.get(one.block)

    # --- through blocks ---------------------------------------------------------------------

    def _through(self, one: _Port) -> None:
        """Follow the signal through its block, or the port of its subsystem."""
        block = self._block(one)
        if block is None:
            self._gate(one)
        elif block.type == CREATOR:
            self._taken(one)
            self._listed(block, "signals", one)
            self._both(one, one.old, one.new)
        elif block.type == SELECTOR:
            self._selected(one, block)
        elif block.type == ASSIGNMENT:
            inner = one.old.removeprefix(f"{_BUS}.") if one.side == "in" else one.old
            new = one.new.removeprefix(f"{_BUS}.") if one.side == "in" else one.new
            plain = _Port(one.sheet, one.block, "out", inner, new)
            self._listed(block, "signals", plain)
            self._listed(block, _BUS, plain)
            self.port(one.sheet, one.block, "out", inner, new)
            self.port(one.sheet, one.block, "in", f"{_BUS}.{inner}", f"{_BUS}.{new}")
            self.port(one.sheet, one.block, "in", inner, new)
        elif (inner_sheet := self.file.subsystem_of(block)) is not None:
            self._definition(inner_sheet, "inputs" if one.side == "in" else "outputs", one)
        elif block.uses:
            hint = "open that file to rename its port"
            raise InputError(Fault(f"{one.old} is a port of {block.kind}", hint=hint))

    def _both(self, one: _Port, old: str, new: str) -> None:
        self.port(one.sheet, one.block, "out", old, new)
        self.port(one.sheet, one.block, "in", old, new)

    def _taken(self, one: _Port) -> None:
        """Raise InputError if the bus has a signal of the new name."""
        names = {
            end.port
            for _, wire in self._wires(one.sheet)
            for end in wire.ends
            if end.block == one.block and end.port is not None
        }
        block = self._block(one)
        names |= set(_texts(block.section.get("signals"))) if block is not None else set()
        self.known |= names
        if any(f"{name}.".startswith(f"{one.new}.") for name in names):
            raise InputError(f"{one.block} has a signal {one.new!r} already")

    def _listed(self, block: WrittenBlock, key: str, one: _Port) -> None:
        """Rename entries of a list of names among the parameters of a block."""
        names = _texts(block.section.get(key))
        for k, name in enumerate(names):
            new = one.renamed(name)
            if new is not None:
                self.found = True
                self.values.append(SetValue((*block.keys, key, k), new))

    def _selected(self, one: _Port, block: WrittenBlock) -> None:
        """Through a BUS_SELECTOR, whose outputs have the last parts of the names, or others."""
        names, outputs = (_texts(block.section.get(key)) for key in ("signals", "outputs"))
        own = outputs or [name.rpartition(".")[2] for name in names]
        for k, (name, output) in enumerate(zip(names, own, strict=False)):
            if one.side == "in":
                new = one.renamed(name)
                if new is not None:
                    self.found = True
                    self.values.append(SetValue((*block.keys, "signals", k), new))
                    last = new.rpartition(".")[2]
                    if not outputs and last != output:
                        self.port(one.sheet, one.block, "out", output, last)
                elif one.old.startswith(f"{name}."):
                    inside, other = one.old[len(name) :], one.new[len(name) :]
                    self.port(one.sheet, one.block, "out", output + inside, output + other)
            elif one.old.startswith(f"{output}."):
                inside, other = one.old[len(output) :], one.new[len(output) :]
                self.port(one.sheet, one.block, "in", name + inside, name + other)
            elif one.old == output and outputs:
                self.found = True
                self.values.append(SetValue((*block.keys, "outputs", k), one.new))
            elif one.old == output:
                new = f"{name[: -len(output)]}{one.new}"
                self.port(one.sheet, one.block, "in", name, new)

    def _gate(self, one: _Port) -> None:
        if one.block in GATES and one.sheet.has_gates:
            self._definition(one.sheet, "inputs" if one.block == "in" else "outputs", one)
        elif one.block in self.file.slots and not one.sheet.keys:
            hint = "rename the ports of its choices"
            raise InputError(Fault(f"{one.old} is a port of the slot {one.block}", hint=hint))

    def _definition(self, sheet: Sheet, side: str, one: _Port) -> None:
        """Rename ports of a subsystem, and follow them at all of its blocks."""
        ports = sheet.inputs if side == "inputs" else sheet.outputs
        news = {port: one.renamed(port) for port in ports}
        if not any(news.values()):
            return
        self.found = True
        for k, (port, new) in enumerate(news.items()):
            if new in ports:
                raise InputError(f"{sheet.name or 'the file'} has a port {new!r} already")
            if new is not None:
                self.values.append(SetValue((*sheet.keys, side, k), new))
                self.values += _conditions(sheet, side, port, new)
        outer: Side = "in" if side == "inputs" else "out"
        self.port(
            sheet, GATES[side == "outputs"], "out" if outer == "in" else "in", one.old, one.new
        )
        for other in self.file.sheets:
            for block in other.blocks.values() if sheet.keys else ():
                if self.file.subsystem_of(block) is sheet:
                    self.port(other, block.name, outer, one.old, one.new)

    # --- along wires ------------------------------------------------------------------------

    def _downstream(self, one: _Port, number: int, wire: WrittenWire) -> None:
        """Along a wire from the block."""
        source = wire.source
        if source.port is not None and (new := one.renamed(source.port)) is not None:
            self.found = True
            self._write(one.sheet, number, wire, source, source.port, new)
            return
        head = f"{source.port}." if source.port is not None else ""
        if not one.old.startswith(head):
            return
        old, new = one.old[len(head) :], one.new[len(head) :]
        if source.names is None:
            if source.port is None and len(self._outputs(one)) == 1:
                return  # the only output goes without a name
            for end in wire.ends:
                self._whole(one.sheet, end, old, new)
        elif not source.names:
            self._by_name(one, number, wire, head, old, new)
        else:
            self._in_braces(one, number, wire, head, old, new)

    def _outputs(self, one: _Port) -> list[str]:
        """The outputs of a selector; of other blocks none."""
        block = self._block(one)
        if block is None or block.type != SELECTOR:
            return []
        names = _texts(block.section.get("signals"))
        alone = len(names) == 1 and one.old in (
            names[0].rpartition(".")[2],
            *_texts(block.section.get("outputs")),
        )
        return [one.old] if alone else []

    def _whole(self, sheet: Sheet, end: End, old: str, new: str) -> None:
        """A bus that leads to an end as a whole."""
        block = sheet.blocks.get(end.block)
        if block is not None and block.kind in FILLED_IN_ORDER:
            return
        head = f"{end.port}." if end.port is not None else self._taker(sheet, end.block)
        self.port(sheet, end.block, "in", head + old, head + new)

    def _taker(self, sheet: Sheet, name: str) -> str:
        """What the names begin with of the inputs that take a bus that leads to a block."""
        block = sheet.blocks.get(name)
        if block is not None and block.type == ASSIGNMENT:
            return f"{_BUS}."
        inner = self.file.subsystem_of(block) if block is not None else None
        inputs = inner.inputs if inner is not None else ()
        if block is None and name == "out":
            inputs = sheet.outputs
        first = inputs[0].partition(".") if inputs else ("", "", "")
        return f"{first[0]}." if first[1] else ""

    def _by_name(
        self, one: _Port, number: int, wire: WrittenWire, head: str, old: str, new: str
    ) -> None:
        """Along `bus.* -> law, other`."""
        for end in wire.ends:
            block = one.sheet.blocks.get(end.block)
            port = f"{end.port}." if end.port is not None else ""
            if port or (block is not None and block.type in BUSES):
                self.port(one.sheet, end.block, "in", port + old, port + new)
            elif block is None or block.kind not in FILLED_IN_ORDER:
                inputs = self._inputs(one.sheet, end)
                if old in inputs:
                    self.found = True
                    self._add(one.sheet, f"{one.block}.{head}{new} -> {end.block}.{old}")
                    others = self._names(one.sheet, one.block) - {old}
                    if not others & set(inputs):
                        self._drop(one.sheet, number, end)

    def _in_braces(
        self, one: _Port, number: int, wire: WrittenWire, head: str, old: str, new: str
    ) -> None:
        """Along `bus.{qm, um} -> law`."""
        for name in wire.source.names or ():
            if not f"{old}.".startswith(f"{name.text}."):
                continue
            self.found = True
            takers = [one.sheet.blocks.get(end.block) for end in wire.ends]
            if all(block is not None and block.type == CREATOR for block in takers):
                if name.text == old:
                    self._write(one.sheet, number, wire, wire.source, old, new)
                for end in wire.ends:
                    port = f"{end.port}." if end.port is not None else ""
                    self.port(one.sheet, end.block, "in", port + old, port + new)
                continue
            kept = [other.text for other in wire.source.names or () if other is not name]
            for end in wire.ends:
                port = f"{end.port}." if end.port is not None else ""
                self._add(one.sheet, f"{one.block}.{head}{new} -> {end.block}.{port}{old}")
            start = f"{one.block}.{head}" + "{" + ", ".join(kept) + "}"
            ends = ", ".join(wire.written(end) for end in wire.ends)
            self.texts[one.sheet.keys, number] = f"{start} -> {ends}" if kept else None

    def _upstream(self, one: _Port, number: int, wire: WrittenWire) -> None:
        """Against a wire to the block."""
        for end in wire.ends:
            if end.block != one.block:
                continue
            if end.port is not None and (new := one.renamed(end.port)) is not None:
                self.found = True
                self._write(one.sheet, number, wire, end, end.port, new)
                return
            source = wire.source
            head = f"{end.port}." if end.port is not None else (
                self._taker(one.sheet, end.block) if source.names is None else "")  # fmt: skip
            if not one.old.startswith(head):
                continue
            old, new = one.old[len(head) :], one.new[len(head) :]
            block = one.sheet.blocks.get(end.block)
            if (
                end.port is None
                and source.names is None
                and block is not None
                and block.type == CREATOR
            ):
                continue
            named = [name.text for name in source.names or ()]
            if named and not any(f"{old}.".startswith(f"{name}.") for name in named):
                continue
            at = f"{source.port}." if source.port is not None else ""
            giver = one.sheet.blocks.get(source.block)
            is_bus = giver is None or giver.type in BUSES or (
                source.names is None and self.file.subsystem_of(giver) is not None)  # fmt: skip
            if is_bus:
                self.port(one.sheet, source.block, "out", at + old, at + new)
            elif source.names is None:
                hint = f"put a BUS_CREATOR between {source.block} and {end.block}"
                told = f"{old} of {one.block} is an output of {source.block}, which keeps its name"
                raise InputError(Fault(told, hint=hint))
            else:
                self._apart(one, number, wire, end, old, new)
            return

    def _apart(
        self, one: _Port, number: int, wire: WrittenWire, end: End, old: str, new: str
    ) -> None:
        """Write a signal out that a block gives by name, as in `plant.* -> bus`."""
        source = wire.source
        names = {name.text for name in source.names or ()} or self._names(one.sheet, source.block)
        if not names:
            hint = f"write {source.block}.{{...}} -> {end.block} with the names"
            raise InputError(Fault(f"the outputs of {source.block} are not known here", hint=hint))
        if old not in names:
            return
        self.found = True
        port = f"{end.port}." if end.port is not None else ""
        at = f"{source.block}." + (f"{source.port}." if source.port is not None else "")
        order = [name.text for name in source.names or ()] or list(
            self._ordered(one.sheet, source.block)
        )
        kept = ", ".join(name for name in order if name != old)
        self._drop(one.sheet, number, end)
        if kept:
            self._add(one.sheet, f"{at}{{{kept}}} -> {wire.written(end)}")
        self._add(one.sheet, f"{at}{old} -> {end.block}.{port}{new}")

    def _add(self, sheet: Sheet, text: str) -> None:
        self.more.append((sheet.keys, text))

    def _drop(self, sheet: Sheet, number: int, end: End) -> None:
        """Take an end from a wire."""
        text = self.texts.get((sheet.keys, number), sheet.wires[number].text)
        wire = parse_wire(text) if text is not None else None
        if wire is not None:
            self.texts[sheet.keys, number] = wire.without(lambda one: str(one) == str(end))

    def _write(
        self, sheet: Sheet, number: int, wire: WrittenWire, end: End, old: str, new: str
    ) -> None:
        """Write another port at the end of a wire."""
        is_source = end is wire.source
        text = wire.with_port({end.block}, is_source, old, new)
        self.texts[sheet.keys, number] = text

    def _names(self, sheet: Sheet, block: str) -> set[str]:
        return set(self._ordered(sheet, block))

    def _ordered(
        self, sheet: Sheet, name: str, around: frozenset[str] = frozenset()
    ) -> Iterator[str]:
        """The outputs of a block, as far as they are known without building it. around: blocks that
        it feeds by name."""
        block = sheet.blocks.get(name)
        if block is None:
            yield from sheet.inputs if name == "in" else ()
        elif (inner := self.file.subsystem_of(block)) is not None:
            yield from inner.outputs
        elif block.type == CREATOR:
            yield from _texts(block.section.get("signals"))
            for wire in wires_of(sheet).values():
                for end in wire.ends:
                    if end.block == name and end.port is not None:
                        yield end.port
                    elif end.block == name and wire.source.block not in around | {name}:
                        named = [one.text for one in wire.source.names or ()]
                        all_of = self._ordered(sheet, wire.source.block, around | {name})
                        yield from named or all_of
        elif block.type is not None:
            yield from port_names_of(block.type, block.section)[1] or ()

    def _inputs(self, sheet: Sheet, end: End) -> tuple[str, ...]:
        """The inputs of a block, as far as they are known without building it."""
        block = sheet.blocks.get(end.block)
        if block is None:
            return sheet.outputs if end.block == "out" else ()
        inner = self.file.subsystem_of(block)
        if inner is not None:
            return inner.inputs
        found = port_names_of(block.type, block.section)[0] if block.type is not None else None
        if found is None:
            hint = "write its signals out: a.x -> b.x"
            raise InputError(Fault(f"the inputs of {end.block} are not known here", hint=hint))
        return found


def _conditions(sheet: Sheet, side: str, port: str, new: str) -> Iterator[Step]:
    """The steps in the conditions of a subsystem."""
    for kind in CONDITIONS:
        if side == "inputs" and mapping_at(sheet.section, kind).get("by") == port:
            yield SetValue((*sheet.keys, kind, "by"), new)


def _texts(value: Any) -> list[str]:
    given = [value] if isinstance(value, str) else value
    return [one for one in given if isinstance(one, str)] if isinstance(given, list) else []

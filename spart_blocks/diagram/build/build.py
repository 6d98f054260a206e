"""Builds bdsim's blocks from the validated sections of a file, with nested subsystems."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import (
    Fault,
    InputError,
    MissingExtraError,
    Place,
    near_names,
    warn,
)
from spart_blocks.block_support.ports import attribute
from spart_blocks.diagram.build.arguments import MAX_PORTS, ArgumentReader, same_numbers
from spart_blocks.diagram.build.bundles import add_wire
from spart_blocks.diagram.build.buses import Ports, bus_arguments, with_shapes
from spart_blocks.diagram.build.for_each import Copies
from spart_blocks.diagram.build.installed_blocks import installed_blocks
from spart_blocks.diagram.build.late_blocks import BUSES, Arrival, arrivals, is_waiting, made_last
from spart_blocks.diagram.build.origins import OriginRecorder, Use
from spart_blocks.diagram.build.product import Part, Product
from spart_blocks.diagram.build.registry import (
    BlockType,
    find_type,
    inner_diagram,
    name_problem,
    type_names,
)
from spart_blocks.diagram.build.subsystems import as_block, built_conditions, make_gates
from spart_blocks.diagram.build.wire_counts import (
    InputCount,
    check_number_of_wires,
    count_inputs,
    wire_faults,
)
from spart_blocks.diagram.build.wiring import Wiring
from spart_blocks.diagram.check.other_names import type_hint
from spart_blocks.diagram.check.wrong_names import warn_of_constants
from spart_blocks.diagram.sections.schema import (
    BlockSection,
    PartSection,
    SubsystemSection,
)
from spart_blocks.diagram.standard import PACKAGE
from spart_blocks.diagram.written.conditions import trigger_clock
from spart_blocks.diagram.written.references import Resolved, Resolver, Scope
from spart_blocks.diagram.written.sheets import File, Sheet
from spart_blocks.diagram.written.wires import COUNTED

_TYPES = "`spart blocks` lists them"
_OWN = "For blocks of your own, name their file or package: --blocks, or blocks="


@dataclass
class Builder:
    """Makes the blocks and wires of a file.

    use: reads and builds a file with ports, from its path as written, the place of the path, its
    parameters and the prefix of its blocks' names.
    """

    file: File
    product: Product
    subsystems: Mapping[str, SubsystemSection]
    broken_subsystems: set[str]
    resolver: Resolver
    reader: ArgumentReader
    use: Callable[[str, Place, Mapping[str, Resolved], str], Part | None]
    _built: set[str] = field(default_factory=set)
    _checked: set[Keys] = field(default_factory=set)

    @property
    def document(self) -> Document:
        return self.file.document

    @property
    def faults(self) -> list[Fault]:
        return self.product.faults

    # --- levels -----------------------------------------------------------------

    def level(
        self,
        bd: Any,
        sheet: Sheet,
        blocks: Mapping[str, BlockSection],
        scope: Scope,
        *,
        prefix: str = "",
        broken: set[str] | None = None,
        gates: Mapping[str, Any] | None = None,
    ) -> Wiring:
        """Build the blocks and wires of a sheet into bd. The caller must call `finish` of the
        returned Wiring.

        gates: a subsystem's blocks `in` and `out`.
        """
        self._check_wires(sheet)
        ends = sum(len(wire.ends) for wire in sheet.wires.values())
        self.product.count(self.document.place(*sheet.keys, "wires"), wires=ends)
        kinds = {name: block.kind for name, block in blocks.items()}
        wiring = Wiring(
            bd=bd,
            document=self.document,
            path=sheet.keys,
            prefix=prefix,
            faults=self.faults,
            places=self.product.places,
            kinds=kinds,
            broken=set(broken or ()),
            counts=count_inputs(sheet.wires.values(), kinds),
            count=self.product.count,
            unread=bool(sheet.wrong_wires) or _lacks_wires(sheet.section),
        )
        if gates:
            wiring.blocks |= gates
            wiring.kinds |= {"in": "INPORT", "out": "OUTPORT"}
        wiring.incoming = made_last(blocks, sheet.wires.values())
        for name, block in blocks.items():
            if name not in wiring.incoming:
                self._block(wiring, name, block, scope)
        for name in wiring.incoming:
            self._block(wiring, name, blocks[name], scope)
        for number, wire in sheet.wires.items():
            add_wire(wiring, number, wire)
        return wiring

    def _check_wires(self, sheet: Sheet) -> None:
        """Collect the faults of the wires of a sheet that cannot be parsed, once for each sheet."""
        if sheet.keys not in self._checked:
            self._checked.add(sheet.keys)
            check_number_of_wires(sheet, self.document, self.faults)
            self.product.faults += wire_faults(sheet, self.document)

    def _block(
        self,
        wiring: Wiring,
        name: str,
        section: BlockSection,
        scope: Scope,
    ) -> None:
        keys: Keys = (*wiring.path, "blocks", name)
        made = None
        if self._name_is_good(name, keys, wiring):
            self._note_places(wiring, name, section, keys)
            resolved = {
                key: self._argument(value, scope, (*keys, key), wiring)
                for key, value in section.parameters.items()
            }
            complete = all(item.complete for item in resolved.values())
            if section.use or section.type in self.subsystems:
                if complete:
                    made = self._subsystem(wiring, name, section, resolved, scope, keys)
            elif section.type not in self.broken_subsystems:
                kind = self._kind(name, section, keys)
                if kind and section.for_each is not None:
                    message = f"{name}: for_each repeats a subsystem or a file, not {kind.name}"
                    place = self.document.key_place(*keys, "for_each")
                    hint = "put the block in a subsystem; many blocks take vectors by themselves"
                    self.faults.append(Fault(message, place, hint))
                elif kind and complete:
                    made = self._leaf(wiring, kind, name, resolved, keys)
        if made is None:
            wiring.broken.add(name)
        else:
            wiring.blocks[name] = made

    def _argument(self, raw: Any, scope: Scope, keys: Keys, wiring: Wiring) -> Resolved:
        """An argument of a block, with references resolved. For blocks of the diagram's own sheet
        its origin is recorded.
        """
        found = self.resolver.resolve(raw, scope, keys, followed=True)
        if wiring.prefix:
            return found
        self.product.origins.values[keys] = found.value
        return found.at(*keys)

    def _name_is_good(self, name: str, keys: Keys, wiring: Wiring) -> bool:
        problem = name_problem(name)
        if wiring.prefix and name in ("in", "out"):
            problem = "stands for the subsystem's ports"
        if problem:
            message = f"the block name {name[:60]!r} {problem}"
            self.faults.append(Fault(message, self.document.key_place(*keys)))
        return not problem

    def _note_places(self, wiring: Wiring, name: str, section: BlockSection, keys: Keys) -> None:
        full = f"blocks.{wiring.prefix}{name}"
        places = self.product.places
        places[full] = self.document.key_place(*keys)
        for key, value in section.parameters.items():
            self._note_value(f"{full}.{key}", value, (*keys, key))

    def _note_value(self, full: str, value: Any, keys: Keys) -> None:
        """Record the places of a parameter and of the entries within it."""
        self.product.places[full] = self.document.place(*keys)
        if isinstance(value, dict):
            for key, inner in value.items():
                self._note_value(f"{full}.{key}", inner, (*keys, key))

    def _kind(self, name: str, section: BlockSection, keys: Keys) -> BlockType | None:
        kind = find_type(section.type)
        if kind is None:
            known = [*type_names(), *self.subsystems]
            likely = type_hint(section.type, known) or _TYPES
            hint = "\n  ".join([likely, _OWN, *installed_blocks().about(section.type)])
            message = f"{name}: there is no block type {section.type[:60]!r}"
        elif kind.refusal:
            message, hint = f"{name}: {kind.name} cannot come from a file", kind.refusal
        else:
            return kind
        self.faults.append(Fault(message, self.document.place(*keys, "type"), hint))
        return None

    def _leaf(
        self,
        wiring: Wiring,
        kind: BlockType,
        name: str,
        resolved: Mapping[str, Resolved],
        keys: Keys,
    ) -> Any:
        """Make a block that is not a subsystem; None after a fault. Records which of its arguments
        are values of parameters.
        """
        self.product.count(self.document.place(*keys), blocks=1)
        self.product.packages.add(kind.package)
        values = {key: item.value for key, item in resolved.items()}
        given: dict[str, Any] | None
        sources: Ports = {}
        if kind.package == PACKAGE and kind.name in BUSES:
            given, sources = self._bus(wiring, kind, name, values, keys)
        else:
            given = self._counted(wiring, kind, name, values, keys)
        if given is None:
            return None
        made = self._of_trigger(kind, given)
        arguments = self.reader.read(kind, name, given, keys, made)
        if arguments is None:
            return None
        block = self._make(wiring, kind, name, arguments, keys)
        if block is not None:
            if sources:
                with_shapes(block, sources)
            if attribute(block, "formulas", ()):
                place = self.document.place(*keys, "expression")
                warn_of_constants(block, f"{place}: {name} ({kind.name})", self.reader.params(keys))
            for doubt in attribute(block, "doubts", ()):
                about = _named_by(doubt.split(" ", 1)[0], given)
                told = f"{name} ({kind.name}){':' if about else ''} {doubt}"
                warn(f"{self.document.place(*keys, *about)}: {told}")
            self._note_uses(kind, block, wiring.prefix + name, resolved, arguments)
        return block

    def _note_uses(
        self,
        kind: BlockType,
        block: Any,
        name: str,
        resolved: Mapping[str, Resolved],
        arguments: Mapping[str, Any],
    ) -> None:
        """Record which of a block's arguments, and which entries of them, are values
        of the file.
        """
        tunable, recorder = attribute(block, "tunable", ()), self.product.origins
        for key, item in resolved.items():
            whole = item.sources.parameter
            same = whole is not None and same_numbers(item.value, arguments[key])
            inner = isinstance(item.value, dict)
            for within, path in item.sources:
                if inner and within and within[0] in tunable:  # of FCN's params
                    part, argument = item.sources.parts[within[0]], str(within[0])
                    alone = len(within) == 1 and path == part.parameter
                    use = Use(name, argument, within[1:], shares=alone)
                else:
                    use = Use(name, key, within, shares=same and not within and path == whole)
                recorder.note(path, use, kind.name, resolved)
            for path in item.sources.own if inner else ():
                recorder.note_mapping(path, name, item.value, tunable)

    def _of_trigger(self, kind: BlockType, given: Mapping[str, Any]) -> dict[str, Any]:
        """The clock that replaces a missing one of a sampled block in a triggered subsystem, as an
        argument; otherwise no argument.
        """
        clock = kind.parameters.get("clock")
        wanted = clock is not None and clock.required and "clock" not in given
        return {"clock": trigger_clock()} if wanted and self.product.triggered else {}

    def _make(
        self,
        wiring: Wiring,
        kind: BlockType,
        name: str,
        arguments: Mapping[str, Any],
        keys: Keys,
    ) -> Any:
        """The block that its constructor makes; None after a fault, which is at the place of the
        parameter that the message of the constructor's error starts with, if there is one.
        """
        try:
            block = kind.construct(wiring.bd, name, arguments)
        except InputError as error:
            problems = [(fault.message, fault.hint) for fault in error.faults]
        except MissingExtraError as error:
            message, _, hint = str(error).partition("\n")
            problems = [(message, hint.strip())]
        except Exception as error:
            problems = [(_first_line(error), None)]
        else:
            if max(block.nin, block.nout) <= MAX_PORTS:
                return block
            problems = [(f"it would have more than {MAX_PORTS} ports", None)]
        for message, remedy in problems:
            first = message.split(" ", 1)[0].rstrip(":,.'")
            first = "expression" if first == "formula" else first
            path = (*keys, *_named_by(first, arguments))
            if remedy is None and path != keys:
                remedy = self.reader.reference(arguments.get(first.partition(".")[0]), keys)
            text = f"{name} ({kind.name}): {message}"
            self.faults.append(Fault(text, self.document.place(*path), remedy))
        return None

    def _bus(
        self, wiring: Wiring, kind: BlockType, name: str, given: Mapping[str, Any], keys: Keys
    ) -> tuple[dict[str, Any] | None, Ports]:
        """The parameters of a bus block completed by the signals that its wires bring, and these
        signals; (None, {}) if a wire to it is wrong.
        """
        came, unknown = arrivals(wiring, name, self.document.place(*keys))
        found, sources = bus_arguments(kind.name, given, came)
        if not unknown or [] not in (found.get("signals"), found.get("bus")):
            return found, sources
        circle = [block for block in unknown if is_waiting(wiring, block)]
        if circle:
            message = f"the signals of {name} ({kind.name}) are not known: its wires go in a circle"
            hint = f"write signals: [...] in {name}, or in {circle[0]}"
            self.faults.append(Fault(message, self.document.key_place(*keys), hint))
        return None, {}

    def _counted(
        self, wiring: Wiring, kind: BlockType, name: str, given: dict[str, Any], keys: Keys
    ) -> dict[str, Any]:
        """The parameters of a block completed by the number of inputs that its wires need."""
        came, _ = arrivals(wiring, name, self.document.place(*keys))
        count = wiring.counts.get(name, InputCount())
        unnamed = [arrival for arrival in came if arrival.port is None]
        if any(arrival.one is None for arrival in unnamed):
            count.unnamed = sum(len(arrival.signals) for arrival in unnamed)
        return _with_inputs(kind, given, count, came)

    # --- subsystems ---------------------------------------------------------------

    def _subsystem(
        self,
        wiring: Wiring,
        name: str,
        block: BlockSection,
        given: dict[str, Resolved],
        scope: Scope,
        keys: Keys,
    ) -> Any:
        """Make the block for a subsystem, of this file or of another; None after a fault."""
        prefix = f"{wiring.prefix}{name}/"
        self.product.count(self.document.place(*keys), blocks=1)
        if block.for_each is not None:
            made = partial(self.part, block, scope=scope, keys=keys)
            part = Copies(
                document=self.document,
                product=self.product,
                resolver=self.resolver,
                make=made,
                wiring=wiring,
                name=name,
                block=block,
                given=given,
                scope=scope,
                keys=keys,
            ).build()
        else:
            part = self.part(block, given, prefix, scope, keys)
        if part is None:
            return None
        section, inner = part
        if not self._known(given, section.params, f"{name} ({block.kind})", keys):
            return None
        wiring.children[name] = inner
        try:
            return as_block(wiring.bd, name, inner.bd, section, inner.conditions)
        except Exception as error:
            text = f"{name} ({block.kind}): {_first_line(error)}"
            self.faults.append(Fault(text, self.document.place(*keys)))
            return None

    def part(
        self,
        block: BlockSection,
        given: Mapping[str, Resolved],
        prefix: str,
        scope: Scope,
        keys: Keys,
    ) -> Part | None:
        """The diagram inside a block: a subsystem of this file, or another file."""
        if block.use:
            return self.use(block.use, self.document.place(*keys, "use"), given, prefix)
        return self.instance(block.type, given, prefix, scope)

    def _known(
        self, given: Collection[str], params: Collection[str], label: str, keys: Keys
    ) -> bool:
        """Whether a subsystem has all the parameters that are given to it; adds a fault for each
        that it lacks.
        """
        unknown = [key for key in given if key not in params]
        for key in unknown:
            listed = ", ".join(params) or "none"
            message = f"unknown parameter {key!r} of {label}: it has {listed}"
            place = self.document.key_place(*keys, key)
            self.faults.append(Fault(message, place, near_names(key, params)))
        return not unknown

    def instance(
        self, type_name: str, given: Mapping[str, Resolved], prefix: str, scope: Scope
    ) -> Part | None:
        """An instance of a subsystem of this file with the given parameters. scope: of the diagram
        that uses it.
        """
        section = self.subsystems[type_name]
        path: Keys = ("subsystems", type_name)
        self._built.add(type_name)
        inner = self.resolver.scope(section.params, (*path, "params"), scope.of_file, given)
        sheet = self.file.subsystems[type_name]
        wiring = self.with_ports(section, type_name, inner, sheet, prefix)
        return None if wiring is None else (section, wiring)

    def with_ports(
        self,
        section: SubsystemSection | PartSection,
        label: str,
        scope: Scope,
        sheet: Sheet,
        prefix: str,
        broken: set[str] | None = None,
    ) -> Wiring | None:
        """Build a diagram with ports. broken: its blocks that are already known to be wrong."""
        path = sheet.keys
        ports = len(section.inputs) + len(section.outputs)
        self.product.count(self.document.key_place(*(path or ("outputs",))), wires=ports)
        bd = inner_diagram(label)
        try:
            gates = make_gates(bd, section)
        except Exception as error:
            text = f"the ports of subsystem {label}: {_first_line(error)}"
            self.faults.append(Fault(text, self.document.key_place(*(path or ("inputs",)))))
            return None
        self.product.triggered += section.triggered is not None
        wiring = self.level(
            bd,
            sheet,
            section.blocks,
            scope,
            prefix=prefix,
            broken=broken,
            gates=gates,
        )
        wiring.finish()
        self.product.triggered -= section.triggered is not None
        resolved = partial(self.resolver.resolve, scope=scope)
        wiring.conditions = built_conditions(section, resolved, self.document, path, self.faults)
        return wiring

    def check_unused(self, scope: Scope) -> None:
        """Build each unused subsystem once, to find its faults. scope: that of the file."""
        for name in self.subsystems:
            if name not in self._built:
                kept = self.product.places, self.product.origins, set(self.resolver.elsewhere)
                self.product.places, self.product.origins = {}, OriginRecorder()
                self.instance(name, {}, f"{name}/", scope)
                self.product.places, self.product.origins, elsewhere = kept
                self.resolver.elsewhere.intersection_update(elsewhere)


def _lacks_wires(section: Mapping[str, Any]) -> bool:
    """Whether the wires of a section are missing because of a misspelt key, or are not a list."""
    misspelt = "wires" not in section and any(near_names(str(key), ["wires"]) for key in section)
    return misspelt or not isinstance(section.get("wires", []), list)


def _with_inputs(
    kind: BlockType, given: dict[str, Any], count: InputCount, came: Sequence[Arrival]
) -> dict[str, Any]:
    """The parameters, with the number of inputs that the wires ask for. A scope with one wire has
    a line for each entry of its vector, where the port states its length."""
    if kind.package != "bdsim" or kind.name not in COUNTED or "nin" in given:
        return given
    if kind.name == "SCOPE":
        if "vector" in given:
            return given
        if count.needed <= 1:
            lines = [given[key] for key in ("labels", "styles") if isinstance(given.get(key), list)]
            shapes = [port.shape or () for arrival in came for port in arrival.signals.values()]
            width = next((shape[0] for shape in shapes if len(shape) == 1), 1)
            longest = max([len(line) for line in lines], default=width)
            return {**given, "vector": longest} if longest > 1 else given
    return {**given, "nin": max(count.needed, 1)}


def _named_by(text: str, arguments: Mapping[str, Any]) -> Keys:
    """The path of the argument, and of entries within it, that a text such as 'frame.fields.qm' or
    'transitions.0.when' names. It ends where no such entry exists.
    """
    keys: Keys = ()
    value: Any = arguments
    for part in text.split("."):
        key: str | int = int(part) if isinstance(value, list) and part.isdecimal() else part
        known = range(len(value)) if isinstance(value, list) else value
        if not isinstance(value, Mapping | list) or key not in known:
            break
        keys, value = (*keys, key), value[key]  # type: ignore[index]
    return keys


def _first_line(error: Exception) -> str:
    kind, text = type(error).__name__, str(error).strip().split("\n")[0]
    if isinstance(error, ValueError | TypeError | AssertionError):
        return text or kind
    return f"{kind}: {text}"  # the block itself is at fault, so its kind tells something

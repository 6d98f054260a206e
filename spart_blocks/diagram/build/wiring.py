"""Makes bdsim's wires from the wires of a file."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from spart_blocks.base.document import MAX_FAULTS, Document, Keys
from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    Place,
    did_you_mean,
    near_names,
)
from spart_blocks.block_support.ports import Port, attribute, input_ports, output_ports
from spart_blocks.diagram.build.companions import (
    AUDIT,
    COMPANION,
    can_be_audited,
    make_companion,
    wants_audit,
)
from spart_blocks.diagram.build.connect import (
    complete,
    connect,
    signal_name,
    unconnected,
    wire_name,
)
from spart_blocks.diagram.build.registry import port_names
from spart_blocks.diagram.build.wire_counts import InputCount
from spart_blocks.diagram.written.conditions import NONE, Conditions
from spart_blocks.diagram.written.wires import (
    FILLED_IN_ORDER,
    End,
    Selection,
    WireSyntaxError,
    parse_end,
    selection_text,
)

# --- Ends of wires --------------------------------------------------------------------------------


Incoming = Mapping[str, list[tuple[End, End]]]
"""For each block that is made last, source and end of each of its wires."""


class WrongEnd(Exception):  # noqa: N818 - becomes a Fault where the wire is read
    """An invalid end of a wire: message, position in the text of the wire, hint."""

    def __init__(self, message: str, offset: int, hint: str | None = None) -> None:
        self.message, self.offset, self.hint = message, offset, hint
        super().__init__(message)


class Skip(Exception):  # noqa: N818 - a signal among the files of wires
    """The end is on a block that already has a fault, so the wire is skipped without a further
    one.
    """


def index_of(name: str, ports: tuple[Port, ...]) -> int | None:
    """The index of a port given by name or number; None if there is none."""
    number = int(name) if name.isascii() and name.isdecimal() and len(name) < 9 else len(ports)
    if number < len(ports) and ports[number].name == name:
        return number  # most ports go by their numbers, and there may be many
    for index, port in enumerate(ports):
        if port.name == name:
            return index
    return number if number < len(ports) else None


def no_port(name: str, label: str, ports: tuple[Port, ...], offset: int) -> WrongEnd:
    """The error for a port that a block does not have. label: of the block."""
    hint = near_names(name, [port.name for port in ports])
    if hint is None and len(ports) == 1:
        hint = f"its name alone is enough, since it has one: {label.partition(' ')[0]}"
    return WrongEnd(f"no port {name!r} on {label}: it has {port_names(ports)}", offset, hint)


Output = tuple[Any, int]


@dataclass
class Wiring:
    """The wires of one diagram or subsystem.

    kinds: type of each block as written. broken: names of blocks that could not be made. prefix:
    names of the enclosing subsystems, such as `loop/`. count: counts further wires, and raises an
    error if there are too many. incoming: wires of the blocks that are made last. unread: whether
    some wires could not be parsed. conditions: those of the subsystem. doubtful: names of blocks at
    the ends of wrong wires.
    """

    bd: Any
    document: Document
    path: Keys
    prefix: str
    faults: list[Fault]
    places: dict[str, Place]
    kinds: dict[str, str]
    broken: set[str]
    counts: dict[str, InputCount]
    count: Callable[..., None]
    unread: bool = False
    conditions: Conditions = NONE
    blocks: dict[str, Any] = field(default_factory=dict)
    children: dict[str, Wiring] = field(default_factory=dict)
    companions: dict[Any, Any] = field(default_factory=dict)
    incoming: Incoming = field(default_factory=dict)
    _taken: dict[tuple[Any, int], Place] = field(default_factory=dict)
    _next: dict[str, int] = field(default_factory=dict)
    _by_name: dict[str, set[int | None]] = field(default_factory=dict)
    _picks: dict[str, Any] = field(default_factory=dict)
    doubtful: set[str] = field(default_factory=set)

    def check_signal(
        self, text: str, keys: Keys, what: str = "log", place: Place | None = None
    ) -> None:
        """Check that a signal and its named elements exist; makes the companion block that it
        needs.

        keys: path in the file at which the signal is named. place: its place, if it does not
        follow from keys. what: the section, for the message.
        """
        place = place or self.document.place(*keys)
        try:
            end = parse_end(text)
            if end.names is not None:
                raise WrongEnd("it means several signals", 0, "name each of them")
            *around, name = end.block.split("/")
            level = self
            for subsystem in around:
                if subsystem in level.broken:
                    return
                if subsystem not in level.children:
                    hint = did_you_mean(subsystem, level.children)
                    raise WrongEnd(f"there is no subsystem {subsystem!r}", 0, hint)
                level = level.children[subsystem]
            end = replace(end, block=name)
            block, index = level.output(replace(end, selection=None), place)
            if end.selection is not None:
                level._check_range(end, output_ports(block)[index])
            if level is not self:  # it was finished before it had this companion
                level._complete()
        except (WireSyntaxError, WrongEnd) as error:
            self.faults.append(Fault(f"{what} {text!r}: {error.message}", place, error.hint))
        except Skip:
            pass

    def ask(self, text: str, place: Place) -> None:
        """Make the companion block of the signal that a text names, if it names one. Faults are
        ignored.
        """
        before = len(self.faults)
        self.check_signal(text, (), place=place)
        del self.faults[before:]

    def finish(self) -> None:
        """Wire the companions, connect optional inputs to zeros, and report inputs
        without a wire.
        """
        for name, block in list(self.blocks.items()):
            if wants_audit(block):
                self._companion(name, AUDIT, self.places[f"blocks.{self.prefix}{name}"])
        self._complete()
        if self.unread:
            return  # an input may be the end of a wire that could not be read
        for block, index, port in unconnected(self.bd):
            if len(self.faults) >= MAX_FAULTS:
                break
            known = block.name in self.broken or block.name in self.doubtful
            if not known and block not in self.companions and (block, index) not in self._taken:
                self._missing(block, port)

    # --- ends -------------------------------------------------------------------

    def output(self, end: End, place: Place) -> Output:
        """The output that an end stands for. If it has a slice, an INDEX or SLICE1 is inserted."""
        end = self.of_audit(end, place)
        block = self.block(end)
        ports = output_ports(block)
        kind = self.described(end.block)
        if not ports and not attribute(block, "companion_outputs", ()):
            raise WrongEnd(f"{kind} has no outputs", end.offset)
        if end.port is None:
            if len(ports) != 1:
                message = f"{kind} has several outputs"
                raise WrongEnd(message, end.offset, f"name one of {port_names(ports)}")
            return self._picked((block, 0), end, ports[0], place)
        index = index_of(end.port, ports)
        if index is None and end.port in attribute(block, "companion_outputs", ()):
            companion = self._companion(end.block, COMPANION, place)
            ports = output_ports(companion)
            index, block = index_of(end.port, ports), companion
        if index is None:
            known = (*ports, *map(Port, attribute(block, "companion_outputs", ())))
            raise no_port(str(end.port), kind, known, end.port_offset)
        return self._picked((block, index), end, ports[index], place)

    def port_of(self, end: End) -> Port:
        """The port of an output, with the shape after its slice. Makes no blocks."""
        block = self.block(end)
        ports = output_ports(block)
        index = index_of(end.port or "0", ports)
        if index is None or (end.port is None and len(ports) > 1):
            return Port(end.port or "0")
        port = ports[index]
        if end.selection is None or port.shape is None:
            return port
        return replace(port, shape=_selected(port.shape, end.selection))

    def input(self, end: End) -> tuple[Any, int]:
        """The input that an end stands for."""
        block = self.block(end)
        ports = input_ports(block)
        if not ports:
            raise WrongEnd(f"{self.described(end.block)} has no inputs", end.offset)
        if end.port is not None:
            index = index_of(end.port, ports)
            if index is None:
                raise no_port(end.port, self.described(end.block), ports, end.port_offset)
            return block, index
        if self.kinds.get(end.block) in FILLED_IN_ORDER:
            return block, self.next_free(end, ports)
        if len(ports) > 1:
            message = f"{self.described(end.block)} has several inputs"
            raise WrongEnd(message, end.offset, f"name one of {port_names(ports)}")
        return block, 0

    def block(self, end: End) -> Any:
        if end.block in self.blocks:
            return self.blocks[end.block]
        if end.block in self.broken or self._without_blocks():
            raise Skip
        hint = None
        if len(self.faults) < MAX_FAULTS:  # a search through every name, for each fault
            written = [name for name in self.blocks if "." not in name]
            hint = did_you_mean(end.block, [*written, *self.broken])
        raise WrongEnd(f"there is no block {end.block!r}", end.offset, hint)

    def _without_blocks(self) -> bool:
        """Whether the file has no section of blocks, which is a fault of its own."""
        return not self.blocks and "blocks" not in self.document.data

    def named_inputs(self, name: str, ports: tuple[Port, ...]) -> set[int | None]:
        """The indices of the inputs of a block that wires name explicitly."""
        if name not in self._by_name:
            named = self.counts[name].named
            self._by_name[name] = {index_of(port, ports) for port in named}
        return self._by_name[name]

    def described(self, name: str) -> str:
        return f"{name} ({self.kinds[name]})" if name in self.kinds else name

    def next_free(self, end: End, ports: tuple[Port, ...]) -> int:
        index = self._next.get(end.block, 0)
        while index in self.named_inputs(end.block, ports):
            index += 1
        self._next[end.block] = index + 1
        if index >= len(ports):
            message = f"{self.described(end.block)} has {len(ports)} inputs, all of them taken"
            raise WrongEnd(message, end.offset)
        return index

    # --- blocks that wires bring with them ----------------------------------------

    def _picked(self, output: Output, end: End, port: Port, place: Place) -> Output:
        if end.selection is None:
            return output
        self._check_range(end, port)
        name = signal_name(*output) + selection_text(end.selection)
        if name not in self._picks:
            from bdsim.blocks import Index, Slice1

            if isinstance(end.selection, int):
                pick = Index(index=[end.selection], bd=self.bd, name=name)
            else:
                pick = Slice1(index=end.selection, bd=self.bd, name=name)
            self._picks[name] = pick
            self.places[f"blocks.{self.prefix}{name}"] = place
            self.connect(output, (pick, 0), place)
        return self._picks[name], 0

    def _check_range(self, end: End, port: Port) -> None:
        if port.shape is None:
            return
        what = f"{end.block}.{port.name}"
        if len(port.shape) != 1:
            message = f"{what} has shape {port.shape}; only a vector can be sliced"
            raise WrongEnd(message, end.selection_offset)
        length = port.shape[0]
        if not _fits(end.selection, length):
            message = f"{what} has {length} entries"
            hint = f"its indices are 0 to {length - 1}"
            shown = selection_text(end.selection) if end.selection is not None else ""
            raise WrongEnd(f"{message}; {shown} takes others", end.selection_offset, hint)

    def _companion(self, name: str, suffix: str, place: Place) -> Any:
        """The companion or audit of a plant; it is made when it is first needed."""
        full, plant = f"{name}{suffix}", self.blocks[name]
        if full not in self.blocks:
            try:
                made = make_companion(plant, suffix, self.bd)
            except Exception as error:
                message = str(error) if isinstance(error, InputError) else repr(error)
                fault = Fault(f"the {suffix[1:]} of {name} cannot be made: {message}", place)
                raise DiagramError([*self.faults, fault]) from None
            self.blocks[full], self.companions[made] = made, plant
            self.kinds[full] = str(made.type).upper()
            self.places.setdefault(f"blocks.{self.prefix}{full}", place)
        return self.blocks[full]

    def of_audit(self, end: End, place: Place) -> End:
        """Convert an end such as plant.audit.h to port h of the block plant.audit; other ends are
        returned unchanged.
        """
        first, _, port = (end.port or "").partition(".")
        plant = self.blocks.get(end.block)
        if f".{first}" != AUDIT or not can_be_audited(plant):
            return end
        if not wants_audit(plant):
            hint = f"write audit: true in {end.block}"
            raise WrongEnd(f"{self.described(end.block)} has no audit", end.port_offset, hint)
        audit = str(self._companion(end.block, AUDIT, place).name)
        offset = end.port_offset + len(AUDIT)
        return replace(end, block=audit, port=port or None, port_offset=offset)

    def _complete(self) -> None:
        """Add zeros and the wires of companions. Each added block gets the place of its plant."""
        for block in complete(self.bd, companions=self.companions):
            owner = str(block.name).split(".", 1)[0]
            place = self.places.get(f"blocks.{self.prefix}{owner}")
            if place is not None:
                self.places.setdefault(f"blocks.{self.prefix}{block.name}", place)

    # --- wires ------------------------------------------------------------------

    def claim(self, target: tuple[Any, int], place: Place, end: End) -> None:
        first = self._taken.setdefault(target, place)
        if first is not place:
            block, index = target
            port = input_ports(block)[index].name
            where = f"line {first.line}" if first.line else str(first)
            message = f"input {block.name}.{port} has a wire already, in {where}"
            raise WrongEnd(message, end.offset, "add the signals in a SUM block first")

    def connect(self, output: Output, target: tuple[Any, int], place: Place) -> None:
        wire = connect(self.bd, output, target, (place.file, place.line or 0))
        self.places[f"wires.{self.prefix}{wire_name(wire)}"] = place

    def _missing(self, block: Any, port: Port) -> None:
        name = str(block.name)
        path: Keys = (*self.path, "blocks", name)
        what = f"input {port.name} of {self.described(name)}"
        if self.kinds.get(name) == "OUTPORT":
            path, what = (*self.path, "outputs"), f"output {port.name} of the subsystem"
        hint = f"add a wire to {name}.{port.name}"
        if not port.name.isdecimal() and len(givers := self._giving(port.name)) == 1:
            hint = f"add a wire to {name}.{port.name}, as {givers[0]}.{port.name} -> {name}"
        elif port.shape:
            hint += f", which takes {' '.join(filter(None, [str(port.shape), port.unit]))}"
        self.faults.append(Fault(f"{what} has no wire", self.document.key_place(*path), hint))

    def _giving(self, port: str) -> list[str]:
        """The blocks that have an output of that name."""
        if len(self.faults) >= MAX_FAULTS:  # a search through every block, for each fault
            return []
        ports = {name: output_ports(block) for name, block in self.blocks.items()}
        return [name for name in ports if any(port == given.name for given in ports[name])]

    def fault(self, error: WrongEnd, keys: Keys) -> None:
        """Collect the fault of a wrong wire at a path of the file."""
        place = self.document.place_inside(keys, error.offset)
        self.faults.append(Fault(error.message, place, error.hint))


def _fits(selection: Selection | None, length: int) -> bool:
    """Whether all entries that a selection names exist in a vector of this length."""
    if isinstance(selection, int):
        return -length <= selection < length
    start, stop, step = selection or (None, None, None)
    bounds = [bound for bound in (start, stop) if bound is not None]
    inside = all(-length <= bound <= length for bound in bounds)
    return inside and len(range(*slice(start, stop, step).indices(length))) > 0


def _selected(shape: tuple[int, ...], selection: Selection) -> tuple[int, ...] | None:
    """The shape after a selection from a vector; None if it is not possible."""
    if len(shape) != 1 or not _fits(selection, shape[0]):
        return None
    if isinstance(selection, int):
        return ()
    return (len(range(*slice(*selection).indices(shape[0]))),)

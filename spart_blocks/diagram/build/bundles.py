"""Makes the wires that a line of a file describes, also those of several signals: `plant.*`,
`plant.{qm, um}`, and buses.

A bus is a group of ports with a common prefix: `state.qm` and `state.um` form the bus `state`. A
wire of several signals is replaced by one wire for each, between ports of the same name.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from spart_blocks.base.errors import Place
from spart_blocks.block_support.ports import Port, attribute, input_ports, output_ports
from spart_blocks.diagram.build.registry import port_names
from spart_blocks.diagram.build.wiring import Output, Skip, Wiring, WrongEnd, index_of, no_port
from spart_blocks.diagram.written.wires import FILLED_IN_ORDER, End, WrittenWire


@dataclass(frozen=True)
class Bundle:
    """Several signals of one source block, by their names without the common prefix.

    more: names of a plant's companion outputs, which are made only if a wire uses them. how: which
    signals are wired: "equal", all whose name exists at the other end; "chosen", those in braces;
    "bus", all that the other end's bus needs. bare: the source is a block with several outputs,
    which is used as a bus only if an input takes one.
    """

    end: End
    prefix: str
    ports: Mapping[str, Port]
    more: tuple[str, ...]
    how: Literal["equal", "chosen", "bus"]
    bare: bool = False

    def named(self, name: str) -> End:
        """The end of a wire that stands for one of the signals."""
        return replace(self.end, port=self.prefix + name, names=None)

    @property
    def label(self) -> str:
        """Its name in error messages."""
        return f"{self.end.block}.{self.prefix}".rstrip(".")


def add_wire(wiring: Wiring, number: int, wire: WrittenWire) -> None:
    """Make the wires that one line of the file describes, and collect the faults of its ends."""
    keys = (*wiring.path, "wires", number)
    place = wiring.document.place(*keys)
    wiring.places.setdefault(f"wires.{wiring.prefix}{number}", place)
    source: Output | Bundle | None = None
    try:
        source = _source(wiring, wire, place)
    except WrongEnd as error:
        wiring.fault(error, keys)
    except Skip:
        pass
    for end in wire.ends:
        try:
            at = wiring.document.place_inside(keys, end.offset)
            if isinstance(source, Bundle):
                spread(wiring, source, end, place, at)
                continue
            if source is None and wire.source.names is not None:
                wiring.doubtful.add(end.block)
                wiring.block(end)
                continue
            target = wiring.input(end)
            wiring.claim(target, at, end)
            if source is not None:
                wiring.connect(source, target, at)
        except WrongEnd as error:
            wiring.doubtful.add(end.block)
            wiring.fault(error, keys)
        except Skip:
            pass


def _source(wiring: Wiring, wire: WrittenWire, place: Place) -> Output | Bundle:
    """The source of a wire: one output, or several."""
    bundle = bundle_of(wiring, wire.source, place)
    if bundle is None or (bundle.bare and not any(takes_bus(wiring, end) for end in wire.ends)):
        return wiring.output(wire.source, place)
    return bundle


def bundle_of(wiring: Wiring, end: End, place: Place) -> Bundle | None:
    """The signals that a source of a wire stands for; None if it is a single signal or
    is invalid.
    """
    end = wiring.of_audit(end, place)
    block = wiring.block(end)
    ports = output_ports(block)
    if end.names is None and end.port is not None and index_of(end.port, ports) is not None:
        return None
    prefix = _prefix(end, ports, attribute(block, "gives_bus"))
    more = tuple(attribute(block, "companion_outputs", ())) if not prefix else ()
    if prefix is None:
        return Bundle(end, "", _below("", ports), more, "bus", bare=True) if ports[1:] else None
    if end.port is not None and not any(port.name.startswith(prefix) for port in ports):
        _no_bus(wiring, end, block, ports)
        return None
    named = _below(prefix, ports)
    if end.names is None:
        return Bundle(end, prefix, named, more, "bus")
    if not end.names:
        return Bundle(end, prefix, named, more, "equal")
    chosen: dict[str, Port] = {}
    for name in end.names:
        found = _chosen(name.text, named, more)
        if not found:
            known = (*ports, *map(Port, more))
            label = wiring.described(end.block)
            raise no_port(prefix + name.text, label, known, name.offset)
        chosen |= found
    return Bundle(end, prefix, chosen, (), "chosen")


def _no_bus(wiring: Wiring, end: End, block: Any, ports: tuple[Port, ...]) -> None:
    """Raise WrongEnd for `block.port.*` where the port is not a bus. Does nothing for a single
    signal.
    """
    if end.names is None or end.port is None:
        return
    if index_of(end.port, ports) is not None or end.port in attribute(
        block, "companion_outputs", ()
    ):
        raise WrongEnd(f"{end.block}.{end.port} is one signal", end.port_offset)
    raise no_port(end.port, wiring.described(end.block), ports, end.port_offset)


def _prefix(end: End, ports: tuple[Port, ...], whole: str | None) -> str | None:
    """The common prefix of the ports that an end stands for; None if it is not a bus. whole: the
    prefix if the end names only the block.
    """
    if end.port is not None:
        return f"{end.port}."
    if end.names is not None:
        return ""
    if whole is not None:
        return whole
    first, dot, _ = ports[0].name.partition(".") if ports else ("", "", "")
    if dot and all(port.name.startswith(f"{first}.") for port in ports):
        return f"{first}."  # its one port is a bus
    return None


def _below(prefix: str, ports: tuple[Port, ...]) -> dict[str, Port]:
    return {p.name[len(prefix) :]: p for p in ports if p.name.startswith(prefix)}


def _chosen(name: str, ports: Mapping[str, Port], more: tuple[str, ...]) -> dict[str, Port]:
    """The signals that a name selects: one, or all of a nested bus."""
    if name in ports:
        return {name: ports[name]}
    if name in more:
        return {name: Port(name)}
    return {key: port for key, port in ports.items() if key.startswith(f"{name}.")}


def takes_bus(wiring: Wiring, end: End) -> bool:
    """Whether an end of a wire accepts a whole bus."""
    block = wiring.blocks.get(end.block)
    ports = input_ports(block) if block is not None else ()
    prefix = _prefix(end, ports, attribute(block, "takes_bus"))
    return prefix is not None and any(port.name.startswith(prefix) for port in ports)


def spread(wiring: Wiring, bundle: Bundle, end: End, place: Place, at: Place) -> None:
    """Make a wire for each signal, to the input of the same name. at: where the end is written."""
    block = wiring.block(end)
    ports = input_ports(block)
    if end.port is None and wiring.kinds.get(end.block) in FILLED_IN_ORDER and not bundle.bare:
        wiring.count(place, wires=len(bundle.ports))
        for name in bundle.ports:
            target = block, wiring.next_free(end, ports)
            wiring.claim(target, at, end)
            wiring.connect(wiring.output(bundle.named(name), place), target, at)
        return
    prefix = _taken(wiring, bundle, end, block, ports)
    inputs = {
        port.name[len(prefix) :]: k for k, port in enumerate(ports) if port.name.startswith(prefix)
    }
    matched = _matched(wiring, bundle, end, inputs, prefix)
    wiring.count(place, wires=len(matched))
    own = wiring.named_inputs(end.block, ports) if bundle.how == "equal" else set()
    for name in matched:
        target = block, inputs[name]
        if inputs[name] not in own:
            wiring.claim(target, at, end)
            wiring.connect(wiring.output(bundle.named(name), place), target, at)


def _taken(wiring: Wiring, bundle: Bundle, end: End, block: Any, ports: tuple[Port, ...]) -> str:
    """The prefix of the inputs that the signals are wired to. Raises WrongEnd if the block cannot
    take them.
    """
    what, label = wiring.described(end.block), bundle.label
    if not ports:
        raise WrongEnd(f"{what} has no inputs", end.offset)
    if end.port is None and bundle.how != "bus":
        return ""
    if takes_bus(wiring, end):
        return _prefix(end, ports, attribute(block, "takes_bus")) or ""
    hint = f"name one of {port_names(tuple(bundle.ports.values()))}"
    if end.port is not None and index_of(end.port, ports) is None:
        raise no_port(end.port, what, ports, end.port_offset)
    if bundle.bare:
        raise WrongEnd(f"{label} has several outputs", bundle.end.offset, hint)
    if end.port is not None or len(ports) == 1:
        written = end.block if end.port is None else f"{end.block}.{end.port}"
        raise WrongEnd(f"{written} takes one signal, {label} is several", end.offset, hint)
    raise WrongEnd(
        f"{what} takes no bus as a whole",
        end.offset,
        f"{label}.* -> {end.block} wires the inputs of the same names",
    )


def _matched(
    wiring: Wiring, bundle: Bundle, end: End, inputs: Mapping[str, int], prefix: str
) -> list[str]:
    """The names that exist at both ends, in the order of the source. Raises WrongEnd if required
    ones are missing.
    """
    known = (*bundle.ports, *bundle.more)
    if bundle.how == "bus":
        lacking = tuple(Port(name) for name in inputs if name not in set(known))
        if lacking:
            carried = port_names(tuple(map(Port, bundle.ports)))
            message = f"{bundle.label} has no {port_names(lacking)}: it has {carried}"
            taker = f"{end.block}.{prefix}".rstrip(".")
            raise WrongEnd(message, bundle.end.offset, f"{taker} takes each of its signals")
        return [name for name in known if name in inputs]
    matched = [name for name in known if name in inputs]
    takes = tuple(map(Port, inputs))
    if bundle.how == "chosen" and len(matched) < len(known):
        lost = next(name for name in known if name not in inputs)
        written = next(
            name for name in bundle.end.names or () if f"{lost}.".startswith(f"{name.text}.")
        )
        raise no_port(prefix + lost, wiring.described(end.block), takes, written.offset)
    if not matched:
        gives = port_names(tuple(map(Port, known)))
        message = f"no output of {bundle.label} has the name of an input of {end.block}"
        hint = f"{bundle.label} gives {gives}\n  {end.block} takes {port_names(takes)}"
        raise WrongEnd(message, end.offset, hint)
    return matched

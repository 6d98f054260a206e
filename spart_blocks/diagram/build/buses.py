"""Derives the signals of buses from their wires. A BUS_CREATOR has the signals that are wired to
it. Where a BUS_SELECTOR or a BUS_ASSIGNMENT names a nested bus, this stands for all of its
signals.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.late_blocks import Arrival

Ports = Mapping[str, Port]


def bus_arguments(
    kind: str, given: Mapping[str, Any], arrivals: Sequence[Arrival]
) -> tuple[dict[str, Any], Ports]:
    """The parameters of a bus block completed by the signals of its wires, and for each input name
    the port that feeds it.
    """
    make = {"BUS_CREATOR": _creator, "BUS_SELECTOR": _selector, "BUS_ASSIGNMENT": _assignment}
    return make[kind](dict(given), arrivals)


def with_shapes(block: Any, sources: Ports) -> None:
    """Set shapes and units of the ports of a bus block to those of the signals."""
    found = [sources.get(port.name, port) for port in block.in_ports]
    block.in_ports = tuple(
        replace(port, shape=source.shape, unit=source.unit)
        for port, source in zip(block.in_ports, found, strict=True)
    )
    block.out_ports = tuple(
        replace(block.in_ports[k], name=port.name)
        for port, k in zip(block.out_ports, block.passes, strict=True)
    )


def _creator(given: dict[str, Any], arrivals: Sequence[Arrival]) -> tuple[dict[str, Any], Ports]:
    found: dict[str, Port] = {}
    for arrival in arrivals:
        if arrival.port is not None:
            found |= _nested(arrival.port, arrival.signals)
        elif arrival.by_name:
            found = {**arrival.signals, **found}
    names = _texts(given.get("signals"))
    if names:
        given["signals"] = [full for name in names for full in _below(name, found)]
    elif "signals" not in given:
        given["signals"] = list(found)
    return given, found


def _selector(given: dict[str, Any], arrivals: Sequence[Arrival]) -> tuple[dict[str, Any], Ports]:
    whole = _whole(arrivals, (None,))
    names = _texts(given.get("signals"))
    outputs = _texts(given.get("outputs")) or [name.rpartition(".")[2] for name in names]
    inside = {name: _below(name, whole) for name in names}
    if len(outputs) == len(names) and any(found != [name] for name, found in inside.items()):
        pairs = [(name, out, full) for name, out in zip(names, outputs, strict=True)
                 for full in inside[name]]  # fmt: skip
        given["signals"] = [full for _, _, full in pairs]
        given["outputs"] = [out + full[len(name) :] for name, out, full in pairs]
    return given, whole


def _assignment(given: dict[str, Any], arrivals: Sequence[Arrival]) -> tuple[dict[str, Any], Ports]:
    whole = _whole(arrivals, (None, "bus"))
    given.setdefault("bus", list(whole))
    names = _texts(given.get("signals"))
    if names:
        given["signals"] = [full for name in names for full in _below(name, whole)]
    found = {f"bus.{name}": port for name, port in whole.items()}
    for arrival in arrivals:
        if arrival.port not in (None, "bus"):
            found |= _nested(str(arrival.port), arrival.signals)
    return given, found


def _whole(arrivals: Iterable[Arrival], ports: tuple[str | None, ...]) -> Ports:
    """The signals of the bus that is wired to one of these ports."""
    found: dict[str, Port] = {}
    for arrival in arrivals:
        if arrival.port in ports and arrival.one is None:
            found |= arrival.signals
    return found


def _nested(port: str, signals: Ports) -> dict[str, Port]:
    """The signals of a port with its name as prefix; a single signal keeps the name of the port."""
    return {f"{port}.{name}".rstrip("."): found for name, found in signals.items()}


def _below(name: str, signals: Ports) -> list[str]:
    """The signals that a name selects: itself, or all signals of the bus of this name."""
    inside = [] if name in signals else [key for key in signals if key.startswith(f"{name}.")]
    return inside or [name]


def _texts(value: Any) -> list[str]:
    """A list of texts, or [] for any other value; the block itself reports that fault."""
    good = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return list(value) if good else []

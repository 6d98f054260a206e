"""Wrappers: subsystems that give a choice of a slot the ports of the slot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from spart_blocks.diagram.written.sheets import GATES, File
from spart_blocks.diagram.written.wires import End, WireSyntaxError, parse_end, parse_wire

INNER = "block"
"""The name of the choice's own block within its wrapper."""
_IN, _OUT = GATES


@dataclass(frozen=True)
class Wrapper:
    """A subsystem around a block. name: of the subsystem. section: its entries."""

    name: str
    section: dict[str, Any]


def wrapper_of(
    file: File, slot: str, choice: str, block: Mapping[str, Any], texts: Sequence[str]
) -> Wrapper:
    """The wrapper of a choice. block: its entries. texts: wires between `in.PORT`, `block` and
    `out.PORT`, and `in.PORT` alone for an input that nothing reads; ports are in their order.
    Raises WireSyntaxError.
    """
    ports: dict[str, dict[str, None]] = {"inputs": {}, "outputs": {}}
    wires = []
    for text in texts:
        if "->" not in text:
            ports["inputs"][_port(parse_end(text), _IN)] = None
            continue
        wire = parse_wire(text)
        wires.append(text.strip())
        if wire.source.block != INNER:
            ports["inputs"][_port(wire.source, _IN)] = None
        for end in wire.ends:
            if end.block != INNER:
                ports["outputs"][_port(end, _OUT)] = None
    section: dict[str, Any] = {key: list(names) for key, names in ports.items() if names}
    section |= {"blocks": {INNER: dict(block)}, "wires": wires}
    return Wrapper(_free(f"{choice}_{slot}", file), section)


def _port(end: End, gate: str) -> str:
    """The port of a wrapper that an end names."""
    if end.block != gate or end.port is None or end.names is not None:
        hint = f"write in.PORT -> {INNER}.PORT, {INNER}.PORT -> out.PORT, or in.PORT alone"
        raise WireSyntaxError(f"{end} is no port of the wrapper", end.offset, hint)
    return end.port


def _free(wanted: str, file: File) -> str:
    name, number = wanted, 2
    while name in file.subsystems:
        name, number = f"{wanted}{number}", number + 1
    return name

"""Finds the ports that ends of wires name, and the errors for wrong ones."""

from __future__ import annotations

from collections.abc import Mapping

from spart_blocks.base.errors import near_names
from spart_blocks.block_support.ports import Port
from spart_blocks.diagram.build.registry import port_names
from spart_blocks.diagram.written.wires import End

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
    return WrongEnd(f"no port {name!r} on {label}: it has {port_names(ports)}", offset, hint)

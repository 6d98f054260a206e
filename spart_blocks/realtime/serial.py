"""Serial ports of links: set up by pyserial, read and written in C."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from spart_blocks.errors import InputError, MissingExtraError
from spart_blocks.links.endpoints import Serial
from spart_blocks.realtime.link_structs import LinkStruct, Transport


def open_serial(
    struct: LinkStruct, endpoint: Serial, own: bool, kept: ExitStack, devices: dict[str, Any]
) -> None:
    """Give a link its serial port.

    own: whether it is on the block's side of the line, else on its peer's. devices: those
    that are open, which links share. Raises OSError, InputError, MissingExtraError.
    """
    device = endpoint.device if own else endpoint.peer
    if device is None:
        hint = "give peer, the device of the other end, or run the other part alone"
        raise InputError(f"the other end of {endpoint.device} has no device\n  {hint}")
    if device not in devices:
        devices[device] = kept.enter_context(_port(device, endpoint.baud))
    elif devices[device].baudrate != endpoint.baud:
        raise InputError(f"{device} cannot have {endpoint.baud} baud and another rate as well")
    struct.transport, struct.fd = Transport.FILE, devices[device].fileno()


def _port(device: str, baud: int) -> Any:
    try:
        import serial
    except ImportError:
        raise MissingExtraError("pyserial", "serial", "a link over a serial line") from None
    # Exclusive: no other program that asks so shares it. It never blocks.
    return serial.Serial(device, baud, timeout=0, write_timeout=0, exclusive=True)

"""Links over serial lines: set up by pyserial, read and written in C."""

from __future__ import annotations

import re
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import Any

from spart_blocks.base.errors import InputError, brief, optional
from spart_blocks.transports.endpoints import Carries, Endpoint, LoopEnd, read_whole

FASTEST = 16_000_000
"""Bits per second of a serial line."""
_DEVICE = re.compile(r"/dev/(?:tty|cu\.|serial/|pts/)[A-Za-z0-9_./:+-]{1,100}")


@dataclass(frozen=True)
class Serial(Endpoint):
    """The serial device of the block's side. peer: that of the other side, if there is one."""

    device: str
    peer: str | None
    baud: int
    needs_header = True
    parameter = "device"

    def __str__(self) -> str:
        return f"{self.device} at {self.baud} baud"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        device = self.device if end.own else self.peer
        if device is None:
            hint = "give peer, the device of the other end, or run the other part alone"
            raise InputError(f"the other end of {self.device} has no device\n  {hint}")
        port = end.shared(device, partial(_port, device, self.baud))
        if port.baudrate != self.baud:
            raise InputError(f"{device} cannot have {self.baud} baud and another rate as well")
        end.attach(Carries.FILE, port.fileno())


def read_serial(device: Any, peer: Any, baud: Any) -> Serial:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    if peer is not None and _device("peer", peer) == device:
        raise ValueError("peer must be another device than this side's")
    return Serial(_device("device", device), peer, read_whole("baud", baud, FASTEST))


def _device(name: str, given: Any) -> str:
    if not isinstance(given, str) or not _DEVICE.fullmatch(given) or ".." in given:
        raise ValueError(f"{name} must be a serial device as /dev/ttyUSB0, not {brief(given)}")
    return given


def _port(device: str, baud: int) -> Any:
    serial = optional("serial", "pyserial", "serial", "a link over a serial line")
    # Exclusive: no other program that asks so shares it. It never blocks.
    return serial.Serial(device, baud, timeout=0, write_timeout=0, exclusive=True)

"""Frames of numbers over a serial line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.serial import read_serial


class _SERIAL(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs reads from the device, and the subdiagram that feeds the inputs writes to its peer.
    See docs/links.md.

    The frame needs a header, by which frames are found in the stream, and should have a checksum.
    Blocks with the same device share it: 8 data bits, no parity, one stop bit. Needs pyserial: pip
    install 'spart_blocks[serial]'.

    :param device: the device on this side, such as /dev/ttyUSB0
    :type device: str
    :param peer: the device at the other end, for the other subdiagram
    :type peer: str
    :param baud: bits per second
    :type baud: int
    """

    def __init__(
        self,
        device: str,
        frame: Mapping[str, Any],
        peer: str | None = None,
        baud: int = 115200,
        **linkargs: Any,
    ) -> None:
        self._endpoint = read_serial(device, peer, baud)
        super().__init__(frame=frame, **linkargs)


class SERIAL_In(_SERIAL, Incoming, FunctionBlock):
    """Numbers received over a serial line."""

    nin = 1
    nout = 1


class SERIAL_Out(_SERIAL, Outgoing, FunctionBlock):
    """Numbers sent over a serial line."""

    nin = 1
    nout = 1

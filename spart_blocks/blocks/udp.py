"""Frames of numbers over UDP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.udp import read_udp


class _UDP(Connected):
    """A named wire: in a simulation the outputs equal the inputs, without rounding. In `spart
    realtime` the subdiagram that reads the outputs receives packets at this address, and the
    subdiagram that feeds the inputs sends them there. See docs/links.md.

    Packets that do not match the frame are counted and dropped. The newest frame is used.

    :param port: port of the receiver
    :type port: int
    :param address: of the receiver, 0.0.0.0 for all addresses of this machine
    :type address: str
    """

    def __init__(
        self, port: int, frame: Mapping[str, Any], address: str = LOOPBACK, **linkargs: Any
    ) -> None:
        self._endpoint = read_udp(address, port)
        super().__init__(frame=frame, **linkargs)


class UDP_In(_UDP, Incoming, FunctionBlock):
    """Numbers received over UDP."""

    nin = 1
    nout = 1


class UDP_Out(_UDP, Outgoing, FunctionBlock):
    """Numbers sent over UDP."""

    nin = 1
    nout = 1

"""Frames of numbers over UDP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Connected, Incoming, Outgoing
from spart_blocks.links.endpoints import LOOPBACK, read_udp


class _UDP(Connected):
    """A wire with a name: in a simulation the inputs pass to the outputs, as numbers without
    rounding. In `spart realtime` the part that reads the outputs receives packets at this
    address, and the part that feeds the inputs sends them there. See docs/links.md.

    Packets that do not fit the frame are counted and dropped. The newest one counts.

    :param port: where packets are received
    :type port: int
    :param address: of the receiver, 0.0.0.0 for all addresses that this machine has
    :type address: str
    """

    def __init__(
        self, port: int, frame: Mapping[str, Any], address: str = LOOPBACK, **linkargs: Any
    ) -> None:
        self._endpoint = read_udp(address, port)
        super().__init__(frame=frame, **linkargs)


class UDP_In(_UDP, Incoming, FunctionBlock):
    """Numbers that come in over UDP."""

    nin = 1
    nout = 1


class UDP_Out(_UDP, Outgoing, FunctionBlock):
    """Numbers that go out over UDP."""

    nin = 1
    nout = 1

"""Frames of numbers over UDP."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.udp import read_udp


class _UDP(Connected):
    """A named wire: in a simulation the outputs equal the inputs, without rounding. In `spart
    realtime` the subdiagram that reads the outputs receives packets at this address, and the
    subdiagram that feeds the inputs sends them there. See docs/links.md.

    Packets that do not match the frame are counted and dropped. The newest frame is used.

    :arg port: port of the receiver
    :arg address: of the receiver, 0.0.0.0 for all addresses of this machine
    """

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    connect = staticmethod(read_udp)


class UDP_In(Incoming, _UDP, FunctionBlock):
    """Numbers received over UDP."""

    nin = 1
    nout = 1


class UDP_Out(Outgoing, _UDP, FunctionBlock):
    """Numbers sent over UDP."""

    nin = 1
    nout = 1

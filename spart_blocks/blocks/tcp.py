"""Frames of numbers over TCP."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.tcp import read_tcp


class _TCP(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs receives at this address, and the subdiagram that feeds the inputs connects to it
    and sends. See docs/links.md.

    The frame needs a header, by which frames are found in the stream. A lost connection is
    re-established.

    :arg port: port of the server
    :arg address: of the receiver
    :arg server: who listens at the address: receiver or sender; the other one connects to it
    """

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    server = fixed("str", "", "receiver")
    connect = staticmethod(read_tcp)


class TCP_In(Incoming, _TCP, FunctionBlock):
    """Numbers received over TCP."""

    nin = 1
    nout = 1


class TCP_Out(Outgoing, _TCP, FunctionBlock):
    """Numbers sent over TCP."""

    nin = 1
    nout = 1

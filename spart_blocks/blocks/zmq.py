"""Frames of numbers over ZeroMQ."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.zmq import read_zmq


class _ZMQ(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to all messages, and the subdiagram that feeds the inputs publishes. See
    docs/links.md.

    A message is a frame. A Python thread exchanges them, so their delay is longer and less even
    than over UDP. Needs pyzmq: pip install 'spart_blocks[zmq]'.

    :arg port: port of the side that binds
    :arg address: address of the side that binds
    :arg server: the side that binds the address: sender or receiver; the other side connects
    """

    port = fixed("int")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    server = fixed("str", "", "sender")
    connect = staticmethod(read_zmq)


class ZMQ_In(Incoming, _ZMQ, FunctionBlock):
    """Numbers received over ZeroMQ."""

    nin = 1
    nout = 1


class ZMQ_Out(Outgoing, _ZMQ, FunctionBlock):
    """Numbers sent over ZeroMQ."""

    nin = 1
    nout = 1

"""Frames of numbers over ZeroMQ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.zmq import read_zmq


class _ZMQ(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to all messages, and the subdiagram that feeds the inputs publishes. See
    docs/links.md.

    A message is a frame. A Python thread exchanges them, so their delay is longer and less even
    than over UDP. Needs pyzmq: pip install 'spart_blocks[zmq]'.

    :param port: port of the side that binds
    :type port: int
    :param address: address of the side that binds
    :type address: str
    :param server: the side that binds the address: sender or receiver; the other side connects
    :type server: str
    """

    def __init__(
        self,
        port: int,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        server: str = "sender",
        **linkargs: Any,
    ) -> None:
        self._endpoint = read_zmq(address, port, server)
        super().__init__(frame=frame, **linkargs)


class ZMQ_In(_ZMQ, Incoming, FunctionBlock):
    """Numbers received over ZeroMQ."""

    nin = 1
    nout = 1


class ZMQ_Out(_ZMQ, Outgoing, FunctionBlock):
    """Numbers sent over ZeroMQ."""

    nin = 1
    nout = 1

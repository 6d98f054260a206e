"""Frames of numbers over ZeroMQ."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Connected, Incoming, Outgoing
from spart_blocks.links.endpoints import LOOPBACK, read_zmq


class _ZMQ(Connected):
    """In a simulation the inputs pass to the outputs. In `spart realtime` the part that reads the
    outputs subscribes to all there is, and the part that feeds the inputs publishes. See
    docs/links.md.

    A message is a frame. A thread in Python carries them, so that they come later and less
    evenly than over UDP. Needs pyzmq: pip install 'spart_blocks[zmq]'.

    :param port: of the one who binds
    :type port: int
    :param address: where the one who binds is
    :type address: str
    :param server: who binds the address: sender or receiver; the other one connects to it
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
    """Numbers that come in over ZeroMQ."""

    nin = 1
    nout = 1


class ZMQ_Out(_ZMQ, Outgoing, FunctionBlock):
    """Numbers that go out over ZeroMQ."""

    nin = 1
    nout = 1

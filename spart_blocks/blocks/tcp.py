"""Frames of numbers over TCP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.tcp import read_tcp


class _TCP(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs receives at this address, and the subdiagram that feeds the inputs connects to it
    and sends. See docs/links.md.

    The frame needs a header, by which frames are found in the stream. A lost connection is
    re-established.

    :param port: port of the server
    :type port: int
    :param address: of the receiver
    :type address: str
    :param server: who listens at the address: receiver or sender; the other one connects to it
    :type server: str
    """

    def __init__(
        self,
        port: int,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        server: str = "receiver",
        **linkargs: Any,
    ) -> None:
        self._endpoint = read_tcp(address, port, server)
        super().__init__(frame=frame, **linkargs)


class TCP_In(_TCP, Incoming, FunctionBlock):
    """Numbers received over TCP."""

    nin = 1
    nout = 1


class TCP_Out(_TCP, Outgoing, FunctionBlock):
    """Numbers sent over TCP."""

    nin = 1
    nout = 1

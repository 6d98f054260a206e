"""Frames of numbers over TCP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Incoming, Outgoing
from spart_blocks.links.connection import TIMEOUT
from spart_blocks.links.endpoints import LOOPBACK, read_tcp


class TCP_In(Incoming, FunctionBlock):
    """
    :blockname:`TCP_IN`

    Numbers that come in over TCP.

    :inputs: 1
    :outputs: 1
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(count,)
            - ``values``: an input for each field of the frame, by its name (optional, zeros)
        *   - Output
            - 0
            - ndarray(count,)
            - ``values``: an output for each field of the frame, by its name

    In a simulation the inputs pass to the outputs. In `spart realtime` the part that reads the
    outputs receives at this address, and the part that feeds the inputs connects to it and
    sends. With `recorded` a simulation takes its values from a file, and the block has no
    inputs. See docs/links.md.

    The frame needs a header, by which frames are found in the stream. A connection that ends is
    made anew.

    :param port: where the server listens
    :type port: int
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the receiver
    :type address: str
    :param server: who listens at the address: receiver or sender; the other one connects to it
    :type server: str
    :param timeout: how long values hold without a new frame before they are stale [s]
    :type timeout: float
    :param recorded: a CSV file with the columns t, qm[0], ..., each row held until the next
    :type recorded: Path
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        port: int,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        server: str = "receiver",
        timeout: float = TIMEOUT,
        recorded: str | Path | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_tcp(address, port, server), frame, timeout, recorded)
        super().__init__(**ports, **blockargs)


class TCP_Out(Outgoing, FunctionBlock):
    """
    :blockname:`TCP_OUT`

    Numbers that go out over TCP.

    :inputs: 1
    :outputs: 1
    :states: 0

    .. list-table::
        :header-rows: 1

        *   - Port type
            - Port number
            - Types
            - Description
        *   - Input
            - 0
            - ndarray(count,)
            - ``values``: an input for each field of the frame, by its name
        *   - Output
            - 0
            - ndarray(count,)
            - ``values``: an output for each field of the frame, by its name

    In a simulation the inputs pass to the outputs. In `spart realtime` the part that feeds the
    inputs connects to it and sends, and the part that reads the outputs receives at this
    address. See docs/links.md.

    The frame needs a header, by which frames are found in the stream. A connection that ends is
    made anew.

    :param port: where the server listens
    :type port: int
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the receiver
    :type address: str
    :param server: who listens at the address: receiver or sender; the other one connects to it
    :type server: str
    :param timeout: how long values hold without a new frame before they are stale [s]
    :type timeout: float
    :param safe: what is sent where the loop ends or its inputs are stale: a number for all,
        or values by field, such as {tau: 0}; where not given, nothing is sent then
    :type safe: float or mapping
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        port: int,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        server: str = "receiver",
        timeout: float = TIMEOUT,
        safe: float | Mapping[str, Any] | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_tcp(address, port, server), frame, timeout, safe)
        super().__init__(**ports, **blockargs)

"""Frames of numbers over UDP."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Incoming, Outgoing
from spart_blocks.links.connection import TIMEOUT
from spart_blocks.links.endpoints import LOOPBACK, read_udp


class UDP_In(Incoming, FunctionBlock):
    """
    :blockname:`UDP_IN`

    Numbers that come in over UDP.

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

    A wire with a name: in a simulation the inputs pass to the outputs, as numbers without
    rounding. In `spart realtime` the part that reads the outputs receives packets at this
    address, and the part that feeds the inputs sends them there. See docs/links.md.

    Packets that do not fit the frame are counted and dropped. The newest one counts. With
    `recorded` a simulation takes its values from a file, and the block has no inputs.

    :param port: where packets are received
    :type port: int
    :param frame: the packet's layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the receiver, 0.0.0.0 for all addresses that this machine has
    :type address: str
    :param timeout: how long values hold without a new packet before they are stale [s]
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
        timeout: float = TIMEOUT,
        recorded: str | Path | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_udp(address, port), frame, timeout, recorded)
        super().__init__(**ports, **blockargs)


class UDP_Out(Outgoing, FunctionBlock):
    """
    :blockname:`UDP_OUT`

    Numbers that go out over UDP.

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

    A wire with a name: in a simulation the inputs pass to the outputs, as numbers without
    rounding. In `spart realtime` the part that feeds the inputs sends packets to this
    address, and the part that reads the outputs receives them there. See docs/links.md.

    :param port: where packets are received
    :type port: int
    :param frame: the packet's layout, such as {fields: {tau: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the receiver
    :type address: str
    :param safe: what is sent where the loop ends or its inputs are stale: a number for all,
        or values by field, such as {tau: 0}; where not given, nothing is sent then
    :type safe: float or mapping
    :param timeout: how long the receiver holds values without a new packet [s]
    :type timeout: float
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        port: int,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        safe: float | Mapping[str, Any] | None = None,
        timeout: float = TIMEOUT,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_udp(address, port), frame, timeout, safe)
        super().__init__(**ports, **blockargs)

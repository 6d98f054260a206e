"""Frames of numbers over a serial line."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Incoming, Outgoing
from spart_blocks.links.connection import TIMEOUT
from spart_blocks.links.endpoints import read_serial


class SERIAL_In(Incoming, FunctionBlock):
    """
    :blockname:`SERIAL_IN`

    Numbers that come in over a serial line.

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
    outputs reads from the device, and the part that feeds the inputs writes to its peer. With
    `recorded` a simulation takes its values from a file, and the block has no inputs. See
    docs/links.md.

    The frame needs a header, by which frames are found in the stream; a checksum is wise.
    Blocks with one device share it: 8 data bits, no parity, one stop bit. Needs pyserial: pip
    install 'spart_blocks[serial]'.

    :param device: the device on this side, such as /dev/ttyUSB0
    :type device: str
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param peer: the device of the other end, for the part on the other side
    :type peer: str
    :param baud: bits per second
    :type baud: int
    :param timeout: how long values hold without a new frame before they are stale [s]
    :type timeout: float
    :param recorded: a CSV file with the columns t, qm[0], ..., each row held until the next
    :type recorded: Path
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        device: str,
        frame: Mapping[str, Any],
        peer: str | None = None,
        baud: int = 115200,
        timeout: float = TIMEOUT,
        recorded: str | Path | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_serial(device, peer, baud), frame, timeout, recorded)
        super().__init__(**ports, **blockargs)


class SERIAL_Out(Outgoing, FunctionBlock):
    """
    :blockname:`SERIAL_OUT`

    Numbers that go out over a serial line.

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
    inputs writes to the device, and the part that reads the outputs reads from its peer. See
    docs/links.md.

    The frame needs a header, by which frames are found in the stream; a checksum is wise.
    Blocks with one device share it: 8 data bits, no parity, one stop bit. Needs pyserial: pip
    install 'spart_blocks[serial]'.

    :param device: the device on this side, such as /dev/ttyUSB0
    :type device: str
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param peer: the device of the other end, for the part on the other side
    :type peer: str
    :param baud: bits per second
    :type baud: int
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
        device: str,
        frame: Mapping[str, Any],
        peer: str | None = None,
        baud: int = 115200,
        timeout: float = TIMEOUT,
        safe: float | Mapping[str, Any] | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_serial(device, peer, baud), frame, timeout, safe)
        super().__init__(**ports, **blockargs)

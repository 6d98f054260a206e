"""Frames of numbers over MQTT."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.blocks._links import Incoming, Outgoing
from spart_blocks.links.connection import TIMEOUT
from spart_blocks.links.endpoints import LOOPBACK, read_mqtt


class MQTT_In(Incoming, FunctionBlock):
    """
    :blockname:`MQTT_IN`

    Numbers that come in over MQTT.

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
    outputs subscribes to the topic, and the part that feeds the inputs publishes under it. With
    `recorded` a simulation takes its values from a file, and the block has no inputs. See
    docs/links.md.

    A message is a frame, with quality of service 0. A thread in Python carries them, by way of
    a broker, so that they come later and less evenly than over UDP. Needs paho-mqtt: pip
    install 'spart_blocks[mqtt]'.

    :param topic: what frames are published under
    :type topic: str
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the broker
    :type address: str
    :param port: of the broker
    :type port: int
    :param timeout: how long values hold without a new frame before they are stale [s]
    :type timeout: float
    :param recorded: a CSV file with the columns t, qm[0], ..., each row held until the next
    :type recorded: Path
    """

    nin = 1
    nout = 1

    def __init__(
        self,
        topic: str,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        port: int = 1883,
        timeout: float = TIMEOUT,
        recorded: str | Path | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_mqtt(topic, address, port), frame, timeout, recorded)
        super().__init__(**ports, **blockargs)


class MQTT_Out(Outgoing, FunctionBlock):
    """
    :blockname:`MQTT_OUT`

    Numbers that go out over MQTT.

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
    inputs publishes under it, and the part that reads the outputs subscribes to the topic. See
    docs/links.md.

    A message is a frame, with quality of service 0. A thread in Python carries them, by way of
    a broker, so that they come later and less evenly than over UDP. Needs paho-mqtt: pip
    install 'spart_blocks[mqtt]'.

    :param topic: what frames are published under
    :type topic: str
    :param frame: the layout, such as {fields: {qm: 7 f64}, sequence: u32}
    :type frame: mapping
    :param address: of the broker
    :type address: str
    :param port: of the broker
    :type port: int
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
        topic: str,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        port: int = 1883,
        timeout: float = TIMEOUT,
        safe: float | Mapping[str, Any] | None = None,
        **blockargs: Any,
    ) -> None:
        ports = self.connect(read_mqtt(topic, address, port), frame, timeout, safe)
        super().__init__(**ports, **blockargs)

"""Frames of numbers over MQTT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import Connected, Incoming, Outgoing
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.mqtt import read_mqtt


class _MQTT(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to the topic, and the subdiagram that feeds the inputs publishes under
    it. See docs/links.md.

    A message is a frame, with quality of service 0. A Python thread exchanges them through a
    broker, so their delay is longer and less even than over UDP. Needs paho-mqtt: pip install
    'spart_blocks[mqtt]'.

    :param topic: topic of the frames
    :type topic: str
    :param address: of the broker
    :type address: str
    :param port: of the broker
    :type port: int
    """

    def __init__(
        self,
        topic: str,
        frame: Mapping[str, Any],
        address: str = LOOPBACK,
        port: int = 1883,
        **linkargs: Any,
    ) -> None:
        self._endpoint = read_mqtt(topic, address, port)
        super().__init__(frame=frame, **linkargs)


class MQTT_In(_MQTT, Incoming, FunctionBlock):
    """Numbers received over MQTT."""

    nin = 1
    nout = 1


class MQTT_Out(_MQTT, Outgoing, FunctionBlock):
    """Numbers sent over MQTT."""

    nin = 1
    nout = 1

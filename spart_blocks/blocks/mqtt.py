"""Frames of numbers over MQTT."""

from __future__ import annotations

from bdsim.components import FunctionBlock

from spart_blocks.block_support.links import FRAME, Connected, Incoming, Outgoing
from spart_blocks.block_support.parameters import fixed
from spart_blocks.transports.endpoints import LOOPBACK
from spart_blocks.transports.mqtt import read_mqtt


class _MQTT(Connected):
    """In a simulation the outputs equal the inputs. In `spart realtime` the subdiagram that reads
    the outputs subscribes to the topic, and the subdiagram that feeds the inputs publishes under
    it. See docs/links.md.

    A message is a frame, with quality of service 0. A Python thread exchanges them through a
    broker, so their delay is longer and less even than over UDP. Needs paho-mqtt: pip install
    'spart_blocks[mqtt]'.

    :arg topic: topic of the frames
    :arg address: of the broker
    :arg port: of the broker
    """

    topic = fixed("str")
    frame = FRAME
    address = fixed("str", "", LOOPBACK)
    port = fixed("int", "", 1883)
    connect = staticmethod(read_mqtt)


class MQTT_In(Incoming, _MQTT, FunctionBlock):
    """Numbers received over MQTT."""

    nin = 1
    nout = 1


class MQTT_Out(Outgoing, _MQTT, FunctionBlock):
    """Numbers sent over MQTT."""

    nin = 1
    nout = 1

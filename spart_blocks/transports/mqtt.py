"""Links over MQTT: both sides are clients of a broker."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import brief, optional
from spart_blocks.transports.carrier import Carrier, carry_out, hand_in, local_pair
from spart_blocks.transports.endpoints import Endpoint, LoopEnd, place, read_address, read_port

KEEP_ALIVE = 10
"""Interval of the keep-alive messages to the broker [s]."""
MOST_TOPIC = 200


@dataclass(frozen=True)
class Mqtt(Endpoint):
    """A topic at a broker."""

    address: str
    port: int
    topic: str

    def __str__(self) -> str:
        return f"MQTT {self.topic} at {place(self.address, self.port)}"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        """The connection is made by paho, which reconnects when it is lost. Raises OSError if the
        broker cannot be reached."""
        mqtt = optional("paho.mqtt.client", "paho-mqtt", "mqtt", "a link over MQTT")
        far = local_pair(end, kept)
        client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
        client.connect_timeout = 2.0

        def connected(client: Any, *others: Any) -> None:
            if end.way == "receive":
                client.subscribe(self.topic, qos=0)

        def arrived(client: Any, data: Any, message: Any) -> None:
            if not message.retain:  # from before this run
                hand_in(far, message.payload)

        client.on_connect, client.on_message = connected, arrived
        client.connect(self.address, self.port, KEEP_ALIVE)
        client.loop_start()
        kept.callback(client.loop_stop)
        kept.callback(client.disconnect)
        if end.way == "send":

            def send(message: bytes) -> None:
                if client.is_connected():  # paho would keep what cannot go, and send it late
                    client.publish(self.topic, message, qos=0)

            carrier = Carrier(lambda: carry_out(far, send), str(self))
            carrier.start()
            kept.callback(carrier.stop)


def read_mqtt(topic: Any, address: Any, port: Any) -> Mqtt:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    good = isinstance(topic, str) and 0 < len(topic) <= MOST_TOPIC and topic.isprintable()
    if not good or set(topic) & set("#+$"):
        raise ValueError(f"topic must be a text without #, + and $, not {brief(topic)}")
    return Mqtt(read_address(address), read_port(port), topic)

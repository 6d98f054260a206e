"""Links over MQTT: both sides are clients of a broker."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from spart_blocks.errors import MissingExtraError
from spart_blocks.links.endpoints import Mqtt
from spart_blocks.realtime.carrier import Carrier, carry_out, hand_in, local_pair
from spart_blocks.realtime.link_structs import LinkStruct

KEEP_ALIVE = 10
"""How often the broker hears from a client that has nothing to say [s]."""


def open_mqtt(struct: LinkStruct, endpoint: Mqtt, way: str, kept: ExitStack) -> None:
    """Give a link its connection to the broker, which paho makes anew when it ends. Raises
    OSError where there is no broker now, MissingExtraError."""
    mqtt = _library()
    far = local_pair(struct, way, kept)
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.connect_timeout = 2.0

    def connected(client: Any, *others: Any) -> None:
        if way == "receive":
            client.subscribe(endpoint.topic, qos=0)

    def arrived(client: Any, data: Any, message: Any) -> None:
        if not message.retain:  # from before this run
            hand_in(far, message.payload)

    client.on_connect, client.on_message = connected, arrived
    client.connect(endpoint.address, endpoint.port, KEEP_ALIVE)
    client.loop_start()
    kept.callback(client.loop_stop)
    kept.callback(client.disconnect)
    if way == "send":

        def send(message: bytes) -> None:
            if client.is_connected():  # paho would keep what cannot go, and send it late
                client.publish(endpoint.topic, message, qos=0)

        carrier = Carrier(lambda: carry_out(far, send), str(endpoint))
        carrier.start()
        kept.callback(carrier.stop)


def _library() -> Any:
    try:
        import paho.mqtt.client as mqtt
    except ImportError:
        raise MissingExtraError("paho-mqtt", "mqtt", "a link over MQTT") from None
    return mqtt

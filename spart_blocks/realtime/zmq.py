"""Links over ZeroMQ: one side publishes, the other subscribes."""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from spart_blocks.errors import MissingExtraError
from spart_blocks.links.endpoints import Zmq, place
from spart_blocks.realtime.carrier import PAUSE, Carrier, carry_out, hand_in, local_pair
from spart_blocks.realtime.link_structs import LinkStruct

LINGER = 200
"""How long the last frames may take to leave [ms]."""
MOST_WAITING = 256


def open_zmq(struct: LinkStruct, endpoint: Zmq, way: str, kept: ExitStack) -> None:
    """Give a link its socket. Raises OSError, MissingExtraError."""
    zmq = _library()
    try:
        made = _socket(zmq, endpoint, way, kept)
    except zmq.ZMQError as error:
        raise OSError(error.errno, str(error)) from None
    far = local_pair(struct, way, kept)

    def receive() -> None:
        if made.poll(int(1000 * PAUSE)):  # one at a time: a flood never ends
            hand_in(far, made.recv())

    def send(message: bytes) -> None:
        made.send(message, zmq.NOBLOCK)  # a publisher drops what subscribers do not take

    carrier = Carrier(receive if way == "receive" else lambda: carry_out(far, send), str(endpoint))
    carrier.start()
    kept.callback(carrier.stop)


def _socket(zmq: Any, endpoint: Zmq, way: str, kept: ExitStack) -> Any:
    context = kept.enter_context(zmq.Context())
    made = kept.enter_context(context.socket(zmq.SUB if way == "receive" else zmq.PUB))
    made.setsockopt(zmq.LINGER, LINGER)
    made.setsockopt(zmq.RCVHWM if way == "receive" else zmq.SNDHWM, MOST_WAITING)
    made.setsockopt(zmq.IPV6, int(":" in endpoint.address))
    if way == "receive":
        made.setsockopt(zmq.MAXMSGSIZE, 65536)
        made.subscribe(b"")
    serves = (endpoint.server == "receiver") == (way == "receive")
    (made.bind if serves else made.connect)(f"tcp://{place(endpoint)}")
    return made


def _library() -> Any:
    try:
        import zmq
    except ImportError:
        raise MissingExtraError("pyzmq", "zmq", "a link over ZeroMQ") from None
    return zmq

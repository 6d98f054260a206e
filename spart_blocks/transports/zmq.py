"""Links over ZeroMQ: one side publishes, the other subscribes."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

from spart_blocks.base.errors import optional
from spart_blocks.transports.carrier import PAUSE, Carrier, carry_out, hand_in, local_pair
from spart_blocks.transports.endpoints import (
    Endpoint,
    LoopEnd,
    place,
    read_address,
    read_port,
    read_server,
    serves,
)

LINGER = 200
"""Time to send the last frames when a socket is closed [ms]."""
MOST_WAITING = 256


@dataclass(frozen=True)
class Zmq(Endpoint):
    """The address at which one side binds. server: the side that binds, receiver or sender."""

    address: str
    port: int
    server: str

    def __str__(self) -> str:
        return f"ZeroMQ {place(self.address, self.port)}"

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        zmq = optional("zmq", "pyzmq", "zmq", "a link over ZeroMQ")
        try:
            made = self._socket(zmq, end.way, kept)
        except zmq.ZMQError as error:
            raise OSError(error.errno, str(error)) from None
        far = local_pair(end, kept)

        def receive() -> None:
            if made.poll(int(1000 * PAUSE)):  # one at a time: a flood never ends
                hand_in(far, made.recv())

        def send(message: bytes) -> None:
            made.send(message, zmq.NOBLOCK)  # a publisher drops what subscribers do not take

        carry = receive if end.way == "receive" else lambda: carry_out(far, send)
        carrier = Carrier(carry, str(self))
        carrier.start()
        kept.callback(carrier.stop)

    def _socket(self, zmq: Any, way: str, kept: ExitStack) -> Any:
        context = kept.enter_context(zmq.Context())
        made = kept.enter_context(context.socket(zmq.SUB if way == "receive" else zmq.PUB))
        made.setsockopt(zmq.LINGER, LINGER)
        made.setsockopt(zmq.RCVHWM if way == "receive" else zmq.SNDHWM, MOST_WAITING)
        made.setsockopt(zmq.IPV6, int(":" in self.address))
        if way == "receive":
            made.setsockopt(zmq.MAXMSGSIZE, 65536)
            made.subscribe(b"")
        reach = made.bind if serves(self.server, way) else made.connect
        reach(f"tcp://{place(self.address, self.port)}")
        return made


def read_zmq(address: Any, port: Any, server: Any) -> Zmq:
    """The endpoint of these parameters. Raises ValueError if one is invalid."""
    return Zmq(read_address(address), read_port(port), read_server(server))

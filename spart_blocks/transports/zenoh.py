"""Links to topics of ROS 2 over Zenoh, as the nodes of rmw_zenoh speak."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

from spart_blocks.base.errors import Fault, InputError, brief, optional, told, warn
from spart_blocks.ros.cdr import decode, encode
from spart_blocks.ros.definitions import Find, MessageType, ServiceType
from spart_blocks.ros.graph import (
    Attachment,
    Kind,
    NodeName,
    NodeOptions,
    Qos,
    gid_of,
    read_attachment,
    read_qos,
    read_topic,
)
from spart_blocks.ros.library import bundled, read_definitions
from spart_blocks.ros.shapes import MessageShape, shape_of
from spart_blocks.transports.carrier import Carrier, carry_out, hand_in, local_pair
from spart_blocks.transports.endpoints import Endpoint, LoopEnd
from spart_blocks.transports.frames import MOST_BYTES, Field, Frame

MOST_MESSAGE = 2**20
"""Largest message that is read [bytes]."""
MOST_PUBLISHERS = 64
"""Publishers of a topic whose numbers are remembered."""
MOST_AHEAD = 2**20
"""A number further ahead than this is that of a publisher that has started anew."""
MOST_REQUESTS = 16
"""Requests of a service that wait."""
HEARTBEAT = 0.5
"""Interval in which lasting publishers tell their last number [s]."""
NODE = "ROS node"
"""The name of the session that the links of a subdiagram share."""
_SEQUENCE = "u32"
_TYPES = {"bool": "bool", "byte": "u8", "char": "u8", "int8": "i8", "uint8": "u8", "int16": "i16",
          "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
          "float32": "f32", "float64": "f64"}  # fmt: skip
_WRONG = b"?"
"""What the loop gets instead of a message that is none, so that it counts it as malformed."""


class RosNode:
    """A session of Zenoh as a node of ROS, as a context manager. name: its identity."""

    name: NodeName

    def __init__(self, options: NodeOptions) -> None:
        self.options = options
        self.zenoh = optional("zenoh", "eclipse-zenoh", "ros", "a link to ROS")
        self._tokens: list[Any] = []

    def __enter__(self) -> RosNode:
        """Raises InputError if the session cannot be opened."""
        try:
            self.session = self.zenoh.open(self._config())
        except self.zenoh.ZError as error:
            raise InputError(f"no session of Zenoh: {told(error)}") from None
        of = self.options
        self.name = NodeName(of.domain, of.namespace, of.name, str(self.session.zid()))
        self._declare(self.name.token("NN", 0))
        info = self.session.info
        if of.connect and not [*info.routers_zid(), *info.peers_zid()]:
            warn(
                f"nobody is at {', '.join(of.connect)} yet: start the router by ros2 run "
                "rmw_zenoh_cpp rmw_zenohd, or name a peer under realtime: {ros: {connect: }}"
            )
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()

    def _config(self) -> Any:
        """That of rmw_zenoh's nodes: a peer that hears of others from the router."""
        config = self.zenoh.Config()
        values = {
            "mode": "peer",
            "connect/endpoints": self.options.connect,
            "connect/timeout_ms": 0,
            "connect/exit_on_failure": False,
            "listen/endpoints": self.options.listen,
            "scouting/multicast/enabled": False,
            "timestamping/enabled": True,
        }
        for path, value in values.items():
            config.insert_json5(path, json.dumps(value))
        return config

    def _declare(self, token: str) -> None:
        self._tokens.append(self.session.liveliness().declare_token(token))

    def declare_end(
        self, kind: Kind, topic: str, of: MessageType | ServiceType, qos: Qos
    ) -> tuple[str, str]:
        """Let others see a publisher, subscription or server. topic: in full. Returns its key and
        its token."""
        token = self.name.token(kind, len(self._tokens), topic, of, qos)
        self._declare(token)
        return self.name.key(topic, of), token

    def publisher(self, topic: str, of: MessageType, qos: Qos) -> Publisher:
        """A publisher of a topic, which is given in full."""
        key, token = self.declare_end("MP", self.name.full(topic), of, qos)
        return Publisher(self._advanced_publisher(key, qos), gid_of(token))

    def _advanced_publisher(self, key: str, qos: Qos) -> Any:
        ext, reliable = self.zenoh.ext, qos.reliability == "reliable"
        lasting: dict[str, Any] = {}
        if qos.lasting:
            lasting = {"cache": ext.CacheConfig(qos.depth), "publisher_detection": True}
        if qos.lasting and reliable:
            lasting["sample_miss_detection"] = ext.MissDetectionConfig(
                heartbeat=None, sporadic_heartbeat=HEARTBEAT
            )
        kind = self.zenoh.Reliability.RELIABLE if reliable else self.zenoh.Reliability.BEST_EFFORT
        return ext.declare_advanced_publisher(
            self.session,
            key,
            congestion_control=self.zenoh.CongestionControl.DROP,
            reliability=kind,
            **lasting,
        )

    def subscribe(
        self, topic: str, of: MessageType, qos: Qos, arrived: Callable[[Any], None]
    ) -> Any:
        """Call a function with each sample of a topic. Returns what `undeclare` ends.

        It is called in the thread that reads the connection, so that a sender faster than it does
        not fill up the memory.
        """
        key, _ = self.declare_end("MS", self.name.full(topic), of, qos)
        ext, called = self.zenoh.ext, self.zenoh.handlers.Callback(arrived, indirect=False)
        if not qos.lasting:
            return self.session.declare_subscriber(key, called)
        history = ext.HistoryConfig(detect_late_publishers=True, max_samples=qos.depth)
        recovery = ext.RecoveryConfig(periodic_queries=None, heartbeat=True)
        return ext.declare_advanced_subscriber(
            self.session, key, called, history=history, recovery=recovery
        )

    def serve(
        self, service: str, of: ServiceType, answer: Callable[[dict[str, Any]], dict[str, Any]]
    ) -> Service:
        """Answer the requests of a service in a thread of its own."""
        key, _ = self.declare_end("SS", self.name.full(service), of, Qos())
        channel = self.zenoh.handlers.FifoChannel(MOST_REQUESTS)
        return Service(self.session.declare_queryable(key, channel, complete=True), of, answer)


class Service:
    """A thread that answers requests. refused: what were none, which get no answer."""

    def __init__(
        self,
        queryable: Any,
        of: ServiceType,
        answer: Callable[[dict[str, Any]], dict[str, Any]],
    ) -> None:
        self._queryable, self._of, self._answer = queryable, of, answer
        self.refused = 0
        self._thread = Thread(target=self._serve, name=f"spart {of.name}", daemon=True)
        self._thread.start()

    def close(self) -> None:
        self._queryable.undeclare()
        self._thread.join()

    def _serve(self) -> None:
        for query in self._queryable:
            try:
                self._reply(query)
            except Exception:  # whatever a stranger sends must not end the service
                self.refused += 1
            query.drop()

    def _reply(self, query: Any) -> None:
        if query.attachment is None or len(query.payload or b"") > MOST_MESSAGE:
            raise ValueError("no request of rmw_zenoh")
        asked = read_attachment(query.attachment.to_bytes())
        request = decode(query.payload.to_bytes(), self._of.request)
        response = encode(self._answer(request), self._of.response)
        attached = Attachment(asked.sequence, time.time_ns(), asked.gid)
        query.reply(query.key_expr, response, attachment=bytes(attached))


class Publisher:
    """Publishes messages with their attachments."""

    def __init__(self, publisher: Any, gid: bytes) -> None:
        self._publisher, self._gid = publisher, gid

    def put(self, message: bytes, sequence: int) -> None:
        """sequence: number of the message, from 1."""
        attached = Attachment(sequence, time.time_ns(), self._gid)
        self._publisher.put(message, attachment=bytes(attached))

    def close(self) -> None:
        self._publisher.undeclare()


@dataclass(frozen=True)
class RosTopic(Endpoint):
    """A topic with the shape of its messages."""

    parameter: ClassVar[str] = "topic"
    of_frame: ClassVar[str] = "fields"
    topic: str
    shape: MessageShape
    qos: Qos

    def __str__(self) -> str:
        return f"ROS {self.topic}"

    @cached_property
    def frame(self) -> Frame:
        """The message behind its number."""
        fields = tuple(Field(one.name, _TYPES[one.kind], one.count) for one in self.shape.fields)
        return Frame(
            fields,
            sequence=_SEQUENCE,
            background=self.shape.background,
            places=tuple(one.offset for one in self.shape.fields),
            stamps=tuple(offset for _, offset in self.shape.stamps),
        )

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        node: RosNode = end.shared(NODE, lambda: RosNode(end.node))
        far = local_pair(end, kept)
        if end.way == "receive":
            numbers = Numbering()

            def arrived(sample: Any) -> None:
                try:
                    hand_in(far, self._frame_of(sample, numbers))
                except Exception:  # none may reach the thread of Zenoh
                    hand_in(far, _WRONG)

            subscriber = node.subscribe(self.topic, self.shape.of, self.qos, arrived)
            kept.callback(subscriber.undeclare)
            return
        end.stamp_by(node.options.clock)
        publisher = node.publisher(self.topic, self.shape.of, self.qos)
        kept.callback(publisher.close)
        sequence = 0

        def send(frame: bytes) -> None:
            nonlocal sequence
            number = int.from_bytes(frame[:4], "little") + 1  # theirs begin with 1
            sequence += (number - sequence) % 2**32
            with suppress(node.zenoh.ZError):  # the session is closed
                publisher.put(frame[4:], sequence)

        carrier = Carrier(lambda: carry_out(far, send), str(self))
        carrier.start()
        kept.callback(carrier.stop)

    def _frame_of(self, sample: Any, numbers: Numbering) -> bytes:
        """The frame of a received sample. Raises ValueError if it is no message of the topic."""
        if sample.attachment is None or len(sample.payload) > MOST_MESSAGE:
            raise ValueError("no message of rmw_zenoh")
        attached = read_attachment(sample.attachment.to_bytes())
        message = self.shape.canonical(sample.payload.to_bytes())
        return numbers.of(attached).to_bytes(4, "little") + message


class Numbering:
    """Numbers of received messages in one row, by which the loop counts those that are lost, while
    each publisher of a topic has numbers of its own."""

    def __init__(self) -> None:
        self._last: dict[bytes, int] = {}
        self._number = 0

    def of(self, attached: Attachment) -> int:
        """The number of a message, modulo 2**32."""
        last = self._last.pop(attached.gid, None)
        ahead = 1 if last is None else attached.sequence - last
        if not -MOST_AHEAD < ahead < MOST_AHEAD:
            ahead = 1
        if ahead <= 0 and last is not None:  # late or repeated
            self._last[attached.gid] = last
            return (self._number + ahead) % 2**32
        self._number += ahead
        self._last[attached.gid] = attached.sequence
        if len(self._last) > MOST_PUBLISHERS:
            del self._last[next(iter(self._last))]
        return self._number % 2**32


def read_ros(
    topic: Any, message: Any, fields: Any, values: Any, joints: Any, qos: Any, definitions: Any
) -> RosTopic:
    """The endpoint of these parameters. Raises ValueError or InputError if one is invalid."""
    name = read_topic(topic)
    if not isinstance(message, str):
        raise ValueError(f"message is a type such as sensor_msgs/JointState, not {brief(message)}")
    try:
        find: Find = bundled().message
        if definitions is not None:
            find = read_definitions(Path(definitions), message)
        of = find(message)
    except InputError as error:
        found = error.faults[0]
        where = f"{found.place}: " if found.place else ""
        raise InputError(Fault(f"message: {where}{found.message}", hint=found.hint)) from None
    shape = shape_of(of, fields, values, joints)
    size = 4 + len(shape.background)
    if size > MOST_BYTES:
        raise ValueError(
            f"message: one of fixed shape has at most {MOST_BYTES - 4} bytes, this one {size - 4}"
        )
    return RosTopic(name, shape, read_qos(qos))

"""Links to topics of ROS 2 over Zenoh, as the nodes of rmw_zenoh speak."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from contextlib import suppress
from threading import Thread
from typing import Any

from spart_blocks.base.errors import InputError, optional, told, warn
from spart_blocks.ros.cdr import decode, encode
from spart_blocks.ros.definitions import MessageType, ServiceType
from spart_blocks.ros.graph import (
    Attachment,
    Kind,
    NodeName,
    NodeOptions,
    Qos,
    gid_of,
    read_attachment,
)
from spart_blocks.transports.ros_node import MOST_MESSAGE, Answer, Arrived, RosNode

MOST_PUBLISHERS = 64
"""Publishers of a topic whose numbers are remembered."""
MOST_AHEAD = 2**20
"""A number further ahead than this is that of a publisher that has started anew."""
MOST_REQUESTS = 16
"""Requests of a service that wait."""
HEARTBEAT = 0.5
"""Interval in which lasting publishers tell their last number [s]."""


class ZenohNode(RosNode):
    """A session of Zenoh as a node of ROS. name: its identity."""

    serves = True
    name: NodeName

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self.zenoh = optional("zenoh", "eclipse-zenoh", "ros", "a link to ROS")
        self._tokens: list[Any] = []

    def __enter__(self) -> ZenohNode:
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

    def publisher(self, topic: str, of: MessageType, qos: Qos) -> ZenohPublisher:
        key, token = self.declare_end("MP", self.name.full(topic), of, qos)
        publisher = self._advanced_publisher(key, qos)
        write = Attachment.labelled if self.options.labelled else bytes
        return ZenohPublisher(publisher, gid_of(token), write, self.zenoh.ZError)

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

    def subscribe(self, topic: str, of: MessageType, qos: Qos, arrived: Arrived) -> Subscription:
        """`arrived` is called in the thread that reads the connection, so that a sender faster
        than it does not fill up the memory."""
        key, _ = self.declare_end("MS", self.name.full(topic), of, qos)
        numbers = Numbering()

        def take(sample: Any) -> None:
            try:
                if len(sample.payload) > MOST_MESSAGE:
                    raise ValueError("too long")
                number = numbers.of(read_attachment(sample.attachment.to_bytes()))
            except Exception:  # whatever a stranger sends: none may reach the thread of Zenoh
                arrived(0, None)
                return
            arrived(number, sample.payload.to_bytes())

        ext, called = self.zenoh.ext, self.zenoh.handlers.Callback(take, _nothing, indirect=False)
        if not qos.lasting:
            return Subscription(self.session.declare_subscriber(key, called))
        history = ext.HistoryConfig(detect_late_publishers=True, max_samples=qos.depth)
        recovery = ext.RecoveryConfig(periodic_queries=None, heartbeat=True)
        return Subscription(
            ext.declare_advanced_subscriber(
                self.session, key, called, history=history, recovery=recovery
            )
        )

    def serve(self, service: str, of: ServiceType, answer: Answer) -> Service:
        key, _ = self.declare_end("SS", self.name.full(service), of, Qos())
        channel = self.zenoh.handlers.FifoChannel(MOST_REQUESTS)
        return Service(self.session.declare_queryable(key, channel, complete=True), of, answer)


def _nothing() -> None:
    """When a subscription has ended."""


class Service:
    """A thread that answers requests. refused: what were none, which get no answer."""

    def __init__(self, queryable: Any, of: ServiceType, answer: Answer) -> None:
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


class Subscription:
    def __init__(self, subscriber: Any) -> None:
        self._subscriber = subscriber

    def close(self) -> None:
        self._subscriber.undeclare()


class ZenohPublisher:
    """Publishes messages with their attachments."""

    def __init__(
        self,
        publisher: Any,
        gid: bytes,
        write: Callable[[Attachment], bytes],
        closed: type[Exception],
    ) -> None:
        """write: the bytes of an attachment. closed: what is raised where the session is closed."""
        self._publisher, self._gid = publisher, gid
        self._write, self._closed = write, closed

    def put(self, message: bytes, sequence: int) -> None:
        attached = Attachment(sequence, time.time_ns(), self._gid)
        with suppress(self._closed):
            self._publisher.put(message, attachment=self._write(attached))

    def close(self) -> None:
        self._publisher.undeclare()


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

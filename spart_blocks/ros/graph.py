"""Nodes and topics as rmw_zenoh names them in Zenoh: key expressions, tokens, attachments.

A message goes to the key DOMAIN/TOPIC/TYPE/HASH, a request to that of its service. A node and each
of its ends declare a token, by which `ros2 node list` and `ros2 topic list` see them. Each message
has an attachment: its number, the time at which it was sent, and a name of its publisher.
Source: docs/design.md of ros2/rmw_zenoh, and REP 2016.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean, optional
from spart_blocks.ros.definitions import MessageType, ServiceType
from spart_blocks.ros.hashes import type_hash

Kind = Literal["NN", "MP", "MS", "SS", "SC"]
"""Of tokens: node, publisher, subscription, server and client of a service."""
MOST_DOMAIN = 232
GID = 16
"""Bytes of the name of a publisher or client."""
_TOPIC = re.compile(r"(?:/|~/)?[A-Za-z_][A-Za-z0-9_]*(?:/[A-Za-z_][A-Za-z0-9_]*)*")
_NAMESPACE = re.compile(r"/|(?:/[A-Za-z_][A-Za-z0-9_]*)+")
_NODE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_LOCATOR = re.compile(r"(?:tcp|udp|tls|quic|ws|unixsock-stream)/[!-~]+")
_MOST_NAME = 200
_RELIABILITY = {"reliable": 1, "best_effort": 2}
_DURABILITY = {"transient_local": 1, "volatile": 2}
_DEFAULT_DEPTH = 42


@dataclass(frozen=True)
class Qos:
    """Quality of service of a topic. depth: messages kept for the receiver, or for those who join
    later."""

    reliability: str = "reliable"
    durability: str = "volatile"
    depth: int = 10

    @property
    def lasting(self) -> bool:
        """Whether those who join later get the last messages."""
        return self.durability == "transient_local"

    def __str__(self) -> str:
        """As in tokens: what differs from the defaults of rmw_zenoh (reliable, volatile, 42)."""
        reliability = "" if self.reliability == "reliable" else _RELIABILITY[self.reliability]
        durability = "" if self.durability == "volatile" else _DURABILITY[self.durability]
        depth = "" if self.depth == _DEFAULT_DEPTH else self.depth
        return f"{reliability}:{durability}:,{depth}:,:,:,,"


def read_qos(given: Any) -> Qos:
    """The quality of service that a mapping gives. InputError lists all faults."""
    if given is None:
        return Qos()
    if not isinstance(given, Mapping):
        hint = "write qos: {reliability: best_effort, depth: 5}"
        raise InputError(Fault(f"qos is a mapping, not {brief(given)}", hint=hint))
    faults = []
    choices = {"reliability": _RELIABILITY, "durability": _DURABILITY, "depth": {}}
    for key, value in given.items():
        if key not in choices:
            near = did_you_mean(str(key), choices)
            faults.append(Fault(f"qos.{key}: there is no {brief(key)}", hint=near))
        elif key == "depth":
            if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= 10_000:
                faults.append(Fault(f"qos.depth is 1 to 10000, not {brief(value)}"))
        elif value not in choices[key]:
            what = " or ".join(choices[key])
            faults.append(Fault(f"qos.{key} is {what}, not {brief(value)}"))
    if faults:
        raise InputError(faults)
    return Qos(**given)


def read_topic(given: Any, what: str = "topic") -> str:
    """The name of a topic: joint_states, /arm/joint_states or ~/state. Raises ValueError."""
    return _read(given, _TOPIC, f"{what} is a name such as /arm/joint_states")


def read_namespace(given: str) -> str:
    """/ or /lab/arm; ValueError otherwise."""
    return _read(given, _NAMESPACE, "namespace is / or a name such as /lab")


def read_node(given: str) -> str:
    """The name of a node; ValueError otherwise."""
    return _read(given, _NODE, "node is a name of letters, digits and _")


def read_locator(given: str) -> str:
    """An address of Zenoh; ValueError otherwise."""
    return _read(given, _LOCATOR, "an address is written tcp/localhost:7447")


def _read(given: Any, pattern: re.Pattern[str], right: str) -> str:
    """A text that matches a pattern. right: what would be right."""
    if not isinstance(given, str) or len(given) > _MOST_NAME or not pattern.fullmatch(given):
        raise ValueError(f"{right}, not {brief(given)}")
    return given


def node_of(title: str) -> str:
    """A name for the node of a diagram of this name."""
    name = re.sub(r"\W", "_", title, flags=re.ASCII)[:_MOST_NAME]
    return name if _NODE.fullmatch(name) else f"_{name}"


@dataclass(frozen=True)
class NodeOptions:
    """The node of a diagram. domain: ROS_DOMAIN_ID. connect, listen: where the session connects and
    listens, such as tcp/localhost:7447, that of a router; of Zenoh alone. clock: of the stamps,
    "system" or "run", the time since the start, which it then publishes as /clock. carrier: of its
    messages. labelled: whether their attachments over Zenoh have the labels of 2024."""

    name: str = "spart"
    namespace: str = "/"
    domain: int = 0
    connect: tuple[str, ...] = ("tcp/localhost:7447",)
    listen: tuple[str, ...] = ("tcp/localhost:0",)
    clock: Literal["system", "run"] = "system"
    carrier: Literal["zenoh", "dds"] = "zenoh"
    labelled: bool = False


@dataclass(frozen=True)
class NodeName:
    """Identity of a node. domain: ROS_DOMAIN_ID. session: the Zenoh session, in hexadecimal."""

    domain: int
    namespace: str
    name: str
    session: str

    def full(self, topic: str) -> str:
        """The full name of a topic or service, as given to a node."""
        above = "" if self.namespace == "/" else self.namespace
        if topic.startswith("~"):
            return f"{above}/{self.name}{topic[1:]}"
        return topic if topic.startswith("/") else f"{above}/{topic}"

    def key(self, topic: str, of: MessageType | ServiceType) -> str:
        """The key of a topic or service, which is given in full."""
        return f"{self.domain}/{topic.strip('/')}/{of.dds_name}/{type_hash(of)}"

    def token(
        self,
        kind: Kind,
        number: int,
        topic: str = "",
        of: MessageType | ServiceType | None = None,
        qos: Qos | None = None,
    ) -> str:
        """The token of the node, or of an end of it: number counts these from 1, the node has 0."""
        parts = ["@ros2_lv", self.domain, self.session, 0, number, kind, "%"]
        parts += [_mangled(self.namespace), self.name]
        if of is not None:
            parts += [_mangled(topic), of.dds_name, type_hash(of), qos or Qos()]
        return "/".join(map(str, parts))


def _mangled(name: str) -> str:
    return name.replace("/", "%")


def gid_of(token: str) -> bytes:
    """The name of a publisher: the XXH3 hash of its token, of 128 bits. Raises MissingExtraError
    without the package xxhash."""
    xxhash = optional("xxhash", "xxhash", "ros", "a link to ROS")
    number: int = xxhash.xxh3_128_intdigest(token.encode())
    return number.to_bytes(GID, "little")


@dataclass(frozen=True)
class Attachment:
    """What comes with a message. sequence: its number, from 1. time [ns]: of the system's clock,
    when it was sent. gid: of its publisher or client."""

    sequence: int
    time: int
    gid: bytes

    def __bytes__(self) -> bytes:
        """33 bytes: two int64, the length of the gid, the gid."""
        return struct.pack("<qqB", self.sequence, self.time, GID) + self.gid

    def labelled(self) -> bytes:
        """The same with the labels of the rmw_zenoh of 2024."""
        first, second, third = _LABELS
        return struct.pack(_LABELLED, first, self.sequence, second, self.time, third, GID, self.gid)


_LABELS = tuple(
    bytes([len(label)]) + label
    for label in (b"sequence_number", b"source_timestamp", b"source_gid")
)
_LABELLED = "<{}sq{}sq{}sB{}s".format(*map(len, _LABELS), GID)


def read_attachment(data: bytes) -> Attachment:
    """The attachment of these bytes, also with the labels of the rmw_zenoh of 2024. Raises
    ValueError if they are none."""
    if len(data) == 17 + GID:
        sequence, time, size = struct.unpack_from("<qqB", data)
        if size == GID and sequence >= 0:
            return Attachment(sequence, time, data[17:])
    if len(data) == struct.calcsize(_LABELLED):
        one, sequence, two, time, three, size, gid = struct.unpack(_LABELLED, data)
        if (one, two, three, size) == (*_LABELS, GID) and sequence >= 0:
            return Attachment(sequence, time, gid)
    raise ValueError("no attachment of rmw_zenoh")

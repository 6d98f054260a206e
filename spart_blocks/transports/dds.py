"""Links to topics of ROS 2 over DDS, as the nodes of rmw_cyclonedds and rmw_fastrtps speak.

The topic /name is rt/name in DDS, its type package::msg::dds_::Name_, and the user data of each end
tell the hash of the type. On the topic ros_discovery_info a participant tells which ends are those
of its node, by which `ros2 node list` sees it.
Source: the design of topics and names of ROS 2, REP 2016, and rmw_dds_common.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from typing import Any, Literal
from weakref import WeakValueDictionary

from spart_blocks.base.errors import InputError, optional, told
from spart_blocks.ros.cdr import encode
from spart_blocks.ros.definitions import Member, MessageType
from spart_blocks.ros.graph import NodeName, NodeOptions, Qos
from spart_blocks.ros.hashes import DUMMY, type_hash
from spart_blocks.ros.library import bundled
from spart_blocks.transports.carrier import PAUSE, Carrier
from spart_blocks.transports.ros_node import MOST_MESSAGE, Arrived, RosNode

LOOPBACK_ALONE = (
    "<CycloneDDS><Domain><General>"
    '<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>'
    "<AllowMulticast>false</AllowMulticast></General><Discovery>"
    "<ParticipantIndex>auto</ParticipantIndex>"
    "<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>"
    '<Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>'
)
"""The configuration of Cyclone DDS where CYCLONEDDS_URI gives none. Without multicast, processes
find each other by their indices; 32 of them, as with ROS_AUTOMATIC_DISCOVERY_RANGE=LOCALHOST."""
_DOMAINS: WeakValueDictionary[int, Any] = WeakValueDictionary()
"""Configured domains by number, each as long as a node has it: it ends with all that is in it."""
MOST_BOUND = 65535
"""The largest bound of a sequence in Cyclone's Python."""
_DISCOVERY = "ros_discovery_info"
_INFO = "rmw_dds_common/ParticipantEntitiesInfo"
_LASTING = Qos("reliable", "transient_local", 1)
_UNLIMITED = -1
_NAMES = {"bool": bool, "string": str, "byte": "uint8", "char": "uint8"}
"""Types of Cyclone's Python, where they are not called as those of ROS."""


def _load(part: str) -> Any:
    return optional(f"cyclonedds.{part}", "cyclonedds", "dds", "a link to ROS over DDS")


class DdsNode(RosNode):
    """A participant of DDS as a node of ROS.

    It has no services: Cyclone's Python writes bytes of the type that it announces alone, while
    rmw_cyclonedds announces a request without the header that it writes before it.
    """

    serves = False

    def __init__(self, options: NodeOptions) -> None:
        super().__init__(options)
        self._core, self._domains, self._qos = _load("core"), _load("domain"), _load("qos")
        self._pub, self._sub, self._topic = _load("pub"), _load("sub"), _load("topic")
        self._domain: Any = None
        self._participant: Any = None
        self._ends: dict[bytes, Literal["reader", "writer"]] = {}

    def __enter__(self) -> DdsNode:
        of = self.options
        try:
            if not os.environ.get("CYCLONEDDS_URI"):
                self._domain = self._loopback(of.domain)
            enclave = self._qos.Qos(self._qos.Policy.Userdata(b"enclave=/;"))
            self._participant = self._domains.DomainParticipant(of.domain, enclave)
            self._discovery = self._writer(_DISCOVERY, bundled().message(_INFO), _LASTING)
        except self._core.DDSException as error:
            hint = "; see CYCLONEDDS_URI" if self._domain is None else ""
            raise InputError(f"no participant of DDS: {told(error)}{hint}") from None
        self._gid = self._participant.guid.bytes
        self.name = NodeName(of.domain, of.namespace, of.name, self._gid.hex())
        self._tell()
        return self

    def __exit__(self, *_: object) -> None:
        self._discovery = self._participant = self._domain = None  # entities end with their objects

    def _loopback(self, domain: int) -> Any:
        """The domain on the loopback interface, which the nodes of this process share; None if
        others of the process have configured it."""
        found = _DOMAINS.get(domain)
        if found is None:
            try:
                found = _DOMAINS[domain] = self._domains.Domain(domain, LOOPBACK_ALONE)
            except self._core.DDSException as error:
                if error.code != self._core.DDSException.DDS_RETCODE_PRECONDITION_NOT_MET:
                    raise
        return found

    def publisher(self, topic: str, of: MessageType, qos: Qos) -> DdsPublisher:
        writer = self._writer(f"rt{self.name.full(topic)}", of, qos)
        forget = self._add(writer, "writer")
        return DdsPublisher(writer, struct_of(of), self._core.DDSException, forget)

    def subscribe(self, topic: str, of: MessageType, qos: Qos, arrived: Arrived) -> Subscription:
        """`arrived` is called in a thread of the subscription. What that does not keep up with,
        Cyclone drops but for the newest messages, as many as the depth of the quality says."""
        made = self._topic.Topic(self._participant, f"rt{self.name.full(topic)}", struct_of(of))
        reader = self._sub.DataReader(self._participant, made, self._policies(of, qos))
        waiting = self._core.WaitSet(self._participant)
        states = self._core.SampleState, self._core.ViewState, self._core.InstanceState
        any_state = states[0].Any | states[1].Any | states[2].Any
        waiting.attach(self._core.ReadCondition(reader, any_state))
        return Subscription(reader, waiting, qos.depth, arrived, self._add(reader, "reader"))

    def _writer(self, topic: str, of: MessageType, qos: Qos) -> Any:
        made = self._topic.Topic(self._participant, topic, struct_of(of))
        return self._pub.DataWriter(self._participant, made, self._policies(of, qos))

    def _policies(self, of: MessageType, qos: Qos) -> Any:
        policy = self._qos.Policy
        history = policy.History.KeepLast(qos.depth)
        reliable = qos.reliability == "reliable"
        limits = (_UNLIMITED,) * 3
        return self._qos.Qos(
            # A writer drops what it has no room for: it must not wait for a reader.
            policy.Reliability.Reliable(0) if reliable else policy.Reliability.BestEffort,
            policy.Durability.TransientLocal if qos.lasting else policy.Durability.Volatile,
            history,
            policy.DurabilityService(0, history, *limits),  # what those get who join later
            policy.DataRepresentation(use_cdrv0_representation=True),
            policy.WriterDataLifecycle(autodispose=False),
            policy.Userdata(f"typehash={type_hash(of)};".encode()),
        )

    # --- what ros2 node list sees ---------------------------------------------------------

    def _add(self, end: Any, kind: Literal["reader", "writer"]) -> Callable[[], None]:
        """Tell of an end of the node. Returns what tells that it is no longer there."""
        gid = end.guid.bytes
        self._ends[gid] = kind
        self._tell()

        def forget() -> None:
            self._ends.pop(gid)
            self._tell()

        return forget

    def _tell(self) -> None:
        """Publish which ends are there."""
        own = {
            f"{kind}_gid_seq": [{"data": gid} for gid, its in self._ends.items() if its == kind]
            for kind in ("reader", "writer")
        }
        node = {"node_namespace": self.name.namespace, "node_name": self.name.name, **own}
        of = bundled().message(_INFO)
        info = {"gid": {"data": self._gid}, "node_entities_info_seq": [node]}
        self._discovery.write(struct_of(of)(encode(info, of)))


class DdsPublisher:
    """Publishes messages. DDS numbers them itself."""

    def __init__(
        self, writer: Any, struct: Any, failure: type[Exception], forget: Callable[[], None]
    ) -> None:
        """failure: what a write may raise, if there is no room. forget: is called at the end."""
        self._writer, self._struct, self._failure, self._forget = writer, struct, failure, forget

    def put(self, message: bytes, sequence: int) -> None:
        with suppress(self._failure):
            self._writer.write(self._struct(message))

    def close(self) -> None:
        self._writer = None
        self._forget()


class Subscription:
    """A thread that takes messages from a reader."""

    def __init__(
        self, reader: Any, waiting: Any, depth: int, arrived: Arrived, forget: Callable[[], None]
    ) -> None:
        """waiting: a set that triggers when there is something to read. depth: most messages that
        wait. forget: is called at the end."""
        self._reader, self._waiting, self._depth = reader, waiting, depth
        self._arrived, self._forget = arrived, forget
        self._taken = 0
        self._carrier = Carrier(self._carry, f"DDS {reader.topic.name}")
        self._carrier.start()

    def close(self) -> None:
        self._carrier.stop()
        self._reader = self._waiting = None
        self._forget()

    def _carry(self) -> None:
        if self._waiting.wait(round(PAUSE * 1e9)) == 0:
            return
        samples = self._reader.take(self._depth)
        lost = self._reader.get_sample_lost_status().total_count
        for sample in samples:
            if not sample.sample_info.valid_data:  # tells that a publisher has left
                continue
            self._taken += 1
            message = sample.message
            number = (self._taken + lost) % 2**32
            self._arrived(number, message if len(message) <= MOST_MESSAGE else None)


# --- types --------------------------------------------------------------------------------------


@cache
def struct_of(of: MessageType) -> Any:
    """The class of Cyclone's Python for a message, whose objects are its bytes: `struct(message)`,
    and `message` of one that has been read.

    Cyclone knows the type by its fields and compares with it what is written and what comes; the
    class itself does not read them.
    """
    struct = _struct(of)

    def begin(self: Any, message: bytes) -> None:
        self.message = message

    struct.__init__ = begin
    struct.serialize = lambda self, **_: self.message
    struct.deserialize = struct.deserialize_key = classmethod(lambda cls, data, **_: cls(data))
    return struct


@cache
def _struct(of: MessageType) -> Any:
    fields = {member.name: _field(member) for member in of.members or (DUMMY,)}
    name = of.name.rpartition("/")[2]
    return _load("idl").make_idl_struct(f"{name}_", of.dds_name, fields, dataclassify=False)


def _field(member: Member) -> Any:
    types = _load("idl.types")
    if isinstance(member.kind, MessageType):
        one = _struct(member.kind)
    elif member.longest:
        one = types.bounded_str[member.longest]
    else:
        known = _NAMES.get(member.kind, member.kind)
        one = getattr(types, known) if isinstance(known, str) else known
    if member.array == "array":
        return types.array[one, member.count]
    if member.array == "sequence":
        bounded = 0 < member.count <= MOST_BOUND
        return types.sequence[one, member.count] if bounded else types.sequence[one]
    return one

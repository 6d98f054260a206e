"""A node of ROS that is not ours: Cyclone DDS alone, with types written by hand, in a process of
its own, since participants of one process do not use the network.

As a program it is told what to do by lines of JSON and answers each by a line. In a test, `DdsPeer`
is that process: `call("hear", ...)` calls a method of `_Served`.
"""

import json
import os
import socket
import struct
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cyclonedds.builtin import (
    BuiltinDataReader,
    BuiltinTopicDcpsPublication,
    BuiltinTopicDcpsSubscription,
)
from cyclonedds.domain import DomainParticipant
from cyclonedds.idl import IdlStruct
from cyclonedds.idl.types import array, bounded_str, float64, int32, sequence, uint8, uint32
from cyclonedds.pub import DataWriter
from cyclonedds.qos import Policy, Qos
from cyclonedds.sub import DataReader
from cyclonedds.topic import Topic

LOOPBACK = """<CycloneDDS><Domain><General>
<Interfaces><NetworkInterface address="127.0.0.1"/></Interfaces>
<AllowMulticast>false</AllowMulticast></General>
<Discovery><ParticipantIndex>auto</ParticipantIndex>
<MaxAutoParticipantIndex>32</MaxAutoParticipantIndex>
<Peers><Peer address="localhost"/></Peers></Discovery></Domain></CycloneDDS>"""
LONGEST = 60.0
"""How long it waits for what must come [s]."""


@dataclass
class Time(IdlStruct, typename="builtin_interfaces::msg::dds_::Time_"):
    sec: int32 = 0
    nanosec: uint32 = 0


@dataclass
class Header(IdlStruct, typename="std_msgs::msg::dds_::Header_"):
    stamp: Time
    frame_id: str


@dataclass
class JointState(IdlStruct, typename="sensor_msgs::msg::dds_::JointState_"):
    header: Header
    name: sequence[str]
    position: sequence[float64]
    velocity: sequence[float64]
    effort: sequence[float64]


@dataclass
class Dimension(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayDimension_"):
    label: str
    size: uint32
    stride: uint32


@dataclass
class Layout(IdlStruct, typename="std_msgs::msg::dds_::MultiArrayLayout_"):
    dim: sequence[Dimension]
    data_offset: uint32


@dataclass
class Array(IdlStruct, typename="std_msgs::msg::dds_::Float64MultiArray_"):
    layout: Layout
    data: sequence[float64]


@dataclass
class Clock(IdlStruct, typename="rosgraph_msgs::msg::dds_::Clock_"):
    clock: Time


@dataclass
class Gid(IdlStruct, typename="rmw_dds_common::msg::dds_::Gid_"):
    data: array[uint8, 16]


@dataclass
class Node(IdlStruct, typename="rmw_dds_common::msg::dds_::NodeEntitiesInfo_"):
    node_namespace: bounded_str[256]
    node_name: bounded_str[256]
    reader_gid_seq: sequence[Gid]
    writer_gid_seq: sequence[Gid]


@dataclass
class Info(IdlStruct, typename="rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_"):
    gid: Gid
    node_entities_info_seq: sequence[Node]


TYPES = {one.__name__: one for one in (JointState, Array, Clock, Info)}


def quality(*, reliable=True, lasting=False, depth=100):
    history = Policy.History.KeepLast(depth)
    return Qos(
        Policy.Reliability.Reliable(10**8) if reliable else Policy.Reliability.BestEffort,
        Policy.Durability.TransientLocal if lasting else Policy.Durability.Volatile,
        history, Policy.DurabilityService(0, history, -1, -1, -1),
    )  # fmt: skip


class _Served:
    """What the peer can do; arguments and results are those of JSON."""

    def __init__(self, domain):
        self.domain, self.participant = domain, DomainParticipant(domain)
        self.readers, self.writers, self.heard = {}, {}, {}

    def hear(self, topic, kind, **options):
        made = Topic(self.participant, topic, TYPES[kind])
        self.readers[topic] = DataReader(self.participant, made, quality(**options))
        self.heard[topic] = []

    def messages(self, topic, count):
        """The first messages, when so many have come."""
        found, end = self.heard[topic], time.monotonic() + LONGEST
        while True:
            found += [one for one in self.readers[topic].take(100) if one.sample_info.valid_data]
            if len(found) >= count or time.monotonic() > end:
                return [_plain(one) for one in found]
            time.sleep(0.002)

    def writer(self, topic, kind, **options):
        """Make a writer, and wait until a reader has found it."""
        made = Topic(self.participant, topic, TYPES[kind])
        self.writers[topic] = DataWriter(self.participant, made, quality(**options))
        end = time.monotonic() + LONGEST
        while not self.writers[topic].get_matched_subscriptions() and time.monotonic() < end:
            time.sleep(0.002)

    def send_joints(self, topic, name, position, frame="elsewhere"):
        header = Header(Time(12, 500_000_000), frame)
        self.writers[topic].write(JointState(header, name, position, [], []))

    def send_bytes(self, topic, text):
        """A message whose bytes are these, in hexadecimal."""
        one = JointState(None, [], [], [], [])
        one.serialize = lambda **_: bytes.fromhex(text)
        self.writers[topic].write(one)

    def send_packet(self, topic, number, text):
        """A packet of RTPS in the writer's name, whose payload Cyclone has not checked: DATA with
        this number (RTPS 2.2, 8.3.7.2 and 9.4.5.3), to all participants that may be here."""
        guid = self.writers[topic].guid.bytes
        content = struct.pack("<HH4x4siI", 0, 16, guid[12:], 0, number) + bytes.fromhex(text)
        data = struct.pack("<BBH", 0x15, 0x05, len(content)) + content
        packet = b"RTPS\2\1\1\x10" + guid[:12] + data
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            for index in range(33):
                port = 7400 + 250 * self.domain + 11 + 2 * index
                sender.sendto(packet, ("127.0.0.1", port))

    def ends(self, topic, kind):
        """The ends of a topic elsewhere: their gids, types, user data and qualities."""
        of = {"reader": BuiltinTopicDcpsSubscription, "writer": BuiltinTopicDcpsPublication}
        found, end = [], time.monotonic() + LONGEST
        reader = BuiltinDataReader(self.participant, of[kind])
        while not found and time.monotonic() < end:
            found = [one for one in reader.read(100) if one.topic_name == topic
                     and one.participant_key != self.participant.guid]  # fmt: skip
            time.sleep(0.002)
        return [
            {"gid": one.key.bytes.hex(), "type": one.type_name,
             "data": bytes(one.qos[Policy.Userdata].data).decode(),
             "reliability": type(one.qos[Policy.Reliability]).__name__,
             "durability": repr(one.qos[Policy.Durability])}
            for one in found
        ]  # fmt: skip


def _plain(one):
    if isinstance(one, IdlStruct):
        return {name: _plain(getattr(one, name)) for name in one.__dataclass_fields__}
    if isinstance(one, str | int | float):
        return one
    return [_plain(part) for part in one]


class DdsPeer:
    """The process. Its methods are called by `call`."""

    def __init__(self, domain):
        self.process = subprocess.Popen(
            [sys.executable, Path(__file__), str(domain)], stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, text=True, env={**os.environ, "CYCLONEDDS_URI": LOOPBACK},
        )  # fmt: skip

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.wait(LONGEST)
        self.process.stdout.close()

    def call(self, name, *given, **options):
        self.process.stdin.write(json.dumps([name, given, options]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())


if __name__ == "__main__":
    served = _Served(int(sys.argv[1]))
    for line in sys.stdin:
        method, args, kwargs = json.loads(line)
        print(json.dumps(getattr(served, method)(*args, **kwargs)), flush=True)

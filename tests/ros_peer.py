"""A node of ROS that is not ours: written from the documents of rmw_zenoh (docs/design.md) and with
the messages of rosbags, on Zenoh alone.
"""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from functools import cache

import zenoh
from free_ports import free_port
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

LONGEST = 60.0
"""How long it waits for what must come [s]."""
GID = bytes(range(16))


@cache
def store():
    found = get_typestore(Stores.ROS2_JAZZY)
    services = {
        "std_srvs/srv/Trigger_Request": "uint8 structure_needs_at_least_one_member",
        "std_srvs/srv/Trigger_Response": "bool success\nstring message",
        "rcl_interfaces/srv/SetParameters_Request": "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/srv/SetParameters_Response":
            "rcl_interfaces/SetParametersResult[] results",
        "rcl_interfaces/srv/GetParameters_Request": "string[] names",
        "rcl_interfaces/srv/GetParameters_Response": "rcl_interfaces/ParameterValue[] values",
        "rcl_interfaces/srv/ListParameters_Request": "string[] prefixes\nuint64 depth",
        "rcl_interfaces/srv/ListParameters_Response":
            "rcl_interfaces/ListParametersResult result",
        "rcl_interfaces/srv/DescribeParameters_Request": "string[] names",
        "rcl_interfaces/srv/DescribeParameters_Response":
            "rcl_interfaces/ParameterDescriptor[] descriptors",
        "rcl_interfaces/srv/GetParameterTypes_Request": "string[] names",
        "rcl_interfaces/srv/GetParameterTypes_Response": "uint8[] types",
        "rcl_interfaces/srv/SetParametersAtomically_Request":
            "rcl_interfaces/Parameter[] parameters",
        "rcl_interfaces/srv/SetParametersAtomically_Response":
            "rcl_interfaces/SetParametersResult result",
    }  # fmt: skip
    types = {}
    for name, text in services.items():
        (made,) = get_types_from_msg(text, name.replace("/srv/", "/msg/")).values()
        types[name] = made
    found.register(types)
    return found


@dataclass(frozen=True)
class Token:
    """The parts of a token @ros2_lv/...; topic, type, hash and qos are '' for a node."""

    domain: str
    session: str
    node: str
    end: str
    kind: str
    enclave: str
    namespace: str
    name: str
    topic: str = ""
    type: str = ""
    hash: str = ""
    qos: str = ""


def dds(name):
    package, kind, short = name.split("/")
    return f"{package}::{kind}::dds_::{short}_"


class Peer:
    """Listens at `address`, as a router does."""

    def __init__(self, domain=0):
        self.domain, self.address = domain, f"tcp/127.0.0.1:{free_port()}"
        config = zenoh.Config()
        for path, value in {"mode": "peer", "listen/endpoints": [self.address],
                            "scouting/multicast/enabled": False,
                            "timestamping/enabled": True}.items():  # fmt: skip
            config.insert_json5(path, json.dumps(value))
        self.session = zenoh.open(config)
        self.sent = 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.session.close()

    def tokens(self):
        """Those of all nodes and ends that are there."""
        replies = self.session.liveliness().get(f"@ros2_lv/{self.domain}/**")
        return [Token(*str(reply.ok.key_expr).split("/")[1:]) for reply in replies]

    def token(self, kind, topic=""):
        """The one of this kind, and this topic as in tokens, when it is there."""
        end = time.monotonic() + LONGEST
        while time.monotonic() < end:
            found = [one for one in self.tokens() if (one.kind, one.topic) == (kind, topic)]
            if found:
                return found[0]
            time.sleep(0.02)
        raise AssertionError(f"no token {kind} {topic}")

    def key(self, topic, name):
        return f"{self.domain}/{topic}/{dds(name)}/{store().hash_rihs01(name)}"

    def attachment(self, number=None, *, labelled=False, gid=GID):
        self.sent += 1
        parts = (zenoh.ext.Int64(self.sent if number is None else number),
                 zenoh.ext.Int64(time.time_ns()), gid)  # fmt: skip
        if labelled:
            names = ("sequence_number", "source_timestamp", "source_gid")
            parts = tuple(one for pair in zip(names, parts, strict=True) for one in pair)
        return zenoh.ext.z_serialize(parts)

    def send(self, topic, name, message, **options):
        """Publish a message of rosbags once."""
        self.send_bytes(topic, name, bytes(store().serialize_cdr(message, name)), **options)

    def send_bytes(self, topic, name, data, **options):
        self.session.put(self.key(topic, name), data, attachment=self.attachment(**options))

    def hear(self, topic, name):
        """Subscribe; returns what then has all samples that have come."""
        return Heard(self.session, self.key(topic, name), name)

    def hear_lasting(self, topic, name):
        """As one that joined late, and asks for what was sent before."""
        history = zenoh.ext.HistoryConfig(detect_late_publishers=True, max_samples=10)

        def subscribe(key, arrived):
            return zenoh.ext.declare_advanced_subscriber(self.session, key, arrived,
                                                         history=history)  # fmt: skip

        return Heard(self.session, self.key(topic, name), name, subscribe)

    def call(self, name, of, known_hash, **fields):
        """Call a service; returns its response as a message of rosbags, and its attachment."""
        request = store().types[f"{of}_Request"](**fields)
        data = bytes(store().serialize_cdr(request, f"{of}_Request"))
        reply = self.call_bytes(name, of, known_hash, data)
        response = store().deserialize_cdr(reply.ok.payload.to_bytes(), f"{of}_Response")
        return response, reply.ok.attachment.to_bytes()

    def call_bytes(self, name, of, known_hash, data, attachment=None):
        key = f"{self.domain}/{name}/{dds(of)}/RIHS01_{known_hash}"
        (reply,) = self.session.get(
            key, payload=data, attachment=attachment or self.attachment(),
            target=zenoh.QueryTarget.ALL_COMPLETE, consolidation=zenoh.ConsolidationMode.NONE,
            timeout=LONGEST,
        )  # fmt: skip
        return reply


class Heard:
    def __init__(self, session, key, name, subscribe=None):
        self.name, self.samples = name, []
        self._subscriber = (subscribe or session.declare_subscriber)(key, self.samples.append)

    def wait(self, count=1):
        """The first messages, when so many have come, and the (number, time [ns], gid) of each."""
        end = time.monotonic() + LONGEST
        while len(self.samples) < count:
            assert time.monotonic() < end, "it never came"
            time.sleep(0.002)
        types = tuple[zenoh.ext.Int64, zenoh.ext.Int64, bytes]
        return [
            (store().deserialize_cdr(one.payload.to_bytes(), self.name),
             zenoh.ext.z_deserialize(types, one.attachment))
            for one in self.samples[:count]
        ]  # fmt: skip

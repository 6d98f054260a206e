"""Links to ROS over DDS: a peer that is not ours reads what they send, and is read."""

from __future__ import annotations

import os
import struct
import sys
import time

import numpy as np
import pytest
from link_transports import until

import spart_blocks as sb
from spart_blocks.base.errors import InputError, MissingExtraError
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime import Session, prepare
from spart_blocks.realtime.links import open_links
from spart_blocks.ros.cdr import encode
from spart_blocks.ros.hashes import type_hash
from spart_blocks.ros.library import bundled
from spart_blocks.transports.dds import struct_of

pytest.importorskip("cyclonedds")  # it has no wheels for some machines
from dds_peer import DdsPeer

NAMESPACE = f"/test_{os.getpid()}"  # others on this machine may have the same domain
DOMAIN = 50 + os.getpid() % 50
DIAGRAM = f"""
name: my arm
blocks:
  sensors:
    type: ROS_IN
    topic: joint_states
    message: sensor_msgs/JointState
    joints: [a, b]
    fields: {{q: position}}
    values: {{header: {{frame_id: base}}}}
  actuators:
    type: ROS_OUT
    topic: effort
    message: std_msgs/Float64MultiArray
    fields: {{u: "data[2]"}}
    safe: 0
  plant: {{type: INTEGRATOR, x0: [1, 2]}}
  ctrl: {{type: GAIN, K: -2}}
wires: [plant -> sensors.q, sensors.q -> ctrl, ctrl -> actuators.u, actuators.u -> plant]
export: {{rate: 200}}
realtime: {{wait: false, ros: {{carrier: dds, namespace: {NAMESPACE}, domain: {DOMAIN}}}}}
"""
STATES, EFFORT = f"rt{NAMESPACE}/joint_states", f"rt{NAMESPACE}/effort"


@pytest.fixture(scope="module")
def process():
    with DdsPeer(DOMAIN) as one:
        yield one


@pytest.fixture
def peer(process):
    return process.call


@pytest.fixture
def opened(tmp_path, monkeypatch):
    """opened(part, **replaced): the open links of the part."""
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    kept = []

    def make(part, **replaced):
        diagram = sb.load(write(tmp_path, **replaced))
        kept.append(open_links(diagram, subdiagram_of(diagram, [part])))
        return kept[-1]

    yield make
    for links in kept:
        links.close()


def write(folder, **replaced):
    text = DIAGRAM
    for old, new in replaced.items():
        assert old in text
        text = text.replace(old, new)
    path = folder / "arm.yaml"
    path.write_text(text)
    return path


def _sent(sender, values):
    sender.send(time.monotonic(), np.array(values, float))


def _connect(peer, receiver, u):
    """Send until the loop hears, which a writer does not know of its reader. Returns how many
    messages have been sent; the last has been received."""
    peer("writer", STATES, "JointState")
    sent = 0

    def heard():
        nonlocal sent
        sent += 1
        peer("send_joints", STATES, ["a", "b"], [sent, 0])
        return receiver.receive(time.monotonic(), u)

    until(heard)
    until(lambda: u[0] == sent or (receiver.receive(time.monotonic(), u) and u[0] == sent))
    return sent


def test_a_peer_reads_what_a_loop_sends(peer, opened):
    (sender,) = opened("plant").senders
    peer("hear", STATES, "JointState")
    until(lambda: _sent(sender, [0.5, -1.0]) or peer("messages", STATES, 0))
    message = peer("messages", STATES, 1)[0]
    assert message["name"] == ["a", "b"]
    assert message["position"] == [0.5, -1.0]
    assert message["velocity"] == message["effort"] == []
    assert message["header"]["frame_id"] == "base"
    assert abs(message["header"]["stamp"]["sec"] - time.time()) < 60


def test_a_loop_reads_what_a_peer_sends_by_joint_names(peer, opened):
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    _connect(peer, receiver, u)
    before = receiver.counts()["received"]
    peer("send_joints", STATES, ["b", "x", "a"], [-2.0, 9.0, -1.0])
    until(lambda: receiver.receive(time.monotonic(), u))
    assert u.tolist() == [-1.0, -2.0]
    assert receiver.struct.sender_time == 12.5
    counts = receiver.counts()
    assert (counts["received"], counts["lost"], counts["malformed"]) == (before + 1, 0, 0)


def test_a_peer_sees_the_node_and_its_ends(peer, opened):
    opened("ctrl")
    (heard,), (sent,) = peer("ends", STATES, "reader"), peer("ends", EFFORT, "writer")
    assert heard["type"] == "sensor_msgs::msg::dds_::JointState_"
    hashed = type_hash(bundled().message("sensor_msgs/JointState"))
    assert heard["data"] == f"typehash={hashed};"
    assert "Reliable" in heard["reliability"]
    assert "Volatile" in sent["durability"]
    peer("hear", "ros_discovery_info", "Info", lasting=True)
    own = [bytes.fromhex(one["gid"]) for one in (heard, sent)]

    def node():
        told = peer("messages", "ros_discovery_info", 1)
        nodes = [one for info in told for one in info["node_entities_info_seq"]]
        return [
            one for one in nodes
            if [bytes(gid["data"]) for gid in one["reader_gid_seq"]] == own[:1]
            and [bytes(gid["data"]) for gid in one["writer_gid_seq"]] == own[1:]
        ]  # fmt: skip

    until(node)
    (found,) = node()
    assert (found["node_namespace"], found["node_name"]) == (NAMESPACE, "my_arm")


def test_those_who_join_later_hear_a_lasting_topic(peer, opened):
    lasting = "message: sensor_msgs/JointState\n    qos: {durability: transient_local, depth: 2}"
    (sender,) = opened("plant", **{"message: sensor_msgs/JointState": lasting}).senders
    for k in range(4):
        _sent(sender, [k, k])
    time.sleep(0.3)  # until the carrier has published them: a peer that joins must not hear them
    peer("hear", STATES, "JointState", lasting=True)
    found = peer("messages", STATES, 2)
    assert [message["position"][0] for message in found] == [2.0, 3.0]


def test_a_loop_that_joins_later_hears_a_lasting_topic(peer, opened):
    with DdsPeer(DOMAIN) as helper:
        helper.call("hear", STATES, "JointState", lasting=True)
        peer("writer", STATES, "JointState", lasting=True)
        peer("send_joints", STATES, ["a", "b"], [5.0, 6.0])
    lasting = "message: sensor_msgs/JointState\n    qos: {durability: transient_local, depth: 1}"
    (receiver,) = opened("ctrl", **{"message: sensor_msgs/JointState": lasting}).receivers
    u = np.zeros(2)
    until(lambda: receiver.receive(time.monotonic(), u))
    assert u.tolist() == [5.0, 6.0]


@pytest.mark.parametrize(
    ("names", "positions"),
    [(["a"], [1.0]), (["a", "b"], []), (["a", "b"], [1.0, np.nan]), (["a", "b"], [np.inf, 1.0])],
)
def test_joints_without_finite_numbers_are_dropped_and_counted(peer, opened, names, positions):
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    _connect(peer, receiver, u)
    before, kept = receiver.counts()["received"], u.tolist()
    peer("send_joints", STATES, names, positions)
    until(lambda: receiver.receive(time.monotonic(), u) or receiver.counts()["malformed"])
    assert u.tolist() == kept
    assert receiver.counts()["received"] == before
    peer("send_joints", STATES, ["a", "b"], [-1.0, -2.0])
    until(lambda: receiver.receive(time.monotonic(), u))
    assert u.tolist() == [-1.0, -2.0]


def test_what_cyclone_takes_and_is_no_message_is_dropped_and_counted(peer, opened):
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    _connect(peer, receiver, u)
    before = receiver.counts()["received"]
    of = bundled().message("sensor_msgs/JointState")
    known = encode({"name": ["a", "b"], "position": [-1, -2]}, of)
    # In XCDR 2: a stamp, an empty text, the size of the list of names, and four empty lists.
    no_text = encode({"header": {"frame_id": "xy"}}, of).replace(b"xy", b"\xff\xff")
    other = b"\0\7\0\0" + struct.pack("<iIIxxxxIIIII", 1, 2, 1, 4, 0, 0, 0, 0)
    for count, data in enumerate([other, no_text, encode({"effort": np.zeros(2**17)}, of)], 1):
        peer("send_bytes", STATES, data.hex())
        until(lambda c=count: receiver.receive(time.monotonic(), u)
              or receiver.counts()["malformed"] == c)  # fmt: skip
    assert receiver.counts()["received"] == before
    peer("send_bytes", STATES, known.hex())
    until(lambda: receiver.receive(time.monotonic(), u))
    assert u.tolist() == [-1.0, -2.0]


# The lengths of the text and of the list of names, beyond the data; a text that does not end.
CUT = {
    "no payload": b"",
    "header alone": b"\0\1\0\0",
    "cut": b"\0\1\0\0" + bytes(6),
    "huge text": b"\0\1\0\0" + bytes(8) + b"\xff" * 32,
    "huge list": b"\0\1\0\0" + bytes(8) + struct.pack("<I4xI", 1, 2**31) + bytes(8),
    "endless text": b"\0\1\0\0" + bytes(8) + struct.pack("<I4s", 4, b"abcd") + bytes(16),
}


@pytest.mark.parametrize("data", CUT.values(), ids=CUT)
def test_bytes_that_are_no_message_are_dropped(peer, opened, data):
    """By Cyclone, before the loop hears of them."""
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    sent = _connect(peer, receiver, u)
    before = receiver.counts()["received"]
    peer("send_packet", STATES, sent + 1, data.hex())
    for numbers in ([-3.0, -4.0], [-5.0, -6.0]):
        peer("send_joints", STATES, ["a", "b"], numbers)
    until(lambda: receiver.receive(time.monotonic(), u) and u[0] == -5.0)
    # The packet has taken the number of the message behind it, which now counts as repeated.
    assert receiver.counts()["received"] - before == (1 if data else 2)
    assert receiver.counts()["malformed"] == 0


def test_a_running_loop_and_a_peer_exchange_messages(peer, tmp_path, monkeypatch):
    """And its clock goes over DDS, too."""
    monkeypatch.delenv("CYCLONEDDS_URI", raising=False)
    path = write(tmp_path, **{"ros: {": "ros: {clock: run, "})
    peer("hear", "rt/clock", "Clock", reliable=False)
    with Session(prepare(path, part=["ctrl"])) as session:
        peer("writer", STATES, "JointState")
        peer("hear", EFFORT, "Array")

        def answered():
            peer("send_joints", STATES, ["a", "b"], [1.0, -3.0])
            return [one for one in peer("messages", EFFORT, 0) if one["data"] == [-2.0, 6.0]]

        until(answered)
        assert len(peer("messages", "rt/clock", 3)) >= 3
        assert session.links.counts()["sensors"]["malformed"] == 0


def test_nodes_of_one_process_hear_each_other_and_end_alone(opened):
    plant, ctrl = opened("plant"), opened("ctrl")
    u, (receiver,) = np.zeros(2), ctrl.receivers
    until(lambda: _sent(plant.senders[0], [3, 4]) or receiver.receive(time.monotonic(), u))
    assert u.tolist() == [3.0, 4.0]
    plant.close()
    (sender,) = opened("plant").senders
    until(lambda: _sent(sender, [5, 6])
          or (receiver.receive(time.monotonic(), u) and u[0] == 5.0))  # fmt: skip
    assert receiver.counts()["lost"] == 0


def test_every_bundled_message_is_a_struct_of_cyclone():
    for name in bundled().names():
        of = bundled().message(name)
        made, message = struct_of(of), encode({}, of)
        assert made.deserialize(made(message).serialize()).message == message
        made.__idl__.fill_type_data()
        assert made.__idl__.idl_transformed_typename == of.dds_name


def test_that_cyclone_is_missing_is_told_with_its_extra(opened, monkeypatch):
    for name in [name for name in sys.modules if name.startswith("cyclonedds")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "cyclonedds", None)
    with pytest.raises(MissingExtraError, match=r"cyclonedds, which is not installed\n.*\[dds\]"):
        opened("ctrl")


def test_a_configuration_that_is_wrong_is_told_with_its_variable(opened, monkeypatch):
    monkeypatch.setenv("CYCLONEDDS_URI", "<CycloneDDS><Nonsense/></CycloneDDS>")
    with pytest.raises(InputError, match=r"arm\.yaml:6:.* no participant of DDS.*CYCLONEDDS_URI"):
        opened("ctrl")


def test_addresses_of_zenoh_are_refused_with_their_place(tmp_path):
    path = write(tmp_path, **{"ros: {": "ros: {connect: [tcp/10.0.0.1:7447], "})
    with pytest.raises(
        InputError, match=r"arm\.yaml:21:.*connect, listen and attachments are of Zenoh"
    ):
        sb.load(path)

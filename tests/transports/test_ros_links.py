"""Links to ROS: a peer that is not ours reads what they send, and is read."""

from __future__ import annotations

import struct
import time

import numpy as np
import pytest
import zenoh
from link_transports import until
from ros_peer import Peer, store

import spart_blocks as sb
from spart_blocks.base.errors import InputError, SpartWarning
from spart_blocks.program.subdiagram import subdiagram_of
from spart_blocks.realtime.links import open_links
from spart_blocks.ros.cdr import decode
from spart_blocks.ros.graph import GID, Attachment, read_attachment
from spart_blocks.transports.ros_node import MOST_MESSAGE
from spart_blocks.transports.zenoh import MOST_AHEAD, Numbering

DIAGRAM = """
name: my arm
blocks:
  sensors:
    type: ROS_IN
    topic: joint_states
    message: sensor_msgs/JointState
    joints: [a, b]
    fields: {q: position}
    values: {header: {frame_id: base}}
  actuators:
    type: ROS_OUT
    topic: /effort
    message: std_msgs/Float64MultiArray
    fields: {u: "data[2]"}
    safe: 0
  plant: {type: INTEGRATOR, x0: [1, 2]}
  ctrl: {type: GAIN, K: -2}
wires: [plant -> sensors.q, sensors.q -> ctrl, ctrl -> actuators.u, actuators.u -> plant]
run: {T: 1, log: [plant]}
"""
JOINTS, ARRAY = "sensor_msgs/msg/JointState", "std_msgs/msg/Float64MultiArray"


@pytest.fixture
def peer():
    with Peer() as one:
        yield one


@pytest.fixture
def opened(peer, tmp_path):
    """opened(part, ros=..., **replaced): the open links of the part, connected to the peer."""
    kept = []

    def make(part, ros="", **replaced):
        text = DIAGRAM
        for old, new in replaced.items():
            assert old in text
            text = text.replace(old, new)
        text += f"realtime: {{ros: {{connect: [{peer.address}], listen: []{ros}}}}}\n"
        path = tmp_path / "arm.yaml"
        path.write_text(text)
        diagram = sb.load(path)
        kept.append(open_links(diagram, subdiagram_of(diagram, [part])))
        return kept[-1]

    yield make
    for links in kept:
        links.close()


def joint_state(names, positions, frame="elsewhere"):
    types = store().types
    stamp = types["builtin_interfaces/msg/Time"](sec=12, nanosec=500_000_000)
    header = types["std_msgs/msg/Header"](stamp=stamp, frame_id=frame)
    empty = np.zeros(0)
    return types[JOINTS](header=header, name=names, position=np.array(positions, float),
                         velocity=empty, effort=empty)  # fmt: skip


def test_a_simulation_takes_the_blocks_as_wires(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(DIAGRAM)
    found = sb.simulate(path)["plant"][-1]
    assert np.allclose(found, np.exp(-2) * np.array([1, 2]), rtol=1e-5)


def test_a_peer_sees_the_node_and_its_ends(peer, opened):
    opened("ctrl", ", namespace: /lab")
    node = peer.token("NN")
    assert (node.name, node.namespace, node.enclave) == ("my_arm", "%lab", "%")
    assert (node.node, node.end) == ("0", "0")
    heard = peer.token("MS", "%lab%joint_states")
    assert heard.type == "sensor_msgs::msg::dds_::JointState_"
    assert heard.hash == store().hash_rihs01(JOINTS)
    assert heard.qos == "::,10:,:,:,,"
    sent = peer.token("MP", "%effort")
    assert sent.session == heard.session == node.session
    assert sent.end != heard.end


def test_tokens_go_with_the_node(peer, opened):
    links = opened("ctrl")
    peer.token("NN")
    links.close()
    until(lambda: peer.tokens() == [])


def test_a_loop_writes_labelled_attachments_where_it_is_told_to(peer, opened):
    heard = peer.hear("joint_states", JOINTS)
    (sender,) = opened("plant", ros=", attachments: labelled").senders
    peer.token("MP", "%joint_states")
    until(lambda: not _sent(sender, [0.5, -1.0]) or heard.samples)
    until(lambda: heard.samples)
    data = heard.samples[0].attachment.to_bytes()
    assert len(data) > 33
    assert read_attachment(data).sequence >= 1


def test_a_peer_reads_what_a_loop_sends(peer, opened):
    heard = peer.hear("joint_states", JOINTS)
    (sender,) = opened("plant").senders
    peer.token("MP", "%joint_states")
    until(lambda: heard.samples or not _sent(sender, [0.5, -1.0]))
    message, (_, sent, gid) = heard.wait()[0]
    assert message.name == ["a", "b"]
    assert message.position.tolist() == [0.5, -1.0]
    assert message.velocity.size == message.effort.size == 0
    assert message.header.frame_id == "base"
    assert abs(message.header.stamp.sec - time.time()) < 60
    assert abs(sent * 1e-9 - time.time()) < 60
    assert len(gid) == 16
    before = len(heard.samples)
    for _ in range(3):
        _sent(sender, [0.5, -1.0])
    numbers = [number for _, (number, _, _) in heard.wait(before + 3)]
    assert numbers == list(range(numbers[0], numbers[0] + before + 3))


def _sent(sender, values):
    sender.send(time.monotonic(), np.array(values, float))


def test_a_loop_reads_what_a_peer_sends_by_joint_names(peer, opened):
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    peer.token("MS", "%joint_states")

    def step():
        peer.send("joint_states", JOINTS, joint_state(["b", "x", "a"], [2.0, 9.0, 1.0]))
        return receiver.receive(time.monotonic(), u)

    until(step)
    assert u.tolist() == [1.0, 2.0]
    assert receiver.struct.sender_time == 12.5
    assert receiver.counts()["malformed"] == 0


@pytest.mark.parametrize("labelled", [False, True])
def test_attachments_of_both_forms_are_read(peer, labelled):
    found = read_attachment(peer.attachment(7, labelled=labelled).to_bytes())
    assert (found.sequence, found.gid) == (7, bytes(range(16)))


def test_an_attachment_has_the_bytes_of_the_serializer_of_zenoh():
    written = bytes(Attachment(5, 6, bytes(range(GID))))
    parts = (zenoh.ext.Int64(5), zenoh.ext.Int64(6), bytes(range(GID)))
    assert written == zenoh.ext.z_serialize(parts).to_bytes()
    names = ("sequence_number", "source_timestamp", "source_gid")
    labelled = tuple(one for pair in zip(names, parts, strict=True) for one in pair)
    older = Attachment(5, 6, bytes(range(GID))).labelled()
    assert older == zenoh.ext.z_serialize(labelled).to_bytes()
    for size in range(len(written)):
        with pytest.raises(ValueError, match="no attachment"):
            read_attachment(written[:size])


BAD = {
    "no CDR": b"\1\0\0\0",
    "empty": b"",
    "cut": b"\0\1\0\0\0\0",
    "huge lengths": b"\0\1\0\0" + bytes(8) + b"\xff" * 32,
    "oversize": bytes(MOST_MESSAGE + 1),
}


@pytest.mark.parametrize("data", BAD.values(), ids=BAD)
def test_a_message_that_is_none_is_dropped_and_counted(peer, opened, data):
    (receiver,) = opened("ctrl").receivers
    peer.token("MS", "%joint_states")
    u = np.array([7.0, 8.0])

    def step():
        peer.send_bytes("joint_states", JOINTS, data)
        receiver.receive(time.monotonic(), u)
        return receiver.counts()["malformed"]

    until(step)
    assert u.tolist() == [7.0, 8.0]
    assert receiver.counts()["received"] == 0
    _hears_again(peer, receiver, u)


def _hears_again(peer, receiver, u):
    def step():
        peer.send("joint_states", JOINTS, joint_state(["a", "b"], [1.0, 2.0]))
        return receiver.receive(time.monotonic(), u)

    until(step)
    assert u.tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("names", "positions"),
    [(["a"], [1.0]), (["a", "b"], []), (["a", "b"], [1.0, np.nan]), (["a", "b"], [np.inf, 1.0])],
)
def test_joints_without_finite_numbers_are_dropped_and_counted(peer, opened, names, positions):
    (receiver,) = opened("ctrl").receivers
    peer.token("MS", "%joint_states")
    u = np.array([7.0, 8.0])

    def step():
        peer.send("joint_states", JOINTS, joint_state(names, positions))
        receiver.receive(time.monotonic(), u)
        return receiver.counts()["malformed"]

    until(step)
    assert u.tolist() == [7.0, 8.0]


def test_a_message_without_an_attachment_is_dropped_and_counted(peer, opened):
    (receiver,) = opened("ctrl").receivers
    peer.token("MS", "%joint_states")
    data = bytes(store().serialize_cdr(joint_state(["a", "b"], [1, 2]), JOINTS))

    def step():
        peer.session.put(peer.key("joint_states", JOINTS), data)
        assert not receiver.receive(time.monotonic(), np.zeros(2))
        return receiver.counts()["malformed"]

    until(step)


def test_lost_messages_are_counted(peer, opened):
    (receiver,) = opened("ctrl").receivers
    u = np.zeros(2)
    peer.token("MS", "%joint_states")
    _hears_again(peer, receiver, u)
    before = receiver.counts()["lost"]
    peer.send("joint_states", JOINTS, joint_state(["a", "b"], [3.0, 4.0]), number=peer.sent + 6)
    until(lambda: receiver.receive(time.monotonic(), u) and u[0] == 3.0)
    assert receiver.counts()["lost"] - before == 5


def test_those_who_join_later_hear_a_lasting_topic(peer, opened):
    (sender,) = opened("plant", **{
        "message: sensor_msgs/JointState": "message: sensor_msgs/JointState\n    "
        "qos: {durability: transient_local, depth: 2}"}).senders  # fmt: skip
    assert peer.token("MP", "%joint_states").qos == ":1:,2:,:,:,,"
    for k in range(4):
        _sent(sender, [k, k])
    time.sleep(0.3)  # until the carrier has published them: a peer that joins must not hear them
    heard = peer.hear_lasting("joint_states", JOINTS)
    assert [message.position[0] for message, _ in heard.wait(2)] == [2.0, 3.0]


def test_the_quality_of_service_is_in_the_token(peer, opened):
    opened("ctrl", **{
        "message: sensor_msgs/JointState": "message: sensor_msgs/JointState\n    "
        "qos: {reliability: best_effort, depth: 42}"})  # fmt: skip
    assert peer.token("MS", "%joint_states").qos == "2::,:,:,:,,"


def test_numbers_of_several_publishers_are_one_row():
    numbers, one, two = Numbering(), bytes(GID), bytes(range(GID))
    given = [(one, 5), (two, 90), (one, 6), (two, 91), (one, 9), (one, 9), (one, 8), (one, 10)]
    found = [numbers.of(Attachment(number, 0, gid)) for gid, number in given]
    assert found == [1, 2, 3, 4, 7, 7, 6, 8]
    assert numbers.of(Attachment(10 + MOST_AHEAD, 0, one)) == 9  # started anew
    assert numbers.of(Attachment(1, 0, one)) == 10
    for k in range(1000):
        assert numbers.of(Attachment(2**62, 0, k.to_bytes(GID, "big"))) == 11 + k
    assert len(numbers._last) <= 64


def test_the_frame_of_a_message_is_told_by_its_format(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(DIAGRAM)
    link = sb.load(path).bd["sensors"].link
    data = struct.pack(link.frame.format, 0, 7, 8, 0.5, 1.5)
    assert len(data) == link.frame.size
    whole = bytearray(link.frame.whole_background)
    for k, byte in enumerate(data):
        whole[k] |= byte
    values = decode(bytes(whole[4:]), link.endpoint.shape.of)
    assert values["position"].tolist() == [0.5, 1.5]
    assert values["header"]["stamp"] == {"sec": 7, "nanosec": 8}


@pytest.mark.parametrize(
    ("old", "new", "place", "text"),
    [
        ("topic: joint_states", "topic: joint states", "6:12", "topic is a name such as"),
        (
            "sensor_msgs/JointState",
            "sensor_msgs/JointStat",
            "7:14",
            "no type sensor_msgs/msg/",
        ),
        ("fields: {q: position}", "fields: {q: positon}", "9:17", "has no field 'positon'"),
        ("fields: {q: position}", "fields: {start: position}", "9:21", "no port can be called"),
        ("joints: [a, b]", "joints: [a, a]", "8:13", "different names of joints"),
        ("frame_id: base", "frame_i: base", "10:13", "has no field 'frame_i'"),
        ("safe: 0", "qos: {depth: 0}", "16:18", "qos.depth is 1 to 10000, not 0"),
        ('"data[2]"', '"data[900]"', "14:14", "at most 1468 bytes, this one 7220"),
    ],
)
def test_wrong_parameters_are_told_with_their_places(tmp_path, old, new, place, text):
    path = tmp_path / "arm.yaml"
    assert old in DIAGRAM
    path.write_text(DIAGRAM.replace(old, new))
    with pytest.raises(InputError) as caught:
        sb.load(path)
    assert text in str(caught.value)
    assert f"arm.yaml:{place}" in str(caught.value)


def test_a_type_may_be_defined_by_a_file_beside_the_diagram(tmp_path):
    (tmp_path / "Thrust.msg").write_text("float64[2] force\nbool on true\n")
    text = DIAGRAM.replace(
        "std_msgs/Float64MultiArray", "my_msgs/Thrust\n    definitions: Thrust.msg"
    )
    path = tmp_path / "arm.yaml"
    path.write_text(text.replace('"data[2]"', "force"))
    diagram = sb.load(path)
    assert diagram.bd["actuators"].link.frame.background[-1:] == b"\1"
    assert tmp_path / "Thrust.msg" in diagram.files
    (tmp_path / "Thrust.msg").write_text("float64[2] force\nfloat65 x\n")
    with pytest.raises(InputError, match=r"arm\.yaml:14:14: .*Thrust\.msg:2:1: there is no type"):
        sb.load(path)


@pytest.mark.parametrize(
    ("ros", "text"),
    [
        ("node: my arm", "node is a name of letters"),
        ("namespace: lab", "namespace is / or a name"),
        ("domain: 300", "must be 232 or less"),
        ("connect: [localhost]", "an address is written tcp/localhost:7447"),
        ("clock: wall", "system"),
        ("router: x", "router"),
    ],
)
def test_wrong_nodes_are_told_with_their_places(tmp_path, ros, text):
    path = tmp_path / "arm.yaml"
    path.write_text(f"{DIAGRAM}realtime: {{ros: {{{ros}}}}}\n")
    with pytest.raises(InputError) as caught:
        sb.load(path)
    assert text in str(caught.value)
    assert "arm.yaml:21:" in str(caught.value)


def test_that_nobody_is_there_yet_is_told(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text(f"{DIAGRAM}realtime: {{ros: {{connect: [tcp/127.0.0.1:1], listen: []}}}}\n")
    diagram = sb.load(path)
    part = subdiagram_of(diagram, ["ctrl"])
    with pytest.warns(SpartWarning, match=r"nobody is at tcp/127\.0\.0\.1:1 yet"):
        open_links(diagram, part).close()


def test_an_address_in_use_is_an_error_with_its_place(tmp_path, peer):
    path = tmp_path / "arm.yaml"
    path.write_text(f"{DIAGRAM}realtime: {{ros: {{connect: [], listen: [{peer.address}]}}}}\n")
    diagram = sb.load(path)
    with pytest.raises(InputError, match=r"arm\.yaml:6:\d+: no session of Zenoh"):
        open_links(diagram, subdiagram_of(diagram, ["ctrl"]))

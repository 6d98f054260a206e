"""Names of nodes, topics and their ends in Zenoh are those of rmw_zenoh's documents."""

from __future__ import annotations

import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.ros.graph import (
    NodeName,
    Qos,
    node_of,
    read_locator,
    read_namespace,
    read_node,
    read_qos,
    read_topic,
)
from spart_blocks.ros.library import bundled

STRING = "std_msgs::msg::dds_::String_"
HASH = "RIHS01_df668c740482bbd48fb39d76a70dfd4bd59db1288021743503259e948f6b1a18"


def test_tokens_and_keys_are_the_examples_of_the_documents():
    """docs/design.md of ros2/rmw_zenoh."""
    talker = NodeName(0, "/", "talker", "8b20917502ee955ac4476e0266340d5c")
    of = bundled().message("std_msgs/String")
    assert talker.token("MP", 10, "/chatter", of, Qos(depth=7)) == (
        "@ros2_lv/0/8b20917502ee955ac4476e0266340d5c/0/10/MP/%/%/talker/%chatter/"
        f"{STRING}/{HASH}/::,7:,:,:,,"
    )
    listener = NodeName(0, "/", "listener", "aac3178e146ba6f1fc6e6a4085e77f21")
    assert listener.token("NN", 0) == (
        "@ros2_lv/0/aac3178e146ba6f1fc6e6a4085e77f21/0/0/NN/%/%/listener"
    )
    assert talker.key("/chatter", of) == f"0/chatter/{STRING}/{HASH}"
    assert talker.key("/robot1/chatter", of) == f"0/robot1/chatter/{STRING}/{HASH}"


@pytest.mark.parametrize(
    ("namespace", "topic", "full"),
    [
        ("/", "scan", "/scan"),
        ("/lab/arm", "scan", "/lab/arm/scan"),
        ("/lab", "/scan", "/scan"),
        ("/lab", "~/state", "/lab/me/state"),
        ("/", "~/state", "/me/state"),
    ],
)
def test_a_name_is_completed_by_the_node(namespace, topic, full):
    assert NodeName(3, namespace, "me", "1").full(topic) == full


@pytest.mark.parametrize(
    ("qos", "text"),
    [
        (Qos(), "::,10:,:,:,,"),
        (Qos("best_effort", "volatile", 1), "2::,1:,:,:,,"),
        (Qos("reliable", "transient_local", 42), ":1:,:,:,:,,"),
    ],
)
def test_a_quality_of_service_tells_what_differs_from_the_defaults(qos, text):
    assert str(qos) == text


@pytest.mark.parametrize(
    ("read", "good", "bad"),
    [
        (read_topic, ["a", "/a/b_1", "~/a"], ["", "/", "a/", "//a", "1a", "a b", "a/*", "@x", 3,
                                              "a" * 300, "a\n"]),
        (read_namespace, ["/", "/a", "/a/b"], ["", "a", "/a/", "/1", "/a//b"]),
        (read_node, ["a", "_a1"], ["", "1a", "a/b", "a-b", "ä"]),
        (read_locator, ["tcp/localhost:7447", "udp/[::1]:7"], ["", "localhost", "tcp/", "x/y",
                                                               "tcp/a b"]),
    ],
)  # fmt: skip
def test_names_and_addresses_are_checked(read, good, bad):
    for one in good:
        assert read(one) == one
    for one in bad:
        with pytest.raises(ValueError):
            read(one)


@pytest.mark.parametrize(
    ("title", "node"), [("arm", "arm"), ("my arm-2", "my_arm_2"), ("7 dof", "_7_dof"), ("", "_")]
)
def test_a_diagram_gives_its_node_a_name(title, node):
    assert node_of(title) == read_node(node) == node


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"depth": 0}, "qos.depth is 1 to 10000, not 0"),
        ({"depth": True}, "qos.depth is 1 to 10000, not True"),
        ({"reliability": "best"}, "qos.reliability is reliable or best_effort, not 'best'"),
        ({"durabilty": "volatile"}, "there is no 'durabilty'"),
        ([1], "qos is a mapping"),
    ],
)
def test_a_wrong_quality_of_service_is_told(given, text):
    with pytest.raises(InputError, match=text):
        read_qos(given)

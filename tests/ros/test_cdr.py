"""Bytes of messages are those of rosbags; bytes that are none are refused."""

from __future__ import annotations

import numpy as np
import pytest
from random_messages import bytes_of_rosbags, random_values, same, store

from spart_blocks.ros.cdr import decode, encode
from spart_blocks.ros.definitions import read_message
from spart_blocks.ros.library import bundled

NAMES = [name for name in bundled().names() if name in store().fielddefs]
JOINTS = {"name": ["a", "b"], "position": [0.5, -1.0], "header": {"stamp": {"sec": 7}}}


def test_random_messages_of_all_types_have_the_bytes_of_rosbags():
    rng = np.random.default_rng(1)
    for name in NAMES:
        of = bundled().message(name)
        values = random_values(rng, of)
        data = encode(values, of)
        assert data == bytes_of_rosbags(values, of), name
        assert same(decode(data, of), values), name
        big = bytes_of_rosbags(values, of, little_endian=False)
        assert big[:4] == bytes(4)
        assert same(decode(big, of), values), name
    assert len(NAMES) > 40


def test_the_bytes_of_a_string_are_as_the_standard_says():
    of = bundled().message("std_msgs/String")
    assert encode({"data": "abc"}, of) == b"\0\1\0\0\4\0\0\0abc\0"
    assert decode(b"\0\1\0\0\0\0\0\0", of) == {"data": ""}  # some write it so
    assert encode({}, bundled().message("std_msgs/Empty")) == b"\0\1\0\0\0"


def test_defaults_of_a_definition_are_written():
    of = bundled().message("geometry_msgs/Pose")
    assert decode(encode({}, of), of)["orientation"] == {"x": 0, "y": 0, "z": 0, "w": 1}


def test_up_to_three_bytes_may_follow():
    of = bundled().message("std_msgs/Bool")
    data = encode({"data": True}, of)
    assert decode(data + bytes(3), of) == {"data": True}
    with pytest.raises(ValueError, match="4 bytes behind the message"):
        decode(data + bytes(4), of)


def test_each_cut_of_a_message_is_refused():
    of = bundled().message("sensor_msgs/JointState")
    data = encode(JOINTS, of)
    for size in range(len(data)):
        with pytest.raises(ValueError):
            decode(data[:size], of)


@pytest.mark.parametrize(
    ("name", "body", "text"),
    [
        ("std_msgs/String", b"\xff\xff\xff\xff", "cut short"),
        ("std_msgs/String", b"\4\0\0\0abcd", "does not end with a zero"),
        ("std_msgs/String", b"\2\0\0\0\xff\0", "utf-8"),
        ("std_msgs/Bool", b"\2", "neither 0 nor 1"),
        ("sensor_msgs/PointCloud2", bytes(20) + b"\xff\xff\xff\xff", "more than there are bytes"),
        ("std_msgs/Float64MultiArray", bytes(8) + b"\xff\xff\xff\xff", "cut short"),
    ],
)
def test_a_length_that_the_bytes_do_not_have_is_refused(name, body, text):
    with pytest.raises(ValueError, match=text):
        decode(b"\0\1\0\0" + body, bundled().message(name))


@pytest.mark.parametrize("header", [b"", b"\0", b"\0\2\0\0", b"\1\0\0\0", b"\0\7\0\0"])
def test_another_encoding_is_refused(header):
    with pytest.raises(ValueError, match="no message in plain CDR"):
        decode(header + bytes(8 * bool(header[2:])), bundled().message("std_msgs/Float64"))


def test_damaged_messages_raise_nothing_else():
    rng = np.random.default_rng(2)
    for name in NAMES:
        of = bundled().message(name)
        for _ in range(3):
            data = bytearray(encode(random_values(rng, of), of))
            for _ in range(int(rng.integers(1, 4))):
                data[rng.integers(len(data))] = rng.integers(256)
            try:
                decode(bytes(data), of)
            except ValueError:
                continue


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"positoin": [1]}, "has no field 'positoin': did you mean 'position'?"),
        ({"header": {"stam": 1}}, "header has no field 'stam'"),
        ({"header": 3}, "header has fields, and is not 3"),
        ({"position": 3.0}, "position has several elements"),
        ({"position": ["x"]}, "position takes numbers"),
        ({"position": [[1.0]]}, "position is a row of numbers"),
        ({"name": [3]}, r"name\[0\] is a text, not 3"),
        ({"name": ["a\0b"]}, r"name\[0\] is a text"),
        ({"header": {"stamp": {"sec": 2**31}}}, "header.stamp.sec takes numbers of int32"),
        ({"header": {"stamp": {"nanosec": 0.5}}}, "header.stamp.nanosec takes numbers of uint32"),
    ],
)
def test_values_that_a_message_cannot_have_are_told_with_their_field(values, text):
    with pytest.raises(ValueError, match=text):
        encode(values, bundled().message("sensor_msgs/JointState"))


def test_bounds_hold_in_both_ways():
    text = "string<=3 s\nuint8[<=2] n\nint8[2] pair\n"
    of = read_message(text, "a/msg/B", bundled().message, "")
    loose = read_message("string s\nuint8[] n\nint8[2] pair\n", "a/msg/B", bundled().message, "")
    for values, told in (({"s": "abcd"}, "at most 3"), ({"n": [1, 2, 3]}, "at most 2"),
                         ({"pair": [1]}, "2 elements, not 1")):  # fmt: skip
        with pytest.raises(ValueError, match=told):
            encode(values, of)
        if "pair" not in values:
            with pytest.raises(ValueError, match="more than"):
                decode(encode(values, loose), of)

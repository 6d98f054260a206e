"""Messages of fixed shape: where numbers are, and received messages brought into the shape."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from spart_blocks.base.errors import InputError
from spart_blocks.ros.cdr import decode, encode
from spart_blocks.ros.library import bundled
from spart_blocks.ros.shapes import shape_of


def shape(name, **options):
    return shape_of(bundled().message(name), **options)


@pytest.mark.parametrize(
    ("name", "options", "want"),
    [
        ("geometry_msgs/Twist", {}, {"linear": 3, "angular": 3}),
        ("geometry_msgs/Wrench", {}, {"force": 3, "torque": 3}),
        ("geometry_msgs/PoseStamped", {}, {"pose_position": 3, "pose_orientation": 4}),
        ("sensor_msgs/Imu", {},
         {"orientation": 4, "angular_velocity": 3, "linear_acceleration": 3}),
        ("nav_msgs/Odometry", {"fields": {"p": "pose.pose.position", "w": "twist.twist.angular"}},
         {"p": 3, "w": 3}),
        ("nav_msgs/Odometry", {"fields": {"cov": "pose.covariance"}}, {"cov": 36}),
        ("std_msgs/Float64MultiArray", {"fields": {"u": "data[6]"}}, {"u": 6}),
        ("std_msgs/Float64", {}, {"data": None}),
        ("sensor_msgs/JointState", {"joints": ["a", "b"]},
         {"position": 2, "velocity": 2, "effort": 2}),
        ("trajectory_msgs/JointTrajectory",
         {"joints": ["a", "b"], "fields": {"q": "points[0].positions"}}, {"q": 2}),
        ("geometry_msgs/Pose", {"fields": {"x": "position.x", "q": "orientation"}},
         {"x": None, "q": 4}),
    ],
)  # fmt: skip
def test_ports_have_the_numbers_of_their_fields_at_their_places(name, options, want):
    """Numbers written at the places of a shape are those that the message then has."""
    found = shape(name, **options)
    assert {one.name: one.count for one in found.fields} == want
    data, first, given = bytearray(found.background), 1.0, {}
    for one in found.fields:
        given[one.path] = first + np.arange(one.count or 1)
        struct.pack_into(f"<{one.count or 1}d", data, one.offset, *given[one.path])
        first += 100
    values = decode(bytes(data), found.of)
    for path, numbers in given.items():
        there = values
        for step in path.replace("[0]", "").split("."):
            there = there[step][0] if step == "points" else there[step]
        there = list(there.values()) if isinstance(there, dict) else there
        assert np.array_equal(np.atleast_1d(there), numbers), path


def test_constants_and_stamps_have_their_places():
    frames = {"header": {"frame_id": "world"}, "child_frame_id": "arm"}
    found = shape("tf2_msgs/TFMessage", values={"transforms": [frames, frames]},
                  fields={"q": "transforms[1].transform.rotation"})  # fmt: skip
    values = decode(found.background, found.of)
    assert [one["child_frame_id"] for one in values["transforms"]] == ["arm", "arm"]
    assert [path for path, _ in found.stamps] == [f"transforms[{k}].header.stamp" for k in (0, 1)]
    data = bytearray(found.background)
    for k, (_, offset) in enumerate(found.stamps):
        struct.pack_into("<iI", data, offset, 7 + k, 9)
    stamps = [one["header"]["stamp"] for one in decode(bytes(data), found.of)["transforms"]]
    assert stamps == [{"sec": 7, "nanosec": 9}, {"sec": 8, "nanosec": 9}]


def test_a_stamp_that_is_given_or_a_port_is_not_written():
    given = {"header": {"stamp": {"sec": 5, "nanosec": 0}}}
    assert shape("geometry_msgs/TwistStamped", values=given).stamps == ()
    port = {"s": "header.stamp.sec"}
    assert shape("geometry_msgs/TwistStamped", fields=port).stamps == ()
    assert len(shape("geometry_msgs/TwistStamped").stamps) == 1


def test_joints_of_a_received_message_are_found_by_name():
    wanted = shape("sensor_msgs/JointState", joints=["a", "b"], fields={"q": "position"})
    data = encode(
        {"name": ["b", "x", "a"], "position": [2.0, 9.0, 1.0], "velocity": [np.nan] * 3,
         "header": {"frame_id": "somewhere", "stamp": {"sec": 3, "nanosec": 4}}},
        wanted.of,
    )  # fmt: skip
    values = decode(wanted.canonical(data), wanted.of)
    assert values["name"] == ["a", "b"]
    assert values["position"].tolist() == [1.0, 2.0]
    assert values["header"]["stamp"] == {"sec": 3, "nanosec": 4}


@pytest.mark.parametrize(
    ("values", "text"),
    [
        ({"name": ["a"], "position": [1.0]}, "there is no joint 'b'"),
        ({"name": ["a", "b"], "position": [1.0]}, "not have a number for each joint"),
        ({"name": ["a", "b"], "velocity": [1.0, 2.0]}, "not have a number for each joint"),
    ],
)
def test_a_message_that_lacks_numbers_is_refused(values, text):
    wanted = shape("sensor_msgs/JointState", joints=["a", "b"], fields={"q": "position"})
    with pytest.raises(ValueError, match=text):
        wanted.canonical(encode(values, wanted.of))


def test_a_message_in_the_shape_is_taken_as_it_is():
    wanted = shape("geometry_msgs/TwistStamped", values={"header": {"frame_id": "base"}})
    data = encode({"header": {"frame_id": "base", "stamp": {"sec": 1}},
                   "twist": {"linear": {"x": 3.0}}}, wanted.of)  # fmt: skip
    assert wanted.canonical(data) is data
    other = encode({"header": {"frame_id": "tool", "stamp": {"sec": 1}},
                    "twist": {"linear": {"x": 3.0}}}, wanted.of)  # fmt: skip
    assert wanted.canonical(other) == data


def test_a_sequence_of_another_length_is_refused():
    wanted = shape("std_msgs/Float64MultiArray", fields={"u": "data[2]"})
    with pytest.raises(ValueError, match="data has 3 numbers, not 2"):
        wanted.canonical(encode({"data": [1.0, 2.0, 3.0]}, wanted.of))


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"fields": {"q": "position"}}, "fields.q: how many numbers has position?"),
        ({"fields": {"q": "positoin[2]"}}, "fields.q: .* has no field 'positoin'"),
        ({"fields": {"q": "name"}}, "fields.q: name is a text; give it under values"),
        ({"fields": {"q": "position.x"}}, "fields.q: position has no fields"),
        ({"fields": {"q": "header"}}, "fields.q: header is no row of numbers of one type"),
        ({"fields": {"q": "a b"}}, "fields.q: 'a b' is no path"),
        ({"fields": {"q": 3}}, "fields.q: the path of a field is a text, not 3"),
        ({"fields": {"2q": "position[2]"}}, "fields.2q: '2q' is no name of a port"),
        ({"fields": {}}, "a message needs fields, not {}"),
        ({"fields": ["position"]}, "a message needs fields"),
        ({"values": {"header": {"frame": "x"}}}, "values: header has no field 'frame'"),
        ({"values": [1]}, "values: constants by field"),
        ({"joints": []}, "joints: different names of joints"),
        ({"joints": ["a", "a"]}, "joints: different names of joints"),
        ({"values": {"position": [1.0]}, "fields": {"q": "position[2]"}}, "1 numbers under values"),
    ],
)
def test_wrong_fields_and_values_are_told_with_their_parameter(options, text):
    with pytest.raises(InputError, match=text):
        shape("sensor_msgs/JointState", **options)


def test_messages_without_joints_take_none():
    with pytest.raises(InputError, match="joints: geometry_msgs/msg/Twist does not list joints"):
        shape("geometry_msgs/Twist", joints=["a"])

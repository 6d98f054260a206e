"""Messages of fixed shape as the loop's C writes and reads them."""

from __future__ import annotations

import numpy as np
import pytest

from spart_blocks.realtime.link_structs import decode, encode
from spart_blocks.ros.cdr import decode as decode_message
from spart_blocks.ros.cdr import encode as encode_message
from spart_blocks.ros.definitions import NUMBERS, range_of, read_message
from spart_blocks.ros.graph import Qos
from spart_blocks.ros.library import bundled
from spart_blocks.ros.shapes import shape_of
from spart_blocks.transports.ros import RosTopic

ALL = list(NUMBERS)


def topic(of, **options):
    return RosTopic("x", shape_of(of, **options), Qos())


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("sensor_msgs/JointState", {"joints": ["one", "two", "three"]}),
        ("geometry_msgs/WrenchStamped", {"values": {"header": {"frame_id": "tool0"}}}),
        ("geometry_msgs/Twist", {}),
        ("geometry_msgs/PoseStamped", {}),
        ("sensor_msgs/Imu", {}),
        ("nav_msgs/Odometry", {"values": {"child_frame_id": "b"}}),
        ("std_msgs/Float64MultiArray", {"fields": {"u": "data[6]"}}),
        ("sensor_msgs/BatteryState", {}),
        ("trajectory_msgs/JointTrajectory",
         {"joints": ["a"], "fields": {"q": "points[0].positions"}}),
    ],
)  # fmt: skip
def test_the_loop_writes_the_bytes_of_the_message(name, options):
    of, rng = bundled().message(name), np.random.default_rng(3)
    link = topic(of, **options)
    values = {one.name: np.round(rng.normal(size=one.count or ()) * 5) % 2 for one in
              link.shape.fields}  # fmt: skip
    data = encode(link.frame, values, sequence=77, time=3.25)
    message = link.shape.canonical(_written(link, values))
    assert data[:4] == (77).to_bytes(4, "little")
    assert data[4:] == message
    found = decode(link.frame, data)
    assert found["sequence"] == 77
    for one in link.shape.fields:
        assert np.array_equal(found[one.name], values[one.name])


def _written(link, values):
    """The message that ros/cdr.py writes, with the stamps of 3.25 s."""
    whole = decode_message(link.shape.background, link.shape.of)
    given = {one.path: values[one.name] for one in link.shape.fields}
    given |= {path: {"sec": 3, "nanosec": 250_000_000} for path, _ in link.shape.stamps}
    for path, value in given.items():
        where = whole
        *above, last = path.replace("[0]", ".0").split(".")
        for step in above:
            where = where[int(step) if step.isdigit() else step]
        if isinstance(where[last], dict) and not isinstance(value, dict):
            value = dict(zip(where[last], np.ravel(value), strict=True))
        where[last] = value
    return encode_message(whole, link.shape.of)


def _of_all_numbers():
    text = "".join(f"{kind} a_{kind}\n" for kind in ALL)
    return read_message(text, "demo/msg/All", bundled().message, "")


def test_numbers_are_limited_to_the_range_of_their_type():
    link = topic(_of_all_numbers())
    for value, side in ((1e300, 1), (-1e300, 0)):
        data = encode(link.frame, {f"a_{kind}": value for kind in ALL})
        found = decode_message(data[4:], link.shape.of)
        assert found["a_bool"] == bool(side)
        for kind in ALL[1:-2]:
            limit = range_of(kind)[side]
            beyond = 2**11 if limit > 2**60 else 0  # the next double towards zero
            assert abs(found[f"a_{kind}"] - limit) <= beyond, kind
        assert found["a_float64"] == value


@pytest.mark.parametrize("value", [0, 1, 2**53, 12345])
def test_whole_numbers_are_sent_exactly(value):
    link = topic(_of_all_numbers())
    kinds = ["int64", "uint64", "float64"] if value > 2**31 else ALL[7:]
    data = encode(link.frame, {**dict.fromkeys((f"a_{kind}" for kind in ALL), 0),
                               **{f"a_{kind}": value for kind in kinds}})  # fmt: skip
    found, back = decode_message(data[4:], link.shape.of), decode(link.frame, data)
    for kind in kinds:
        assert found[f"a_{kind}"] == back[f"a_{kind}"] == value


@pytest.mark.parametrize(
    ("time", "stamp"),
    [
        (0.0, (0, 0)),
        (0.001, (0, 1_000_000)),
        (7.9999999996, (8, 0)),
        (1.8e9 + 0.5, (1_800_000_000, 500_000_000)),
        (-1.0, (0, 0)),
        (1e12, (2**31 - 1, 0)),
    ],
)
def test_a_stamp_is_the_time_of_the_sender(time, stamp):
    link = topic(bundled().message("geometry_msgs/TwistStamped"))
    zeros = {one.name: 0 for one in link.shape.fields}
    data = encode(link.frame, zeros, time=time)
    found = decode_message(data[4:], link.shape.of)["header"]["stamp"]
    assert (found["sec"], found["nanosec"]) == stamp


def test_numbers_that_are_not_finite_are_not_sent():
    link = topic(bundled().message("geometry_msgs/Twist"))
    assert encode(link.frame, {"linear": [0, np.nan, 0], "angular": 0}) is None

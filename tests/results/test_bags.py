"""Signals of bags of ROS 1 and ROS 2, which rosbags has written."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from bag_writing import EPOCH, LATE, write_bag
from mcap_writing import write_json

from spart_blocks.base.errors import InputError, MissingExtraError
from spart_blocks.results.recordings import read_recording

T = np.arange(9) / 8
KINDS = ["bag", "bag-bz2", "bag-lz4", "db3", "folder", "packed", "packed-whole", "mcap1", "mcap2"]
FIELDS = {
    "/joint_states.position": np.column_stack([T, np.sin(T)]),
    "/joint_states.position[1]": np.sin(T),
    "/joint_states.position[elbow]": np.sin(T),
    "/joint_states.velocity[base]": np.ones(9),
    "/level.data": T * T,
    "/push.force": np.column_stack([T, 0 * T, -T]),
    "/push.on": np.arange(9) % 2,
    "/push.from": T,
}
OF_IMU = {
    "/imu.linear_acceleration.z": np.full(5, 9.81),
    "/imu.angular_velocity": np.outer(T[::2], [1, 2, 3]),
    "/imu.orientation": np.column_stack([0 * T, 0 * T, np.sin(T), np.cos(T)])[::2],
}


@pytest.mark.parametrize("kind", KINDS)
def test_fields_of_each_kind_of_bag_are_read_at_their_own_times(tmp_path, kind):
    path = write_bag(tmp_path, T, kind)
    found = read_recording(path, [*FIELDS, *OF_IMU])
    for name, expected in (FIELDS | OF_IMU).items():
        np.testing.assert_allclose(found[name].values, expected, rtol=0, atol=1e-7)
        times = T[::2] if name in OF_IMU else T
        np.testing.assert_allclose(found[name].times, times, rtol=0, atol=1e-12)


def test_the_description_stands_for_its_folder(tmp_path):
    folder = write_bag(tmp_path, T, "folder")
    found = read_recording(folder / "metadata.yaml", ["/level.data"])
    np.testing.assert_array_equal(found["/level.data"].values, T * T)


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        ("t", T),
        ("header.stamp", T - LATE / 1e9),
        ("absolute t", (EPOCH + LATE) / 1e9 + T),
        ("absolute header.stamp", EPOCH / 1e9 + T),
        ("position[0]", T),
    ],
)
@pytest.mark.parametrize("kind", ["bag", "db3"])
def test_times_are_those_of_logging_or_of_a_field(tmp_path, kind, time, expected):
    path = write_bag(tmp_path, T, kind)
    found = read_recording(path, ["/joint_states.position"], time)["/joint_states.position"]
    np.testing.assert_allclose(found.times, expected, rtol=0, atol=3e-7 if "abs" in time else 1e-12)
    np.testing.assert_array_equal(found.values[:, 0], T)


def test_stamps_of_another_clock_are_told(tmp_path):
    """As those of a simulation, which begin at zero."""
    messages = [{"header": {"stamp": {"sec": k, "nanosec": 500_000_000}}, "x": k} for k in range(3)]
    path = write_json(tmp_path / "sim.mcap", _a=(EPOCH / 1e9 + np.arange(3), messages))
    with pytest.raises(InputError, match=r"/a\.x: .* another clock") as caught:
        read_recording(path, ["/a.x"], "header.stamp")
    assert "time: absolute header.stamp" in str(caught.value)
    found = read_recording(path, ["/a.x"], "absolute header.stamp")["/a.x"]
    assert found.times.tolist() == [0.5, 1.5, 2.5]


def test_messages_are_put_in_the_order_of_their_times(tmp_path):
    """Of two at the same time, the later is that after a jump."""
    times, values = [0.5, 0.0, 1.0, 0.5], [{"x": 1}, {"x": 2}, {"x": 3}, {"x": 4}]
    found = read_recording(write_json(tmp_path / "log.mcap", _a=(times, values)), ["/a.x"])["/a.x"]
    assert found.values.tolist() == [2, 1, 4, 3]
    assert found.times.tolist() == [0.0, np.nextafter(0.5, 0), 0.5, 1.0]


def test_entries_are_named_by_a_field_of_their_own(tmp_path):
    links = [{"child_frame_id": "arm", "x": 1}, {"child_frame_id": "tool", "x": 2}]
    parts = [{"name": "a", "v": [3, 4]}, {"name": "b", "v": [5, 6]}]
    messages = [{"links": links, "parts": parts}]
    path = write_json(tmp_path / "log.mcap", _tf=([0], messages))
    found = read_recording(path, ["/tf.links[tool].x", "/tf.parts[b].v[1]", "/tf.parts[a].v"])
    assert [one.values.tolist() for one in found.values()] == [[2], [6], [[3, 4]]]


def test_entries_that_a_message_lacks_have_no_sample(tmp_path):
    """Publishers of the states of joints tell some of them each."""
    both = [{"name": ["a"], "q": [1]}, {"name": ["b", "a"], "q": [2, 3]}, {"name": ["b"], "q": [4]}]
    path = write_json(tmp_path / "log.mcap", _j=([0, 1, 2], both))
    found = read_recording(path, ["/j.q[a]", "/j.q[b]"])
    assert [one.values.tolist() for one in found.values()] == [[1, 3], [2, 4]]
    assert [one.times.tolist() for one in found.values()] == [[0, 1], [1, 2]]
    with pytest.raises(InputError, match=r"/j\.q has 2 numbers at 1 s, 1 before"):
        read_recording(path, ["/j.q"])


@pytest.mark.parametrize(
    ("name", "time", "text"),
    [
        ("/joint_state.position", "t", "did you mean '/joint_states'"),
        ("/joint_states.positions", "t", "did you mean 'position'"),
        ("/joint_states.position[knee]", "t", "it has base, elbow"),
        ("/joint_states.position[4]", "t", "beyond its 2 entries"),
        ("/joint_states.name", "t", "not real numbers"),
        ("/joint_states", "t", r"as /joint_states\.header"),
        ("/joint_states.effort[0]", "t", "beyond its 0 entries"),
        ("/joint_states.position[", "t", "is no field"),
        ("/level.data", "header.stamp", "/level.data: it has no field 'header.stamp'"),
    ],
)
def test_what_a_bag_lacks_is_told_with_what_it_has(tmp_path, name, time, text):
    path = write_bag(tmp_path, T, "db3")
    with pytest.raises(InputError, match=text) as caught:
        read_recording(path, [name], time)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize("name", ["none.bag", "none.db3", "none.mcap", "folder", "a.mcap", "a.bag"])
def test_a_file_that_is_no_bag_is_told(tmp_path, name):
    (tmp_path / "folder").mkdir()
    (tmp_path / "a.mcap").write_text("text")
    (tmp_path / "a.bag").write_text("text")
    with pytest.raises(InputError, match=name):
        read_recording(tmp_path / name, ["/a.b"])


def test_a_package_that_is_missing_is_named_with_the_extra(tmp_path, monkeypatch):
    bag, log = write_bag(tmp_path, T, "bag"), write_bag(tmp_path, T, "mcap2")
    for path, module in ((bag, "rosbags.rosbag1.reader"), (log, "mcap.records")):
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(MissingExtraError, match=rf"{module.split('.')[0]}.*\n.*\[mcap\]"):
            read_recording(path, ["/level.data"])


def test_a_bag_of_ros_2_without_definitions_has_the_standard_ones(tmp_path):
    import sqlite3

    path = write_bag(tmp_path, T, "db3")
    with sqlite3.connect(path) as base:
        base.execute("UPDATE schema SET schema_version = 3")
        base.execute("DROP TABLE message_definitions")
    base.close()
    found = read_recording(path, ["/imu.angular_velocity.y"])
    np.testing.assert_array_equal(found["/imu.angular_velocity.y"].values, 2 * T[::2])
    with pytest.raises(InputError, match="which the log does not define"):
        read_recording(path, ["/push.on"])

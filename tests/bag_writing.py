"""Bags of ROS that the package rosbags writes, for tests of what reads them."""

from __future__ import annotations

import numpy as np
from mcap.writer import Writer as McapWriter
from rosbags.rosbag1 import Writer as Writer1
from rosbags.rosbag2 import CompressionFormat, CompressionMode, StoragePlugin
from rosbags.rosbag2 import Writer as Writer2
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

ROS1, ROS2 = get_typestore(Stores.ROS1_NOETIC), get_typestore(Stores.ROS2_JAZZY)
for _store in (ROS1, ROS2):
    _store.register(get_types_from_msg("float64 from\nfloat32[3] force\nbool on", "my/msg/Push"))
EPOCH = 1_700_000_000_123_456_789
LATE = 3_000_000
"""Time [ns] from a stamp to the logging of its message."""


def messages(store, times):
    """Topic, type, time of logging [ns] and message: joint states, an IMU at half their rate, a
    number without a header, and a type of one's own."""
    header = store.types["std_msgs/msg/Header"]
    time = store.types["builtin_interfaces/msg/Time"]
    vector = store.types["geometry_msgs/msg/Vector3"]
    cov, first = np.zeros(9), [0] if store is ROS1 else []
    for k, t in enumerate(times):
        ns = EPOCH + round(t * 1e9)
        stamp = time(ns // 10**9, ns % 10**9)
        joints = store.types["sensor_msgs/msg/JointState"](
            header(*first, stamp, ""), ["base", "elbow"], np.array([t, np.sin(t)]),
            np.array([1.0, np.cos(t)]), np.zeros(0),
        )  # fmt: skip
        yield "/joint_states", ns + LATE, joints
        if k % 2 == 0:
            turn = store.types["geometry_msgs/msg/Quaternion"](0.0, 0.0, np.sin(t), np.cos(t))
            imu = store.types["sensor_msgs/msg/Imu"](
                header(*first, stamp, "imu"), turn, cov, vector(t, 2 * t, 3 * t), cov,
                vector(-t, 0.0, 9.81), cov,
            )  # fmt: skip
            yield "/imu", ns + LATE, imu
        yield "/level", ns + LATE, store.types["std_msgs/msg/Float64"](t * t)
        push = store.types["my/msg/Push"](t, np.array([t, 0, -t], np.float32), bool(k % 2))
        yield "/push", ns + LATE, push


def write_numbers(path, **topics):
    """A bag of ROS 1 with numbers: topic to times [s] and values."""
    number = ROS1.types["std_msgs/msg/Float64"]
    with Writer1(path) as writer:
        for topic, (times, values) in topics.items():
            made = writer.add_connection(f"/{topic}", number.__msgtype__, typestore=ROS1)
            for t, value in zip(times, values, strict=True):
                data = ROS1.serialize_ros1(number(value), number.__msgtype__)
                writer.write(made, round(t * 1e9), data)
    return path


def write_bag(path, times, kind):
    """A bag of a kind: bag, db3, folder (of .mcap files), packed (each message),
    packed-whole, mcap1 or mcap2."""
    if kind in ("mcap1", "mcap2"):
        return _mcap(path / "log.mcap", times, ROS1 if kind == "mcap1" else ROS2)
    store = ROS1 if kind.startswith("bag") else ROS2
    if store is ROS1:
        writer = Writer1(path / "log.bag")
        if "-" in kind:
            writer.set_compression(Writer1.CompressionFormat[kind.partition("-")[2].upper()])
    else:
        plugin = StoragePlugin.MCAP if kind == "folder" else StoragePlugin.SQLITE3
        writer = Writer2(path / "bag", version=9, storage_plugin=plugin)
        if kind.startswith("packed"):
            mode = CompressionMode.MESSAGE if kind == "packed" else CompressionMode.FILE
            writer.set_compression(mode, CompressionFormat.ZSTD)
    made = {}
    with writer:
        for topic, logged, message in messages(store, times):
            name = message.__msgtype__
            if topic not in made:
                made[topic] = writer.add_connection(topic, name, typestore=store)
            encode = store.serialize_ros1 if store is ROS1 else store.serialize_cdr
            writer.write(made[topic], logged, encode(message, name))
    if store is ROS1:
        return path / "log.bag"
    return path / "bag" / "bag.db3" if kind == "db3" else path / "bag"


def _mcap(path, times, store):
    first = store is ROS1
    encoding, language = ("ros1", "ros1msg") if first else ("cdr", "ros2msg")
    encode = store.serialize_ros1 if first else store.serialize_cdr
    made = {}
    with path.open("wb") as file:
        writer = McapWriter(file)
        writer.start()
        for topic, logged, message in messages(store, times):
            name = message.__msgtype__
            if topic not in made:
                text = store.generate_msgdef(name, ros_version=1 if first else 2)[0]
                shown = name.replace("/msg/", "/") if first else name
                schema = writer.register_schema(shown, language, text.encode())
                made[topic] = writer.register_channel(topic, encoding, schema)
            writer.add_message(made[topic], logged, bytes(encode(message, name)), logged)
        writer.finish()
    return path


def write_plain(path, topic, definition, data, kind="my/msg/A"):
    """An MCAP file with one message of ROS 2, of these bytes and of a type so defined."""
    with path.open("wb") as file:
        writer = McapWriter(file)
        writer.start()
        schema = writer.register_schema(kind, "ros2msg", definition.encode())
        writer.add_message(writer.register_channel(topic, "cdr", schema), 0, data, 0)
        writer.finish()
    return path

"""Messages of logs from their bytes: protobuf, CDR of ROS 2, the serialization of ROS 1, and JSON.

A decoded message has its fields as attributes, or is a mapping. Definitions come from files that
are not trusted: rosbags makes code of those of ROS, so names and sizes are checked before.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable
from typing import Any

from spart_blocks.base.errors import Fault, InputError, optional
from spart_blocks.results.logs.log import EXTRA, MOST_MESSAGE, PURPOSE, Channel

Decode = Callable[[bytes], Any]
MOST_DEFINITION = 256_000
"""Largest size [bytes] of a definition."""
MOST_ENTRIES = 4096
"""Largest count of entries of arrays of fixed length of texts or messages: each becomes code."""
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*(/[A-Za-z][A-Za-z0-9_]*)*")


def decoder(channel: Channel) -> Decode:
    """The function that decodes the messages of a channel. Raises InputError where the encoding or
    its definition is none that is read; errors of definitions and messages are of any kind."""
    makers: dict[str, Callable[[Channel], Decode]] = {
        "protobuf": _protobuf,
        "cdr": _ros2,
        "ros1": _ros1,
        "json": lambda _: json.loads,
    }
    make = makers.get(channel.encoding)
    if make is None:
        known = ", ".join(makers)
        text = f"{channel.topic} has messages in the encoding {channel.encoding[:40]!r}"
        raise InputError(Fault(text, hint=f"{known} are read"))
    if len(channel.definition) > MOST_DEFINITION:
        raise InputError(f"{channel.topic} has a definition of more than {MOST_DEFINITION:,} bytes")
    decode = make(channel)

    def bounded(data: bytes) -> Any:
        if len(data) > MOST_MESSAGE:
            raise InputError(f"{channel.topic} has a message of {len(data):,} bytes")
        return decode(data)

    return bounded


def _protobuf(channel: Channel) -> Decode:
    package = "foxglove-schemas-protobuf"
    proto = optional("google.protobuf.descriptor_pb2", package, EXTRA, PURPOSE)
    pools = optional("google.protobuf.descriptor_pool", package, EXTRA, PURPOSE)
    classes = optional("google.protobuf.message_factory", package, EXTRA, PURPOSE)
    files = proto.FileDescriptorSet.FromString(channel.definition)
    pool = pools.DescriptorPool()
    waiting = {file.name: file for file in files.file}

    def add(name: str) -> None:
        """Add a file after those that it needs."""
        file = waiting.pop(name, None)
        if file is not None:
            for needed in file.dependency:
                add(needed)
            pool.Add(file)

    for name in list(waiting):
        add(name)
    kind = classes.GetMessageClass(pool.FindMessageTypeByName(channel.kind))
    decode: Decode = kind.FromString
    return decode


# --- ROS ---------------------------------------------------------------------------------


def _ros1(channel: Channel) -> Decode:
    store, kind = _types(channel)
    return lambda data: store.deserialize_ros1(data, kind)


def _ros2(channel: Channel) -> Decode:
    store, kind = _types(channel)
    return lambda data: store.deserialize_cdr(data, kind)


def _types(channel: Channel) -> tuple[Any, str]:
    """The store with the type of a channel, and its name there. Bags of older versions of ROS 2
    have no definitions; standard types are known without."""
    types = optional("rosbags.typesys", "rosbags", EXTRA, PURPOSE)
    known = optional("rosbags.typesys.msg", "rosbags", EXTRA, PURPOSE)
    kind = known.normalize_msgtype(channel.kind)
    if channel.language in ("ros1msg", "ros2msg"):
        if not _NAME.fullmatch(kind):
            raise InputError(f"{channel.topic} has a type with the name {channel.kind[:60]!r}")
        found = types.get_types_from_msg(channel.definition.decode(), kind)
        _check(channel.topic, found)
        store = types.get_typestore(types.Stores.EMPTY)
        store.register({name: one for name, one in found.items() if name not in store.fielddefs})
        return store, kind
    store = types.get_typestore(types.Stores.LATEST)
    if kind not in store.fielddefs:
        text = f"{channel.topic} has the type {channel.kind[:60]}, which the log does not define"
        raise InputError(Fault(text, hint="only standard types of ROS 2 are known without"))
    return store, kind


def _check(topic: str, types: dict[str, Any]) -> None:
    """Raise InputError for names that are none, and for arrays that would become long code."""
    entries = 0
    for name, (constants, fields) in types.items():
        names = [name, *(one[0] for one in (*constants, *fields)), *_named(fields)]
        wrong = next((one for one in names if not _NAME.fullmatch(one)), None)
        if wrong is not None:
            raise InputError(f"{topic} has a definition with the name {wrong[:60]!r}")
        entries += sum(_length(about) for _, about in fields)
    if entries > MOST_ENTRIES:
        text = f"{topic} has a definition with {entries:,} entries of arrays"
        raise InputError(f"{text}; the most is {MOST_ENTRIES:,}")


_BASE, _REFERENCE, _ARRAY, _SEQUENCE = 1, 2, 3, 4
"""What rosbags calls numbers and texts, messages, arrays of a fixed length, and others."""


def _named(fields: Iterable[tuple[str, Any]]) -> Iterable[str]:
    """The names of the types of fields."""
    for _, (what, about) in fields:
        inner = (what, about) if what in (_BASE, _REFERENCE) else about[0]
        yield inner[1] if inner[0] == _REFERENCE else inner[1][0]


def _length(about: Any) -> int:
    """The fixed length of an array of texts or messages, 0 for others."""
    what, inner = about
    if what != _ARRAY:
        return 0
    (kind, one), size = inner
    return int(size) if kind == _REFERENCE or one[0] == "string" else 0

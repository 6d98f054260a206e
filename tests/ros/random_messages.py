"""Random messages of any type: as dicts, and as the objects that rosbags serialises."""

from __future__ import annotations

from functools import cache

import numpy as np
from rosbags.typesys import Stores, get_typestore

from spart_blocks.ros.definitions import NUMBERS, MessageType

TEXTS = ("", "a", "base_link", "Wörter mit ü", "日本", "x" * 37)


@cache
def store():
    return get_typestore(Stores.ROS2_JAZZY)


def random_values(rng, of, depth=0):
    """A message as `encode` takes it, with sequences of up to four elements."""
    return {member.name: _value(rng, member, depth) for member in of.members}


def _value(rng, member, depth):
    if not member.array:
        return _one(rng, member, depth)
    most = min(member.count or 4, 4) if depth < 3 else 1
    count = member.count if member.array == "array" else int(rng.integers(most + 1))
    if isinstance(member.kind, str) and member.kind != "string":
        return _numbers(rng, member.kind, count)
    return [_one(rng, member, depth) for _ in range(count)]


def _one(rng, member, depth):
    if isinstance(member.kind, MessageType):
        return random_values(rng, member.kind, depth + 1)
    if member.kind == "string":
        text = TEXTS[rng.integers(len(TEXTS))]
        return text[: member.longest] if member.longest else text
    return _numbers(rng, member.kind, 1)[0].item()


def _numbers(rng, kind, count):
    if kind == "bool":
        return rng.integers(2, size=count).astype(bool)
    dtype = np.dtype(NUMBERS[kind])
    if dtype.kind == "f":
        return rng.choice([0.0, -1.5, 1e300 if dtype.itemsize == 8 else 1e30, rng.normal()], count
                          ).astype(dtype)  # fmt: skip
    return np.frombuffer(rng.bytes(count * dtype.itemsize), dtype)


def as_rosbags(values, of):
    """The object of rosbags' classes with these values."""
    made = {}
    for member in of.members:
        value = values[member.name]
        if isinstance(member.kind, MessageType):
            value = ([as_rosbags(one, member.kind) for one in value] if member.array
                     else as_rosbags(value, member.kind))  # fmt: skip
        if member.kind == "byte":  # theirs is signed
            value = np.array(value, np.uint8).view(np.int8)
            value = value if member.array else value.item()
        made[member.name] = value
    if not of.members:
        made["structure_needs_at_least_one_member"] = 0
    return store().types[of.name](**made)


def bytes_of_rosbags(values, of, *, little_endian=True):
    message = as_rosbags(values, of)
    return bytes(store().serialize_cdr(message, of.name, little_endian=little_endian))


def same(a, b):
    """Whether two messages are equal, whatever their containers; NaN equals NaN."""
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(same(a[name], b[name]) for name in a)
    if isinstance(a, str):
        return a == b
    if isinstance(a, list):
        return len(a) == len(b) and all(same(x, y) for x, y in zip(a, b, strict=True))
    return np.array_equal(np.asarray(a), np.asarray(b))

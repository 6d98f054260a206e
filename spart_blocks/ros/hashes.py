"""RIHS01, the hash of a type, by which publishers and subscribers know that theirs are equal.

It is the SHA-256 of the type's description as JSON: names and types of fields in their order, and
the descriptions of all types that it refers to, sorted by name; neither constants nor defaults.
Source: REP 2016, and type_description_interfaces/msg/FieldType.
"""

from __future__ import annotations

import json
from functools import cache
from hashlib import sha256
from typing import Any

from spart_blocks.ros.definitions import Member, MessageType, ServiceType
from spart_blocks.ros.library import bundled

_IDS = {"int8": 2, "uint8": 3, "int16": 4, "uint16": 5, "int32": 6, "uint32": 7, "int64": 8,
        "uint64": 9, "float32": 10, "float64": 11, "char": 3, "bool": 15, "byte": 16,
        "string": 17}  # fmt: skip
_MESSAGE, _BOUNDED_STRING = 1, 21
_ARRAY, _BOUNDED_SEQUENCE, _SEQUENCE = 48, 96, 144
DUMMY = Member("structure_needs_at_least_one_member", "uint8")
"""The field of a message without fields, since a struct of IDL has one."""


@cache
def type_hash(of: MessageType | ServiceType) -> str:
    """The hash as text: RIHS01_ and 64 hexadecimal digits."""
    if isinstance(of, ServiceType):
        of = _as_message(of)
    found: dict[str, dict[str, Any]] = {}
    _describe(of, found)
    own = found.pop(of.name)
    told = {
        "type_description": own,
        "referenced_type_descriptions": [found[name] for name in sorted(found)],
    }
    return f"RIHS01_{sha256(json.dumps(told).encode()).hexdigest()}"


def _as_message(service: ServiceType) -> MessageType:
    """A service as the message of its parts, its event included (REP 2012)."""
    event = MessageType(
        f"{service.name}_Event",
        (
            Member("info", bundled().message("service_msgs/msg/ServiceEventInfo")),
            Member("request", service.request, "sequence", 1),
            Member("response", service.response, "sequence", 1),
        ),
    )
    parts = {"request": service.request, "response": service.response, "event": event}
    return MessageType(
        service.name, tuple(Member(f"{name}_message", part) for name, part in parts.items())
    )


def _describe(of: MessageType, found: dict[str, dict[str, Any]]) -> None:
    if of.name in found:
        return
    found[of.name] = {"type_name": of.name, "fields": []}
    found[of.name]["fields"] = [_field(member, found) for member in of.members or (DUMMY,)]


def _field(member: Member, found: dict[str, dict[str, Any]]) -> dict[str, Any]:
    if isinstance(member.kind, MessageType):
        _describe(member.kind, found)
        base, nested = _MESSAGE, member.kind.name
    else:
        base, nested = _BOUNDED_STRING if member.longest else _IDS[member.kind], ""
    if member.array == "array":
        base += _ARRAY
    elif member.array == "sequence":
        base += _BOUNDED_SEQUENCE if member.count else _SEQUENCE
    return {
        "name": member.name,
        "type": {
            "type_id": base,
            "capacity": member.count,
            "string_capacity": member.longest,
            "nested_type_name": nested,
        },
    }

"""The schemas of messages: of signals, of Foxglove's well-known messages, and of ROS texts."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import optional
from spart_blocks.recordings.mcap_file import EXTRA, PURPOSE, McapFile

if TYPE_CHECKING:
    from google.protobuf.message import Message

PROTOBUF = "protobuf"
STRING = ("std_msgs/msg/String", "ros2msg", b"string data\n")
"""The schema of a text as ROS 2 has it: name, encoding and text."""
_PACKAGE = "foxglove-schemas-protobuf"


def check_packages() -> None:
    """Raise MissingExtraError if a package is missing that recordings need."""
    optional("mcap.records", "mcap", EXTRA, PURPOSE)
    foxglove("FrameTransforms")


def foxglove(name: str) -> Any:
    """The class of a Foxglove message by its name, such as FrameTransforms. Raises
    MissingExtraError."""
    module = optional(f"foxglove_schemas_protobuf.{name}_pb2", _PACKAGE, EXTRA, PURPOSE)
    return getattr(module, name)


def signal_class(name: str, width: int | None, comment: str) -> Any:
    """The class of a signal's messages: its time t [s] and its value, `width` numbers or, for None,
    one. comment: on the value, with its unit."""
    proto: Any = optional("google.protobuf.descriptor_pb2", "protobuf", EXTRA, PURPOSE)
    from google.protobuf import descriptor_pool, message_factory

    title = re.sub(r"\W", "_", name)
    title = f"signal_{title}" if not title[:1].isalpha() else title
    file = proto.FileDescriptorProto(
        name=f"spart_blocks/{title}.proto", package="spart_blocks", syntax="proto3"
    )
    message = file.message_type.add(name=title)
    kind = proto.FieldDescriptorProto
    one, many = kind.LABEL_OPTIONAL, kind.LABEL_REPEATED
    message.field.add(name="t", number=1, type=kind.TYPE_DOUBLE, label=one, json_name="t")
    message.field.add(
        name="value",
        number=2,
        type=kind.TYPE_DOUBLE,
        label=one if width is None else many,
        json_name="value",
    )
    for place, text in (([4, 0, 2, 0], "[s]"), ([4, 0, 2, 1], comment)):
        if text:
            file.source_code_info.location.add(
                path=place, span=[0, 0, 0], leading_comments=f" {text}\n"
            )
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    made = message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{file.package}.{title}"))
    return _Described(made, proto.FileDescriptorSet(file=[file]).SerializeToString())


class _Described:
    """A message class whose description has comments, which pools drop."""

    def __init__(self, made: Any, description: bytes) -> None:
        self.made, self.description = made, description
        self.DESCRIPTOR = made.DESCRIPTOR

    def __call__(self, **fields: Any) -> Message:
        message: Message = self.made(**fields)
        return message


def protobuf_channel(
    file: McapFile, topic: str, kind: Any, metadata: dict[str, str] | None = None
) -> int:
    """Declare a channel of messages of a protobuf class, and its schema."""
    description = getattr(kind, "description", None) or _description(kind)
    schema = file.schema(kind.DESCRIPTOR.full_name, PROTOBUF, description)
    return file.channel(topic, PROTOBUF, schema, metadata)


@cache
def _description(kind: Any) -> bytes:
    """The FileDescriptorSet of a class, with the files that its own needs before it."""
    proto: Any = optional("google.protobuf.descriptor_pb2", "protobuf", EXTRA, PURPOSE)
    found, known = proto.FileDescriptorSet(), set[str]()

    def add(file: Any) -> None:
        if file.name not in known:
            known.add(file.name)
            for needed in file.dependencies:
                add(needed)
            file.CopyToProto(found.file.add())

    add(kind.DESCRIPTOR.file)
    data: bytes = found.SerializeToString()
    return data


def ros_string(text: str) -> bytes:
    """A text as std_msgs/msg/String in CDR, little endian."""
    data = text.encode() + b"\0"
    return b"\0\1\0\0" + len(data).to_bytes(4, "little") + data

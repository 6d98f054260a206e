"""Links to topics of ROS 2."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.ros.definitions import Find
from spart_blocks.ros.graph import NodeOptions, Qos, read_qos, read_topic
from spart_blocks.ros.library import bundled, read_definitions
from spart_blocks.ros.shapes import MessageShape, shape_of
from spart_blocks.transports.carrier import Carrier, carry_out, hand_in, local_pair
from spart_blocks.transports.dds import DdsNode
from spart_blocks.transports.endpoints import Endpoint, LoopEnd
from spart_blocks.transports.frames import MOST_BYTES, Field, Frame
from spart_blocks.transports.ros_node import NODE, RosNode
from spart_blocks.transports.zenoh import ZenohNode

_CARRIERS: dict[str, Callable[[NodeOptions], RosNode]] = {"zenoh": ZenohNode, "dds": DdsNode}
_SEQUENCE = "u32"
_TYPES = {"bool": "bool", "byte": "u8", "char": "u8", "int8": "i8", "uint8": "u8", "int16": "i16",
          "uint16": "u16", "int32": "i32", "uint32": "u32", "int64": "i64", "uint64": "u64",
          "float32": "f32", "float64": "f64"}  # fmt: skip
_WRONG = b"?"
"""What the loop gets instead of a message that is none, so that it counts it as malformed."""


@dataclass(frozen=True)
class RosTopic(Endpoint):
    """A topic with the shape of its messages."""

    parameter: ClassVar[str] = "topic"
    of_frame: ClassVar[str] = "fields"
    topic: str
    shape: MessageShape
    qos: Qos

    def __str__(self) -> str:
        return f"ROS {self.topic}"

    @cached_property
    def frame(self) -> Frame:
        """The message behind its number."""
        fields = tuple(Field(one.name, _TYPES[one.kind], one.count) for one in self.shape.fields)
        return Frame(
            fields,
            sequence=_SEQUENCE,
            background=self.shape.background,
            places=tuple(one.offset for one in self.shape.fields),
            stamps=tuple(offset for _, offset in self.shape.stamps),
        )

    def open(self, end: LoopEnd, kept: ExitStack) -> None:
        opening = _CARRIERS[end.node.carrier]
        node: RosNode = end.shared(NODE, lambda: opening(end.node))
        far = local_pair(end, kept)
        if end.way == "receive":

            def arrived(number: int, message: bytes | None) -> None:
                hand_in(far, _WRONG if message is None else self._frame_of(number, message))

            subscription = node.subscribe(self.topic, self.shape.of, self.qos, arrived)
            kept.callback(subscription.close)
            return
        end.stamp_by(node.options.clock)
        publisher = node.publisher(self.topic, self.shape.of, self.qos)
        kept.callback(publisher.close)
        sequence = 0

        def send(frame: bytes) -> None:
            nonlocal sequence
            number = int.from_bytes(frame[:4], "little") + 1  # theirs begin with 1
            sequence += (number - sequence) % 2**32
            publisher.put(frame[4:], sequence)

        carrier = Carrier(lambda: carry_out(far, send), str(self))
        carrier.start()
        kept.callback(carrier.stop)

    def _frame_of(self, number: int, message: bytes) -> bytes:
        """The frame of a received message, or what the loop counts as malformed."""
        try:
            return number.to_bytes(4, "little") + self.shape.canonical(message)
        except Exception:  # whatever a stranger sends: none may reach the thread of the carrier
            return _WRONG


def read_ros(
    topic: Any, message: Any, fields: Any, values: Any, joints: Any, qos: Any, definitions: Any
) -> RosTopic:
    """The endpoint of these parameters. Raises ValueError or InputError if one is invalid."""
    name = read_topic(topic)
    if not isinstance(message, str):
        raise ValueError(f"message is a type such as sensor_msgs/JointState, not {brief(message)}")
    try:
        find: Find = bundled().message
        if definitions is not None:
            find = read_definitions(Path(definitions), message)
        of = find(message)
    except InputError as error:
        found = error.faults[0]
        where = f"{found.place}: " if found.place else ""
        raise InputError(Fault(f"message: {where}{found.message}", hint=found.hint)) from None
    shape = shape_of(of, fields, values, joints)
    size = 4 + len(shape.background)
    if size > MOST_BYTES:
        raise ValueError(
            f"message: one of fixed shape has at most {MOST_BYTES - 4} bytes, this one {size - 4}"
        )
    return RosTopic(name, shape, read_qos(qos))

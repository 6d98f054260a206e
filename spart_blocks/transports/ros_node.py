"""What the carriers of ROS links have in common: a node with publishers and subscriptions."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, Protocol

from spart_blocks.ros.definitions import MessageType, ServiceType
from spart_blocks.ros.graph import NodeOptions, Qos

MOST_MESSAGE = 2**20
"""Largest message that is read [bytes]."""
NODE = "ROS node"
"""The name of the node that the links of a subdiagram share."""

Arrived = Callable[[int, bytes | None], None]
"""Takes a message: its number in the row of those of its topic, modulo 2**32, by whose gaps the
loop counts lost ones, and its bytes; None if what came is no message."""
Answer = Callable[[dict[str, Any]], dict[str, Any]]
"""Makes the response of a request."""


class Publisher(Protocol):
    """Publishes the messages of a topic."""

    def put(self, message: bytes, sequence: int) -> None:
        """sequence: number of the message, from 1. What cannot be sent is dropped."""

    def close(self) -> None: ...


class Closable(Protocol):
    """A subscription or service."""

    def close(self) -> None: ...


class RosNode(ABC):
    """A node of ROS as a context manager. Entering it raises InputError if it cannot be opened."""

    serves: ClassVar[bool]
    """Whether it has services."""

    def __init__(self, options: NodeOptions) -> None:
        """Raises MissingExtraError if the library of the carrier is not installed."""
        self.options = options

    @abstractmethod
    def __enter__(self) -> RosNode: ...

    @abstractmethod
    def __exit__(self, *_: object) -> None: ...

    @abstractmethod
    def publisher(self, topic: str, of: MessageType, qos: Qos) -> Publisher:
        """A publisher of a topic, which is named as in a diagram."""

    @abstractmethod
    def subscribe(self, topic: str, of: MessageType, qos: Qos, arrived: Arrived) -> Closable:
        """Call a function with each message of a topic, in a thread of the carrier."""

    def serve(self, service: str, of: ServiceType, answer: Answer) -> Closable:
        """Answer the requests of a service, in a thread of its own. Only where it `serves`."""
        raise NotImplementedError(f"{type(self).__name__} has no services")

"""Signals of logs, by name: those that a run has recorded, and fields of any messages.

A run's signal has a channel of its own, whose metadata has its name. Others are named by topic and
field, as `/joint_states.position[elbow]`.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import Any

import numpy as np

from spart_blocks.base.curves.lines import parted
from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.paths import named, select
from spart_blocks.results.logs.decoding import decoder
from spart_blocks.results.logs.fields import AbsentError, FieldPath, children, number_paths
from spart_blocks.results.logs.log import Channel, Log
from spart_blocks.results.samples import Samples
from spart_blocks.results.signal_names import STATES

MOST_NUMBERS = 20_000_000
"""Largest number of numbers that are read of a log."""
ABSOLUTE = "absolute "
_OF_LOG = "t"
_SHOWN = 12
_FAR = 1e9
"""Times [s] from the first message, beyond which they are those of another clock."""

Clock = Callable[[Any, int], float]
"""The time [s] of a message that was logged at a time [ns]."""


def read_log(log: Log, names: Sequence[str], time: str) -> dict[str, Samples]:
    """The named signals of a log. time: `t`, the run's time or that of logging since the first
    message; or a field of each message, as header.stamp. After `absolute`, both count from their
    clock's own zero. Raises InputError; errors of damaged messages are of any kind."""
    known = RecordedSignals(log.channels)
    wanted = {name: _signal(name, log, known) for name in names}
    channels = {channel: None for signal in wanted.values() for channel in signal.channels}
    zero = cache(lambda: _zero(log, known))
    readers = {one: (decoder(one), _clock(time, one, known, zero)) for one in channels}
    left = MOST_NUMBERS
    for channel, logged, data in log.messages(readers.keys()):
        decode, clock = readers[channel]
        message = decode(data)
        for signal in wanted.values():
            if channel in signal.channels:
                left -= signal.take(message, clock, logged)
        if left < 0:
            raise InputError(f"these signals have more than {MOST_NUMBERS:,} numbers")
    return {name: signal.samples(time) for name, signal in wanted.items()}


# --- signals of a run --------------------------------------------------------------------


class RecordedSignals:
    """The signals and states of a run, by the channels that have them."""

    def __init__(self, channels: Iterable[Channel]) -> None:
        self.channels: dict[str, Channel] = {}
        for channel in channels:
            about = channel.metadata
            name = about.get("signal") or (STATES + about["state"] if "state" in about else None)
            if name is not None:
                self.channels[name] = channel

    def find(self, name: str) -> tuple[str, str | None] | None:
        """The signal that a name begins with, and the index of elements behind it."""
        full, index = named(name, self.channels)
        if full in self.channels:
            labels = self.labels(full)
            return full, str(labels.index(index)) if index in labels else index
        for whole in self.channels:
            label = name.removeprefix(f"{whole}.")
            if whole.startswith(STATES) and label != name and label in self.labels(whole):
                return whole, str(self.labels(whole).index(label))
        return None

    def labels(self, name: str) -> list[Any]:
        """The names of the elements of a signal."""
        return self._list(name, "labels", str)

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a sample."""
        return tuple(self._list(name, "shape", int))

    def _list(self, name: str, key: str, kind: type) -> list[Any]:
        found = json.loads(self.channels[name].metadata.get(key, "[]"))
        if not isinstance(found, list) or not all(isinstance(one, kind) for one in found):
            raise InputError(f"the {key} of {name} are none")
        return found


# --- readers -----------------------------------------------------------------------------


@dataclass
class _Signal:
    """A signal that is being read. pick: its numbers in a message."""

    name: str
    channels: Collection[Channel]
    pick: Callable[[Any], Any]
    shape: tuple[int, ...] | None = None
    index: str | None = None
    times: array[float] = field(default_factory=lambda: array("d"))
    numbers: array[float] = field(default_factory=lambda: array("d"))
    fault: Fault | None = None

    def take(self, message: Any, clock: Clock, logged: int) -> int:
        """Add the sample of a message; returns the count of its numbers."""
        try:
            found = np.asarray(self.pick(message), float)
            t = clock(message, logged)
        except AbsentError as error:
            self.fault = Fault(f"there is no such entry in {self.name}", hint=error.args[0])
            return 1
        except InputError as error:
            raise InputError(
                [Fault(f"{self.name}: {one.message}", hint=one.hint) for one in error.faults]
            ) from None
        if self.shape is None:
            self.shape = found.shape
        if found.size != prod(self.shape):
            text = f"{self.name} has {found.size} numbers at {t:.9g} s, {prod(self.shape)} before"
            raise InputError(Fault(text, hint="name one of them, as [0]"))
        self.times.append(t)
        self.numbers.extend(found.ravel().tolist())
        return found.size + 1

    def samples(self, time: str) -> Samples:
        """The samples in the order of their times; of equal ones the later as a jump."""
        if not self.times:
            raise InputError(self.fault or Fault(f"there is no message of {self.name}"))
        times = np.array(self.times)
        values = np.array(self.numbers).reshape(len(times), *(self.shape or ()))
        if not values.size:
            raise InputError(f"{self.name} has no numbers in its messages")
        if not np.isfinite(times).all():
            raise InputError(f"{time} of {self.name} is not finite in all messages")
        order = np.argsort(times, kind="stable")
        return Samples(parted(times[order]), select(self.name, values[order], self.index))


def _signal(name: str, log: Log, known: RecordedSignals) -> _Signal:
    recorded = known.find(name)
    if recorded is not None:
        full, index = recorded
        channel = known.channels[full]
        return _Signal(name, [channel], lambda one: one.value, known.shape(full), index)
    topics = {channel.topic for channel in log.channels}
    topic = max((one for one in topics if f"{name}.".startswith(f"{one}.")), key=len, default=None)
    if topic is None:
        hint = did_you_mean(name, [*known.channels, *topics])
        raise InputError(Fault(f"it has no signal {name!r}", hint=hint))
    channels = [channel for channel in log.channels if channel.topic == topic]
    if name == topic:
        raise InputError(_whole(name, log, channels))
    return _Signal(name, channels, FieldPath.of(name[len(topic) + 1 :]).numbers)


def _whole(topic: str, log: Log, channels: Collection[Channel]) -> Fault:
    """The fault of a topic without a field."""
    first = next(log.messages(channels), None)
    paths = number_paths(decoder(first[0])(first[2])) if first else []
    hint = "name one of its fields, as " + ", ".join(f"{topic}.{path}" for path in paths[:_SHOWN])
    return Fault(f"{topic} is a topic", hint=hint if paths else "it has no numbers")


# --- times -------------------------------------------------------------------------------


def _clock(time: str, channel: Channel, known: RecordedSignals, first: Callable[[], int]) -> Clock:
    """The times of a channel's messages by the name of their clock. first: gives the time [ns] of
    the log that is t = 0."""
    name = time.removeprefix(ABSOLUTE).strip()
    absolute = time.startswith(ABSOLUTE)
    if name == _OF_LOG and not absolute and channel in known.channels.values():
        return lambda message, _: float(message.t)
    zero = 0 if absolute else first()
    if name == _OF_LOG:
        return lambda _, logged: (logged - zero) / 1e9
    path = FieldPath.of(name)

    def of_field(message: Any, _: int) -> float:
        value = path.pick(message)
        stamp = _stamp(value)
        if stamp is None:
            return float(path.numbers(message))
        if abs(stamp - zero) > _FAR * 1e9 and not absolute:
            text = f"{name} is by another clock than the times of logging"
            raise InputError(Fault(text, hint=f"time: {ABSOLUTE}{name} takes them as they are"))
        return (stamp - zero) / 1e9

    return of_field


def _zero(log: Log, known: RecordedSignals) -> int:
    """The time [ns] of the log that is t = 0: of the run, or of the first message."""
    first = next(log.messages(list(known.channels.values())), None) if known.channels else None
    if first is None:
        return log.start
    channel, logged, data = first
    return logged - round(float(decoder(channel)(data).t) * 1e9)


def _stamp(value: Any) -> int | None:
    """A time [ns] that is written as seconds and nanoseconds; None if the value is none."""
    parts = list(children(value).items())
    if len(parts) != 2 or not all(isinstance(number, int) for _, number in parts):
        return None
    (first, seconds), (second, nanoseconds) = parts
    if not first.startswith("sec") or not second.startswith("n"):
        return None
    return int(seconds * 1_000_000_000 + nanoseconds)

"""Results of a run out of the MCAP file that has recorded it."""

from __future__ import annotations

import re
from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.archives import ArrayReader
from spart_blocks.results.archives import opened as opened_archive
from spart_blocks.results.logs.decoding import Decode, decoder
from spart_blocks.results.logs.files import opened_mcap
from spart_blocks.results.logs.log import Channel
from spart_blocks.results.logs.mcap_log import McapLog
from spart_blocks.results.logs.signals import RecordedSignals
from spart_blocks.results.packed import (
    FINAL_STATE,
    MOST_META,
    RECORDED,
    RECORDING,
    AnyData,
    unpack_beside,
)
from spart_blocks.results.run_data import FinalState
from spart_blocks.results.signal_names import STATES


def load_run(kind: type[AnyData], path: Path, max_bytes: int) -> AnyData:
    """Results of class `kind` out of an MCAP file that a run has written. Raises InputError for
    files of others, and for arrays of more than max_bytes."""
    with opened_mcap(path) as log:
        known = RecordedSignals(log.channels)
        about = log.metadata(RECORDED)
        if not known.channels and about is None:
            hint = "its topics can be read by a block DATA"
            raise InputError(Fault("no run of spart_blocks has written it", hint=hint))
        return _run(kind, log, known, about, max_bytes)


def _run(
    kind: type[AnyData],
    log: McapLog,
    known: RecordedSignals,
    about: dict[str, str] | None,
    max_bytes: int,
) -> AnyData:
    t, arrays = _arrays(log, known, max_bytes)
    signals = {name: array for name, array in arrays.items() if not name.startswith(STATES)}
    states = {
        name.removeprefix(STATES): array
        for name, array in arrays.items()
        if name.startswith(STATES)
    }
    if about is None:  # the program died before it wrote it
        end = FinalState(float(t[-1]) if len(t) else 0.0)
        units = {name: one.metadata.get("unit", "") for name, one in known.channels.items()}
        return kind(t=t, signals=signals, states=states, final_state=end, complete=False,
                    units={name: unit for name, unit in units.items() if unit})  # fmt: skip
    if about.get("format") != RECORDING:
        raise InputError(f"format is {about.get('format')!r}, this version reads {RECORDING!r}")
    text, archive = about.get("meta", ""), log.attachment(FINAL_STATE)
    if archive is None or len(text) > MOST_META:
        raise InputError("the description of its run is none")
    with opened_archive(BytesIO(archive)) as beside:
        read = ArrayReader(beside, max_bytes)
        return unpack_beside(kind, text, read, t, signals, states)


def _arrays(
    log: McapLog, known: RecordedSignals, max_bytes: int
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """The times of a run, and its signals and states by name."""
    names = {channel: name for name, channel in known.channels.items()}
    waiting = {channel: _Messages() for channel in names}
    left = max_bytes
    for channel, _, data in log.messages(names.keys()):
        left -= 8 + len(data)
        if left < 0:
            raise InputError(f"its signals have more than {max_bytes:,} bytes")
        waiting[channel].add(data)
    rows = {channel: waiting.pop(channel).rows(channel) for channel in names}
    t = _common([times for times, _ in rows.values()], log.whole)
    return t, {
        name: _of_numbers(name, known, rows[channel][1], len(rows[channel][0]))[: len(t)]
        for channel, name in names.items()
    }


@dataclass
class _Messages:
    """The bytes of a channel's messages, one after another, and the size of each."""

    data: bytearray = field(default_factory=bytearray)
    sizes: array[int] = field(default_factory=lambda: array("Q"))

    def add(self, message: bytes) -> None:
        self.data += message
        self.sizes.append(len(message))

    def rows(self, channel: Channel) -> tuple[NDArray[Any], NDArray[Any]]:
        """The times (k,) and the numbers of all messages together."""
        return self._alike() or self._decoded(decoder(channel))

    def _alike(self) -> tuple[NDArray[Any], NDArray[Any]] | None:
        """The numbers of messages that have theirs at the same places, as a recording writes them;
        None for others."""
        size = self.sizes[0] if self.sizes else 0
        head = _head(size)
        if head is None or self.sizes.count(size) < len(self.sizes):
            return None
        table = np.frombuffer(self.data, np.uint8).reshape(-1, size)
        start = 9 + len(head)
        if (table[:, 0] != 0x09).any() or (table[:, 9:start] != list(head)).any():
            return None
        t, numbers = (np.ascontiguousarray(part).view("<f8") for part in
                      (table[:, 1:9], table[:, start:]))  # fmt: skip
        return t.ravel(), numbers.ravel()

    def _decoded(self, decode: Decode) -> tuple[NDArray[Any], NDArray[Any]]:
        times, numbers, start = array("d"), array("d"), 0
        for size in self.sizes:
            message = decode(bytes(self.data[start : start + size]))
            times.append(message.t)
            value = message.value
            numbers.extend([value] if isinstance(value, float) else value)
            start += size
        return np.array(times), np.array(numbers)


def _head(size: int) -> bytes | None:
    """What stands between time and numbers in a message of this size: the tag of one number, or
    that of packed ones and their size; None if no such message has this size."""
    if size == 18:
        return b"\x11"
    for length in range(1, 6):
        rest = size - 10 - length
        coded = bytes(
            (rest >> 7 * k) & 0x7F | (0x80 if k < length - 1 else 0) for k in range(length)
        )
        if rest >= 0 and rest % 8 == 0 and 7 * (length - 1) <= rest.bit_length() <= 7 * length:
            return b"\x12" + coded
    return None


def _common(times: Sequence[NDArray[Any]], whole: bool) -> NDArray[Any]:
    """The times of the rows, which all signals have: of a file without its end, up to where each
    is there. Raises InputError where they differ."""
    count = min(map(len, times), default=0)
    t = np.array(times[0][:count] if times else [], float)
    uneven = whole and any(len(one) != count for one in times)
    if uneven or any(not np.array_equal(t, one[:count], equal_nan=True) for one in times):
        raise InputError("its signals are not there at the same times")
    return t


def _of_numbers(
    name: str, known: RecordedSignals, numbers: NDArray[Any], count: int
) -> NDArray[Any]:
    """A signal's samples in their shape and type."""
    written = known.channels[name].metadata.get("dtype", "float64")
    kind = np.dtype(written).kind if re.fullmatch("[a-z]+[0-9]*", written) else "O"
    if kind not in "biufc":
        raise InputError(f"{name} is of the type {written[:40]!r}, not of numbers")
    shape = known.shape(name)
    if len(numbers) != count * prod(shape):
        raise InputError(f"{name} has {len(numbers)} numbers in {count} samples of shape {shape}")
    samples = numbers.reshape(count, *shape)
    if kind == "c":  # two numbers each, along the last axis
        return np.ascontiguousarray(samples).view(complex)[..., 0].astype(written)
    return samples.astype(written)

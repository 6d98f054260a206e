"""The channels of signals: a message has the time t [s], exactly as in the run, and the values."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from spart_blocks.recordings.mcap_file import McapFile
from spart_blocks.recordings.schemas import protobuf_channel, signal_class
from spart_blocks.recordings.templates import Floats, Template, hole, template_of
from spart_blocks.results.run_data import RunData
from spart_blocks.results.signal_names import STATES

TIME = 0
"""The column of the time t [s] in rows."""


@dataclass(frozen=True)
class RecordedSignal:
    """A signal of a recording. entries: names of its elements, if they have some. dtype: of its
    array; a complex number is two numbers of the last axis."""

    name: str
    shape: tuple[int, ...]
    unit: str = ""
    entries: tuple[str, ...] = ()
    dtype: str = "float64"

    @property
    def width(self) -> int:
        """The count of its numbers."""
        return prod(self.shape)

    def metadata(self) -> dict[str, str]:
        """Its description in its channel."""
        kind = "state" if self.name.startswith(STATES) else "signal"
        return {
            kind: self.name.removeprefix(STATES),
            "unit": self.unit,
            "labels": json.dumps(self.entries),
            "shape": json.dumps(self.shape),
            "dtype": self.dtype,
        }


def topic_of(name: str) -> str:
    """The topic of a signal: /plant/qm of plant.qm."""
    return "/" + name.replace(".", "/")


def signal_channels(
    file: McapFile, signals: Iterable[RecordedSignal]
) -> list[tuple[int, Template]]:
    """Declare the channels of signals, and return them with their messages. The columns of their
    rows are the time, and then the numbers of each signal in turn."""
    found, column = [], TIME + 1
    for signal in signals:
        width = signal.width if signal.shape else None
        names = f" {', '.join(signal.entries)}" if signal.entries else ""
        comment = f"{f'[{signal.unit}]' if signal.unit else ''}{names}".strip()
        kind = signal_class(signal.name, width, comment)
        channel = protobuf_channel(file, topic_of(signal.name), kind, signal.metadata())
        holes = [hole(column + k) for k in range(signal.width)]
        message = kind(t=hole(TIME), value=holes if signal.shape else holes[0])
        found.append((channel, template_of(message)))
        column += signal.width
    return found


def signals_of(results: RunData) -> tuple[list[RecordedSignal], Floats]:
    """The kept signals and states of a run, and their rows with the time (N, 1 + n)."""
    arrays = {**results.signals, **{STATES + name: x for name, x in results.states.items()}}
    signals, parts = [], [results.t[:, None]]
    for name, array in arrays.items():
        dtype = str(array.dtype)
        if array.dtype.kind == "c":
            array = np.ascontiguousarray(array, complex)[..., None].view(float)
        shape = array.shape[1:]
        state = name.removeprefix(STATES)
        entries: Sequence[str] = (
            results.state_names.get(state, ())
            if name.startswith(STATES)
            else results.entry_names(name)
        )
        signals.append(RecordedSignal(name, shape, results.unit(name), tuple(entries), dtype))
        parts.append(array.reshape(len(array), prod(shape)))
    return signals, np.concatenate(parts, axis=1, dtype=float)

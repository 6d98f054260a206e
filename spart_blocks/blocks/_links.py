"""What the blocks share that connect a diagram with the outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from spart_blocks.blocks._frames import Field, Frame, read_frame
from spart_blocks.blocks._ports import Port, port_arguments, taken_names
from spart_blocks.blocks._tables import Pieces
from spart_blocks.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.results.csv_columns import read_csv

TIMEOUT = 0.1
"""How long a received value holds without a new frame, where nothing else is said [s]."""
LONGEST_TIMEOUT = 3600.0

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Link:
    """How a block is connected where its diagram runs in real time.

    way: a block 'in' brings frames to the part that it feeds, 'out' takes those of the part
    that feeds it. endpoint: where, as a value of the transport's own. timeout [s]: of who
    receives. safe: (numbers,) what is sent where the outputs are not to be; None: nothing.
    """

    way: Literal["in", "out"]
    endpoint: Any
    frame: Frame
    timeout: float
    safe: tuple[float, ...] | None


@dataclass(frozen=True)
class Recording:
    """Values by time, each held until the next: times (k,) [s], rows by field (k, n)."""

    times: Floats
    rows: Mapping[str, Floats]

    def at(self, t: Any, field: Field) -> Any:
        """The value of a field, of its shape; before the first time the first one."""
        value = Pieces(self.times).pick(t, *self.rows[field.name].T)
        return np.array(value) if field.count is not None else value[0]


class _Connected:
    def _layout(self, frame: Any, endpoint: Any) -> Frame:
        """The frame, which suits the transport and the names of ports."""
        layout = read_frame(frame)
        if getattr(endpoint, "needs_header", False) and not layout.header:
            hint = "such as header: '0xA55A'"
            raise InputError(Fault("frame needs a header, to be found in a stream", hint=hint))
        check_names(self, layout)
        return layout


class Incoming(_Connected):
    """What the blocks share through which numbers come in."""

    def connect(
        self, endpoint: Any, frame: Any, timeout: Any, recorded: str | Path | None
    ) -> dict[str, Any]:
        """Give the block its link and ports; the arguments of bdsim's constructor."""
        layout = self._layout(frame, endpoint)
        self.link = Link("in", endpoint, layout, read_timeout(timeout), None)
        self.recording = None if recorded is None else read_recording(recorded, layout)
        ports = _ports(layout, optional=True)
        self.in_ports, self.out_ports = (() if self.recording else ports), _ports(layout)
        return port_arguments(self.in_ports, self.out_ports)

    def start(self, simstate: Any) -> None:
        """Tell the times at which a recording switches."""
        if self.recording is not None:
            for t in self.recording.times:
                if 0 < t < simstate.T:
                    simstate.declare_event(self, float(t))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.recording is None:
            return list(inputs)
        return [self.recording.at(t, field) for field in self.link.frame.fields]


class Outgoing(_Connected):
    """What the blocks share through which numbers go out."""

    def connect(self, endpoint: Any, frame: Any, timeout: Any, safe: Any) -> dict[str, Any]:
        """Give the block its link and ports; the arguments of bdsim's constructor."""
        layout = self._layout(frame, endpoint)
        self.link = Link("out", endpoint, layout, read_timeout(timeout), read_safe(safe, layout))
        self.in_ports = self.out_ports = _ports(layout)
        return port_arguments(self.in_ports, self.out_ports)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(inputs)


def _ports(frame: Frame, *, optional: bool = False) -> tuple[Port, ...]:
    """A port for each field."""
    return tuple(Port(field.name, field.shape, optional=optional) for field in frame.fields)


def check_names(block: Any, frame: Frame) -> None:
    """See that no field has the name of an attribute of its block: bdsim makes wires of
    assignments to the names of ports."""
    names = [field.name for field in frame.fields]
    taken = taken_names(type(block), names)
    if taken:
        hint = "give the field another name"
        raise InputError(
            Fault(f"frame.fields.{name}: no port can be called {name!r}", hint=hint)
            for name in taken
        )


def read_timeout(value: Any) -> float:
    """A timeout [s]; ValueError where it is none."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= LONGEST_TIMEOUT:
        raise ValueError(f"timeout must be above 0 and at most {LONGEST_TIMEOUT:g} s, not {value}")
    return float(value)


def read_safe(given: Any, frame: Frame) -> tuple[float, ...] | None:
    """The value of each number of a frame that is safe to send: one for all, or a value
    for each field, where a number fills it. None where none is given. InputError lists
    what is wrong."""
    if given is None:
        return None
    fields = {field.name: field for field in frame.fields}
    number = isinstance(given, int | float) and not isinstance(given, bool)
    values = dict.fromkeys(fields, given) if number else given
    if not isinstance(values, Mapping):
        hint = f"write safe: 0, or safe: {{{frame.fields[0].name}: 0}}"
        raise InputError(Fault(f"safe gives values by field, not {brief(given)}", hint=hint))
    faults = []
    for name in (*fields, *(name for name in values if name not in fields)):
        if name not in fields:
            near = did_you_mean(str(name), fields)
            faults.append(Fault(f"safe.{name}: there is no field {brief(name)}", hint=near))
        elif name not in values:
            faults.append(Fault(f"safe gives no value for {name}"))
        elif (problem := _unsafe(values[name], fields[name])) is not None:
            faults.append(Fault(f"safe{'' if number else f'.{name}'} {problem}"))
    if faults:
        raise InputError(faults)
    return tuple(frame.flat(values).tolist())


def _unsafe(value: Any, field: Field) -> str | None:
    """Why a field cannot have this safe value."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return f"takes numbers, not {brief(value)}"
    if numbers.shape not in ((), field.shape):
        return f"takes a number, or {field.numbers} of them, not {numbers.size}"
    return None if np.isfinite(numbers).all() else "takes finite numbers"


def read_recording(path: str | Path, frame: Frame) -> Recording:
    """A recording from a CSV file: a header row `t, qm[0], qm[1], ..., flags`, numbers below,
    times [s] that rise. Other columns are left alone. InputError says what is wrong."""
    names = [name for field in frame.fields for name in _columns(field)]
    file = read_csv(path)
    table = file.numbers(["t", *names])
    file.check_rising("t", table[:, 0])
    rows, start = {}, 1
    for field in frame.fields:
        rows[field.name] = np.ascontiguousarray(table[:, start : start + field.numbers])
        start += field.numbers
    return Recording(table[:, 0].copy(), rows)


def _columns(field: Field) -> list[str]:
    if field.count is None:
        return [field.name]
    return [f"{field.name}[{k}]" for k in range(field.count)]

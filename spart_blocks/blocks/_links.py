"""What the blocks share that connect a diagram with the outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.blocks._ports import Port, port_arguments, taken_names
from spart_blocks.curves.lines import Intervals
from spart_blocks.errors import Fault, InputError
from spart_blocks.links.connection import Link, read_safe, read_timeout
from spart_blocks.links.frames import Field, Frame, read_frame
from spart_blocks.results.csv_columns import read_csv

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class Recording:
    """Values by time, each held until the next: times (k,) [s], rows by field (k, n)."""

    times: Floats
    rows: Mapping[str, Floats]

    def at(self, t: Any, field: Field) -> Any:
        """The value of a field, of its shape; before the first time the first one."""
        value = Intervals(self.times).pick(t, *self.rows[field.name].T)
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

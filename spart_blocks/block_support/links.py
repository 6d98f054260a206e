"""Common base of the link blocks, which connect a diagram with the outside."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import cleandoc
from pathlib import Path
from typing import Any

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.base.curves.intervals import Intervals
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.parameters import fixed
from spart_blocks.block_support.ports import Port, port_arguments, taken_names
from spart_blocks.results.csv_columns import read_csv
from spart_blocks.transports.connection import TIMEOUT, LinkConnection, read_safe, read_timeout
from spart_blocks.transports.endpoints import Endpoint
from spart_blocks.transports.frames import Field, Frame, read_frame

Floats = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True)
class HeldValues:
    """Values by time, each held until the next: times (k,) [s], rows by field (k, n)."""

    times: Floats
    rows: Mapping[str, Floats]

    def at(self, t: Any, field: Field) -> Any:
        """The value of a field in its shape; before the first time, the first value."""
        value = Intervals(self.times).pick(t, *self.rows[field.name].T)
        return np.array(value) if field.count is not None else value[0]


_VALUES = PortSpec("values", "count", "", "an output for each field of the frame, by its name")
_GIVEN = replace(_VALUES, text="an input for each field of the frame, by its name")


FRAME = fixed("mapping", text="the layout of a frame, such as {fields: {qm: 7 f64}, sequence: u32}")
TIMEOUT_OF = fixed(
    *("float", "s", TIMEOUT),
    check=lambda value, _: read_timeout(value),
    text="time without a new frame after which values are stale",
)


class Connected(Declared):
    """"""

    # A block combines a direction, in or out, and a transport, whose `connect` gives the endpoint.
    # Its help contains their docstrings, which are written for users, after its own.

    takes = (_GIVEN,)
    gives = (_VALUES,)
    _endpoint: Endpoint

    def __init_subclass__(cls, **options: Any) -> None:
        if issubclass(cls, FunctionBlock):
            parts = [cls, *reversed(cls.__mro__[1 : cls.__mro__.index(Connected)])]
            cls.__doc__ = "\n\n".join(_own_help(part) for part in parts)
        super().__init_subclass__(**options)

    @staticmethod
    def connect(*_: Any, **place: Any) -> Endpoint:
        """Where frames go, by the parameters of a transport."""
        raise NotImplementedError

    def _layout(self, frame: Any) -> Frame:
        """The frame, checked against the transport and the names of ports."""
        layout = self._endpoint.frame or read_frame(frame)
        if self._endpoint.needs_header and not layout.header:
            hint = "such as header: '0xA55A'"
            raise InputError(Fault("frame needs a header, to be found in a stream", hint=hint))
        check_names(self, layout, self._endpoint.of_frame)
        return layout


def _own_help(part: type[Connected]) -> str:
    """A docstring without the fields of ports."""
    lines = cleandoc(part.__doc__ or "").splitlines()
    told = (
        line for line in lines if not line.startswith((":input ", ":output ", ":param ", ":type "))
    )
    return "\n".join(told).strip()


class Incoming(Connected):
    """With `recorded`, a simulation takes the values from a file, and the block has no inputs.

    :arg recorded: a CSV file with the columns t, qm[0], ..., each row held until the next
    """

    takes = (replace(_GIVEN, optional=True),)

    timeout = TIMEOUT_OF
    recorded = fixed("path", "", None)

    def build(self, timeout: Any, recorded: Any, frame: Any = None, **place: Any) -> dict[str, Any]:
        self._endpoint = self.connect(**place)
        layout = self._layout(frame)
        self.link = LinkConnection("in", self._endpoint, layout, timeout, None)
        self.recording = None if recorded is None else read_recording(recorded, layout)
        ports = _ports(layout, optional=True)
        return self.set_ports((() if self.recording else ports), _ports(layout))

    def start(self, simstate: Any) -> None:
        """Declare the times at which a recording switches."""
        if self.recording is not None:
            for t in self.recording.times:
                if 0 < t < simstate.T:
                    simstate.declare_event(self, float(t))

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        if self.recording is None:
            return list(inputs)
        return [self.recording.at(t, field) for field in self.link.frame.fields]


class Outgoing(Connected):
    """
    :arg safe: values sent when the loop ends or its inputs are stale: a number for all fields, or
        values by field, such as {tau: 0}; by default nothing is sent then
    """

    timeout = TIMEOUT_OF
    safe = fixed("float or mapping", "", None)

    def build(self, timeout: Any, safe: Any, frame: Any = None, **place: Any) -> dict[str, Any]:
        self._endpoint = self.connect(**place)
        layout = self._layout(frame)
        held, sent = timeout, read_safe(safe, layout)
        self.link = LinkConnection("out", self._endpoint, layout, held, sent)
        self.in_ports = self.out_ports = _ports(layout)
        return port_arguments(self.in_ports, self.out_ports)

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return list(inputs)


def _ports(frame: Frame, *, optional: bool = False) -> tuple[Port, ...]:
    """A port for each field."""
    return tuple(Port(field.name, field.shape, optional=optional) for field in frame.fields)


def check_names(block: Any, frame: Frame, parameter: str) -> None:
    """Check that no field has the name of an attribute of its block, since bdsim turns assignments
    to port names into wires. parameter: that names the fields.
    """
    names = [field.name for field in frame.fields]
    taken = taken_names(type(block), names)
    if taken:
        hint = "give the field another name"
        raise InputError(
            Fault(f"{parameter}.{name}: no port can be called {name!r}", hint=hint)
            for name in taken
        )


def read_recording(path: str | Path, frame: Frame) -> HeldValues:
    """Read a recording from a CSV file: a header row `t, qm[0], qm[1], ..., flags`, then rows of
    numbers with increasing times [s]. Other columns are ignored. Raises InputError.
    """
    names = [name for field in frame.fields for name in _columns(field)]
    file = read_csv(path)
    table = file.numbers(["t", *names])
    file.check_rising("t", table[:, 0])
    rows, start = {}, 1
    for field in frame.fields:
        rows[field.name] = np.ascontiguousarray(table[:, start : start + field.numbers])
        start += field.numbers
    return HeldValues(table[:, 0].copy(), rows)


def _columns(field: Field) -> list[str]:
    if field.count is None:
        return [field.name]
    return [f"{field.name}[{k}]" for k in range(field.count)]

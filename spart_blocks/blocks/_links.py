"""What the blocks share that connect a diagram with the outside."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
from bdsim.components import FunctionBlock

from spart_blocks.blocks._frames import Field, Frame, read_frame
from spart_blocks.blocks._ports import Port, port_arguments
from spart_blocks.errors import Fault, InputError, brief, did_you_mean

TIMEOUT = 0.1
"""How long a received value holds without a new frame, where nothing else is said [s]."""
LONGEST_TIMEOUT = 3600.0
MOST_TRACED = 256
"""Rows of a recording that become expressions; each costs an operation a number."""
MOST_RECORDED = 16_000_000
"""Bytes of a recording."""

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
        rows = self.rows[field.name]
        if len(self.times) > MOST_TRACED:
            value = rows[max(bisect_right(self.times, t) - 1, 0)]
        else:
            value = rows[0]
            for start, row in zip(self.times[1:], rows[1:], strict=True):
                value = np.where(t >= start, row, value)
        return value if field.count is not None else value[0]


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


class _Plain(FunctionBlock):
    """A block with nothing of its own."""

    nin = 1
    nout = 1

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        return inputs


@cache
def _attributes() -> frozenset[str]:
    """The names of what every block has besides its ports."""
    plain = _Plain(name="plain")
    return frozenset((*dir(_Plain), *vars(plain)))


def check_names(block: Any, frame: Frame) -> None:
    """See that no field has the name of an attribute of its block: bdsim makes wires of
    assignments to the names of ports."""
    names = [field.name for field in frame.fields]
    taken = [name for name in names if name in _attributes() or hasattr(type(block), name)]
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
    times [s] that rise. Other columns are left alone. ValueError says what is wrong."""
    try:
        if Path(path).stat().st_size > MOST_RECORDED:
            raise ValueError(f"recorded: {path} has more than {MOST_RECORDED} bytes")
        with open(path, encoding="utf-8-sig") as file:
            names = [name.strip().strip('"') for name in file.readline().split(",")]
            lines = [line for line in file if line.strip()]
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"recorded: cannot read {path}: {error}") from None
    columns = {field.name: _columns(field) for field in frame.fields}
    wanted = ["t", *(name for group in columns.values() for name in group)]
    missing = [name for name in wanted if name not in names]
    if missing:
        have = brief(", ".join(names), 200)
        raise ValueError(f"recorded: {path} has no column {missing[0]!r}; its columns are {have}")
    table = _table(lines, len(names), path)
    if not len(table) or not np.isfinite(table[:, [names.index(name) for name in wanted]]).all():
        raise ValueError(f"recorded: {path} needs rows of finite numbers")
    times = table[:, names.index("t")]
    if (np.diff(times) <= 0).any():
        row = int(np.argmax(np.diff(times) <= 0)) + 3
        raise ValueError(f"recorded: the times of {path} do not rise in line {row}")
    rows = {
        name: table[:, [names.index(column) for column in group]] for name, group in columns.items()
    }
    return Recording(times, rows)


def _columns(field: Field) -> list[str]:
    if field.count is None:
        return [field.name]
    return [f"{field.name}[{k}]" for k in range(field.count)]


def _table(lines: Sequence[str], width: int, path: str | Path) -> Floats:
    """The numbers of a CSV file's rows (k, width); what is no number is NaN."""
    table = np.full((len(lines), width), np.nan)
    for k, line in enumerate(lines):
        cells = line.split(",")
        if len(cells) != width:
            raise ValueError(
                f"recorded: line {k + 2} of {path} has {len(cells)} cells, not {width}"
            )
        for i, cell in enumerate(cells):
            try:
                table[k, i] = float(cell)
            except ValueError:
                continue
    return table

"""Exchanges parameters and signals with a running loop."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.base.rows import parted
from spart_blocks.block_support.parameters import range_text
from spart_blocks.export.interface import Member
from spart_blocks.export.step import StepCode
from spart_blocks.realtime.structs import LoopStruct, RingStruct

Floats = NDArray[np.float64]

_MOST_BYTES = 64 * 2**20
_HELD = 2.0  # s, capacity of the ring


def gathered(members: Sequence[Member], vector: Floats) -> Floats:
    """The entries of these members in a vector such as p, concatenated."""
    parts = [vector[m.start : m.start + m.size] for m in members]
    return np.concatenate([np.zeros(0), *parts])


class LoopParameters:
    """The parameters of a running loop, and its inputs that are not received over links. Initial
    states are not among them, since they are used at the start only.
    """

    def __init__(
        self, library: ctypes.CDLL, struct: LoopStruct, code: StepCode, linked: Collection[int]
    ) -> None:
        """linked: indices of the inputs that are received over links."""
        self._library, self._struct, self._code = library, struct, code
        self.told: Callable[[int, Floats], None] | None = None
        """Is called with each vector of values that is set, and its number."""
        self._program = code.part.program
        self._lock = Lock()
        starts = set(self._program.start.values())
        free = [
            m
            for m in code.interface.inputs
            if not set(range(m.place, m.place + m.size)) & set(linked)
        ]
        tunable = [m for m in code.interface.parameters if m.name not in starts]
        self._members = {m.name: m for m in [*tunable, *free]}
        self._inputs = frozenset(m.name for m in free)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._members)

    @property
    def inputs(self) -> frozenset[str]:
        """The names that are inputs of the subdiagram."""
        return self._inputs

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of a parameter."""
        return self._member(name).shape

    def bounds(self, name: str) -> tuple[float, float]:
        """Lower and upper bound of each of its elements."""
        return self._code.part.bounds.get(name, (-np.inf, np.inf))

    @property
    def values(self) -> dict[str, Floats]:
        """The values that were set last, or those of the diagram."""
        program = self._program
        return {
            name: program.p[m.start : m.start + m.size].reshape(m.shape)
            for name, m in self._members.items()
        }

    def set(self, values: Mapping[str, Any]) -> None:
        """Set values, which the loop applies together before one of its next steps.

        A scalar fills a vector. Raises InputError for an unknown name, a wrong shape, or a
        number that is not finite or out of bounds; then nothing changes.
        """
        with self._lock:
            program = self._changed(values)
            vector = self.vector(program.p)
            number = self._library.sb_loop_tune(ctypes.byref(self._struct), vector.ctypes.data)
            self._program = program
            if self.told is not None:
                self.told(number, vector)

    def vector(self, p: Floats) -> Floats:
        """The parameters, followed by the inputs, as sb_loop_tune expects them."""
        interface = self._code.interface
        return np.concatenate([gathered(interface.parameters, p), gathered(interface.inputs, p)])

    def _changed(self, values: Mapping[str, Any]) -> Any:
        known = {f"{name}.value" if name in self._inputs else name: name for name in values}
        for name in values:
            self._member(name)
        program = self._program.with_parameters({full: values[n] for full, n in known.items()})
        faults = []
        for name in values:
            low, high = self.bounds(name)
            member = self._members[name]
            new = program.p[member.start : member.start + member.size]
            if (new < low).any() or (new > high).any():
                faults.append(Fault(f"{name} must {range_text(low, high)}"))
        if faults:
            raise InputError(faults)
        return program

    def _member(self, name: str) -> Member:
        if name not in self._members:
            hint = did_you_mean(name, self._members)
            raise InputError(Fault(f"no parameter {name!r} that can be set", hint=hint))
        return self._members[name]


class SignalRows:
    """The rows that a loop writes into a ring at each step: its time, inputs and outputs, the
    number of its deadline, and that of its parameters. Nothing is written until `streaming` is set;
    the ring takes memory from then on, or from `reserve`.
    If rows are not drained in time, those without room are dropped and counted.
    """

    def __init__(
        self, library: ctypes.CDLL, struct: LoopStruct, ring: RingStruct, code: StepCode
    ) -> None:
        self._library, self._struct, self._ring = library, struct, ring
        self._lock = Lock()
        members = [*code.interface.inputs, *code.interface.outputs]
        columns, start = [], 1
        for member in members:
            columns.append(replace(member, place=start))
            start += member.size
        self.columns = tuple(columns)
        self.width = start + 2
        wanted = int(_HELD * float(code.schedule.rate)) + 1
        self._most = max(16, min(wanted, _MOST_BYTES // (8 * self.width)))

    def reserve(self) -> None:
        """Make the ring, as must be done before a loop runs whose memory is locked."""
        if not self._ring.rows:
            self._data = np.zeros((self._most, self.width))
            self._ring.data, self._ring.rows = self._data.ctypes.data, self._most

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(column.name for column in self.columns)

    @property
    def streaming(self) -> bool:
        """Whether the loop writes rows."""
        return bool(self._ring.streaming)

    @streaming.setter
    def streaming(self, wanted: bool) -> None:
        if wanted:
            self.reserve()
        self._ring.streaming = int(wanted)

    @property
    def dropped(self) -> int:
        """Number of rows dropped so far because the ring was full."""
        return int(self._ring.dropped)

    def drain(self) -> Floats:
        """The rows (k, width) written since the last call: the loop's time t [s], the signals in
        the order of `columns`, the number of the deadline, and that of the parameters."""
        with self._lock:
            struct, ring = self._struct, self._ring
            rows = np.empty((max(0, ring.head - ring.tail), self.width))
            address, most = rows.ctypes.data, len(rows)
            count = self._library.sb_loop_drain(
                ctypes.byref(struct), ctypes.byref(ring), address, most
            )
            return rows[:count]

    def parted(self, rows: Floats) -> dict[str, Floats]:
        """Rows split by signal: (k, ...) each."""
        columns = parted(rows[:, 1:-2], [column.shape for column in self.columns])
        return dict(zip(self.names, columns, strict=True))

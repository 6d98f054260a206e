"""The tape of a run: its steps, and what acted between them, for derivatives of the run.

A row is a step: where it began and ended, and the states at its start. A compiled loop writes rows
by sb_note of driver.c, a loop in Python by `Taped`.
"""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.holds import Held
from spart_blocks.run.record.record import Dense, Keeper, Passing

PLAIN, STOPPED, CROSSES = range(3)
"""What ends a step: nothing else, a stop, or a crossing; as in driver.c."""
HEAD = 4
"""Numbers of a row before its states: its start, the latest time before what ends it, its end, and
what ends it.
"""
MOST_NUMBERS = 200_000_000
"""Largest count of numbers on a tape."""
_ROOM = 2048
Kind = Literal["found", "reset", "switch", "project", "held"]


@dataclass(frozen=True)
class Act:
    """Something that acted at time t [s].

    kind: 'found' for crossings k at which the run acts, 'reset' for the reset of an EVENT, 'switch'
    for a block that switches its mode, 'project' for states set to their constraints, 'held' where
    what holds the states changes. ticks_follow: whether it came before the ticks at this time.
    held, x: if the kind is 'held', what holds the states from here on, and these.
    """

    t: float
    kind: Kind
    k: tuple[int, ...] = ()
    ticks_follow: bool = False
    held: Held = field(default_factory=Held)
    x: Floats | None = None


class TapeStruct(ctypes.Structure):
    """The struct sb_tape of driver.c, field by field."""

    _fields_ = (
        ("count", ctypes.c_longlong),
        ("room", ctypes.c_longlong),
        ("rows", ctypes.c_void_p),
    )


class Tape:
    """The steps of a run with nx continuous and nd discrete states, and what acted."""

    def __init__(self, nx: int, nd: int) -> None:
        self.acts: list[Act] = []
        self._parts: list[Floats] = []
        self._length = 0
        self._room = np.empty((_ROOM, HEAD + nx + nd))
        self.struct = TapeStruct(room=_ROOM, rows=self._room.ctypes.data)

    @property
    def address(self) -> int:
        """The address of the struct."""
        return ctypes.addressof(self.struct)

    def drain(self) -> None:
        """Keep the rows that a compiled loop has written. Raises RunError if there are too many."""
        count, self.struct.count = int(self.struct.count), 0
        if count:
            self._keep(self._room[:count].copy())

    def add(self, t: float, near: float, until: float, end: int, x: Floats, xd: Floats) -> None:
        """Keep the row of a step."""
        self._keep(np.concatenate([[t, near, until, end], x, xd])[None])

    def _keep(self, rows: Floats) -> None:
        self._parts.append(rows)
        self._length += rows.size
        if self._length > MOST_NUMBERS:
            text = (
                f"derivatives need every step, and the run has more than {MOST_NUMBERS:,} numbers"
            )
            hint = "shorten the run, or give it longer steps"
            raise RunError(text, hint=hint, time=float(rows[-1, 0]))

    @property
    def rows(self) -> Floats:
        """All rows (n, HEAD + nx + nd)."""
        if len(self._parts) != 1:
            empty = np.empty((0, self._room.shape[1]))
            self._parts = [np.concatenate([empty, *self._parts])]
        return self._parts[0]


class Taped(Passing):
    """A keeper that writes steps on a tape."""

    def __init__(self, keeper: Keeper, tape: Tape) -> None:
        super().__init__(keeper)
        self.tape = tape
        self._t = 0.0
        self._x: Floats | None = None
        self._step: tuple[float, float, int, Floats, Floats] | None = None

    def step(self, dense: Dense, until: float, xd: Floats, near: float | None = None) -> None:
        self._add(until=self._t)
        x = self._x if self._x is not None else np.asarray(dense(self._t))
        last, end = (until, PLAIN) if near is None else (near, CROSSES)
        self._step = (self._t, last, end, x, xd.copy())
        self._t, self._x = until, None
        super().step(dense, until, xd, near)

    def state(
        self, t: Fraction, x: Floats, xd: Floats, *, sides: bool = True, edge: bool = False
    ) -> None:
        self._add(until=float(t), stops=True)
        self._t, self._x = float(t), x.copy()
        super().state(t, x, xd, sides=sides, edge=edge)

    def _add(self, until: float, *, stops: bool = False) -> None:
        """Write the last step, which ends at `until`, on the tape. stops: whether at a stop."""
        if self._step is not None:
            t, last, end, x, xd = self._step
            self.tape.add(t, last, until, STOPPED if stops and end == PLAIN else end, x, xd)
            self._step = None

    def close(self) -> None:
        self._add(until=self._t)
        super().close()

"""Gauges of a sweep as the table of meters for meters.h, and their readings from the meters'
values.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.paths import named, places
from spart_blocks.program import Program
from spart_blocks.program.program import Slot
from spart_blocks.run.measure.gauges import LEAST_STEP, Floats, Gauge, Readings

EXTREMES, SQUARE, INTEGRAL, FROM_START, BACK, STEP = range(6)
"""The kinds of meters, in the order of meters.h."""
_KINDS = {
    "extremes": EXTREMES,
    "square": SQUARE,
    "integral": INTEGRAL,
    "rotation": FROM_START,
    "displacement": FROM_START,
    "falling_back": BACK,
    "rising_back": BACK,
    "step": STEP,
}
_SIZES = {EXTREMES: 7, SQUARE: 2, INTEGRAL: 2, FROM_START: 7, BACK: 5, STEP: 14}


@dataclass(frozen=True)
class MeterRow:
    """One meter: a row of the table in meters.h."""

    kind: int
    column: int
    count: int
    references: int
    at: int
    sign: float
    since: float
    until: float

    def text(self) -> str:
        """The row as a C initializer."""
        whole = map(str, (self.kind, self.column, self.count, self.references, self.at))
        numbers = map(_c, (self.sign, self.since, self.until))
        return f"{{{', '.join([*whole, *numbers])}}}"


def _c(number: float) -> str:
    """A time as a C constant. Infinity, which is not a constant in CUDA, becomes the largest
    double.
    """
    return repr(max(min(number, sys.float_info.max), -sys.float_info.max))


@dataclass(frozen=True)
class Meters:
    """The meters of some gauges.

    names: full names of the measured signals; their entries are concatenated in this order. rows:
    the meters. columns: the entries that the meters read. of: the rows of each gauge. numbers:
    number of values that all meters store.
    """

    names: tuple[str, ...]
    rows: tuple[MeterRow, ...]
    columns: tuple[int, ...]
    of: Mapping[Gauge, slice]
    numbers: int

    def readings(self, kept: Floats) -> dict[Gauge, Readings]:
        """The readings of each gauge. kept (n, numbers): the stored values of n runs. Each
        quantity is (n, m).
        """
        return {gauge: _read(gauge, self.rows[part], kept) for gauge, part in self.of.items()}


def meters_of(program: Program, gauges: Iterable[Gauge]) -> Meters:
    """The meters of gauges. As in `Measuring`, gauges of unknown signals or with shapes that do
    not match are left out.
    """
    slots = {slot.name: slot for slot in program.signals}
    wanted: dict[str, slice] = {}
    rows: list[MeterRow] = []
    columns: list[int] = []
    of: dict[Gauge, slice] = {}
    at = 0
    for gauge in dict.fromkeys(gauges):
        which = _entries(program, slots, wanted, gauge.signal)
        other = _entries(program, slots, wanted, gauge.reference) if gauge.reference else []
        if not which or other is None or (other and len(other) not in (1, len(which))):
            continue
        kind, begin = _KINDS[gauge.kind], len(rows)
        sign = -1.0 if gauge.kind == "rising_back" else 1.0
        others = other * len(which) if len(other) == 1 else other
        for group in [slice(None)] if kind == FROM_START else map(_alone, range(len(which))):
            own, less = which[group], others[group]
            sizes = len(columns), len(own), len(less)
            rows.append(MeterRow(kind, *sizes, at, sign, gauge.since, gauge.until))
            columns += [*own, *less]
            at += _SIZES[kind] + (len(own) if kind == FROM_START else 0)
        of[gauge] = slice(begin, len(rows))
    names = tuple(wanted) if rows else ()
    return Meters(names, tuple(rows), tuple(columns), of, at)


def _alone(k: int) -> slice:
    return slice(k, k + 1)


def _entries(
    program: Program, slots: Mapping[str, Slot], wanted: dict[str, slice], name: str
) -> list[int] | None:
    """The indices of a signal's entries among all measured entries; None if there is no such
    signal. A new signal is added to `wanted`.
    """
    full, index = named(name, slots, program.display.aliases)
    if full not in slots:
        return None
    slot = slots[full]
    if full not in wanted:
        start = max((part.stop for part in wanted.values()), default=0)
        wanted[full] = slice(start, start + math.prod(slot.shape))
    try:
        chosen = places(name, wanted[full].start, slot.shape, index)
    except InputError:
        return None
    return [int(k) for k in np.ravel(chosen)]


def _read(gauge: Gauge, rows: Sequence[MeterRow], kept: Floats) -> Readings:
    def column(k: int) -> Floats:
        return np.stack([kept[:, row.at + k] for row in rows], axis=1)

    kind = _KINDS[gauge.kind]
    if kind == STEP:
        return _answers(column)
    if kind == FROM_START:
        return {"largest": _largest(column, gauge.kind == "rotation")}
    return {name: column(k) for k, name in enumerate(_STORED[kind]) if name}


_STORED: Mapping[int, tuple[str | None, ...]] = {
    EXTREMES: ("any", "first", "last", "least", "when_least", "most", "when_most"),
    SQUARE: ("integral", "span"),
    INTEGRAL: ("integral", "span"),
    BACK: (None, "back", "when", "reached", "got"),
}
"""The names of the values that each kind of meter stores, in the order of meters.h; None where one
is no reading."""


def _largest(column: Callable[[int], Floats], rotation: bool) -> Floats:
    distance = np.sqrt(np.maximum(column(_STORED[EXTREMES].index("most")), 0.0))
    if rotation:
        distance = 2.0 * np.arcsin(np.clip(distance / math.sqrt(8.0), 0.0, 1.0))
    found: Floats = np.where(column(0) > 0, distance, np.nan)
    return found


def _answers(column: Callable[[int], Floats]) -> Readings:
    stepped, begin, start, final = (column(k) for k in (4, 5, 6, 7))
    low, high, left, outside, most, error = (column(k) for k in range(8, 14))
    none = (stepped == 0) | (final == start) | (np.abs(final - start) <= LEAST_STEP * error)
    settled = np.where(np.isnan(left), 0.0, left - begin)
    found = {
        "rise_time": high - low,
        "settling_time": np.where(outside > 0, np.nan, settled),
        "overshoot_percent": 100.0 * np.maximum(most - 1.0, 0.0),
    }
    return {name: np.where(none, np.nan, value) for name, value in found.items()}

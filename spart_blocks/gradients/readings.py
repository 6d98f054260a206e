"""Derivatives of what gauges read of a run.

A reading is the value of a signal at a time, or an integral. At an extreme within a step the time
does not matter to first order; at an instant of the run it moves with the instant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.gradients.forward import Forward, Look
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.run import Run

Changes = dict[str, Floats]
"""The changes (width, m) of the quantities of a gauge along m directions."""

EXTREMES = {"first": "", "last": "", "least": "when_least", "most": "when_most"}
"""The values that an `extremes` gauge reads, with the reading of their times."""
SUMS = {"integral": 1, "square": 2}
"""The gauges that integrate, with the power that they take of their signal."""


def refuse_unknown(gauges: Sequence[Gauge]) -> None:
    """Raise InputError for a measurement whose derivative is not known."""
    unknown = [g for g in gauges if g.kind != "extremes" and g.kind not in SUMS]
    if unknown:
        text = f"the derivative of the measurement {unknown[0].kind} of {unknown[0].signal}"
        hint = "final, initial, most, least, peak, integral, mean, rms, time_of and their formulas"
        raise InputError(Fault(f"{text} is not known", hint=f"known are those of {hint}"))


def column_of(program: Program, gauge: Gauge, arguments: Sequence[Any]) -> Any:
    """The signal of a gauge as an SX column of (t, x, xd, p)."""
    whole = program.outputs(*arguments)
    column = whole[entries(program, gauge.signal).ravel().tolist()]
    if gauge.reference is not None:
        other = whole[entries(program, gauge.reference).ravel().tolist()]
        column = column - (other if other.numel() == column.numel() else other[0])
    return column


@dataclass
class Sums:
    """The integrals that gauges read. rows: those of each gauge in the column of `function`."""

    function: Any
    rows: Mapping[Gauge, slice]

    @staticmethod
    def of(program: Program, gauges: Sequence[Gauge]) -> Sums:
        """Those of the gauges that integrate."""
        arguments = program.outputs.sx_in()
        columns, rows, at = list[Any](), dict[Gauge, slice](), 0
        for gauge in (g for g in gauges if g.kind in SUMS):
            column = column_of(program, gauge, arguments) ** SUMS[gauge.kind]
            rows[gauge] = slice(at, at + column.numel())
            columns.append(column)
            at += column.numel()
        if not columns:
            return Sums(None, {})
        whole = ca.cse(ca.densify(ca.vertcat(*columns)))
        return Sums(
            ca.Function("integrands", arguments, [whole], ["t", "x", "xd", "p"], ["y"]), rows
        )


@dataclass
class ReadChanges:
    """Collects the changes of all readings of a run along directions."""

    run: Run
    readings: Mapping[Gauge, Readings]
    directions: Directions
    sums: Sums
    changes: dict[Gauge, Changes] = field(default_factory=dict)
    end: Floats = field(init=False)
    """How the end of the run moves along the directions (m,)."""

    def collect(self, forward: Forward) -> None:
        """Follow the run."""
        asked: dict[float, list[Callable[[list[Look]], None]]] = {}
        for time, take in self._asked():
            asked.setdefault(time, []).append(take)
        for time, looks in forward.looks(asked):
            for take in asked[time]:
                take(looks)

    def _asked(self) -> Iterator[tuple[float, Callable[[list[Look]], None]]]:
        """The times to look at, each with what to do there."""
        start, end = float(self.run.start), float(self.run.t)
        m = self.directions.m

        def ended(looks: list[Look]) -> None:
            self.end = looks[-1].dt

        yield end, ended
        for gauge, read in self.readings.items():
            since, until = max(gauge.since, start), min(gauge.until, end)
            if gauge.kind in SUMS:
                rows = self.sums.rows[gauge]
                total = self.changes[gauge] = {
                    "integral": np.zeros((rows.stop - rows.start, m)),
                    "span": np.zeros((rows.stop - rows.start, m)),
                }
                if since < until:
                    yield since, self._to_integral(total, rows, -1.0, gauge.since > start)
                    yield until, self._to_integral(total, rows, 1.0, gauge.until < end)
                continue
            width = len(read["last"])
            changes = self.changes[gauge] = {}
            for name, timed in EXTREMES.items():
                changes[name] = np.zeros((width, m))
                if timed:
                    changes[timed] = np.zeros((width, m))
                for k in range(width):
                    if not np.isfinite(read[name][k]):
                        continue
                    time = float(read[timed][k]) if timed else since if name == "first" else until
                    yield time, self._value_of(gauge, name, timed, k, float(read[name][k]))

    def _to_integral(
        self, total: Changes, rows: slice, sign: float, fixed: bool
    ) -> Callable[[list[Look]], None]:
        """Add the integral up to a time. fixed: whether the time was given, and does not move."""

        def take(looks: list[Look]) -> None:
            look = looks[-1]
            total["integral"] += sign * look.integral[rows]
            if not fixed and look.dt.any():
                values = self._summed().value(look.at.t, look.at.x, look.at.xd)[rows]
                total["integral"] += sign * np.outer(values, look.dt)
                total["span"] += sign * look.dt

        return take

    def _summed(self) -> Any:
        return self.directions.tangent("integrands", lambda: self.sums.function)

    def _value_of(
        self, gauge: Gauge, name: str, timed: str, k: int, value: float
    ) -> Callable[[list[Look]], None]:
        """Note how a value that was read moves."""
        changes = self.changes[gauge]

        def take(looks: list[Look]) -> None:
            tangent = self.directions.tangent(*self._signal(gauge))
            found = [tangent.value(one.at.t, one.at.x, one.at.xd)[k] for one in looks]
            # Of equal values the later: at the end of a run, what holds after it.
            near = [abs(one - value) for one in reversed(found)]
            look = looks[len(looks) - 1 - int(np.argmin(near))]
            at = look.moving()
            changes[name][k] = tangent.along(at.t, at.x, at.xd, at.dt, at.dx, at.dxd)[k]
            if timed:
                changes[timed][k] = at.dt if look.instant else self._turning(gauge, k, look)

        return take

    def _signal(self, gauge: Gauge) -> tuple[Any, Callable[[], Any]]:
        program = self.directions.engine.program

        def make() -> Any:
            arguments = program.outputs.sx_in()
            column = ca.cse(ca.densify(column_of(program, gauge, arguments)))
            return ca.Function("signal", arguments, [column], ["t", "x", "xd", "p"], ["y"])

        return ("signal", gauge.signal, gauge.reference), make

    def _turning(self, gauge: Gauge, k: int, look: Look) -> Floats:
        """How the time moves at which a signal turns: where its rate is zero."""
        program = self.directions.engine.program

        def make() -> Any:
            arguments = t, x, xd, p = program.outputs.sx_in()
            column = column_of(program, gauge, arguments)
            rates = program.rates(t, x, xd, p)
            slope = ca.jtimes(column, ca.veccat(t, x), ca.veccat(1, rates))
            return ca.Function("slope", arguments, [ca.cse(ca.densify(slope))])

        tangent = self.directions.tangent(("slope", gauge.signal, gauge.reference), make)
        at = look.at
        bend = tangent.by_time(at.t, at.x, at.xd, look.slope)[k]
        moves = tangent.along(at.t, at.x, at.xd, 0.0, at.dx, at.dxd)[k]
        if bend == 0:
            if moves.any():
                raise NoGradientError(
                    f"{gauge.signal} is flat where it is extreme: its time has no derivative",
                    time=at.t,
                )
            return np.zeros_like(moves)
        return np.asarray(-moves / bend)

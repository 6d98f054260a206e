"""Derivatives of what gauges read of a run.

A reading is the value of a signal at a time, or an integral. At an extreme within a step the time
does not matter to first order; at an instant of the run it moves with the instant.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.distances import Distance
from spart_blocks.gradients.forward import Look, Seen
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.signal_tangents import SignalTangents, column_of
from spart_blocks.gradients.step_readings import StepChanges, Takes
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.run import Run

Changes = dict[str, Floats]
"""The changes (width, m) of the quantities of a gauge along m directions."""

EXTREMES = {"first": "", "last": "", "least": "when_least", "most": "when_most"}
"""The values that an `extremes` gauge reads, with the reading of their times."""
BACK = {"falling_back": ("back",), "rising_back": ("back",)}
"""The readings that follow from others, by the kind of gauge."""
SUMS = {"integral": 1, "square": 2}
"""The gauges that integrate, with the power that they take of their signal."""


class Refusing(dict[str, Any]):
    """Readings, or other values, of which those without a derivative raise their error when they
    are read.
    """

    def __init__(self, found: Mapping[str, Any], refused: Mapping[str, NoGradientError]) -> None:
        super().__init__(found)
        self.refused = refused

    def __getitem__(self, name: str) -> Any:
        if name in self.refused:
            raise self.refused[name]
        return super().__getitem__(name)


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
            column = (
                column_of(program, gauge.signal, gauge.reference, arguments) ** SUMS[gauge.kind]
            )
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
    """Collects the changes of readings of a run along directions.

    used: the names of the readings of each gauge that are asked for. refused: the error for each
    reading of a gauge that has no derivative.
    """

    run: Run
    readings: Mapping[Gauge, Readings]
    directions: Directions
    sums: Sums
    used: Mapping[Gauge, Collection[str]]
    changes: dict[Gauge, Changes] = field(default_factory=dict)
    refused: dict[tuple[Gauge, str], NoGradientError] = field(default_factory=dict)
    instants: Mapping[Gauge, Readings] = field(init=False)
    end: Floats = field(init=False)
    """How the end of the run moves along the directions (m,)."""

    def __post_init__(self) -> None:
        measuring = self.run.measuring
        self.instants = {} if measuring is None else measuring.instants()

    def collect(self, looks: Callable[[Iterable[float]], Iterable[Seen]]) -> None:
        """Follow the run. looks: gives what is seen at times, in ascending order."""
        asked: dict[float, list[Callable[[list[Look]], None]]] = {}
        for time, take in self._asked():
            asked.setdefault(time, []).append(take)
        for time, seen in looks(asked):
            for take in asked[time]:
                take(seen)

    def times(self) -> list[float]:
        """The times to look at."""
        return [time for time, _ in self._asked()]

    def _asked(self) -> Takes:
        """The times to look at, each with what to do there."""

        def ended(looks: list[Look]) -> None:
            self.end = looks[-1].dt

        yield float(self.run.t), ended
        for gauge, read in ((g, read) for g, read in self.readings.items() if self.used.get(g)):
            yield from self._of_kind[gauge.kind](gauge, read)

    @property
    def _of_kind(self) -> Mapping[str, Callable[[Gauge, Readings], Takes]]:
        return {
            "extremes": self._extremes,
            "integral": self._integral,
            "square": self._integral,
            "step": self._answer,
            "rotation": self._distance,
            "displacement": self._distance,
            "falling_back": self._back,
            "rising_back": self._back,
        }

    def _window(self, gauge: Gauge) -> tuple[float, float]:
        return max(gauge.since, float(self.run.start)), min(gauge.until, float(self.run.t))

    def _none(self, gauge: Gauge, names: Iterable[str], width: int) -> Changes:
        """The changes of a gauge's readings, which are zero so far."""
        changes = {name: np.zeros((width, self.directions.m)) for name in names}
        self.changes[gauge] = changes
        return changes

    def _integral(self, gauge: Gauge, read: Readings) -> Takes:
        since, until = self._window(gauge)
        start, end = float(self.run.start), float(self.run.t)
        rows = self.sums.rows[gauge]
        total = self._none(gauge, ("integral", "span"), rows.stop - rows.start)
        if since < until:
            yield since, self._to_integral(total, rows, -1.0, gauge.since > start)
            yield until, self._to_integral(total, rows, 1.0, gauge.until < end)

    def _extremes(self, gauge: Gauge, read: Readings) -> Takes:
        since, until = self._window(gauge)
        names = (name for pair in EXTREMES.items() for name in pair if name)
        width = len(read["last"])
        self._none(gauge, names, width)
        for name, timed in EXTREMES.items():
            for k in range(width if {name, timed} & {*self.used[gauge]} else 0):
                if not np.isfinite(read[name][k]):
                    continue
                time = float(read[timed][k]) if timed else since if name == "first" else until
                yield time, self._value_of(gauge, (name, timed), k, float(read[name][k]), timed)

    def _back(self, gauge: Gauge, read: Readings) -> Takes:
        """The largest distance back from an extreme: both its ends move."""
        width, sign = len(read["back"]), 1.0 if gauge.kind == "falling_back" else -1.0
        changes = self._none(gauge, ("back", "reached", "got"), width)
        for k in map(int, np.flatnonzero(np.isfinite(read["when"]))):
            since, until = float(self.instants[gauge]["when_reached"][k]), float(read["when"][k])
            for name, time in (("reached", since), ("got", until)):
                yield time, self._value_of(gauge, (name, ""), k, float(read[name][k]), True)

            def ended(looks: list[Look], k: int = k) -> None:
                changes["back"][k] = sign * (changes["reached"][k] - changes["got"][k])

            yield until, ended

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
        self, gauge: Gauge, names: tuple[str, str], k: int, value: float, extreme: object
    ) -> Callable[[list[Look]], None]:
        """Note how a value that was read moves. names: of its reading, and of that of its time, or
        nothing. extreme: whether it is an extreme one.
        """
        changes, (name, timed) = self.changes[gauge], names
        signal = SignalTangents(self.directions, gauge.signal, gauge.reference)

        def take(looks: list[Look]) -> None:
            look = signal.nearest(looks, k, value)
            if self._at_an_edge(gauge, looks):
                changes[name][k] = signal.change(look)[k]
                return
            changes[name][k] = signal.of_extreme(look, k) if extreme else signal.moving(look)[k]
            if timed in self.used[gauge]:
                with self._refusing(gauge, timed):
                    changes[timed][k] = look.dt if look.instant else signal.turning(look, k)

        def taken(looks: list[Look]) -> None:
            with self._refusing(gauge, name, timed, *BACK.get(gauge.kind, ())):
                take(looks)

        return taken

    @contextmanager
    def _refusing(self, gauge: Gauge, *names: str) -> Iterator[None]:
        """A context whose error is that of these readings of a gauge, and not of all."""
        try:
            yield
        except NoGradientError as error:
            for name in names:
                self.refused.setdefault((gauge, name), error)

    def _at_an_edge(self, gauge: Gauge, looks: Sequence[Look]) -> bool:
        """Whether the time of a look is where a window begins or ends, and so does not move."""
        t = looks[-1].at.t
        if not any(math.isclose(t, edge, rel_tol=1e-14) for edge in (gauge.since, gauge.until)):
            return False
        if looks[-1].dt.any():
            text = f"the window of {gauge.signal} begins or ends at an event that moves"
            raise NoGradientError(text, time=t)
        return True

    def _distance(self, gauge: Gauge, read: Readings) -> Takes:
        """The largest distance from the first attitude or position."""
        since, until = self._window(gauge)
        found = Distance(SignalTangents(self.directions, gauge.signal), gauge.kind == "rotation")
        changes = self._none(gauge, ("largest",), 1)
        when = float(self.instants[gauge]["when"][0])
        if np.isnan(when):
            return

        def farthest(looks: list[Look]) -> None:
            with self._refusing(gauge, "largest"):
                found.farthest(looks, fixed=self._at_an_edge(gauge, looks))
                changes["largest"][0] = found.change(float(read["largest"][0]))

        yield since, found.begin
        # Of a signal that stays where it was, the end shows whether it would with other parameters.
        yield min(when, until) if read["largest"][0] > 0 else until, farthest

    def _answer(self, gauge: Gauge, read: Readings) -> Takes:
        """The answer to a step."""
        assert gauge.reference is not None
        answer = SignalTangents(self.directions, gauge.signal)
        reference = SignalTangents(self.directions, gauge.reference)
        width = len(read["overshoot_percent"])
        alone = entries(self.directions.engine.program, gauge.reference).size == 1
        options, end = self.run.options, self._window(gauge)[1]
        changes = self._none(gauge, read, width)
        for k in range(width):
            found = StepChanges(answer, reference, k, 0 if alone else k, end, options)
            yield from found.takes(read, self.instants[gauge])

            def ended(looks: list[Look], found: StepChanges = found, k: int = k) -> None:
                for name, change in found.changes.items():
                    changes[name][k] = change
                for name, error in found.refused.items():
                    self.refused.setdefault((gauge, name), error)

            yield end, ended

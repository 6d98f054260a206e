"""Metrics of readings, and their derivatives from the changes of readings: the chain rule."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.readings import Changes, ReadChanges, Refusing
from spart_blocks.gradients.tangents import Floats
from spart_blocks.measures.metric_values import Unvaried
from spart_blocks.measures.metrics import Metrics
from spart_blocks.program.tracing.symbol import column_of, scalars
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.run import Run


class _Noting(dict[str, Any]):
    """Readings that note their names as they are read."""

    def __init__(self, read: Readings, names: set[str]) -> None:
        super().__init__({name: np.asarray(value)[None] for name, value in read.items()})
        self.names = names

    def __getitem__(self, name: str) -> Any:
        self.names.add(name)
        return super().__getitem__(name)


@dataclass
class Used(Unvaried):
    """The names of the readings of each gauge that formulas use, and the blocks whose events they
    time: the data of one run, noting what is read.
    """

    metrics: Metrics
    run: Run
    readings: Mapping[Gauge, Readings]
    constants: Mapping[str, Any]
    names: dict[Gauge, set[str]] = field(default_factory=dict)
    blocks: set[str] = field(default_factory=set)

    @staticmethod
    def by(metrics: Metrics, run: Run, constants: Mapping[str, Any]) -> Used:
        """What metrics use of a run. constants: as for `GradientRuns`."""
        assert run.readings is not None
        found = Used(metrics, run, run.readings, constants)
        with np.errstate(all="ignore"):
            for name in metrics.widths:
                with suppress(NoGradientError):  # `chained` raises it again
                    found.metric(name)
        return found

    def reading(self, gauge: Gauge, read: Callable[[Readings], Floats]) -> Any:
        return read(_Noting(self.readings[gauge], self.names.setdefault(gauge, set())))

    def ever(self, gauge: Gauge) -> Any:
        return np.asarray(self.readings[gauge]["most"])[None] > 0.5

    def event(self, block: str) -> Any:
        self.blocks.add(block)
        return np.array([[_first(self.run, block)]])

    def duration(self) -> Any:
        return np.array([[float(self.run.t)]])


@dataclass
class _Symbolic(Unvaried):
    """The data of one run that formulas read (`metric_values.MeasuredRuns`), as symbols with
    values and changes along directions."""

    metrics: Metrics
    run: Run
    found: ReadChanges
    moved: Mapping[str, Floats]
    constants: Mapping[str, Any]
    symbols: list[Any] = field(default_factory=list)
    values: list[Floats] = field(default_factory=list)
    changes: list[Floats] = field(default_factory=list)
    _read: dict[Gauge, Readings] = field(default_factory=dict)

    def symbol(self, value: Floats, change: Floats) -> Any:
        """New symbols (1, n) with these values (n,) and changes (n, m)."""
        column = ca.SX.sym("r", len(value))
        self.symbols.append(column)
        self.values.append(value)
        self.changes.append(change)
        return scalars(column).reshape(1, len(value))

    def reading(self, gauge: Gauge, read: Callable[[Readings], Floats]) -> Any:
        if gauge not in self._read:
            given = self.found.readings[gauge]
            changes: Changes = self.found.changes.get(gauge, {})
            refused = {name: e for (one, name), e in self.found.refused.items() if one == gauge}
            symbols = {
                name: self.symbol(np.asarray(value, float), changes[name])
                if name in changes and name not in refused
                else np.asarray(value)[None]
                for name, value in given.items()
            }
            self._read[gauge] = Refusing(symbols, refused)
        return read(self._read[gauge])

    def ever(self, gauge: Gauge) -> Any:
        return np.asarray(self.found.readings[gauge]["most"])[None] > 0.5

    def event(self, block: str) -> Any:
        move = self.moved.get(block, np.zeros(self.found.directions.m))
        return self.symbol(np.array([_first(self.run, block)]), move[None])

    def duration(self) -> Any:
        return self.symbol(np.array([float(self.run.t)]), self.found.end[None])


def chained(
    metrics: Metrics,
    run: Run,
    found: ReadChanges,
    moved: Mapping[str, Floats],
    constants: Mapping[str, Any],
    refused: dict[str, NoGradientError] | None = None,
) -> tuple[dict[str, Any], Floats]:
    """The values of the metrics, and the derivatives (widths, m) of all one below the other along
    the directions of `found`. moved: how the first event of each block moves along them. constants:
    as for `GradientRuns`. refused: collects the error of each metric without derivative, which has
    NaN; without it the first is raised.
    """
    known = _Symbolic(metrics, run, found, moved, constants)
    values: dict[str, Any] = {}
    derivatives: list[Floats] = [np.zeros((0, found.directions.m))]
    for name, width in metrics.widths.items():
        try:
            column = ca.densify(column_of([known.metric(name)]))
        except NoGradientError as error:
            if refused is None:
                raise
            refused[name], values[name] = error, np.nan
            derivatives.append(np.full((width, found.directions.m), np.nan))
            continue
        symbols = ca.vertcat(*known.symbols)
        function = ca.Function("metric", [symbols], [column, ca.jacobian(column, symbols)])
        value, slope = function(np.concatenate(known.values))
        numbers = np.broadcast_to(np.array(value).ravel(), width)
        values[name] = float(numbers[0]) if width == 1 else numbers.copy()
        changes = np.array(slope.full()) @ np.concatenate(known.changes)
        derivatives.append(np.broadcast_to(changes, (width, found.directions.m)))
    return values, np.concatenate(derivatives)


def _first(run: Run, block: str) -> float:
    """The time of the first event of a block."""
    return next((e.t for e in run.events.kept if e.block == block), np.nan)

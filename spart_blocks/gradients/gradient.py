"""`gradient`: exact derivatives of a run's metrics by its parameters."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Unpack

import casadi as ca
import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.gradients.forward import Forward
from spart_blocks.gradients.readings import Changes, ReadChanges, Refusing, Sums
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.gradients.taped_run import explicit, taped
from spart_blocks.program import Program
from spart_blocks.program.tracing.symbol import column_of, scalars
from spart_blocks.run.engines.native import Native
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import RunChanges, begin
from spart_blocks.sweeps.measures.metrics import Metrics

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

GIVEN = "metric"
"""The name of a metric that was given alone."""


@dataclass(frozen=True)
class Gradient:
    """Metrics of a run and their derivatives by parameters.

    values: the value of each metric, a float or an array (w,). derivatives: for each metric and
    parameter an array with the shape of the metric, followed by that of the parameter. t_end [s]:
    the end of the run.
    """

    values: Mapping[str, Any]
    derivatives: Mapping[str, Mapping[str, Floats]]
    t_end: float

    def __getitem__(self, name: str) -> Any:
        """The derivative by a parameter if there is one metric, otherwise those of a metric by
        parameter."""
        if len(self.derivatives) == 1 and name not in self.derivatives:
            return next(iter(self.derivatives.values()))[name]
        return self.derivatives[name]


def gradient(
    diagram: Diagram | Program | str | Path | Any,
    *,
    of: str | Sequence[str] | Mapping[str, str],
    by: str | Sequence[str],
    **run_options: Unpack[RunChanges],
) -> Gradient:
    """The exact derivatives of metrics of a run by parameters, events included.

    diagram: as for `simulate`. of: a metric, such as "rms(plant.qm[0], qd[0])"; a list, or a
    mapping from names to metrics (docs/sweeps.md). by: names of parameters: 'kp' of the file's
    `params:`, 'ctrl.kp', elements 'kp[0]', initial states 'plant.x0'. run_options: as for
    `simulate`.

    The run is the ordinary one; its steps are then repeated with the derivatives beside the states
    (gradients/forward.py). Raises InputError for unknown names; NoGradientError where the run has
    no derivative, with the block and the time; TraceError for a diagram that cannot be traced.
    """
    return GradientRuns.of(diagram, of, by, **run_options).at()


@dataclass(frozen=True)
class GradientRuns:
    """Runs of one program with their gradients.

    engine: with the signals that the metrics need. names, shapes: of the parameters. changes (np,
    m): a direction for each of their elements. sums: the integrals to follow.
    """

    engine: Native
    metrics: Metrics
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    changes: Floats
    sums: Sums

    @staticmethod
    def of(
        diagram: Any, of: Any, by: str | Sequence[str], **run_options: Unpack[RunChanges]
    ) -> GradientRuns:
        """Those of a diagram. The arguments are those of `gradient`."""
        engine = begin(diagram, engine="native", **run_options).engine
        assert isinstance(engine, Native)
        names = (by,) if isinstance(by, str) else tuple(by)
        shapes, changes = _directions(engine.program, names)
        return GradientRuns.along(engine, _named(of), names, shapes, changes)

    @staticmethod
    def along(
        engine: Native,
        of: Mapping[str, str],
        names: tuple[str, ...],
        shapes: tuple[tuple[int, ...], ...],
        changes: Floats,
        places: Mapping[str, Place] = MappingProxyType({}),
    ) -> GradientRuns:
        """Those of an engine along directions. places: where each metric is written."""
        program = replace(engine.program, run=explicit(engine.program.run))
        metrics = Metrics.of(of, program, places=places)
        if metrics.functions:
            hint = "write it as a formula of measurements"
            raise InputError(Fault("a metric in Python has no exact derivative", hint=hint))
        sums = Sums.of(metrics.program, metrics.gauges)
        return GradientRuns(engine.of(metrics.program), metrics, names, shapes, changes, sums)

    def at(self, p: Floats | None = None) -> Gradient:
        """The gradient with parameters p (np,), by default those of the diagram."""
        engine = self.engine if p is None else self.engine.with_parameters(p)
        run = taped(engine, self.metrics.gauges)
        directions = Directions(engine, self.changes)
        found = ReadChanges(run, run.readings, directions, self.sums)
        forward = Forward(run, directions, self.sums.function)
        found.collect(forward)
        values, derivatives = _chained(self.metrics, run, found, forward)
        parted = {
            name: _by_parameter(one, self.names, self.shapes, self.metrics.widths[name])
            for name, one in derivatives.items()
        }
        return Gradient(values, parted, float(run.t))


def _named(of: Any) -> dict[str, str]:
    """Metrics by name."""
    if isinstance(of, str):
        return {GIVEN: of}
    if isinstance(of, Mapping):
        return dict(of)
    if isinstance(of, Sequence) and of and all(isinstance(one, str) for one in of):
        return {f"{GIVEN}_{k}": one for k, one in enumerate(of)}
    hint = 'of="final(plant.qm[0])", or a mapping from names to metrics'
    raise InputError(Fault(f"of takes metrics, not {brief(of)}", hint=hint))


def _directions(
    program: Program, names: Sequence[str]
) -> tuple[tuple[tuple[int, ...], ...], Floats]:
    """The shapes of parameters, and a direction (np, m) for each of their elements."""
    if not names:
        raise InputError(Fault("by names no parameter", hint='by=["ctrl.kp"]'))
    shapes, rows = [], []
    for name in names:
        shape = program.parameter_places(name)[0].shape
        target, size = program.target(name), int(np.prod(shape))
        assert target is not None
        rows.append(np.zeros((size, len(program.p))))
        target.put(rows[-1], np.eye(size).reshape(size, *shape))
        shapes.append(shape)
    return tuple(shapes), np.concatenate(rows).T


def _by_parameter(
    derivative: Floats, names: Sequence[str], shapes: Sequence[tuple[int, ...]], width: int
) -> dict[str, Floats]:
    """A derivative (width, m) as one array for each parameter."""
    sizes = [int(np.prod(shape)) for shape in shapes]
    parts = np.split(derivative, np.cumsum(sizes)[:-1], axis=1)
    lead = () if width == 1 else (width,)
    return {
        name: part.reshape(lead + shape)
        for name, part, shape in zip(names, parts, shapes, strict=True)
    }


# --- metrics of readings --------------------------------------------------------------------------


@dataclass
class _Symbolic:
    """The data of one run that formulas read (`metric_values.MeasuredRuns`), as symbols with
    values and changes along directions."""

    metrics: Metrics
    run: Run
    found: ReadChanges
    forward: Forward
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
            changes: Changes = self.found.changes[gauge]
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
        time = next((e.t for e in self.run.events.kept if e.block == block), np.nan)
        move = self.forward.moved.get(block, np.zeros(self.found.directions.m))
        return self.symbol(np.array([time]), move[None])

    def duration(self) -> Any:
        return self.symbol(np.array([float(self.run.t)]), self.found.end[None])

    def varied(self, name: str) -> Any:
        raise InputError(f"{name} is no measurement")

    def metric(self, name: str) -> Any:
        return self.metrics.values[name](self)


def _chained(
    metrics: Metrics, run: Run, found: ReadChanges, forward: Forward
) -> tuple[dict[str, Any], dict[str, Floats]]:
    """The values of the metrics, and their derivatives (width, m) along the directions."""
    known = _Symbolic(metrics, run, found, forward)
    values: dict[str, Any] = {}
    derivatives: dict[str, Floats] = {}
    m = found.directions.m
    for name, width in metrics.widths.items():
        column = ca.densify(column_of([known.metric(name)]))
        symbols = ca.vertcat(*known.symbols)
        function = ca.Function("metric", [symbols], [column, ca.jacobian(column, symbols)])
        value, slope = function(np.concatenate(known.values))
        numbers = np.broadcast_to(np.array(value).ravel(), width)
        values[name] = float(numbers[0]) if width == 1 else numbers.copy()
        changes = np.array(slope.full()) @ np.concatenate(known.changes)
        derivatives[name] = np.broadcast_to(changes, (width, m))
    return values, derivatives

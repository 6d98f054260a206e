"""`gradient`: exact derivatives of a run's metrics by its parameters."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, Unpack, get_args

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.gradients.backward import Backward, pays
from spart_blocks.gradients.chain import Used, chained
from spart_blocks.gradients.forward import Forward
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.readings import ReadChanges, Sums
from spart_blocks.gradients.tangents import Directions, Floats
from spart_blocks.gradients.taped_run import explicit, taped
from spart_blocks.measures.metrics import Metrics
from spart_blocks.program import Program
from spart_blocks.run.engines.native import Native
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import RunChanges, begin

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

Method = Literal["auto", "forward", "adjoint"]
GIVEN = "metric"
"""The name of a metric that was given alone."""


@dataclass(frozen=True)
class Gradient:
    """Metrics of a run and their derivatives by parameters.

    values: the value of each metric, a float or an array (w,). derivatives: for each metric and
    parameter an array with the shape of the metric, followed by that of the parameter. t_end [s]:
    the end of the run. refused: why metrics have no derivative, where this does not end all: NaN.
    """

    values: Mapping[str, Any]
    derivatives: Mapping[str, Mapping[str, Floats]]
    t_end: float
    refused: Mapping[str, NoGradientError] = field(default_factory=dict)

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
    method: Method = "auto",
    **run_options: Unpack[RunChanges],
) -> Gradient:
    """The exact derivatives of metrics of a run by parameters, events included.

    diagram: as for `simulate`. of: a metric, such as "rms(plant.qm[0], qd[0])"; a list, or a
    mapping from names to metrics (docs/sweeps.md). by: names of parameters: 'kp' of the file's
    `params:`, 'ctrl.kp', elements 'kp[0]', initial states 'plant.x0'. run_options: as for
    `simulate`.

    method: 'forward' repeats the steps of the run, the ordinary one, with the changes of the states
    along each parameter (gradients/forward.py); 'adjoint' goes back over them with the derivatives
    of the metrics (gradients/backward.py), where it can; 'auto' takes the faster. Raises InputError
    for unknown names; NoGradientError where the run has no derivative, with the block and the time;
    TraceError for a diagram that cannot be traced.
    """
    if method not in get_args(Method):
        known = ", ".join(get_args(Method))
        raise InputError(Fault(f"method is {brief(method)}", hint=f"it is one of {known}"))
    return replace(GradientRuns.of(diagram, of, by, **run_options), method=method).at()


@dataclass(frozen=True)
class GradientRuns:
    """Runs of one program with their gradients.

    engine: with the signals that the metrics need. names, shapes: of the parameters. changes (np,
    m): a direction for each of their elements. sums: the integrals to follow. constants: values of
    names in metrics that are no parameters, by path. method: as for `gradient`. apart: whether a
    metric without derivative leaves those of the others.
    """

    engine: Native
    metrics: Metrics
    names: tuple[str, ...]
    shapes: tuple[tuple[int, ...], ...]
    changes: Floats
    sums: Sums
    constants: Mapping[str, Any] = field(default_factory=dict)
    method: Method = "auto"
    apart: bool = False

    @staticmethod
    def of(
        diagram: Any, of: Any, by: str | Sequence[str], **run_options: Unpack[RunChanges]
    ) -> GradientRuns:
        """Those of a diagram. The arguments are those of `gradient`."""
        engine = begin(diagram, engine="native", **run_options).engine
        assert isinstance(engine, Native)
        names = (by,) if isinstance(by, str) else tuple(by)
        shapes, changes = directions_of(engine.program, names)
        return GradientRuns.along(engine, _named(of), names, shapes, changes)

    @staticmethod
    def along(
        engine: Native,
        of: Mapping[str, str],
        names: tuple[str, ...],
        shapes: tuple[tuple[int, ...], ...],
        changes: Floats,
        places: Mapping[str, Place] = MappingProxyType({}),
        constants: Mapping[str, Any] = MappingProxyType({}),
    ) -> GradientRuns:
        """Those of an engine along directions. places: where each metric is written."""
        metrics = differentiable(of, engine.program, places, constants)
        sums = Sums.of(metrics.program, metrics.gauges)
        made = engine.of(metrics.program)
        return GradientRuns(made, metrics, names, shapes, changes, sums, constants)

    def only(self, name: str) -> GradientRuns:
        """The same with derivatives by one of the parameters."""
        k = self.names.index(name)
        sizes = [math.prod(shape) for shape in self.shapes]
        columns = np.split(self.changes, np.cumsum(sizes)[:-1], axis=1)[k]
        return replace(self, names=(name,), shapes=(self.shapes[k],), changes=columns)

    def at(self, p: Floats | None = None) -> Gradient:
        """The gradient with parameters p (np,), by default those of the diagram."""
        engine = self.engine if p is None else self.engine.with_parameters(p)
        run = taped(engine, self.metrics.gauges)
        refused: dict[str, NoGradientError] = {}
        values, slopes = _derivatives(self, run, Directions(engine, self.changes), refused)
        widths = self.metrics.widths
        rows = np.split(slopes, np.cumsum([*widths.values()])[:-1])
        parted = {
            name: _by_parameter(one, self.names, self.shapes, widths[name])
            for name, one in zip(widths, rows, strict=True)
        }
        return Gradient(values, parted, float(run.t), refused)


def differentiable(
    of: Mapping[str, str],
    program: Program,
    places: Mapping[str, Place] = MappingProxyType({}),
    constants: Mapping[str, Any] = MappingProxyType({}),
) -> Metrics:
    """Metrics of a program, compiled for runs with derivatives. The arguments are as for
    `GradientRuns`. Raises InputError with all faults, also for a solver that has no derivatives.
    """
    metrics = Metrics.of(of, replace(program, run=explicit(program.run)), constants, places)
    if metrics.functions:
        hint = "write it as a formula of measurements"
        raise InputError(Fault("a metric in Python has no exact derivative", hint=hint))
    return metrics


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


def directions_of(
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
        if size:
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


# --- by each method -------------------------------------------------------------------------------


def _derivatives(
    runs: GradientRuns, run: Run, directions: Directions, refused: dict[str, NoGradientError]
) -> tuple[dict[str, Any], Floats]:
    """The values of the metrics of a run, and the derivatives (widths, m) of all one below the
    other along directions. refused: collects why metrics have none, where these are kept apart.
    """
    used = Used.by(runs.metrics, run, runs.constants)
    if runs.method != "forward":
        with suppress(LookupError, NoGradientError):  # along some change of the states alone
            return _backward(runs, run, directions, used)
    found = ReadChanges(run, run.readings, directions, runs.sums, used.names)
    forward = Forward(run, directions, runs.sums.function)
    found.collect(forward.looks)
    kept = refused if runs.apart else None
    return chained(runs.metrics, run, found, forward.moved, runs.constants, kept)


def _backward(
    runs: GradientRuns, run: Run, directions: Directions, used: Used
) -> tuple[dict[str, Any], Floats]:
    """The same by adjoints. Raises LookupError where they cannot be had, or do not pay."""
    integrands, n = runs.sums.function, sum(runs.metrics.widths.values())
    asked = ReadChanges(run, run.readings, directions, runs.sums, used.names).times()
    k = 0 if integrands is None else integrands.numel_out(0)
    if runs.method == "auto" and not pays(run, directions, n, asked, k):
        raise LookupError("it does not pay")
    back = Backward(run, directions, integrands, asked, used.blocks)
    found = ReadChanges(run, run.readings, back.wide, runs.sums, used.names)
    found.collect(lambda _: back.looks())
    values, changes = chained(runs.metrics, run, found, back.moved, runs.constants)
    return values, back.back(changes)

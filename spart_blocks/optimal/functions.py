"""The functions of a phase, and the metrics of the whole motion, as expressions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.fits.free import Free, Placement
from spart_blocks.gradients.readings import SUMS
from spart_blocks.measures.metric_values import Unvaried
from spart_blocks.measures.metrics import Metrics
from spart_blocks.optimal.information import METRIC, Directions, upper
from spart_blocks.optimal.problem import OBJECTIVE, PhaseProblem, Problem
from spart_blocks.program.added_signals import entries
from spart_blocks.program.slots import Places
from spart_blocks.program.tracing.symbol import column_of, scalars
from spart_blocks.run.measure.gauges import Gauge, Readings

Rows = NDArray[np.intp]


@dataclass(frozen=True)
class PhaseFunctions:
    """Functions (t, x, u, q) of a phase, q being what is chosen once.

    rates: xdot. path: what is limited all the time. end: what is limited at the end. sums: what
    metrics integrate. ends: what metrics read at the start and at the end. start: q -> x, the
    initial states. slopes: the derivatives (w, b) of measured signals by what is to be estimated,
    weighted by their noise, and information: the upper entries of slopes' slopes; None where
    nothing is to be estimated. x then has the derivatives of states, too.
    """

    rates: Any
    path: Any
    end: Any
    sums: Any
    ends: Any
    start: Any
    slopes: Any = None
    information: Any = None


def phase_functions(
    problem: Problem, phase: PhaseProblem, read: Read, directions: Directions | None = None
) -> PhaseFunctions:
    """The functions of one phase. directions: of what is to be estimated."""
    program = problem.program
    t, x, *_ = program.rates.sx_in()
    _, nu, nq = problem.counts
    u, q = ca.SX.sym("u", nu), ca.SX.sym("q", nq)
    p = ca.SX(phase.p)
    for placement, symbols in ((problem.control_places, u), (problem.parameter_places, q)):
        for free, places in placement.placed:
            for at, k in _entries(free, places):
                p[at] = symbols[k]
    held = ca.SX(program.starts(phase.p)[1])
    along = None if directions is None else _Along.of(problem, directions, (t, x, held, p))
    whole = x if along is None else ca.vertcat(x, along.states)
    arguments = [t, whole, u, q]
    names = ["t", "x", "u", "q"]
    signals = program.outputs(t, x, held, p)

    def made(name: str, column: Any) -> Any:
        return ca.Function(name, arguments, [ca.cse(ca.densify(column))], names, ["y"])

    def rows(limited: Sequence[Any]) -> list[int]:
        return [row for one in limited for row in one.rows.tolist()]

    sums = [signals[rows_of.tolist()] ** power for _, rows_of, power in read.sums]
    ends = [row for _, of in read.ends for row in of.tolist()]
    first = _starts(problem, p, problem.parameter_places)
    rates = program.rates(t, x, held, p)
    added: dict[str, Any] = {}
    if along is not None:
        first, rates = ca.vertcat(first, along.first), ca.vertcat(rates, along.rates)
        Y, b = along.slopes, along.slopes.shape[1]
        upper_rows, upper_columns = upper(b)
        M = ca.vec(ca.mtimes(Y.T, Y))[(upper_columns * b + upper_rows).tolist()]
        added = {"slopes": made("slopes", Y), "information": made("information", M)}
    return PhaseFunctions(
        made("rates", rates),
        made("path", signals[rows(phase.path)]),
        made("end", signals[rows(phase.end)]),
        made("sums", ca.vertcat(ca.SX(0, 1), *sums)),
        made("ends", signals[ends]),
        ca.Function("start", [q], [ca.densify(first)]),
        **added,
    )


@dataclass(frozen=True, eq=False)
class _Along:
    """Derivatives along directions, as expressions. slopes (w, b): of what is measured, weighted by
    its noise. states (ns,): the derivatives of states. rates, first (ns,): theirs, and what they
    are at first.
    """

    slopes: Any
    states: Any
    rates: Any
    first: Any

    @staticmethod
    def of(problem: Problem, directions: Directions, at: tuple[Any, Any, Any, Any]) -> _Along:
        program, (t, x, held, p) = problem.program, at
        assert problem.wanted is not None
        nx, b = directions.sensitive.shape
        value = ca.SX.sym("value", b)
        moved = p + ca.mtimes(ca.sparsify(ca.DM(directions.moves)), value)
        there = [
            program.outputs(t, x, held, moved)[problem.wanted.rows],
            program.rates(t, x, held, moved),
            _starts(problem, moved, problem.wanted.placement),
        ]
        along = [ca.jacobian(one, value) for one in there]
        Y, B, first = ca.substitute(along, [value], [ca.SX.zeros(b)])
        states = ca.SX.sym("s", directions.count)
        S = ca.SX(nx, b)
        rows = directions.places
        for k, (i, j) in enumerate(rows):
            S[i, j] = states[k]
        rates = ca.SX(nx, b)
        if rows:
            A, C = (ca.jacobian(f(t, x, held, p), x) for f in (program.rates, program.outputs))
            rates = ca.mtimes(A, S) + B
            Y = Y + ca.mtimes(C[problem.wanted.rows, :], S)
        none = ca.SX(0, 1)
        of_states, of_first = (
            ca.vertcat(none, *(one[i, j] for i, j in rows)) for one in (rates, first)
        )
        weights = ca.DM(np.sqrt(problem.wanted.weights))
        return _Along(ca.diag(weights) @ ca.densify(Y), states, of_states, of_first)


def _entries(free: Free, places: Sequence[Places]) -> Iterator[tuple[int, int]]:
    """Each entry of p with the element, counted in the vector of all, that it has."""
    for place in places:
        for k, at in enumerate(place.ravel().tolist()):
            yield at, free.part.start + (k if free.shape else 0)


def _starts(problem: Problem, p: Any, placement: Placement) -> Any:
    """The initial states as expressions, projected where nothing of them is placed."""
    program = problem.program
    places = {slot.name: slot.part for slot in program.parameters}
    states = ca.SX(problem.engine.project(0.0, program.x0.copy()))
    chosen = {at for free, places in placement.placed for at, _ in _entries(free, places)}
    for slot in program.states:
        part = places.get(program.start.get(slot.name, ""))
        if part is not None and chosen & {*range(part.start, part.stop)}:
            states[slot.part] = p[part]
    return states


# --- metrics ------------------------------------------------------------------------------


class _Asked(dict[str, Any]):
    """The readings of a gauge that an optimum has; InputError for others."""

    def __init__(self, gauge: Gauge, values: dict[str, Any]) -> None:
        super().__init__(values)
        self.gauge = gauge

    def __missing__(self, name: str) -> Any:
        text = f"an optimum has no smooth value of the {name} of {self.gauge.signal}"
        hint = "limit the signal in path:, or take final, initial, integral, mean, rms or duration"
        raise InputError(Fault(text, hint=hint))


@dataclass
class Read:
    """What the metrics of a problem read, and the metrics as functions of it.

    sums: gauges that integrate, with the entries of their signals and the power. ends: gauges that
    read the start and the end. function: (duration, information, integrals, at the start, at
    the end) -> the objective and the constraints, one after another.
    """

    problem: Problem
    sums: list[tuple[Gauge, Rows, int]] = field(default_factory=list)
    ends: list[tuple[Gauge, Rows]] = field(default_factory=list)
    function: Any = None

    @staticmethod
    def of(problem: Problem) -> Read:
        """Those of a problem. Raises InputError for a metric that has no smooth value."""
        made = Read(problem)
        known = _Symbols(problem.metrics)
        names = [OBJECTIVE, *(one.name for one in problem.constraints)]
        values = []
        for name in names:
            value = np.atleast_2d(np.asarray(known.metric(name)))
            width = problem.metrics.widths[name]
            values.append(ca.densify(column_of([np.broadcast_to(value, (1, width))])))
        made.sums, made.ends = known.sums, known.ends
        none = ca.SX(0, 1)
        integrals = [known.symbols[gauge]["integral"] for gauge, _, _ in made.sums]
        first, last = (
            [known.symbols[gauge][which] for gauge, _ in made.ends] for which in ("first", "last")
        )
        parts = [ca.vertcat(none, *one) for one in (integrals, first, last)]
        arguments = [known.time, known.information, *parts]
        made.function = ca.Function("metrics", arguments, [ca.vertcat(*values)])
        return made


@dataclass
class _Symbols(Unvaried):
    """The data of the motion that formulas read (`metric_values.MeasuredRuns`), as symbols."""

    metrics: Metrics
    sums: list[tuple[Gauge, Rows, int]] = field(default_factory=list)
    ends: list[tuple[Gauge, Rows]] = field(default_factory=list)
    symbols: dict[Gauge, dict[str, Any]] = field(default_factory=dict)
    time: Any = field(default_factory=lambda: ca.SX.sym("T"))
    constants: Mapping[str, Any] = field(default_factory=dict)
    information: Any = field(default_factory=lambda: ca.SX.sym(METRIC))

    def reading(self, gauge: Gauge, read: Callable[[Readings], Any]) -> Any:
        if np.isfinite([gauge.since, gauge.until]).any():
            text = f"an optimum has no window since= or until= of {gauge.signal}"
            raise InputError(Fault(text, hint="make it a phase of its own, with its end"))
        rows = entries(self.metrics.program, gauge.signal).ravel()
        if gauge.reference is not None or gauge.kind not in {"extremes", *SUMS}:
            text = f"an optimum has no measurement {gauge.kind} of {gauge.signal}"
            hint = "final, initial, integral, mean, rms (of differences too) and duration"
            raise InputError(Fault(text, hint=f"it has {hint}"))
        width = len(rows)
        if gauge not in self.symbols:
            kinds = ("integral",) if gauge.kind in SUMS else ("first", "last")
            self.symbols[gauge] = {kind: ca.SX.sym(kind, width) for kind in kinds}
            if gauge.kind in SUMS:
                self.sums.append((gauge, rows, SUMS[gauge.kind]))
            else:
                self.ends.append((gauge, rows))
        found: dict[str, Any] = {
            kind: scalars(one).reshape(1, width) for kind, one in self.symbols[gauge].items()
        }
        if gauge.kind in SUMS:
            found["span"] = scalars(ca.repmat(self.time, width, 1)).reshape(1, width)
        else:
            found["any"] = np.ones((1, width))
        return read(_Asked(gauge, found))

    def varied(self, name: str) -> Any:
        return scalars(self.information).reshape(1, 1)

    def ever(self, gauge: Gauge) -> Any:
        return np.zeros((1, 1), dtype=bool)

    def event(self, block: str) -> Any:
        raise InputError(Fault(f"time_of({block}): the motion of an optimum has no events"))

    def duration(self) -> Any:
        return scalars(self.time).reshape(1, 1)

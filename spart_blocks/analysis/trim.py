"""`trim`: an equilibrium of a diagram, with named states and parameters as unknowns."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from spart_blocks.analysis.place_names import (
    Elements,
    Indices,
    Spots,
    States,
    as_names,
    elements,
    repeated,
    together,
)
from spart_blocks.analysis.point import Trim, filled_moves, operating_point, projected_moves
from spart_blocks.base.errors import Fault, InputError, RunError, did_you_mean
from spart_blocks.base.paths import element_names, split_index
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.program import Program
from spart_blocks.program.derivatives import Moves, Point, Rowwise
from spart_blocks.program.parameter_paths import target_at
from spart_blocks.program.tracing.gains import wired
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.engines.parity import native_engine

TOLERANCE = 1e-9
_EVALUATIONS = 500
_POLISHING = 5
_FOLLOWS = 1e-6


def trim(
    diagram: Diagram | str | Path | Any,
    *,
    unknowns: Sequence[str] | str,
    conditions: Mapping[str, Any] | None = None,
    steady: bool | Sequence[str] | str = True,
    at: Any = None,
    t: float | None = None,
    tolerance: float = TOLERANCE,
) -> Trim:
    """Find values of the unknowns for which the diagram is at rest.

    unknowns: states ('plant.qm', 'plant.qm[1]', 'plant.qm.elbow', 'plant') and parameters
    ('torque.value', or 'kp' of the file's `params:`). Everything else is fixed at its value at the
    start of the search. steady: the states that must be at rest, by default all except those of
    plants' audits; False for none.
    conditions: signals or inputs of blocks and their required values. at, t: the start of the
    search, and the time of the equilibrium; see linearize. tolerance: the largest residual of an
    equilibrium, in the units of the rates.

    Solved by least squares with exact derivatives, so there may be more equations than unknowns;
    with fewer equations, the solution nearest to the start is taken. Raises InputError for unknown
    names, and RunError with the largest residual if no equilibrium is found.
    """
    found = Equilibrium(diagram, unknowns, conditions, steady, tolerance)
    solution, evaluations = found.solved(operating_point(found.engine, at, t))
    return found.result(solution, evaluations)


class Equilibrium:
    """The equations of an equilibrium of a diagram, prepared for several parameters. The arguments
    are those of `trim`.
    """

    def __init__(
        self,
        diagram: Diagram | str | Path | Any,
        unknowns: Sequence[str] | str,
        conditions: Mapping[str, Any] | None = None,
        steady: bool | Sequence[str] | str = True,
        tolerance: float = TOLERANCE,
    ) -> None:
        ready = as_diagram(diagram)
        wiring = wired(ready)
        self.engine = engine = native_engine(ready, wiring)
        self.tolerance = tolerance
        states = States(wiring.nodes, {**engine.continuous, **engine.sampled})
        self._unknown = _Unknowns(engine, states, as_names(unknowns, "unknowns"))
        self._equations = _Equations(engine, states, Spots(wiring), steady, conditions or {})

    def solved(self, start: Point) -> tuple[Point, int]:
        """The equilibrium that a search from a point finds, and the number of evaluations. Raises
        RunError if it finds none.
        """
        solution, evaluations = _solved(self._equations, self._unknown, start)
        residuals, _ = self._equations(solution, self._unknown)
        if not np.abs(residuals).max(initial=0.0) <= self.tolerance:
            raise _not_found(self._equations, self._unknown, solution, self.tolerance)
        return solution, evaluations

    def result(self, solution: Point, evaluations: int) -> Trim:
        residuals, _ = self._equations(solution, self._unknown)
        return _result(self.engine, self._unknown, solution, residuals, evaluations)

    def settled(self, solution: Point, moves: Moves) -> tuple[Point, Moves]:
        """An equilibrium and its changes as a tick reads them, on the constraints of its states."""
        engine, t = self.engine.with_parameters(solution.p), solution.t
        x, xd = engine.project(t, solution.x), solution.xd
        if engine.program.holds:
            xd = engine.program.filled(t, x, xd, solution.p)
        point = Point(t, x, xd, solution.p)
        return point, filled_moves(engine, point, projected_moves(engine, solution, moves))

    def moved(self, solution: Point, moves: Moves) -> Moves:
        """How an equilibrium moves: by the implicit function theorem, what is not unknown moves as
        given, and the unknowns so that all stays at rest. Raises RunError where they cannot.
        """
        rows = self._unknown.rows
        whole = np.vstack([moves.dx, moves.dxd, moves.dp])
        whole[rows] = 0.0
        _, table = self._equations.whole(solution)
        forced = table @ whole
        slopes = self._unknown.slopes(table)
        dz = np.linalg.lstsq(slopes, -forced, rcond=None)[0]
        off = np.abs(slopes @ dz + forced).max(initial=0.0)
        if off > _FOLLOWS * max(1.0, np.abs(forced).max(initial=0.0)):
            raise RunError(
                "the equilibrium does not follow a parameter: nothing unknown makes up for it",
                hint="add unknowns, or hold fewer states steady",
            )
        whole[rows] = self._unknown.moves[rows] @ dz
        nx, nd = len(moves.dx), len(moves.dxd)
        return Moves(whole[:nx], whole[nx : nx + nd], whole[nx + nd :])


class _Unknowns:
    """The unknowns, as entries of the vector (x, xd, p).

    A parameter of the file may be the value of several entries, which move together. moves
    (entries, unknowns): 1 where an entry is an unknown. labels: of the first entry of
    each unknown. sizes: number of unknowns by name. rows: the entries that move.
    """

    def __init__(self, engine: Native, states: States, names: list[str]) -> None:
        faults = repeated(names, "unknown")
        program = engine.program
        labels = list(states.labels)
        for slot in program.parameters:
            labels += element_names(slot.name, slot.shape)
        columns = [np.zeros((len(labels), 0))]
        for name in names:
            entries = _entries(name, program, states)
            if not entries:
                choices = [*states.names(), *(slot.name for slot in program.parameters)]
                hint = did_you_mean(name, choices)
                faults.append(Fault(f"unknown: no state or parameter {name!r}", hint=hint))
                continue
            sizes = {places.size for places in entries}
            size = sizes.pop() if len(sizes) == 1 else 1  # a number fills vectors of several sizes
            column = np.zeros((len(labels), size))
            for places in entries:
                column[np.ravel(places), np.arange(places.size) % size] = 1
            columns.append(column)
        if not names:
            faults.append(Fault("trim needs unknowns: names of states and parameters"))
        self.moves = np.hstack(columns)
        twice = np.count_nonzero(self.moves, axis=1) > 1
        faults += [Fault(f"unknown {labels[k]} is given twice") for k in np.flatnonzero(twice)]
        if faults:
            raise InputError(faults)
        self.rows = np.flatnonzero(self.moves.any(axis=1))
        self._first = np.argmax(self.moves != 0, axis=0)
        self.labels = tuple(labels[k] for k in self._first)
        self.sizes = dict(zip(names, (column.shape[1] for column in columns[1:]), strict=True))
        self._sizes = (states.size, len(engine.initial()[0]))

    def of(self, point: Point) -> Floats:
        whole = np.concatenate([point.x, point.xd, point.p])
        return np.asarray(whole[self._first])

    def put(self, point: Point, values: Floats) -> Point:
        """The point with the unknowns set to these values."""
        whole = np.concatenate([point.x, point.xd, point.p])
        whole[self.rows] = self.moves[self.rows] @ values
        states, nx = self._sizes
        return Point(point.t, whole[:nx], whole[nx:states], whole[states:])

    def slopes(self, table: Floats) -> Floats:
        """The derivatives by the unknowns, from those by (x, xd, p)."""
        return np.asfortranarray(table[:, self.rows] @ self.moves[self.rows])


def _entries(name: str, program: Program, states: States) -> list[Indices]:
    """The entries of (x, xd, p) of a state or parameter, in groups; none for an unknown name."""
    found = states.find(name)
    if found is not None:
        return [found.indices]
    base, index = split_index(name)
    target = target_at(program, base)
    parts = () if target is None else target.elements(name, index).places
    return [places + states.size for places in parts]


class _Equations:
    """The residuals that are zero at an equilibrium, with their names and derivatives."""

    def __init__(
        self,
        engine: Native,
        states: States,
        spots: Spots,
        steady: bool | Sequence[str] | str,
        conditions: Mapping[str, Any],
    ) -> None:
        program, nx = engine.program, len(engine.initial()[0])
        rest = _steady(states, steady)
        continuous = rest.indices[rest.indices < nx]
        self.labels = [f"the rate of {states.labels[k]}" for k in continuous]
        self._flow = Rowwise(program.at_ticks(program.rates), continuous)
        self._jumps = []
        for clock in engine.clocks:
            parts = [engine.sampled[name] for name in clock.blocks]
            on_clock = np.concatenate([np.arange(part.start, part.stop) for part in parts])
            rows = np.intersect1d(on_clock, rest.indices[rest.indices >= nx] - nx)
            self.labels += [f"the change of {states.labels[nx + k]} at a tick" for k in rows]
            self._jumps.append((Rowwise(program.ticked(clock.name), rows), rows))
        wanted, self._values = _conditions(engine, spots, conditions)
        self.labels += [f"{label} less its condition" for label in wanted.labels]
        self._signals = Rowwise(program.at_ticks(program.outputs), wanted.indices)
        if not self.labels:
            raise InputError("trim has no equations: nothing is steady, and no condition is given")

    def __call__(self, point: Point, unknown: _Unknowns) -> tuple[Floats, Floats]:
        """The residuals (m,), and their derivatives by the unknowns (m, n)."""
        values, table = self.whole(point)
        return values, unknown.slopes(table)

    def whole(self, point: Point) -> tuple[Floats, Floats]:
        """The residuals (m,), and their derivatives by (x, xd, p)."""
        flow = self._flow(point)
        values, tables = [flow.value], [np.hstack(flow[1:])]
        nx, nd, size = len(point.x), len(point.xd), len(point.p)
        for jump, rows in self._jumps:
            after = jump(point)
            values.append(after.value - point.xd[rows])
            table = np.hstack(after[1:])
            table[:, nx : nx + nd] -= np.eye(nd)[rows]
            tables.append(table)
        signals = self._signals(point)
        values.append(signals.value - self._values)
        tables.append(np.hstack(signals[1:]))
        whole = np.vstack([table.reshape(-1, nx + nd + size) for table in tables])
        return np.concatenate(values), whole


def _steady(states: States, steady: bool | Sequence[str] | str) -> Elements:
    if steady is True or steady is False:
        numbers = np.arange(states.size if steady else 0)
        numbers = np.setdiff1d(numbers, [k for audit in states.audits for k in audit])
        numbers = np.setdiff1d(numbers, states.helds)
        return Elements(tuple(states.labels[k] for k in numbers), numbers)
    found, faults = [], []
    for name in as_names(steady, "steady"):
        part = states.find(name)
        if part is None:
            hint = did_you_mean(name, states.names())
            faults.append(Fault(f"steady: no state {name!r}", hint=hint))
        else:
            found.append(part)
    if faults:
        raise InputError(faults)
    return together(found)


def _conditions(
    engine: Native, spots: Spots, conditions: Mapping[str, Any]
) -> tuple[Elements, Floats]:
    """The entries of the vector of signals with required values, and these values."""
    parts, values, faults = [], [np.zeros(0)], []
    for name, value in conditions.items():
        try:
            spot, index = spots.find(name)
            slot = engine.slot[spot.signal]
            found = elements(spot.label, slot.shape, index)
        except InputError as error:
            faults += [Fault(f"condition: {f.message}", f.place, f.hint) for f in error.faults]
            continue
        given = np.ravel(np.asarray(value, dtype=float))
        if given.size not in (1, found.size):
            faults.append(Fault(f"condition: {name} has {found.size} entries, not {given.size}"))
            continue
        parts.append(Elements(found.labels, found.indices + slot.start))
        values.append(np.broadcast_to(given, (found.size,)))
    if faults:
        raise InputError(faults)
    return together(parts), np.concatenate(values)


# --- the search ---------------------------------------------------------------------------


def _solved(equations: _Equations, unknown: _Unknowns, start: Point) -> tuple[Point, int]:
    """The point with the smallest residuals, and the number of evaluations. A trust-region method
    finds the vicinity of the solution; then Gauss-Newton steps, accepted while they improve, reach
    rounding accuracy.
    """
    first, _ = equations(start, unknown)
    if not np.isfinite(first).all():
        worst = equations.labels[int(np.flatnonzero(~np.isfinite(first))[0])]
        raise RunError(f"{worst} is not finite where the search starts", time=start.t)

    def residual(z: Floats) -> Floats:
        return equations(unknown.put(start, z), unknown)[0]

    def slope(z: Floats) -> Floats:
        return equations(unknown.put(start, z), unknown)[1]

    found = least_squares(
        residual, unknown.of(start), slope, x_scale="jac", ftol=1e-15, xtol=1e-15, gtol=1e-15,
        max_nfev=_EVALUATIONS,
    )  # fmt: skip
    z, evaluations = found.x, int(found.nfev)
    for _ in range(_POLISHING):
        now, table = equations(unknown.put(start, z), unknown)
        step = np.linalg.lstsq(table, -now, rcond=None)[0]
        evaluations += 1
        if not np.linalg.norm(residual(z + step)) < np.linalg.norm(now):
            break
        z = z + step
    return unknown.put(start, z), evaluations


def _not_found(
    equations: _Equations, unknown: _Unknowns, point: Point, tolerance: float
) -> RunError:
    residuals, table = equations(point, unknown)
    size = np.where(np.isfinite(residuals), np.abs(residuals), np.inf)
    order = np.argsort(-size, kind="stable")
    worst = int(order[0])
    more = [
        f"{equations.labels[k]} is {residuals[k]:.3g}" for k in order[1:4] if size[k] > tolerance
    ]
    others = f" ({'; '.join(more)})" if more else ""
    if not table[worst].any():
        hint = f"none of the unknowns ({_few(unknown.labels)}) changes it: add one that does"
    else:
        hint = "add unknowns that can bring it to zero, or start elsewhere with at="
    return RunError(
        f"no equilibrium was found: {equations.labels[worst]} is {residuals[worst]:.6g} "
        f"at the nearest point{others}",
        hint=hint,
    )


def _few(labels: Iterable[str]) -> str:
    names = list(labels)
    return ", ".join(names if len(names) < 7 else [*names[:6], "..."])


def _result(
    engine: Native, unknown: _Unknowns, point: Point, residuals: Floats, evaluations: int
) -> Trim:
    x = engine.project(point.t, point.x)
    states = {name: x[part].copy() for name, part in engine.continuous.items()}
    xd = point.xd
    if engine.holds:
        xd = engine.program.filled(point.t, x, xd, point.p)
    states |= {name: xd[part].copy() for name, part in engine.sampled.items()}
    n = len(x) + len(point.xd)
    moved = [k - n for k in unknown.rows if k >= n]
    parameters = {
        slot.name: point.p[slot.part].reshape(slot.shape).copy()
        for slot in engine.program.parameters
        if any(slot.part.start <= k < slot.part.stop for k in moved)
    }
    solved = unknown.of(Point(point.t, x, point.xd, point.p))
    ends = np.cumsum(list(unknown.sizes.values()))[:-1]
    values = dict(zip(unknown.sizes, np.split(solved, ends), strict=True))
    largest = float(np.abs(residuals).max(initial=0.0))
    return Trim(states, parameters, values, largest, point.t, evaluations)

"""An optimal control problem on a mesh as a nonlinear program.

Unknowns are the states at all points of collocation, the controls there, what is chosen once, and
free durations. Conditions are that the polynomials' derivatives are the rates, and the limits. All
are scaled: unknowns by their size, conditions by the largest entry of their derivatives at the
guess (J. T. Betts, "Practical Methods for Optimal Control", 2nd ed., SIAM 2010, sec. 1.16.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.fits.free import Free
from spart_blocks.optimal.functions import PhaseFunctions, Read
from spart_blocks.optimal.information import log_determinant
from spart_blocks.optimal.mesh import Floats, Mesh, lagrange, radau
from spart_blocks.optimal.problem import Limited, PhaseProblem, Problem, whole


@dataclass(frozen=True, eq=False)
class PhaseMotion:
    """The motion in a phase. T: its duration [s]. x (points + 1, nx), u (points, nu)."""

    mesh: Mesh
    T: float
    x: Floats
    u: Floats

    def states(self, at: Floats) -> Floats:
        """The states (k, nx) at these fractions of the phase (k,)."""
        return self.mesh.read(self.x, np.clip(at, 0.0, 1.0))

    def controls(self, at: Floats) -> Floats:
        """The controls (k, nu) at these fractions of the phase (k,)."""
        return self.mesh.read_controls(self.u, np.clip(at, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class Motion:
    """The motion in all phases, with what is chosen once, q (nq,)."""

    phases: tuple[PhaseMotion, ...]
    q: Floats

    @property
    def T(self) -> float:
        """The whole duration [s]."""
        return sum(one.T for one in self.phases)

    @property
    def starts(self) -> list[float]:
        """The time at which each phase starts [s]."""
        return [0.0, *np.cumsum([one.T for one in self.phases])[:-1].tolist()]

    def of_states(self, count: int) -> Motion:
        """The motion of the first states alone."""
        phases = tuple(replace(one, x=one.x[:, :count].copy()) for one in self.phases)
        return Motion(phases, self.q)


@dataclass(frozen=True)
class Condition:
    """`count` rows of the conditions: 'motion', 'start', 'path' or 'end' of a phase, or a metric of
    the whole motion, whose phase is -1."""

    label: str
    phase: int
    count: int


@dataclass(frozen=True, eq=False)
class Program:
    """A nonlinear program. w: scaled unknowns, from `low` to `high`. g: conditions, from `lbg` to
    `ubg`. f: the objective. rough: the mean square by which controls leave straight lines from
    point to point. states: their number. sizes: of the unknowns. conditions: what the rows of g
    are, in order.
    """

    problem: Problem
    meshes: tuple[Mesh, ...]
    w: Any
    f: Any
    rough: Any
    g: Any
    states: int
    sizes: Floats
    low: Floats
    high: Floats
    lbg: Floats
    ubg: Floats
    conditions: tuple[Condition, ...]

    def motion(self, values: Floats) -> Motion:
        """The motion of scaled unknowns."""
        given = values * self.sizes
        problem, at = self.problem, 0
        nx, (_, nu, _) = self.states, problem.counts
        phases = []
        for mesh, phase in zip(self.meshes, problem.phases, strict=True):
            n = mesh.points
            x = given[at : at + nx * (n + 1)].reshape(n + 1, nx)
            at += nx * (n + 1)
            u = given[at : at + nu * n].reshape(n, nu)
            at += nu * n
            T = given[at] if not phase.T.fixed else phase.start
            at += not phase.T.fixed
            phases.append(PhaseMotion(mesh, float(T), x, u))
        return Motion(tuple(phases), given[at:])

    def values(self, motion: Motion) -> Floats:
        """The scaled unknowns of a motion, within their bounds."""
        parts = []
        for one, phase in zip(motion.phases, self.problem.phases, strict=True):
            parts += [one.x.ravel(), one.u.ravel()]
            parts += [] if phase.T.fixed else [np.array([one.T])]
        found = whole([*parts, motion.q]) / self.sizes
        return np.clip(found, self.low, self.high)


@dataclass(frozen=True, eq=False)
class Sizes:
    """The sizes of states, controls, chosen values and durations: what they are scaled by."""

    x: Floats
    u: Floats
    q: Floats

    @staticmethod
    def of(problem: Problem, guess: Motion) -> Sizes:
        """Those of a guess and of the bounds."""
        x = np.max([np.abs(one.x).max(axis=0, initial=0.0) for one in guess.phases], axis=0)
        for phase in problem.phases:
            for limited in (*phase.path, *phase.end):
                for k, slot in _states_limited(problem, limited.rows):
                    finite = [abs(v[k]) for v in (limited.low, limited.high) if np.isfinite(v[k])]
                    x[slot] = max(x[slot], *finite, 0.0) if finite else x[slot]
        u = [np.abs(one.u).max(axis=0, initial=0.0) for one in guess.phases]
        for one in problem.phases:
            for bound in (one.low, one.high):
                u.append(np.where(np.isfinite(bound), np.abs(bound), 0.0))
        q = np.abs(guess.q)
        return Sizes(*(np.where(size > 1e-12, size, 1.0) for size in
                       (x, np.max(u, axis=0), q)))  # fmt: skip


def _states_limited(problem: Problem, rows: Any) -> Iterator[tuple[int, int]]:
    """Which of some signals are states: the number among the signals, and that of the state."""
    program = problem.program
    names = {slot.name: slot for slot in program.states}
    for slot in program.signals:
        state = names.get(slot.name.partition(".")[0])
        same = state is not None and slot.part.stop - slot.part.start == (
            state.part.stop - state.part.start
        )
        if state is None or not same:
            continue
        for k, row in enumerate(rows):
            if slot.part.start <= row < slot.part.stop:
                yield k, state.part.start + int(row) - slot.part.start


class _Written:
    """Unknowns and conditions of a program, one after another."""

    def __init__(self) -> None:
        self.w: list[Any] = []
        self.g: list[Any] = []
        self.sizes, self.low, self.high = list[Floats](), list[Floats](), list[Floats]()
        self.lbg, self.ubg = list[Floats](), list[Floats]()
        self.conditions: list[Condition] = []

    def unknown(
        self, name: str, sizes: Floats, low: Floats | None = None, high: Floats | None = None
    ) -> Any:
        """New unknowns of these sizes, between bounds where they are given."""
        symbol = ca.MX.sym(name, len(sizes))
        self.add(symbol, sizes, low, high)
        return ca.MX(sizes) * symbol

    def add(
        self, symbol: Any, sizes: Floats, low: Floats | None = None, high: Floats | None = None
    ) -> None:
        """Add a symbol of scaled unknowns."""
        self.w.append(symbol)
        self.sizes.append(sizes)
        self.low.append(np.full(len(sizes), -np.inf) if low is None else low / sizes)
        self.high.append(np.full(len(sizes), np.inf) if high is None else high / sizes)

    def limit(self, label: str, phase: int, value: Any, low: Floats, high: Floats) -> None:
        """Add the condition that a value is between these."""
        self.g.append(value)
        self.lbg.append(low)
        self.ubg.append(high)
        self.conditions.append(Condition(label, phase, value.numel()))


@dataclass(frozen=True, eq=False)
class _Phase:
    """A phase as expressions. first, last: the arguments of its functions at its start and end.
    sums: what it adds to the integrals. rough: the roughness of its controls. points: the arguments
    of its functions at all points, with weights of an integral over time.
    """

    first: tuple[Any, ...]
    last: tuple[Any, ...]
    sums: Any
    rough: Any
    points: tuple[Any, ...]
    weights: Any


class Transcription:
    """Makes nonlinear programs of a problem on meshes."""

    def __init__(self, problem: Problem, read: Read, functions: Sequence[PhaseFunctions]) -> None:
        self.problem, self.read, self.functions = problem, read, functions

    def on(self, guess: Motion, sizes: Sizes) -> Program:
        """The program on the meshes of a guess."""
        problem, written = self.problem, _Written()
        q_scaled = ca.MX.sym("q", len(sizes.q))
        q = ca.MX(sizes.q) * q_scaled
        phases: list[_Phase] = []
        for k, one in enumerate(guess.phases):
            before = phases[-1].last if phases else None
            phases.append(self._phase(written, k, one, sizes, q, before))
        metrics = self._metrics(phases)
        at = 1
        for limits in problem.constraints:
            width = len(limits.low)
            written.limit(limits.label, -1, metrics[at : at + width], limits.low, limits.high)
            at += width
        written.add(q_scaled, sizes.q, *_limits_of(problem.parameters))
        return Program(
            problem,
            tuple(one.mesh for one in guess.phases),
            ca.vertcat(*written.w),
            problem.sign * metrics[0],
            sum((one.rough for one in phases), ca.MX(0.0)),
            ca.vertcat(*written.g),
            len(sizes.x),
            whole(written.sizes),
            whole(written.low),
            whole(written.high),
            whole(written.lbg),
            whole(written.ubg),
            tuple(written.conditions),
        )

    def _phase(
        self,
        written: _Written,
        k: int,
        one: PhaseMotion,
        sizes: Sizes,
        q: Any,
        before: tuple[Any, ...] | None,
    ) -> _Phase:
        """Write phase k. before: the arguments at the end of the phase before it."""
        phase, f, mesh = self.problem.phases[k], self.functions[k], one.mesh
        n, nx, nu = mesh.points, len(sizes.x), len(sizes.u)
        X = ca.reshape(written.unknown(f"x{k}", np.tile(sizes.x, n + 1)), nx, n + 1)
        bounds = np.tile(phase.low, n), np.tile(phase.high, n)
        U = ca.reshape(written.unknown(f"u{k}", np.tile(sizes.u, n), *bounds), nu, n)
        T: Any = ca.MX(phase.start)
        if not phase.T.fixed:
            T = written.unknown(f"T{k}", np.array([max(one.T, 1e-6)]), *_span(phase))
        t0, first = (ca.MX(0.0), f.start(q)) if before is None else before[:2]
        points = t0 + T * ca.MX(mesh.times_before[None]), X[:, 1:], U, ca.repmat(q, 1, n)
        lengths = np.repeat(mesh.lengths, mesh.degree)[None]
        rates = T * ca.repmat(ca.MX(lengths), nx, 1) * f.rates.map(n)(*points)
        defects = (ca.mtimes(X, _differences(mesh)) - rates) / ca.repmat(ca.MX(sizes.x), 1, n)
        still = np.zeros(nx * n)
        written.limit("motion", k, ca.vec(defects), still, still)
        join = (X[:, 0] - first) / ca.MX(sizes.x)
        written.limit("start", k, join, still[:nx], still[:nx])
        if phase.path:
            path = ca.vec(f.path.map(n)(*points))
            written.limit("path", k, path, *(np.tile(one, n) for one in _limits_of(phase.path)))
        last = (t0 + T, X[:, -1], U[:, -1] if nu else ca.MX(0, 1), q)
        if phase.end:
            written.limit("end", k, f.end(*last), *_limits_of(phase.end))
        sums: Any = ca.MX(0, 1)
        if self.read.sums:
            sums = T * ca.mtimes(f.sums.map(n)(*points), ca.MX(mesh.weights))
        rough: Any = ca.MX(0.0)
        if nu and n > 2:
            bent = ca.mtimes(U, _bends(mesh)) / ca.repmat(ca.MX(sizes.u), 1, n - 2)
            rough = ca.sumsqr(bent) / n
        early = lagrange(radau(mesh.degree), np.zeros(1))[0]
        u0 = ca.mtimes(U[:, : mesh.degree], ca.MX(early)) if nu else ca.MX(0, 1)
        weights = T * ca.MX(mesh.weights)
        return _Phase((t0, X[:, 0], u0, q), last, sums, rough, points, weights)

    def _metrics(self, phases: Sequence[_Phase]) -> Any:
        """The objective and the metrics that are limited, one after another."""
        ends = [ca.MX(0, 1)] * 2
        if self.read.ends:
            ends = [
                self.functions[0].ends(*phases[0].first),
                self.functions[-1].ends(*phases[-1].last),
            ]
        sums = sum((one.sums for one in phases[1:]), phases[0].sums)
        information = self._information(phases)
        return self.read.function(phases[-1].last[0], information, sums, *ends)

    def _information(self, phases: Sequence[_Phase]) -> Any:
        """The logarithm of the determinant of the Fisher information; 0 where none is asked for."""
        if self.problem.wanted is None:
            return ca.MX(0.0)
        M: Any = sum(
            ca.mtimes(f.information.map(one.weights.numel())(*one.points), one.weights)
            for f, one in zip(self.functions, phases, strict=True)
        )
        return log_determinant(self.functions[0].slopes.size2_out(0))(M)


def _limits_of(limited: Sequence[Limited | Free]) -> tuple[Floats, Floats]:
    """The least and the greatest values of all."""
    return whole([one.low for one in limited]), whole([one.high for one in limited])


def _differences(mesh: Mesh) -> Any:
    """The matrix (points + 1, points) that maps states to their derivatives by the fraction of the
    phase, times the interval's length."""
    rows, columns, numbers = mesh.differences
    n = mesh.points
    return ca.DM.triplet(rows.tolist(), columns.tolist(), ca.DM(numbers), n + 1, n)


def _bends(mesh: Mesh) -> Any:
    """The matrix (points, points - 2) that maps a control at all points to how far it is from the
    straight line between its neighbours."""
    t, n = mesh.times, mesh.points
    share = (t[1:-1] - t[:-2]) / (t[2:] - t[:-2])
    k = np.arange(n - 2)
    rows = np.concatenate([k, k + 1, k + 2])
    numbers = np.concatenate([share - 1.0, np.ones(n - 2), -share])
    columns = np.tile(k, 3)
    return ca.DM.triplet(rows.tolist(), columns.tolist(), ca.DM(numbers), n, n - 2)


def _span(phase: PhaseProblem) -> tuple[Floats, Floats]:
    T = phase.T
    low = 1e-6 * phase.start if T.min is None else float(T.min)
    return np.array([low]), np.array([np.inf if T.max is None else float(T.max)])

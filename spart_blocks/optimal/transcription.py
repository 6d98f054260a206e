"""An optimal control problem on a mesh as a nonlinear program.

Unknowns are the states at all points of collocation, the controls there, what is chosen once, and
free durations. Conditions are that the polynomials' derivatives are the rates, and the limits. All
are scaled: unknowns by their size, conditions by the largest entry of their derivatives at the
guess (J. T. Betts, "Practical Methods for Optimal Control", 2nd ed., SIAM 2010, sec. 1.16.5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.optimal.functions import PhaseFunctions, Read
from spart_blocks.optimal.mesh import Floats, Mesh, lagrange, radau
from spart_blocks.optimal.problem import PhaseProblem, Problem, whole


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
    point to point. sizes: of the unknowns. conditions: what the rows of g are, in order.
    """

    problem: Problem
    meshes: tuple[Mesh, ...]
    w: Any
    f: Any
    rough: Any
    g: Any
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
        nx = len(problem.program.x0)
        nu = sum(len(one.start) for one in problem.controls)
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


class Transcription:
    """Makes nonlinear programs of a problem on meshes."""

    def __init__(self, problem: Problem, read: Read, functions: Sequence[PhaseFunctions]) -> None:
        self.problem, self.read, self.functions = problem, read, functions

    def on(self, guess: Motion, sizes: Sizes) -> Program:
        """The program on the meshes of a guess."""
        problem = self.problem
        nu, nq = len(sizes.u), len(sizes.q)
        w: list[Any] = []
        size: list[Floats] = []
        low: list[Floats] = []
        high: list[Floats] = []

        def unknown(name: str, scale: Floats, lows: Floats, highs: Floats) -> Any:
            symbol = ca.MX.sym(name, len(scale))
            w.append(symbol)
            size.append(scale)
            low.append(lows / scale)
            high.append(highs / scale)
            return ca.MX(scale) * symbol

        q_scaled = ca.MX.sym("q", nq)
        q = ca.MX(sizes.q) * q_scaled
        g: list[Any] = []
        lbg: list[Floats] = []
        ubg: list[Floats] = []
        conditions: list[Condition] = []

        def limit(label: str, k: int, value: Any, lows: Floats, highs: Floats) -> None:
            g.append(value)
            lbg.append(lows)
            ubg.append(highs)
            conditions.append(Condition(label, k, value.numel()))

        t0: Any = ca.MX(0.0)
        sums: Any = 0.0
        rough: Any = ca.MX(0.0)
        before: Any = None
        ends: list[Any] = []
        free = _free_bounds(problem)
        for k, (phase, f, one) in enumerate(
            zip(problem.phases, self.functions, guess.phases, strict=True)
        ):
            mesh = one.mesh
            n, nx = mesh.points, len(sizes.x)
            X = unknown(f"x{k}", np.tile(sizes.x, n + 1), *free(nx * (n + 1)))
            U = unknown(f"u{k}", np.tile(sizes.u, n), np.tile(phase.low, n),
                        np.tile(phase.high, n))  # fmt: skip
            X, U = ca.reshape(X, nx, n + 1), ca.reshape(U, nu, n)
            if nu and n > 2:
                bent = ca.mtimes(U, _bends(mesh)) / ca.repmat(ca.MX(sizes.u), 1, n - 2)
                rough = rough + ca.sumsqr(bent) / n
            T: Any = ca.MX(phase.start)
            if not phase.T.fixed:
                T = unknown(f"T{k}", np.array([max(one.T, 1e-6)]), *_span(phase))
            times = t0 + T * ca.MX(mesh.times_before[None])
            Q = ca.repmat(q, 1, n)
            points = X[:, 1:]
            rates = _mapped(f.rates, n)(times, points, U, Q)
            rows, columns, numbers = mesh.differences
            D = ca.DM.triplet(rows.tolist(), columns.tolist(), ca.DM(numbers), n + 1, n)
            lengths = np.repeat(mesh.lengths, mesh.degree)[None]
            defects = ca.mtimes(X, D) - T * ca.repmat(ca.MX(lengths), nx, 1) * rates
            scaled = defects / ca.repmat(ca.MX(sizes.x), 1, n)
            zero = np.zeros(nx * n)
            limit("motion", k, ca.vec(scaled), zero, zero)
            first = f.start(q) if before is None else before
            join = (X[:, 0] - first) / ca.MX(sizes.x)
            limit("start", k, join, np.zeros(nx), np.zeros(nx))
            if phase.path:
                path = _mapped(f.path, n)(times, points, U, Q)
                lows = whole([one.low for one in phase.path])
                highs = whole([one.high for one in phase.path])
                limit("path", k, ca.vec(path), np.tile(lows, n), np.tile(highs, n))
            last = (t0 + T, X[:, -1], U[:, -1] if nu else ca.MX(0, 1), q)
            if phase.end:
                lows = whole([one.low for one in phase.end])
                highs = whole([one.high for one in phase.end])
                limit("end", k, f.end(*last), lows, highs)
            if self.read.sums:
                values = _mapped(f.sums, n)(times, points, U, Q)
                sums = sums + T * ca.mtimes(values, ca.MX(mesh.weights))
            if k == 0 and self.read.ends:
                early = lagrange(radau(mesh.degree), np.zeros(1))[0]
                u0 = ca.mtimes(U[:, : mesh.degree], ca.MX(early)) if nu else ca.MX(0, 1)
                ends.append(f.ends(t0, X[:, 0], u0, q))
            t0, before = t0 + T, X[:, -1]
        if self.read.ends:
            ends.append(self.functions[-1].ends(*last))
        none = ca.MX(0, 1)
        both = ends or [none, none]
        integrals = sums if self.read.sums else none
        metrics = self.read.function(t0, integrals, *both)
        at = 1
        for limits in problem.constraints:
            width = len(limits.low)
            limit(limits.label, -1, metrics[at : at + width], limits.low, limits.high)
            at += width
        w.append(q_scaled)
        size.append(sizes.q)
        for bounds, kept in (("low", low), ("high", high)):
            kept.append(whole([getattr(one, bounds) for one in problem.parameters]) / sizes.q)
        return Program(
            problem,
            tuple(one.mesh for one in guess.phases),
            ca.vertcat(*w),
            problem.sign * metrics[0],
            rough,
            ca.vertcat(*g),
            whole(size),
            whole(low),
            whole(high),
            whole(lbg),
            whole(ubg),
            tuple(conditions),
        )


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


def _mapped(function: Any, n: int) -> Any:
    """The function of n points at once."""
    return function.map(n)


def _free_bounds(problem: Problem) -> Any:
    return lambda n: (np.full(n, -np.inf), np.full(n, np.inf))


def _span(phase: PhaseProblem) -> tuple[Floats, Floats]:
    T = phase.T
    low = 1e-6 * phase.start if T.min is None else float(T.min)
    return np.array([low]), np.array([np.inf if T.max is None else float(T.max)])

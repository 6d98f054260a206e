"""Motions from which a search for the greatest information starts.

At rest hardly anything is told of the parameters, and the logarithm of the determinant has no value
there. So the search starts from the best of some random motions: multisines in the controls,

    u(t) = middle + size * sum over k of a_k cos(2 pi k t/T) + b_k sin(2 pi k t/T)

with sum of b_k/k = 0, after which a chain of two integrators is again where it was. Their size is
halved until the path limits are met. From what they tell follows, too, which parameters can be
told apart.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.fits.statistics import RESOLVED
from spart_blocks.optimal.expected import at_points
from spart_blocks.optimal.functions import PhaseFunctions, Read, phase_functions
from spart_blocks.optimal.guess import (
    Rates,
    chosen_at_start,
    controls_at_start,
    first_meshes,
    followed,
    guessed,
)
from spart_blocks.optimal.information import Basis, Directions, Wanted
from spart_blocks.optimal.mesh import Floats, Mesh
from spart_blocks.optimal.problem import PhaseProblem, Problem
from spart_blocks.optimal.transcription import Motion, PhaseMotion

MOTIONS, HARMONICS, HALVINGS = 8, 5, 10
SEED = 0
ROUGHLY = 1e-3
"""Relative tolerance of these motions, which the search makes exact."""
WILD = 1e9
"""States that are larger are no motion to learn from."""

Controls = Callable[[float], Floats]


def excited(problem: Problem, read: Read, start: Motion | None) -> tuple[Basis, Motion]:
    """What can be told apart, and the motion from which the search starts. start: where it starts,
    if that is given. Raises InputError for what no motion tells."""
    wanted = problem.wanted
    assert wanted is not None
    entries, some = wanted.placement.directions(len(problem.program.p))
    moves = np.zeros((len(some), wanted.space.size))
    moves[:, entries] = some
    whole = Directions.of(problem.program, moves)
    functions = [phase_functions(problem, phase, read, whole) for phase in problem.phases]
    given = guessed(problem) if start is None else start
    tried = [
        with_sensitivities(problem, functions, given),
        *_Multisines(problem, functions).motions(),
    ]
    told = [one for one in tried if _finite(one)]
    if not told:
        text = "the motions from which the search would start grow without bound"
        hint = "give smaller bounds of controls, or guess: line"
        raise InputError(Fault(text, wanted.place, hint))
    slopes = [_slopes(problem, functions, one) for one in told]
    _refuse_unmoved(wanted, np.concatenate(slopes))
    stacked = np.concatenate([one.reshape(-1, one.shape[2]) for one in slopes])
    basis = Basis.of(wanted, problem.program, stacked, moves)
    final = [phase_functions(problem, phase, read, basis.directions) for phase in problem.phases]
    best = told[int(np.argmax([_value(one @ basis.factors) for one in slopes]))]
    first = best if start is None else start
    return basis, with_sensitivities(problem, final, first.of_states(problem.counts[0]))


def _finite(motion: Motion) -> bool:
    return all(bool(np.isfinite(one.x).all()) and np.abs(one.x).max(initial=0.0) < WILD
               for one in motion.phases)  # fmt: skip


def _slopes(problem: Problem, functions: Sequence[PhaseFunctions], motion: Motion) -> Floats:
    """The derivatives (n, w, k) of the weighted signals at all points of a motion, of whose squares
    the sum is the information."""
    found = []
    for f, (given, weights) in zip(functions, at_points(problem, motion), strict=True):
        n, (w, k) = len(weights), f.slopes.size_out(0)
        values = np.array(f.slopes.map(n)(*given)).reshape(w, n, k) * np.sqrt(weights)[:, None]
        found.append(values.transpose(1, 0, 2))
    return np.concatenate(found)


def _value(slopes: Floats) -> float:
    """The logarithm of the determinant of the information, -inf where it is singular."""
    singular = np.linalg.svd(slopes.reshape(-1, slopes.shape[2]), compute_uv=False)
    if len(singular) < slopes.shape[2] or singular[-1] <= RESOLVED * singular[0]:
        return -np.inf
    return float(2 * np.log(singular).sum())


def _refuse_unmoved(wanted: Wanted, slopes: Floats) -> None:
    """Raise InputError for a signal that depends on no parameter, or has no derivative."""
    at = 0
    for one in wanted.sensed:
        part = slopes[:, at : at + len(one.rows)]
        at += len(one.rows)
        if not np.isfinite(part).all():
            text = f"{one.name} has no finite derivative by what is to be estimated"
            raise InputError(Fault(text, one.place, "measure another signal"))
        if not part.any():
            text = f"{one.name} depends on none of the parameters"
            raise InputError(Fault(text, one.place, "leave it out, or name others in parameters"))


# --- motions ------------------------------------------------------------------------------


class _Multisines:
    """Random motions that meet the path limits."""

    def __init__(self, problem: Problem, functions: Sequence[PhaseFunctions]) -> None:
        self.problem, self.functions = problem, functions
        self.meshes = first_meshes(problem)
        self.rng = np.random.default_rng(SEED)
        self.k = np.arange(1, HARMONICS + 1)
        self.T = sum(phase.start for phase in problem.phases)

    def motions(self) -> Iterator[Motion]:
        """Some, in which each control is as large as it could be alone."""
        count = self.problem.counts[1]
        if not count:
            return
        waves = self._waves()
        alone = np.array([self._largest(waves, row)[0].max() for row in np.eye(count)])
        size = 1.0
        for _ in range(MOTIONS):
            sizes, motion = self._largest(self._waves(), min(1.0, 2 * size) * alone)
            size = float((sizes / alone).max())
            yield motion

    def _waves(self) -> tuple[Floats, Floats]:
        """Coefficients (harmonics, nu) of random waves whose greatest value is 1."""
        k = self.k[:, None]
        a, b = self.rng.normal(size=(2, HARMONICS, self.problem.counts[1]))
        b -= (b / k).sum(axis=0) / (1 / k**2).sum() / k
        at = np.linspace(0, 2 * np.pi, 200)[:, None] * self.k
        most = np.abs(np.cos(at) @ a + np.sin(at) @ b).max(axis=0)
        return a / most, b / most

    def _largest(self, waves: tuple[Floats, Floats], sizes: Floats) -> tuple[Floats, Motion]:
        """Sizes, halved until the limits are met, with the motion."""
        for _ in range(HALVINGS):
            motion = _run(self.problem, self.functions, self.meshes, self._shape(waves, sizes))
            if _finite(motion) and _within(self.problem, self.functions, motion):
                break
            sizes = 0.5 * sizes
        return sizes, motion

    def _shape(self, waves: tuple[Floats, Floats], sizes: Floats) -> Controls:
        def shape(t: float) -> Floats:
            at = 2 * np.pi * self.k * t / self.T
            return np.asarray(sizes * (np.cos(at) @ waves[0] + np.sin(at) @ waves[1]))

        return shape


def _within(problem: Problem, functions: Sequence[PhaseFunctions], motion: Motion) -> bool:
    """Whether a motion meets the path limits."""
    at = at_points(problem, motion)
    for phase, f, (given, weights) in zip(problem.phases, functions, at, strict=True):
        values = np.array(f.path.map(len(weights))(*given))
        low, high = (np.concatenate([np.zeros(0), *(getattr(limit, which) for limit in phase.path)])
                     for which in ("low", "high"))  # fmt: skip
        if ((values < low[:, None] - 1e-9) | (values > high[:, None] + 1e-9)).any():
            return False
    return True


def _run(
    problem: Problem, functions: Sequence[PhaseFunctions], meshes: Sequence[Mesh],
    shape: Callable[[float], Floats],
) -> Motion:  # fmt: skip
    """The motion of controls about the middles of their bounds, shape (nu,) from -1 to 1."""
    q, u0 = chosen_at_start(problem), controls_at_start(problem)
    x = np.array(functions[0].start(q)).ravel()
    phases, t0 = [], 0.0
    for phase, f, mesh in zip(problem.phases, functions, meshes, strict=True):
        bounded = np.isfinite(phase.low) & np.isfinite(phase.high)
        with np.errstate(invalid="ignore"):
            middle = np.where(bounded, 0.5 * (phase.low + phase.high), u0)
            half = np.where(bounded, 0.5 * (phase.high - phase.low), np.maximum(abs(u0), 1.0))

        controls = _controls(shape, phase, middle, half)
        times = t0 + phase.start * np.concatenate([[0.0], mesh.times])
        states = _followed(f, x, times, controls, q)
        u = np.array([controls(t) for t in times[1:]]).reshape(mesh.points, -1)
        phases.append(PhaseMotion(mesh, phase.start, states, u))
        t0, x = float(times[-1]), states[-1].copy()
    return Motion(tuple(phases), q)


def _controls(shape: Controls, phase: PhaseProblem, middle: Floats, half: Floats) -> Controls:
    return lambda t: np.asarray(np.clip(middle + half * shape(t), phase.low, phase.high))


def _followed(f: PhaseFunctions, x: Floats, times: Floats, controls: Controls, q: Floats) -> Floats:
    """The states (n, nx) at these times, roughly; NaN where they cannot be followed."""

    def rates(t: float, y: Floats) -> Floats:
        return np.array(f.rates(t, y, controls(t), q)).ravel()

    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return followed(rates, x, times, ROUGHLY)
    except (RunError, ValueError):
        return np.full((len(times), len(x)), np.nan)


def with_sensitivities(
    problem: Problem, functions: Sequence[PhaseFunctions], motion: Motion
) -> Motion:
    """A motion with the derivatives of its states."""
    nx = problem.counts[0]
    s = np.array(functions[0].start(motion.q)).ravel()[nx:]
    phases = []
    for phase, f, one, t0 in zip(
        problem.phases, functions, motion.phases, motion.starts, strict=True
    ):
        times = t0 + one.T * np.concatenate([[0.0], one.mesh.times])
        found = followed(_along(f, one, t0, motion.q, (phase.low, phase.high)), s, times)
        phases.append(PhaseMotion(one.mesh, one.T, np.hstack([one.x, found]), one.u))
        s = found[-1]
    return Motion(tuple(phases), motion.q)


def _along(
    f: PhaseFunctions, one: PhaseMotion, t0: float, q: Floats, limits: tuple[Floats, Floats]
) -> Rates:
    """The rates of the derivatives of states (ns,) along a motion that is given."""
    nx = one.x.shape[1]

    def rates(t: float, s: Floats) -> Floats:
        at = np.array([(t - t0) / one.T])
        x, u = one.states(at)[0], np.clip(one.controls(at)[0], *limits)
        return np.array(f.rates(t, np.concatenate([x, s]), u, q)).ravel()[nx:]

    return rates

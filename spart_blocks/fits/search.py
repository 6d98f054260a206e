"""The search for the least errors."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import least_squares

from spart_blocks.base.errors import RunError, SpartWarning
from spart_blocks.diagram.sections.fit_section import FitSection
from spart_blocks.fits.convex import best_bodies
from spart_blocks.fits.problem import Problem
from spart_blocks.fits.regressor import regressor_of
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.tangents import Floats

Progress = Callable[[int, float, float, str], None]
"""Called with the number of the step, the sum of the weighted squared errors, the relative length
of the step, and the name of the search, as 'start 2 of 5', '' for the only one."""

LEAST_FALL, LEAST_STEP = 1e-13, 1e-10
"""A search ends where the sum of squares falls, or the values move, by a smaller fraction. Near a
flat minimum the first is the square of what the values still lack."""
FAINT = 1e-6
"""By how much the steps of the numbers of links are damped, relative to what the measurements tell
of the best known."""
NOTICED = 1e-4
"""Fall of the sum of squares that is noticed, as a multiple of the variance of the noise."""
MANY = 20
"""Errors for each value from which on they are put together."""
LEAST_NOISE = 1e-6
"""Least standard deviation of a signal's noise, as a fraction of the spread of its samples."""
ALIKE = 1e-3
"""The same, as a fraction of that of the noisiest element of the signal: one that is met by chance
does not outweigh the others."""
ROUNDS = 3
"""Times that the noise of several signals is found from the errors that it leaves."""
BY_VALUES = (
    "spart tune --derivative-free makes integral((x - measured)**2) least, with a DATA block that "
    "gives what was measured"
)
INTERRUPTED = "interrupted"


@dataclass(frozen=True)
class Found:
    """Where a search ended. values (k,): of what is estimated. residuals (n,), slopes (n, k): the
    weighted errors and their derivatives by the values. cost: half the sum of their squares, as the
    loss counts them. why: why it ended. ended: whether by itself.
    """

    problem: Problem
    values: Floats
    residuals: Floats
    slopes: Floats
    cost: float
    steps: int
    why: str
    ended: bool


class InterruptedSearchError(Exception):
    """Ctrl-C in a search. found: the best so far."""

    def __init__(self, found: Found) -> None:
        super().__init__()
        self.found = found


def search(problem: Problem, section: FitSection, progress: Progress | None = None) -> Found:
    """The best of all searches that a section asks for. An interrupt ends it and keeps the best
    so far (`ended` is False then). Raises the error of the first run if that fails.
    """
    unknown = {m.signal for t in problem.used for m in t.measured if m.sd is None}
    loss = "linear" if unknown else section.loss
    best: Found | None = None
    refused: RunError | None = None
    try:
        for k, start in enumerate(_starts(problem, section)):
            name = f"start {k + 1} of {section.starts}" if section.starts > 1 else ""
            try:
                found = _Search(problem, section, loss, progress, name, told=k > 0).run(start)
            except RunError as error:
                refused = refused or error
                continue
            if best is None or found.cost < best.cost:
                best = found
        if best is None:
            assert refused is not None
            if isinstance(refused, NoGradientError):
                refused.add_hint(BY_VALUES)
            raise refused
        if unknown and (sum(map(len, problem.sds.values())) > 1 or section.loss != "linear"):
            return _refined(best, section, unknown, progress)
    except InterruptedSearchError as stopped:
        # Costs of different noise cannot be compared: of those, the later is the better.
        same = best is not None and stopped.found.problem is best.problem
        if best is None or not same or stopped.found.cost < best.cost:
            return stopped.found
        return replace(best, why=INTERRUPTED, ended=False)
    return best


def _refined(
    found: Found, section: FitSection, unknown: set[str], progress: Progress | None
) -> Found:
    """Further searches, with the noise of signals as the errors of the last have it."""
    for k in range(ROUNDS):
        sds = _noise(found, unknown)
        same = all((abs(sds[s] / found.problem.sds[s] - 1) < 0.01).all() for s in unknown)
        if same and section.loss == "linear":
            break
        again = replace(found.problem, sds=sds)
        name = f"noise {k + 1} of at most {ROUNDS}"
        one = _Search(again, section, section.loss, progress, name, found.steps, told=True)
        found = one.run(found.values)
        if same:
            break
    return found


def with_fixed(found: Found, section: FitSection, k: int, value: float) -> Found:
    """The best with one entry fixed, searched from where another search ended."""
    start = found.values.copy()
    start[k] = value
    return without(replace(found, values=start), section, (k,))


def without(found: Found, section: FitSection, fixed: Sequence[int]) -> Found:
    """The best without a search for some entries, from where another search ended. Raises
    KeyboardInterrupt.
    """
    try:
        return _Search(found.problem, section, section.loss, fixed=fixed).run(found.values)
    except InterruptedSearchError:
        raise KeyboardInterrupt from None


def _noise(found: Found, unknown: set[str]) -> dict[str, Floats]:
    """The standard deviations of the noise, those that are unknown from the errors."""
    sds = dict(found.problem.sds)
    errors: dict[str, list[Floats]] = {}
    spreads: dict[str, Floats] = {}
    for _, one, part in found.problem.parted(found.residuals):
        errors.setdefault(one.signal, []).append(part)
        spreads[one.signal] = np.maximum(spreads.get(one.signal, 0.0), one.spreads)
    for signal in unknown:
        sizes = 1.4826 * np.median(abs(np.concatenate(errors[signal])), axis=0)  # heeds no outliers
        relative = sizes / spreads[signal]
        least = max(LEAST_NOISE, ALIKE * float(relative.max()))
        sds[signal] = np.maximum(relative, least) * spreads[signal]
    return sds


class _Search:
    """A search from one start with one loss. name: as for progress. steps: of those before. fixed:
    entries that keep their values. told: whether another has told the warnings of the runs.
    """

    def __init__(
        self,
        problem: Problem,
        section: FitSection,
        loss: str,
        progress: Progress | None = None,
        name: str = "",
        steps: int = 0,
        fixed: Sequence[int] = (),
        *,
        told: bool = True,
    ) -> None:
        self.problem, self.section, self.loss = problem, section, loss
        self.progress, self.name, self.steps, self.told = progress, name, steps, told
        self.space = problem.space
        self.moving = np.setdiff1d(np.arange(problem.size), fixed)
        self.latest: tuple[Floats, Floats, Floats] | None = None
        """What was last seen: z, errors, and their derivatives by it, as `_posed`."""
        self.faint: float | None = None
        self.best: tuple[float, Floats, Floats, Floats] | None = None

    def run(self, start: Floats) -> Found:
        self.whole = self.space.searched(start)
        z = self.whole[self.moving]
        low, high = (one[self.moving] for one in self.space.limits)
        self.errors(z)
        if not len(z):
            return self._found(z, "nothing is left to search", True)
        try:
            found = self._convex(z) if self.loss == "linear" and self.space.bodies else None
            if found is not None:
                return self._found(found, "the best bodies are found", True)
            # From a bound the steps of "trf" are as short as the distance to it.
            bound = bool(((z <= low) | (z >= high)).any())
            end: Any = least_squares(
                self.errors, z, self.slopes, (low, high), loss=self.loss, x_scale="jac",
                f_scale=self.section.outlier, max_nfev=self.section.iterations,
                ftol=self._least_fall(), xtol=LEAST_STEP, gtol=LEAST_STEP,
                method="dogbox" if bound else "trf",
            )  # fmt: skip
        except KeyboardInterrupt:
            assert self.best is not None
            raise InterruptedSearchError(self._found(self.best[1], INTERRUPTED, False)) from None
        if end.status == 0:
            return self._found(end.x, f"no end after {self.section.iterations} runs", False)
        return self._found(end.x, _WHY[end.status], True)

    def errors(self, z: Floats) -> Floats:
        """The residuals; not finite where the run fails."""
        first = self.latest is None
        values = self._values(z)
        try:
            with warnings.catch_warnings():
                if self.told or not first:  # trials may be far from what a run should be
                    warnings.simplefilter("ignore", SpartWarning)
                residuals, slopes = self.problem.residuals(values)
        except RunError:
            if first:
                raise
            assert self.latest is not None
            return np.full_like(self.latest[1], np.inf)
        if not np.isfinite(residuals).all():
            if first:
                raise RunError(
                    "with the values that the search starts from, a signal is not finite"
                )
            assert self.latest is not None
            return np.full_like(self.latest[1], np.inf)
        scaled = self.space.by_searched(slopes, self._whole(z))[:, self.moving]
        posed = self._posed(z, residuals, scaled)
        self.latest = z.copy(), *posed
        self._noted(z, float(posed[0] @ posed[0]), residuals, slopes)
        return posed[0]

    def _least_fall(self) -> float:
        """The fraction by which squares must fall. With links, at whose bounds a search is slow,
        what is far below the noise is no matter."""
        count = sum(one.values.size for trial in self.problem.used for one in trial.measured)
        return max(LEAST_FALL, NOTICED / count) if self.space.bodies else LEAST_FALL

    def _convex(self, z: Floats) -> Floats | None:
        """The best z where errors are linear, from what was seen at z; None for other errors, and
        where a bound is met.
        """
        assert self.best is not None
        start = self._values(z)
        regressor = regressor_of(self.problem, start, *self.best[2:])
        if regressor is None:
            return None

        def seen(values: Floats) -> None:
            errors, slopes = regressor.errors(values)
            at = self.space.searched(values)[self.moving]
            self._noted(at, float(errors @ errors), errors, slopes)

        kept, self.best = self.best, None
        try:
            found = best_bodies(regressor, start, self.section.prior, self.moving, seen)
        except KeyboardInterrupt:
            at = z if self.best is None else self.best[1]
            self.best = kept
            raise InterruptedSearchError(self._found(at, INTERRUPTED, False)) from None
        self.best = kept
        if ((found < self.space.low) | (found > self.space.high)).any():
            return None
        return self.space.searched(found)[self.moving]

    def _posed(self, z: Floats, errors: Floats, slopes: Floats) -> tuple[Floats, Floats]:
        """Errors and their derivatives by z as they are searched. Steps of the log-Cholesky numbers
        of links are damped, since measurements rarely tell all of them, and a prior holds them near
        their start. Where squares alone count, many errors become as few as there are values, and
        one for the rest.
        """
        held = np.flatnonzero(self.space.of_bodies[self.moving])
        if len(held):
            if self.faint is None:
                self.faint = FAINT * float(np.linalg.norm(slopes, axis=0).max())
            weight, away = np.full(len(z), self.faint), np.zeros(len(z))
            if self.section.prior is not None:
                start = self.space.searched(self.space.start)
                lengths = np.ones(len(start))
                for body, part in self.space.bodies:
                    lengths[part] = body.lengths(start[part])
                weight = np.maximum(weight, 2 / (self.section.prior * lengths[self.moving]))
                away = weight * (z - start[self.moving])
            errors = np.concatenate([errors, away[held]])
            slopes = np.concatenate([slopes, np.diag(weight)[held]])
        if self.loss != "linear" or len(errors) < MANY * len(z):
            return errors, slopes
        R = np.asarray(np.linalg.qr(np.column_stack([slopes, errors]), mode="r"))
        return R[:, -1], R[:, :-1]

    def slopes(self, z: Floats) -> Floats:
        """The derivatives by what is searched."""
        if self.latest is None or not np.array_equal(self.latest[0], z):
            self.errors(z)
        assert self.latest is not None
        return self.latest[2]

    def _noted(self, z: Floats, cost: float, residuals: Floats, slopes: Floats) -> None:
        if self.best is None or cost < self.best[0]:
            before = z if self.best is None else self.best[1]
            self.steps += 1
            self.best = cost, z.copy(), residuals, slopes
            if self.progress is not None:
                moved = float(np.linalg.norm(z - before)) / max(float(np.linalg.norm(z)), 1e-300)
                self.progress(self.steps, cost, moved, self.name)

    def _whole(self, z: Floats) -> Floats:
        whole = self.whole.copy()
        whole[self.moving] = z
        return whole

    def _values(self, z: Floats) -> Floats:
        return self.space.values(self._whole(z))

    def _found(self, z: Floats, why: str, ended: bool) -> Found:
        values = self._values(z)
        if self.best is not None and np.array_equal(z, self.best[1]):
            residuals, slopes = self.best[2:]
        else:
            residuals, slopes = self.problem.residuals(values)
        cost = 0.5 * _counted(residuals, self.loss, self.section.outlier)
        return Found(self.problem, values, residuals, slopes, cost, self.steps, why, ended)


_WHY = {
    1: "the errors are flat",
    2: "the errors do not fall further",
    3: "the steps are small",
    4: "neither errors nor values change",
}


def _counted(residuals: Floats, loss: str, scale: float) -> float:
    """The sum of squares as a loss counts them. Source: SciPy, least_squares."""
    z = (residuals / scale) ** 2
    counted: dict[str, Callable[[], Floats]] = {
        "linear": lambda: z,
        "soft_l1": lambda: 2 * (np.sqrt(1 + z) - 1),
        "huber": lambda: np.where(z <= 1, z, 2 * np.sqrt(z) - 1),
        "cauchy": lambda: np.log1p(z),
        "arctan": lambda: np.arctan(z),
    }
    return float(scale**2 * counted[loss]().sum())


def _starts(problem: Problem, section: FitSection) -> list[Floats]:
    """The start that is given, and further ones between the bounds."""
    first = problem.space.start
    if section.starts == 1:
        return [first]
    return [first, *problem.space.points(section.starts - 1, section.seed)]

"""A Runge-Kutta step by a tableau, and its length, in Python: the reference of
sb_step.h, which has the same functions in C under the same names.

The step control and the choice of the first step are those of E. Hairer, S. P. Norsett,
G. Wanner, "Solving Ordinary Differential Equations I" (1993), sec. II.4.

Throughout, a step of length h [s] starts at the time t [s] from the state x (n,); slope (n,)
are the rates there. error_of (sizes (n,)) -> (n,): the errors that entries of these sizes may
have. Sums are taken term by term, in the order of the C.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.tableaus import Tableau
from spart_blocks.run.constants import (
    BEFORE,
    FIRST_GAP,
    LENGTHEN,
    MISFIT,
    PART,
    SAFETY_OF_STEPS,
    SHORTEN,
    WIDEN,
    WIDEST,
)

Floats = NDArray[np.float64]
Rates = Callable[[float, Floats], Floats]
"""(t, x) -> dx/dt, a new array each time."""
OwnSteps = Callable[[float, float, Floats, Floats], None]
"""A function (t, h, x, after) that sets those entries of `after`, the state at t + h, that advance
by a one-step map instead of rates.
"""
ErrorOf = Callable[[Floats], Floats]
Derivatives = tuple[Floats, Floats]
"""df/dx (n,n) and df/dt (n,) of rates f at the start of a step."""


OFF = 6e-6
"""Part of its size by which a number is moved for a difference: the cube root of what rounding
leaves.
"""


class Trial(NamedTuple):
    """A trial step. x (n,): state at its end. slopes: (n,) of each stage. stage (n,): state of the
    last stage.
    """

    x: Floats
    slopes: Sequence[Floats]
    stage: Floats


def combined(weights: Sequence[float], slopes: Sequence[Floats]) -> Floats | float:
    """A weighted sum of slopes."""
    total: Floats | float = 0.0
    for weight, slope in zip(weights, slopes, strict=True):
        if weight:
            total = total + weight * slope
    return total


def stage(method: Tableau, s: int, x: Floats, slopes: Sequence[Floats], h: float) -> Floats:
    """The state of stage s, from the slopes of the stages before it."""
    return x + h * combined(method.A[s, :s].tolist(), slopes)


def try_(
    method: Tableau,
    rates: Rates,
    t: float,
    x: Floats,
    slope: Floats,
    h: float,
    own_steps: OwnSteps | None = None,
    linear: Linear | None = None,
) -> Trial:
    """One trial step. linear: of the rates at its start, for a linearly implicit method."""
    slopes, state = [slope], x
    explicit = len(method.b) - 1 if method.e is not None else None  # it ends on that slope
    for s, c in enumerate(method.c.tolist()[1 : len(method.b)], start=1):
        state = stage(method, s, x, slopes, h)
        if linear is None or s == explicit:
            slopes.append(rates(t + c * h, state))
        else:
            found = slope if s == 1 else rates(t + c * h, state)
            slopes.append(linear.slope(s, found, slopes))
    after = x + h * combined(method.b.tolist(), slopes)
    if own_steps is not None:
        own_steps(t, h, x, after)
    return Trial(after, slopes, state)


class Linear:
    """The rates of a system as linear from the start of a step of length h [s].

    derivatives: df/dx (n,n) and df/dt (n,) of the rates there. What is not finite, as the slope of
    a root at zero, counts as none: the error of the step tells whether it may.
    """

    def __init__(self, method: Tableau, derivatives: Derivatives, h: float) -> None:
        from scipy.linalg import LinAlgWarning, lu_factor

        assert method.implicit is not None
        J, drift = (np.where(np.isfinite(one), one, 0.0) for one in derivatives)
        self.implicit, self.h, self.drift = method.implicit, h, drift
        matrix = np.eye(len(drift)) / self.implicit.gamma - h * J
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", LinAlgWarning)  # such a step is not accurate
            self.factors = lu_factor(matrix, check_finite=False)

    def solved(self, v: Floats) -> Floats:
        """(I / gamma - h J)^-1 v."""
        from scipy.linalg import lu_solve

        found: Floats = lu_solve(self.factors, v, check_finite=False)
        return found

    def slope(self, s: int, rates: Floats, slopes: Sequence[Floats]) -> Floats:
        """The slope of implicit stage s from the rates at it. slopes: of the stages before."""
        implicit = self.implicit
        more = combined(implicit.C[s, :s].tolist(), slopes)
        return self.solved(rates + more + self.h * implicit.d[s] * self.drift)


def linear_over(method: Tableau, derivatives: Derivatives | None, h: float) -> Linear | None:
    """What a step of length h needs of the derivatives at its start; None for an explicit one."""
    return None if derivatives is None else Linear(method, derivatives, h)


def differences(rates: Rates, t: float, x: Floats, sizes: Floats, left: float) -> Derivatives:
    """df/dx and df/dt by differences of second order: central ones, by t forward ones. Where the
    rates are numbers on one side of a state alone, it is of the first order.

    sizes (n,): the sizes that the states have. left [s]: how long the rates stay as they are.
    """
    now, J = rates(t, x), np.empty((len(x), len(x)))
    for k, size in enumerate(sizes):
        off = np.zeros(len(x))
        off[k] = OFF * size
        up, down = x + off, x - off
        above, below = rates(t, up), rates(t, down)
        if not np.isfinite(below).all():
            down, below = x, now
        elif not np.isfinite(above).all():
            up, above = x, now
        J[:, k] = (above - below) / (up[k] - down[k])
    span = min(OFF * max(1.0, abs(t)), 0.25 * left)
    if not span > 0:
        return J, np.zeros(len(x))
    soon, later = rates(t + span, x), rates(t + 2 * span, x)
    return J, (4 * soon - 3 * now - later) / (2 * span)


def norm(v: Floats, x: Floats, y: Floats, error_of: ErrorOf) -> float:
    """The norm of v relative to the tolerances between states x and y; 1 is just acceptable."""
    one, other = np.abs(x), np.abs(y)
    e = v / error_of(np.where(one > other, one, other))
    return math.sqrt(float((e * e).sum()) / max(len(v), 1))


def error(method: Tableau, x: Floats, trial: Trial, h: float, error_of: ErrorOf) -> float:
    """The relative error of a trial step, by the method's error estimate; 1 is just acceptable.

    Two estimates make one: Hairer, Norsett and Wanner, sec. II.10.
    """

    def estimate(weights: Floats) -> float:
        off = h * combined(weights.tolist(), trial.slopes)
        if not weights[-1]:
            off = off + 0 * trial.slopes[-1]  # no number if that slope is none
        return norm(np.asarray(off), x, trial.x, error_of)

    assert method.e is not None
    one = estimate(method.e)
    if method.e2 is None or one == 0:
        return one
    return one * one / math.sqrt(one * one + 0.01 * estimate(method.e2) ** 2)


def make_dense(
    method: Tableau, rates: Rates, t: float, x: Floats, slopes: Sequence[Floats], h: float
) -> Sequence[Floats]:
    """The slopes of a trial step with those of the stages for dense output alone."""
    made = list(slopes)
    for s in range(len(slopes), len(method.c)):
        made.append(rates(t + float(method.c[s]) * h, stage(method, s, x, made, h)))
    return made


def error_within(
    method: Tableau,
    rates: Rates,
    t: float,
    x: Floats,
    trial: Trial,
    linear: Linear,
    error_of: ErrorOf,
) -> float:
    """The relative error of a linearly implicit step in its middle: by how much dense output misses
    the rates there, solved with the factors. What decays fast is right at the end of any step.
    """
    assert method.P is not None
    h, last = linear.h, trial.slopes[-1]
    middle = dense(method, x, trial.slopes, trial.x, last, h, 0.5)
    along = combined((method.P[:, 0] + method.P[:, 1]).tolist(), trial.slopes)
    return norm(linear.solved(h * (rates(t + 0.5 * h, middle) - along)), x, trial.x, error_of)


def next_length(method: Tableau, h: float, error: float) -> float:
    """The length of the next trial after one of length h with this error; NaN counts as large."""
    factor = 0.0
    if error > 0:
        factor = SAFETY_OF_STEPS * error ** (-1.0 / method.order)
    elif error == 0:
        factor = LENGTHEN
    return h * min(LENGTHEN, max(SHORTEN, factor))


def first_step(
    method: Tableau,
    rates: Rates,
    t: float,
    x: Floats,
    slope: Floats,
    left: float,
    error_of: ErrorOf,
) -> float:
    """The length of the first step. left [s]: remaining time."""
    with np.errstate(all="ignore"):  # also NaN gives a length
        d0, d1 = (np.float64(norm(v, x, x, error_of)) for v in (x, slope))
        h0 = np.fmin(1e-6 if d0 < 1e-5 or d1 < 1e-5 else 0.01 * d0 / d1, left)
        change = rates(t + float(h0), x + h0 * slope) - slope
        d = np.fmax(d1, norm(change, x, x, error_of) / h0)
        h1 = np.fmax(1e-6, h0 * 1e-3) if d <= 1e-15 else (0.01 / d) ** (1.0 / method.order)
        h = float(np.fmin(100 * h0, h1))
    return h if h > 0 else 1e-6


def equal_length(left: float, longest: float) -> float:
    """Length of equal steps of at most `longest` over the time left."""
    return float(left / max(1.0, np.ceil(left / longest - 1e-9)))


def is_last(h: float, left: float) -> bool:
    """Whether a step of length h covers all of `left`."""
    return h >= left * (1 - 1e-12)


def up_to(
    method: Tableau,
    rates: Rates,
    t: float,
    x: Floats,
    slope: Floats,
    h: float,
    own_steps: OwnSteps | None = None,
    derivatives: Derivatives | None = None,
) -> tuple[Floats, Floats]:
    """The state at the end of a step of length h, which is just after a crossing, and the slope
    there. derivatives: of the rates at its start, for a linearly implicit method.

    All stages of the Runge-Kutta step stay before the crossing; a short midpoint step follows, or
    a linearly implicit one, which keeps what is stiff stable. If the rates jump at the crossing, a
    stage behind it would affect the whole step.
    """
    gap = min(h, max(BEFORE, PART * h))
    linear, rest = (linear_over(method, derivatives, length) for length in (h - gap, gap))
    near = try_(method, rates, t, x, slope, h - gap, own_steps, linear).x
    last = rates(t + h - gap, near)
    if rest is None:
        last = rates(t + h - 0.5 * gap, near + 0.5 * gap * last)
    else:
        last = rest.solved(last) / rest.implicit.gamma
    return near + gap * last, last


def short_of(t: float, way: float, gap: float) -> tuple[float, float]:
    """The length of a repeated step that ends before a bend, and its distance to the bend as a
    fraction of the way.

    way [s]: distance of the located bend from t. gap: that fraction in the last try, 0 for the
    first one. Returns (0, 0) if it need not be repeated.
    """
    gap = max(WIDEN * gap or FIRST_GAP, BEFORE / way)
    length = (1 - gap) * way
    return (length, gap) if gap < WIDEST and length > 1e-13 * t else (0.0, 0.0)


def dense(
    method: Tableau,
    x: Floats,
    slopes: Sequence[Floats],
    after: Floats,
    last: Floats,
    h: float,
    theta: Floats | float,
) -> Floats:
    """The state at t + theta h within a step: (n,), or (n, N) for theta (N,).

    slopes: of `make_dense`; a method without its own dense output needs only the first. after:
    state at its end. last: slope there. Of an implicit step it is then a straight line where a
    state decays within the step, so that its slopes are far too large for the way between them.
    """
    at = np.asarray(theta, dtype=float)

    def over(v: Floats, weight: Floats) -> Floats:
        return np.asarray(np.multiply.outer(v, weight))

    if method.P is not None:
        state = over(x, np.ones_like(at))
        for row, slope in zip(method.P.tolist(), slopes, strict=True):
            weight, power = np.zeros_like(at), at
            for p in row:
                weight, power = weight + p * power, power * (at + at - 1)
            state = state + over(slope, h * weight)
        return state
    left, bend = 1 - at, at * (at - 1)  # cubic Hermite between both ends
    ends = over(x, left) + over(after, at) + over(after - x, bend * (1 - 2 * at))
    curved = ends + over(slopes[0], bend * (at - 1) * h) + over(last, bend * at * h)
    if method.implicit is None:
        return curved
    off = np.abs(h * (slopes[0] + last) - 2 * (after - x))
    straight = off > MISFIT * h * (np.abs(slopes[0]) + np.abs(last))
    return np.where(straight, (over(x, left) + over(after, at)).T, curved.T).T

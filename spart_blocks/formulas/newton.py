"""Damped Newton steps with restarts, on numbers and on symbols.

A step evaluates the equations once, at a trial point. The trial is accepted where the correction
that it asks for has become shorter (natural monotonicity test); otherwise the next trial lies half
as far along the correction. An attempt that comes to nothing is followed by one from another start.
Nothing branches, so that the step is an expression, and every engine repeats the same one.
Source: P. Deuflhard, "Newton Methods for Nonlinear Problems" (2004), sec. 3.3.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

TOLERANCE = 1e-12
"""Of a solution: relative to unknowns above 1, absolute below."""
ATTEMPTS = 5
STEPS = 50
"""Most starts, and most trials from each."""
SHORTEST = 1e-10
"""Fraction of a correction below which an attempt is given up."""
HUGE = 1e300
"""What is larger, or not a number, counts as not finite."""
DONE, FAILED = 1.0, 2.0
_REACH = (1.0, 1.0, -1.0, 10.0, -10.0)
"""How far the starts after the first lie from it, in units of its size."""


class NewtonLayout:
    """The places in the state of an iteration with n unknowns: a vector of `size` numbers.

    z: the point accepted last, in the end the solution. d: its correction. inverse: of its
    Jacobian. best, least: the point with the smallest residual so far, and that residual.
    """

    def __init__(self, n: int) -> None:
        self.n = n
        ends = np.cumsum([0, n, n, n * n, n])
        self.z, self.d, self.inverse, self.best = (slice(int(a), int(b)) for a, b in pairwise(ends))
        self.least, self.fraction, self.tried, self.attempt, self.count, self.status = range(
            int(ends[-1]), int(ends[-1]) + 6
        )
        self.size = int(ends[-1]) + 6

    def begin(self) -> Any:
        """The state before the first step."""
        state = np.zeros(self.size)
        state[self.least], state[self.fraction] = HUGE, 1.0
        return state

    def trial(self, state: Any, start: Any) -> Any:
        """The point (n,) at which the next step needs the equations and their Jacobian."""
        spread = np.cos(2.4 * np.arange(self.n) * state[self.attempt])
        first = start + _reach(state[self.attempt]) * spread * np.maximum(1.0, np.abs(start))
        ahead = state[self.z] + state[self.fraction] * state[self.d]
        return np.where(state[self.tried] > 0, ahead, first)

    def step(self, state: Any, trial: Any, g: Any, jacobian: Any, absolute: bool) -> Any:
        """The state after a step, from the equations g (n,) and their Jacobian (n, n) at the
        trial. absolute: whether a small residual is enough (see `level`)."""
        n, z, d = self.n, state[self.z], state[self.d]
        before = state[self.inverse].reshape(n, n)
        inverse = inverted(jacobian)
        after = -(inverse @ g)
        sound = _finite(g)
        fraction, tried = state[self.fraction], state[self.tried] > 0
        scale = np.maximum(1.0, np.abs(z))
        asked, had = np.max(np.abs(before @ g) / scale), np.max(np.abs(d) / scale)
        shorter = asked <= (1 - fraction / 4) * had
        accepted = np.logical_and(sound, np.logical_or(np.logical_not(tried), shorter))
        off = level(trial, g, inverse, absolute)
        solved = np.logical_and(accepted, off <= TOLERANCE)
        regular = _finite(after)
        halved = np.logical_and(tried, fraction > SHORTEST)
        goes_on = np.where(accepted, 1.0 * regular, 1.0 * halved) > 0
        goes_on = np.logical_and(goes_on, state[self.count] < STEPS - 1)
        attempt = state[self.attempt] + np.where(goes_on, 0.0, 1.0)
        lost = np.logical_and(attempt >= ATTEMPTS, np.logical_not(solved))
        residual = np.max(np.abs(g))
        better = np.logical_and(sound, residual < state[self.least])
        best = np.where(better, trial, state[self.best])
        lengthened = np.where(tried, np.minimum(1.0, 2 * fraction), 1.0)
        moved = np.where(accepted, lengthened, fraction / 2)
        fresh = np.concatenate(
            [
                np.where(lost, best, np.where(accepted, trial, z)),
                np.where(accepted, after, d),
                np.where(accepted, inverse, before).reshape(n * n),
                best,
                _row(
                    np.where(better, residual, state[self.least]),
                    np.where(goes_on, moved, 1.0),
                    np.where(goes_on, 1.0, 0.0),
                    attempt,
                    np.where(goes_on, state[self.count] + 1, 0.0),
                    np.where(solved, DONE, np.where(lost, FAILED, 0.0)),
                ),
            ]
        )
        return np.where(state[self.status] > 0, state, fresh)


def level(z: Any, g: Any, inverse: Any, absolute: bool) -> Any:
    """How far z (n,) is from a solution: the largest entry of the Newton correction there, relative
    to entries above 1. absolute: or that of the residual g, if it is smaller; where z = f(z), the
    residual is in the units of z."""
    scale = np.maximum(1.0, np.abs(z))
    correction = inverse @ g
    off = np.where(_finite(correction), np.max(np.abs(correction) / scale), HUGE)
    if absolute:
        off = np.minimum(off, np.where(_finite(g), np.max(np.abs(g) / scale), HUGE))
    return np.where(np.sum(np.abs(g)) == 0, 0.0, off)


def _finite(values: Any) -> Any:
    """Whether all values are finite. Maxima do not say so: fmax passes over what is no number."""
    return np.sum(np.abs(values)) < HUGE


def inverted(jacobian: Any) -> Any:
    """The inverse of a matrix (n, n); not finite where it has none."""
    if len(jacobian) == 1:
        return 1.0 / jacobian
    if jacobian.dtype != float:
        return np.linalg.inv(jacobian)
    try:
        return np.linalg.inv(jacobian)
    except np.linalg.LinAlgError:
        return np.full(jacobian.shape, np.nan)


def _reach(attempt: Any) -> Any:
    reach: Any = 0.0
    for number, far in enumerate(_REACH[1:], start=1):
        reach = np.where(attempt == number, far, reach)
    return reach


def _row(*entries: Any) -> Any:
    return np.concatenate([np.reshape(entry, (1,)) for entry in entries])

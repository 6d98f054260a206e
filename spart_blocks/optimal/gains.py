"""Gains that keep a run near an optimum: the linear quadratic regulator along its motion.

With deviations d of the states from the optimum's and u = u* - K(t) d the integral of d'Q d + (u -
u*)'R(u - u*) is least to second order. K = R^-1 B'S, where S solves the Riccati equation backwards
from the end. Source: A. E. Bryson, Y.-C. Ho, "Applied Optimal Control", 1975, sec. 5.2 and 6.3.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.optimal.functions import PhaseFunctions
from spart_blocks.optimal.mesh import Floats
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.transcription import Motion, PhaseMotion, Sizes

PER_INTERVAL = 4
"""Gains are given so many times an interval."""


@dataclass(frozen=True, eq=False)
class Gains:
    """Along an optimum at times t (n,) [s]: its states x (n, nx), its controls u (n, nu), and the
    gains K (n, nu, nx)."""

    t: Floats
    x: Floats
    u: Floats
    K: Floats


def gains_of(
    problem: Problem,
    motion: Motion,
    functions: Sequence[PhaseFunctions],
    sizes: Sizes,
    weights: tuple[Any, Any, Any],
) -> Gains:
    """The gains. weights: Q, R and that at the end, each a matrix, its diagonal, a number, or None
    for one by the sizes of states and controls. Raises InputError for weights that do not fit,
    RunError if the equation has no solution.
    """
    nx, nu = len(sizes.x), len(sizes.u)
    if not nu:
        raise InputError("the optimum has no controls, and gains are for controls")
    Q, R, end = (
        _weight(given, size, name)
        for given, size, name in zip(
            weights, (sizes.x, sizes.u, sizes.x), ("Q", "R", "end"), strict=True
        )
    )
    if np.linalg.eigvalsh(R).min() <= 0:
        raise InputError(Fault("R is not positive definite", hint="give controls weights above 0"))
    S = end.ravel()
    parts: list[tuple[Floats, Floats, Floats, Floats]] = []
    for k in reversed(range(len(motion.phases))):
        one, t0 = motion.phases[k], motion.starts[k]
        slopes = _slopes(problem, functions[k])
        limits = problem.phases[k].low, problem.phases[k].high

        def linear(t: float, one: PhaseMotion = one, t0: float = t0, slopes: Any = slopes,
                   limits: Any = limits) -> tuple[Floats, Floats]:  # fmt: skip
            x, u = _at(one, np.array([(t - t0) / one.T]), limits)
            A, B = slopes(t, x[0], u[0], motion.q)
            return np.array(A.full()), np.array(B.full())

        at = one.mesh.inside(np.arange(PER_INTERVAL) / PER_INTERVAL)
        at = np.concatenate([at, [1.0]])
        found = solve_ivp(
            _riccati(linear, Q, np.asarray(np.linalg.inv(R), float), nx), (t0 + one.T, t0), S,
            t_eval=(t0 + one.T * at)[::-1], rtol=1e-6, atol=1e-9, method="LSODA",
        )  # fmt: skip
        if not found.success:
            raise RunError(f"the equation of the gains has no solution: {found.message}")
        whole = found.y.T[::-1].reshape(len(at), nx, nx)
        S = found.y[:, -1]
        x, u = _at(one, at, limits)
        K = [np.linalg.solve(R, linear(t0 + one.T * share)[1].T @ s)
             for share, s in zip(at, whole, strict=True)]  # fmt: skip
        parts.insert(0, (t0 + one.T * at, x, u, np.array(K)))
    whole_t, *others = (np.concatenate(list(one)) for one in zip(*parts, strict=True))
    kept = np.append(np.diff(whole_t) > 0, True)
    x, u, gains = (one[kept] for one in others)
    return Gains(whole_t[kept], x, u, gains)


def _riccati(
    linear: Callable[[float], tuple[Floats, Floats]], Q: Floats, inverse: Floats, n: int
) -> Callable[[float, Floats], Floats]:
    def rates(t: float, flat: Floats) -> Floats:
        S = flat.reshape(n, n)
        A, B = linear(t)
        SB = S @ B
        return np.asarray(-(A.T @ S + S @ A - SB @ inverse @ SB.T + Q)).ravel()

    return rates


def _slopes(problem: Problem, f: PhaseFunctions) -> Any:
    arguments = f.rates.sx_in()
    column = f.rates(*arguments)
    found = [ca.jacobian(column, arguments[k]) for k in (1, 2)]
    return ca.Function("slopes", arguments, found)


def _at(one: PhaseMotion, at: Floats, limits: tuple[Floats, Floats]) -> tuple[Floats, Floats]:
    """The states and controls at fractions of a phase."""
    return one.states(at), np.clip(one.controls(at), *limits)


def _weight(given: Any, sizes: Floats, name: str) -> Floats:
    n = len(sizes)
    if given is None:
        return np.diag(1.0 / sizes**2)
    try:
        value = np.asarray(given, dtype=float)
        if value.ndim < 2:
            value = np.diag(np.broadcast_to(value, (n,)))
        if value.shape != (n, n) or not np.isfinite(value).all():
            raise ValueError
    except ValueError:
        hint = f"a number, {n} numbers, or a matrix ({n}, {n})"
        raise InputError(Fault(f"{name} does not fit {n} entries", hint=hint)) from None
    if np.abs(value - value.T).max() > 1e-9 * np.abs(value).max() or (
        np.linalg.eigvalsh(value).min() < -1e-9 * np.abs(value).max()
    ):
        raise InputError(
            Fault(f"{name} is no weight", hint="give a symmetric matrix, not negative")
        )
    return np.asarray(value)

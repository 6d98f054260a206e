"""Checks that the steps of a method without error control are short enough for stability.

For x' = lam x, a Runge-Kutta step of length h multiplies x by R(h lam), with R(z) = 1 + z b (I - z
B)^-1 1; of an explicit method B = A. If a mode decays (Re lam < 0) but |R| > 1, its growth is
caused by the step alone. Source: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II"
(1996), sec. IV.2.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from spart_blocks.base.errors import RunError, warn
from spart_blocks.base.tableaus import Tableau, tableau
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.run import Run
from spart_blocks.run.states import vectors_of

FURTHEST, RAY = 20.0, 4000
"""Range and number of points of the search for the stability border along the ray of an
eigenvalue.
"""
CLEAR = 1e3
"""Growth of a state from its initial value, or of a mode over a run, above which the run is
clearly unstable.
"""
WITHIN = 0.95
"""Recommended step as a fraction of the longest stable one; at the border modes do not decay."""
LOOKED_AT = 3
POWERS = 12
"""Number of samples of a completed run that are checked, and of power iterations that find the
fastest mode.
"""
JUMP, SMOOTH = 0.1, 1e-3
"""Relative and absolute [1/s] difference of two difference quotients above which they belong to a
jump: at a jump the quotient halves when the step is doubled.
"""


class UnstableMode(NamedTuple):
    """An unstable mode: the time [s] at which it was found, its eigenvalue [1/s], the longest
    stable step [s], and the growth factor of one step.
    """

    time: float
    eigenvalue: complex
    step: float
    growth: float


def growth_of(method: Tableau, z: complex) -> float:
    """|R(z)| of a method."""
    _, B, _, b = method.slopes()
    k = np.linalg.solve(np.eye(len(b)) - z * B, np.ones(len(b), dtype=complex))
    return float(abs(1 + z * (b @ k)))


def stable_step(method: Tableau, eigenvalue: complex) -> float:
    """The longest step [s] up to which a mode does not grow; 0 if no step is stable."""
    ray = eigenvalue / abs(eigenvalue)
    inside = 0.0
    if growth_of(method, FURTHEST / RAY * ray) > 1 + 1e-12:
        return 0.0
    for r in np.linspace(0, FURTHEST, RAY + 1)[1:]:
        if growth_of(method, r * ray) > 1 + 1e-12:
            break
        inside = float(r)
    else:
        return np.inf
    outside = inside + FURTHEST / RAY
    for _ in range(40):
        middle = (inside + outside) / 2
        if growth_of(method, middle * ray) > 1 + 1e-12:
            outside = middle
        else:
            inside = middle
    return inside / abs(eigenvalue)


def explain_instability(run: Run, error: RunError) -> None:
    """If the fixed steps of a failed run were too long for stability, add this to its error."""
    method = _fixed(run)
    samples = None if method is None else _samples(run)
    if method is None or samples is None:
        return
    t, x, xd = samples
    sizes = np.abs(x).max(axis=1, initial=0.0)
    good = np.flatnonzero(sizes <= CLEAR * (1 + sizes[0]))
    k = int(good[-1]) if len(good) else 0
    mode = _unstable_mode(run, method, float(t[k]), x[k], xd[k])
    if mode is not None:
        error.add_hint(_advice(run, mode))


def warn_of_instability(run: Run) -> None:
    """Warn if a completed run with fixed steps has a mode that grows only because of their length.
    A few samples are checked, with some dozen evaluations.
    """
    method = _fixed(run)
    samples = None if method is None else _samples(run)
    if method is None or samples is None:
        return
    t, x, xd = samples
    steps = float(t[-1] - t[0]) / run.fixed_step
    # The border nearest to zero lies at 1 or beyond for all that decays fast.
    for k in np.unique(np.linspace(0, len(t) - 1, LOOKED_AT + 1).astype(int)[1:])[::-1]:
        here = float(t[k]), x[k], xd[k]
        if run.fixed_step * _fastest(run.engine, *here) < 1:
            continue
        mode = _unstable_mode(run, method, *here)
        if mode is not None and steps * np.log(mode.growth) > np.log(CLEAR):
            warn(_advice(run, mode))
            return


def _fixed(run: Run) -> Tableau | None:
    """The run's method, if it is explicit without error control and integrates all states;
    otherwise None. With an implicit one no mode that decays can grow.
    """
    method = tableau(run.options.solver)
    if method is None or method.e is not None or method.implicit is not None or not len(run.x):
        return None
    own = run.engine.advance(float(run.t), 0.0, run.x, run.xd) if run.engine.fixed else {}
    return None if own else method


def _samples(run: Run) -> tuple[Floats, Floats, Floats] | None:
    """The recorded times (N,) and states (N, nx), (N, nd); None if there are none."""
    t, kept = run.recorder.times(), run.recorder.states()
    if not len(t):
        return None
    return (t, *vectors_of(run.engine, kept, len(t)))


def _unstable_mode(
    run: Run, method: Tableau, t: float, x: Floats, xd: Floats
) -> UnstableMode | None:
    """The unstable mode with the shortest stable step; None if the run's steps are stable."""
    try:
        A = _jacobian(run.engine, t, x, xd)
    except RunError:
        return None
    if not np.isfinite(A).all():
        return None
    found = None
    for eigenvalue in np.linalg.eigvals(A):
        z = complex(eigenvalue)
        if z.real >= 0 or z.imag < 0:  # it grows by itself, or its twin is looked at
            continue
        growth = growth_of(method, run.fixed_step * z)
        if growth > 1 + 1e-9 and (found is None or abs(z) > abs(found.eigenvalue)):
            found = UnstableMode(t, z, stable_step(method, z), growth)
    return found


def _jacobian(engine: Engine, t: float, x: Floats, xd: Floats) -> Floats:
    """df/dx (nx, nx), by the engine or by differences; NaN where f jumps at x, as at a limit or on
    a surface that the run slides along.
    """
    if engine.jacobian is not None:
        return engine.jacobian(t, x, xd)
    f = engine.derivative(t, x, xd)
    columns = []
    for k in range(len(x)):
        near, far = (_quotient(engine, t, x, xd, f, k, n) for n in (1, 2))
        jumps = np.abs(near - far) > JUMP * (np.abs(near) + np.abs(far)) + SMOOTH
        columns.append(np.where(jumps, np.nan, near))
    return np.array(columns).T


def _quotient(engine: Engine, t: float, x: Floats, xd: Floats, f: Floats, k: int, n: int) -> Floats:
    """The difference quotient of f by entry k of x, over n small steps."""
    moved = x.copy()
    moved[k] += n * 1e-7 * max(1.0, abs(x[k]))
    quotient: Floats = (engine.derivative(t, moved, xd) - f) / (moved[k] - x[k])
    return quotient


def _fastest(engine: Engine, t: float, x: Floats, xd: Floats) -> float:
    """An estimate of the largest modulus of an eigenvalue [1/s], by power iteration with the
    Jacobian.
    """
    try:
        f = engine.derivative(t, x, xd)
        size = 1e-7 * max(1.0, float(np.linalg.norm(x)))
        v = np.cos(np.arange(1.0, len(x) + 1))  # any direction that no mode is likely to miss
        most = 0.0
        for _ in range(POWERS):
            moved = engine.derivative(t, x + size * v / np.linalg.norm(v), xd)
            v = (moved - f) / size
            most = max(most, float(np.linalg.norm(v)))
            if not 0 < np.linalg.norm(v) < np.inf:
                break
    except RunError:
        return np.inf
    return most


def _advice(run: Run, mode: UnstableMode) -> str:
    speed = f"decays at {-mode.eigenvalue.real:.3g} 1/s"
    if mode.eigenvalue.imag:
        speed += f" and swings at {mode.eigenvalue.imag:.3g} rad/s"
    text = (
        f"steps of {run.fixed_step:.3g} s make {run.options.solver} unstable: the fastest mode "
        f"at t = {mode.time:.6g} s {speed}"
    )
    if not mode.step:
        return f"{text}, which no step of it keeps; give another solver"
    step = WITHIN * mode.step
    digit = 10.0 ** (np.floor(np.log10(step)) - 1)
    step = np.floor(step / digit) * digit
    return f"{text}; give a max_step of at most {step:.2g} s, or solver: auto"

"""Distributions: from numbers uniform in (0, 1) to the values of a path.

Each is an inverse distribution function, which takes independent draws and points of a design
alike. Values are computed elementwise, so that the same inputs give the same bits regardless of
how many are computed together.

Sources: L. Devroye, "Non-Uniform Random Variate Generation" (1986), chapter II, for the inverses;
R. Miles, "On random rotations in R^3", Biometrika 52 (1965) 636, for the angle of a rotation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.sweep_section import (
    ChoiceDraw,
    LogUniformDraw,
    NormalDraw,
    RotationDraw,
    TruncatedNormalDraw,
    UniformDraw,
    Varied,
)

Floats = NDArray[np.float64]
Values = NDArray[Any]
"""Values (n, ...) of a path in n runs: floats, or objects for texts and for values of different
shapes.
"""


def dimensions(varied: Varied, nominal: Any = None) -> int:
    """The number of uniform numbers that one draw needs. nominal: the value in the diagram."""
    drawn = varied.drawn
    if drawn is None:
        return 0
    if isinstance(drawn, RotationDraw):
        return 3
    if varied.each:
        return math.prod(np.shape(_needed(nominal)))
    return 1 if isinstance(drawn, ChoiceDraw) else math.prod(drawn.shape)


def values_of(varied: Varied, u: Floats, nominal: Any = None) -> Values:
    """The values (N, ...) of N draws.

    u (N, d): uniform numbers in (0, 1). nominal: the value in the diagram; needed for a relative
    draw, for a draw of each element, and for a rotation about it. Raises InputError if it is
    missing or has the wrong shape.
    """
    drawn = varied.drawn
    assert drawn is not None
    if isinstance(drawn, RotationDraw):
        return _rotation(drawn, u, nominal)
    if varied.each:
        shape = np.shape(_needed(nominal))
        columns = [_INVERSES[type(drawn)](drawn, u[:, k : k + 1].copy()) for k in range(u.shape[1])]
        made = np.stack(columns, axis=1).reshape(len(u), *shape)
    else:
        made = _INVERSES[type(drawn)](drawn, u)
    return scaled(made, nominal) if varied.relative else made


def scaled(factors: Values, nominal: Any) -> Values:
    """The nominal value times factors (N, ...), which are scalars or arrays of its shape."""
    base = np.asarray(_needed(nominal), dtype=float)
    if factors.shape[1:] not in ((), base.shape):
        text = f"relative: the factors have shape {factors.shape[1:]}, the value {base.shape}"
        raise InputError(text)
    wide = factors.reshape(len(factors), *(factors.shape[1:] or (1,) * base.ndim))
    return np.asarray(wide * base)


def _needed(nominal: Any) -> Any:
    """The nominal value as an array. Raises InputError if it is not numeric."""
    try:
        found = None if nominal is None else np.asarray(nominal, dtype=float)
    except (TypeError, ValueError):
        found = None
    if found is None:
        raise InputError("the diagram has no number there, on which the draw depends")
    return found


# --- inverse distribution functions: (draw, u (N, d)) -> (N, ...) --------------------


def _standard(u: Floats) -> Floats:
    """Standard normal numbers from uniform ones."""
    from scipy.special import ndtri

    return np.asarray(ndtri(np.ascontiguousarray(u)))


def _shaped(u: Floats, shape: tuple[int, ...]) -> Floats:
    return np.ascontiguousarray(u).reshape(len(u), *shape)


def _normal(drawn: Any, u: Floats) -> Floats:
    if drawn.covariance is None:
        z = _shaped(_standard(u), drawn.shape)
        return np.asarray(np.asarray(drawn.mean) + np.asarray(drawn.sd) * z)
    root, z = _root(np.asarray(drawn.covariance, dtype=float)), _standard(u)
    out = np.broadcast_to(np.asarray(drawn.mean, dtype=float), z.shape).copy()
    # Not a matrix product: its rounding depends on how many rows there are.
    for i in range(z.shape[1]):
        for k in range(z.shape[1]):
            if root[i, k] != 0:
                out[:, i] += root[i, k] * z[:, k]
    return out


def _root(C: Floats) -> Floats:
    """A matrix L with L L' = C, for a covariance matrix C that may be singular."""
    try:
        return np.asarray(np.linalg.cholesky(C), dtype=float)
    except np.linalg.LinAlgError:
        sizes, axes = np.linalg.eigh((C + C.T) / 2)
        root: Floats = axes * np.sqrt(np.maximum(sizes, 0.0))
        return root


def _truncated(drawn: Any, u: Floats) -> Floats:
    from scipy.special import ndtr, ndtri

    mean, sd = np.asarray(drawn.mean, dtype=float), np.asarray(drawn.sd, dtype=float)
    low = -np.inf if drawn.low is None else np.asarray(drawn.low, dtype=float)
    high = np.inf if drawn.high is None else np.asarray(drawn.high, dtype=float)
    a, b = (low - mean) / sd, (high - mean) / sd
    upper = a > 0  # its mirror image, whose distribution function is not rounded to 1
    a, b = np.where(upper, -b, a), np.where(upper, -a, b)
    v = _shaped(u, drawn.shape)
    v = np.where(upper, 1.0 - v, v)
    below, above = ndtr(a), ndtr(b)
    z = np.asarray(ndtri(np.ascontiguousarray(below + v * (above - below))))
    return np.asarray(np.clip(mean + sd * np.where(upper, -z, z), low, high))


def _uniform(drawn: Any, u: Floats) -> Floats:
    low, high = np.asarray(drawn.low), np.asarray(drawn.high)
    return np.asarray(low + (high - low) * _shaped(u, drawn.shape))


def _log_uniform(drawn: Any, u: Floats) -> Floats:
    low, high = np.log(np.asarray(drawn.low)), np.log(np.asarray(drawn.high))
    made = np.exp(np.ascontiguousarray(low + (high - low) * _shaped(u, drawn.shape)))
    return np.asarray(np.clip(made, drawn.low, drawn.high))


def _choice(drawn: Any, u: Floats) -> Values:
    weights = np.ones(len(drawn.values)) if drawn.weights is None else np.array(drawn.weights)
    ends = np.cumsum(weights)
    place = np.searchsorted(ends[:-1] / ends[-1], u[:, 0], side="right")
    last = int(np.flatnonzero(weights)[-1])  # rounding may lead past it
    return table(drawn.values)[np.minimum(place, last)]


def table(values: tuple[Any, ...]) -> Values:
    """Values as an array (n, ...): of floats if all are numeric and of equal shape, otherwise of
    objects.
    """
    try:
        array = np.asarray(values)
        if array.dtype.kind in "iuf":
            return array.astype(float)
    except ValueError:  # of several shapes
        pass
    out = np.empty(len(values), dtype=object)
    for k, value in enumerate(values):
        out[k] = value
    return out


_INVERSES: dict[type[Any], Callable[[Any, Floats], Values]] = {
    NormalDraw: _normal,
    TruncatedNormalDraw: _truncated,
    UniformDraw: _uniform,
    LogUniformDraw: _log_uniform,
    ChoiceDraw: _choice,
}


# --- rotations ----------------------------------------------------------------------


def _rotation(drawn: RotationDraw, u: Floats, nominal: Any) -> Floats:
    """Quaternions (N, 4), scalar last: the nominal attitude with a random rotation about body
    axes.
    """
    if drawn.sd is not None:
        v = drawn.sd * _standard(u)
        angle = np.sqrt(v[:, 0] ** 2 + v[:, 1] ** 2 + v[:, 2] ** 2)
        axis = v / np.where(angle > 0, angle, 1.0)[:, None]
    else:
        axis = _directions(u)
        angle = _angles(u[:, 2].copy(), math.pi if drawn.within is None else drawn.within)
    half = angle / 2
    turn = np.column_stack([axis * np.sin(half)[:, None], np.cos(half)])
    if not drawn.about_nominal:
        return turn
    q = np.array([0.0, 0.0, 0.0, 1.0]) if nominal is None else _needed(nominal)
    if q.shape != (4,) or not abs(np.sqrt((q**2).sum()) - 1) < 1e-3:
        raise InputError("a rotation takes the place of a quaternion (x, y, z, w) of length 1")
    return _product(q / np.sqrt((q**2).sum()), turn)


def _directions(u: Floats) -> Floats:
    """Unit vectors (N, 3), uniformly distributed over the sphere."""
    z = 2.0 * u[:, 0] - 1.0
    around = 2.0 * math.pi * u[:, 1]
    radius = np.sqrt(np.maximum(0.0, 1.0 - z * z))
    return np.column_stack([radius * np.cos(around), radius * np.sin(around), z])


def _angles(u: Floats, within: float) -> Floats:
    """Rotation angles (N,) [rad] of random rotations that are uniform among those up to the angle
    `within`: the density is proportional to 1 - cos(angle). Found by bisection, so that the result
    does not depend on the rounding of a root finder.
    """
    goal = u * (within - math.sin(within))
    low, high = np.zeros(len(u)), np.full(len(u), within)
    for _ in range(60):
        middle = (low + high) / 2
        above = middle - np.sin(middle) > goal
        low, high = np.where(above, low, middle), np.where(above, middle, high)
    return np.asarray((low + high) / 2)


def _product(a: Floats, b: Floats) -> Floats:
    """Quaternions (N, 4), scalar last, of the rotations R(a) R(b); a (4,), b (N, 4)."""
    x, y, z, w = a
    X, Y, Z, W = b.T
    parts = (
        w * X + x * W + y * Z - z * Y,
        w * Y + y * W + z * X - x * Z,
        w * Z + z * W + x * Y - y * X,
        w * W - x * X - y * Y - z * Z,
    )
    return np.column_stack(parts)

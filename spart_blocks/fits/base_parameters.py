"""Base parameters: what the measurements tell of the inertial parameters of links.

The equations of motion are linear in each link's mass, its product with the centre of mass, and the
inertia of its body frame. Many of these 10 n numbers act only in sums that the geometry fixes, or
not at all; the sums are the base parameters. From the first link on, a parameter whose effect is
that of others before it is put to them, as are m, mz and yy of a link behind a revolute joint
about z. Source: M. Gautier, "Numerical calculation of the base inertial parameters of robots",
J. Robotic Systems 8 (1991), by an orthogonal factorisation without an exchange of columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.fits.free import Space
from spart_blocks.fits.inertial import LINEAR
from spart_blocks.gradients.tangents import Floats

RESOLVED = 1e-7
"""Least part of a parameter's effect, relative to the largest effect, that others do not have."""
NEGLIGIBLE = 1e-6
"""Coefficients below it, relative to sizes, are rounding."""
ORDER = ("xx", "xy", "zx", "yy", "yz", "zz", "mx", "my", "mz", "m")
"""The order in which the parameters of a link are taken."""


@dataclass(frozen=True)
class BaseParameter:
    """A sum of linear parameters (see inertial.py) that the measurements determine.

    parts: each by name with its factor; the first gives the sum its name, and its factor is 1.
    robot: to which the numbers of links refer. value, error: the estimate and its standard error.
    """

    robot: str
    parts: tuple[tuple[str, float], ...]
    value: float
    error: float

    @property
    def name(self) -> str:
        """That of its first part: `arm.xx[3]`."""
        return f"{self.robot}.{self.parts[0][0]}"

    def __str__(self) -> str:
        (first, _), *others = self.parts
        terms = (f" {'-' if factor < 0 else '+'} {_factor(abs(factor))}{name}"
                 for name, factor in others)  # fmt: skip
        return first + "".join(terms)


def _factor(size: float) -> str:
    return "" if abs(size - 1) < NEGLIGIBLE else f"{size:.4g} "


@dataclass(frozen=True)
class Regrouped:
    """The linear parameters of the links of a space, regrouped. names (k,) of them, of each with
    its robot. kept (b,): the rows that give base parameters their names. factors (b, k): of the
    base parameters, which are factors @ linear. effects (n, b): the derivatives of the errors by
    them. without (k,): whether it has no effect at all.
    """

    robots: tuple[str, ...]
    names: tuple[str, ...]
    kept: tuple[int, ...]
    factors: Floats
    effects: Floats
    linear: Floats
    sizes: Floats

    @staticmethod
    def ordered(space: Space, values: Floats) -> Floats:
        """The linear parameters (k,) of some values, in the order of the names."""
        order = [LINEAR.index(name) for name in ORDER]
        return np.concatenate([body.linear(values[part])[order] for body, part in space.bodies])

    def parameters(self, covariance: Floats) -> tuple[BaseParameter, ...]:
        """The base parameters. covariance (b, b): of their estimates."""
        values = self.factors @ self.linear
        found = []
        for j, row in enumerate(self.kept):
            others = [k for k in np.flatnonzero(self.factors[j]).tolist() if k != row]
            parts = [(self.names[k], float(self.factors[j, k])) for k in (row, *others)]
            error = float(np.sqrt(covariance[j, j]))
            found.append(BaseParameter(self.robots[row], tuple(parts), float(values[j]), error))
        return tuple(found)


def regrouped(space: Space, values: Floats, slopes: Floats) -> Regrouped:
    """The base parameters of the links of a space, from the derivatives (n, k) of the errors by
    its values."""
    robots: list[str] = []
    names: list[str] = []
    columns, sizes = [], []
    order = [LINEAR.index(name) for name in ORDER]
    for body, part in space.bodies:
        by_linear = slopes[:, part] @ body.by_linear(values[part])
        columns.append(by_linear[:, order])
        sizes.append(body.linear_sizes(values[part])[order])
        names += [body.linear_labels[k] for k in order]
        robots += [body.robot] * len(order)
    size = np.concatenate(sizes)
    whole = np.hstack(columns)
    kept, factors = _independent(np.asarray(np.linalg.qr(whole * size, mode="r")))
    factors = factors * (size[list(kept)][:, None] / size)
    return Regrouped(tuple(robots), tuple(names), kept, factors, whole[:, list(kept)],
                     Regrouped.ordered(space, values), size[list(kept)])  # fmt: skip


def _independent(R: Floats) -> tuple[tuple[int, ...], Floats]:
    """The columns of R (m, k) that are no sums of columns before them, and factors (b, k) with
    which the columns are sums of those: R = R[:, kept] @ factors."""
    least = RESOLVED * np.linalg.norm(R, axis=0).max(initial=0.0)
    basis = np.zeros((len(R), 0))
    kept: list[int] = []
    for k, column in enumerate(R.T):
        rest = column - basis @ (basis.T @ column)
        rest = rest - basis @ (basis.T @ rest)
        length = float(np.linalg.norm(rest))
        if length > least:
            basis = np.column_stack([basis, rest / length])
            kept.append(k)
    factors: Floats = np.zeros((0, R.shape[1]))
    if kept:
        factors = np.asarray(np.linalg.lstsq(R[:, kept], R, rcond=None)[0])
    factors[abs(factors) < NEGLIGIBLE] = 0.0
    factors[:, kept] = np.eye(len(kept))
    return tuple(kept), factors

"""Inertial parameters of a link, searched so that they stay those of a body.

A body's ten numbers are physical where its pseudo-inertia J (4,4) is positive definite:

    J = [S h; h' m]      S = tr(I)/2 1 - I      h = m c      I about the frame's origin

With J = U U', U upper triangular, the numbers

    U = exp(alpha) [exp(d1) s12 s13 t1; 0 exp(d2) s23 t2; 0 0 exp(d3) t3; 0 0 0 1]

may take any values, and each physical body has one set of them. Source: C. Rucker, P. M. Wensing,
"Smooth Parameterization of Rigid-Body Inertia", IEEE RA-L 7 (2022), equations 8 to 10; P. M.
Wensing, S. Kim, J.-J. E. Slotine, "Linear Matrix Inequalities for Physically Consistent Inertial
Parameter Identification", IEEE RA-L 3 (2018).

    values    m [kg], c (3,) [m] in the body frame, and of the inertia [kg m^2] about c, in the
              link's own axes, xx, yy, zz, xy, yz, zx: as ROBOT.mass, ROBOT.com, ROBOT.inertia
    linear    m, h (3,) [kg m], and I of the body frame: in these the equations of motion are linear
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.gradients.tangents import Floats
from spart_blocks.robot import Robot

COUNT = 10
PLACES = ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (2, 0))
LINEAR = ("m", "mx", "my", "mz", "xx", "yy", "zz", "xy", "yz", "zx")
"""The linear parameters of a body, in their order."""
LEAST_MOMENT = 1e-4
"""Least principal second moment of a start, as a fraction of the sum of the three."""
LEAST_GYRATION = 1e-3
"""Least radius of gyration of a start [m]."""
RESOLVED = 1e-9
"""The same of bodies that a search has found."""
SLACK = 1e-3
"""Part of the least moment that may be missing."""


def _units() -> Floats:
    found = np.zeros((COUNT, 4, 4))
    found[0, 3, 3] = 1.0
    for i in range(3):
        found[1 + i, i, 3] = found[1 + i, 3, i] = 1.0
    for k, (i, j) in enumerate(PLACES):
        unit = np.zeros((3, 3))
        unit[i, j] = unit[j, i] = 1.0
        found[4 + k, :3, :3] = 0.5 * np.trace(unit) * np.eye(3) - unit
    return found


UNITS = _units()
"""The changes (10, 4, 4) of a pseudo-inertia along its linear parameters, which make it up."""
_ROWS, _COLUMNS = np.array(PLACES).T
_STRICT = ((0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3))  # s12, s23, s13, t1, t2, t3


@dataclass(frozen=True, eq=False)
class Body:
    """A link whose inertial parameters are searched. link: its id, 0 is the base. axes (3,3): from
    its own axes, those of its inertia, to its body frame.
    """

    robot: str
    link: int
    axes: Floats

    @staticmethod
    def of(name: str, robot: Robot, link: int) -> Body:
        """Of a robot that the diagram calls by this name."""
        return Body(name, link, robot.body(link).to_mass[:3, :3])

    @property
    def labels(self) -> list[str]:
        """The names of its values, as of the robot's quantities."""
        k, inertia = self.link, [f"{i},{j}" for i, j in PLACES]
        return [f"{self.robot}.mass[{k}]", *(f"{self.robot}.com[{k},{i}]" for i in range(3)),
                *(f"{self.robot}.inertia[{k},{at}]" for at in inertia)]  # fmt: skip

    @property
    def linear_labels(self) -> list[str]:
        """Short names of its linear parameters: mx[3] is the mass of link 3 times the x of its
        centre of mass, xx[3] its inertia about the x axis of its body frame."""
        return [f"{name}[{self.link}]" for name in LINEAR]

    def quantities(self, values: Floats) -> dict[str, Any]:
        """Its values as the robot's mass [kg], com (3,) [m] and inertia (3,3) [kg m^2]."""
        found = {
            "mass": float(values[0]),
            "com": values[1:4].copy(),
            "inertia": _matrix(values[4:]),
        }
        return {f"{self.robot}.{name}[{self.link}]": value for name, value in found.items()}

    # --- between values and what is searched ----------------------------------------------

    def searched(self, values: Floats) -> Floats:
        """The log-Cholesky numbers (10,) alpha, d1, d2, d3, s12, s23, s13, t1, t2, t3 of values; of
        those of no body, to rounding, the numbers of one nearby."""
        try:
            U = np.linalg.cholesky(self._pseudo(values)[::-1, ::-1])[::-1, ::-1]
        except np.linalg.LinAlgError:
            near = physical(values, RESOLVED)[0]
            U = np.linalg.cholesky(self._pseudo(near)[::-1, ::-1])[::-1, ::-1]
        scale = U[3, 3]
        off = [U[place] / scale for place in _STRICT]
        return np.array([np.log(scale), *np.log(np.diag(U)[:3] / scale), *off])

    def values(self, z: Floats) -> Floats:
        """The values (10,) of log-Cholesky numbers; not finite where these are too large."""
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            U = _factor(z)
            return self._of_pseudo(U @ U.T)

    def slopes(self, z: Floats) -> Floats:
        """The derivatives (10, 10) of the values by the log-Cholesky numbers."""
        U, turns = _factor(z), np.zeros((COUNT, 4, 4))
        turns[0] = U
        for i in range(3):
            turns[1 + i, i, i] = U[i, i]
        for k, place in enumerate(_STRICT):
            turns[4 + k][place] = U[3, 3]
        return self._changes(self._of_pseudo(U @ U.T), turns @ U.T + U @ turns.transpose(0, 2, 1))

    # --- linear parameters ----------------------------------------------------------------

    def linear(self, values: Floats) -> Floats:
        """The linear parameters (10,) of values."""
        J = self._pseudo(values)
        inertia = np.trace(J[:3, :3]) * np.eye(3) - J[:3, :3]
        return np.array([J[3, 3], *J[:3, 3], *inertia[_ROWS, _COLUMNS]])

    def by_linear(self, values: Floats) -> Floats:
        """The derivatives (10, 10) of the values by the linear parameters."""
        return self._changes(values, UNITS)

    def of_linear(self, linear: Floats) -> Floats:
        """The values (10,) of linear parameters."""
        return self._of_pseudo(np.tensordot(linear, UNITS, 1))

    def sizes(self, values: Floats) -> Floats:
        """A size (10,) of each value: the mass, the radius of gyration, the inertia."""
        mass, gyration = self._gyration(values)
        return np.array([mass, *[gyration] * 3, *[mass * gyration**2] * 6])

    def linear_sizes(self, values: Floats) -> Floats:
        """A size (10,) of each linear parameter."""
        mass, gyration = self._gyration(values)
        reach = max(gyration, float(np.linalg.norm(values[1:4])))
        return np.array([mass, *[mass * reach] * 3, *[mass * reach**2] * 6])

    def lengths(self, z: Floats) -> Floats:
        """What a unit of each log-Cholesky number is to be measured by: 1, or a length [m]."""
        return np.array([*[1.0] * 4, *[float(np.exp(z[1:4].mean()))] * 6])

    # --- pieces ---------------------------------------------------------------------------

    def _gyration(self, values: Floats) -> tuple[float, float]:
        mass = max(float(values[0]), 1e-300)
        return mass, float(np.sqrt(max(values[4:7].sum() / (3 * mass), 1e-300)))

    def _pseudo(self, values: Floats) -> Floats:
        m, c = values[0], values[1:4]
        own = self.axes @ _matrix(values[4:]) @ self.axes.T
        about = own + m * (c @ c * np.eye(3) - np.outer(c, c))
        J = np.empty((4, 4))
        J[:3, :3] = 0.5 * np.trace(about) * np.eye(3) - about
        J[:3, 3] = J[3, :3] = m * c
        J[3, 3] = m
        return J

    def _of_pseudo(self, J: Floats) -> Floats:
        m, c = J[3, 3], J[:3, 3] / J[3, 3]
        S = J[:3, :3] - m * np.outer(c, c)
        own = self.axes.T @ (np.trace(S) * np.eye(3) - S) @ self.axes
        return np.array([m, *c, *own[_ROWS, _COLUMNS]])

    def _changes(self, values: Floats, turns: Floats) -> Floats:
        """The changes (10, k) of values along k changes (k, 4, 4) of the pseudo-inertia."""
        m, c = values[0], values[1:4]
        found = np.empty((COUNT, len(turns)))
        for k, dJ in enumerate(turns):
            dm = dJ[3, 3]
            dc = (dJ[:3, 3] - c * dm) / m
            mixed = m * np.outer(c, dc)
            dS = dJ[:3, :3] - dm * np.outer(c, c) - mixed - mixed.T
            own = self.axes.T @ (np.trace(dS) * np.eye(3) - dS) @ self.axes
            found[:, k] = [dm, *dc, *own[_ROWS, _COLUMNS]]
        return found


def physical(values: Floats, smallest: float = LEAST_MOMENT) -> tuple[Floats, bool]:
    """The values (10,), of a body with a mass, or near them those of one: its principal second
    moments are raised to a fraction of their sum. Returns also whether they were."""
    I = _matrix(values[4:])
    moments, axes = np.linalg.eigh(0.5 * np.trace(I) * np.eye(3) - I)
    least = max(float(abs(moments).sum()), LEAST_GYRATION**2 * float(values[0])) * smallest
    if moments.min() > (1 - SLACK) * least:
        return values, False
    S: Any = (axes * np.maximum(moments, least)) @ axes.T
    I = np.trace(S) * np.eye(3) - S
    return np.array([*values[:4], *I[_ROWS, _COLUMNS]]), True


def _matrix(six: Floats) -> Floats:
    """The symmetric matrix (3,3) of xx, yy, zz, xy, yz, zx."""
    I = np.empty((3, 3))
    I[_ROWS, _COLUMNS] = I[_COLUMNS, _ROWS] = six
    return I


def _factor(z: Floats) -> Floats:
    """U (4,4) of log-Cholesky numbers."""
    U = np.diag([*np.exp(z[1:4]), 1.0])
    for k, place in enumerate(_STRICT):
        U[place] = z[4 + k]
    return np.asarray(np.exp(z[0]) * U)

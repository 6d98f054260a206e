"""Explicit Runge-Kutta methods as tables."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

FIXED_STEP = ("euler", "heun", "RK4")
"""The methods below without error control."""


@dataclass(frozen=True)
class Tableau:
    """A (s,s), b (s,), c (s,). e (s,): error weights of the embedded method, or None for
    fixed steps. P (s,m): dense output x + h sum_j K_j sum_m P_jm theta^(m+1), or None for
    cubic Hermite. A method with P ends on the slope at the new point."""

    A: Floats
    b: Floats
    c: Floats
    order: int
    e: Floats | None = None
    P: Floats | None = None


def _explicit(rows: list[list[float]], b: list[float], order: int) -> Tableau:
    s = len(b)
    A = np.zeros((s, s))
    for i, row in enumerate(rows, start=1):
        A[i, : len(row)] = row
    return Tableau(A, np.array(b), A.sum(axis=1), order)


def _dormand_prince() -> Tableau:
    """Dormand and Prince's 5(4) pair, J. Comput. Appl. Math. 6 (1980), table 2, with L. F.
    Shampine's dense output, Math. Comp. 46 (1986); SciPy's RK45 has the same."""
    rows = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    e = [-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]
    P = [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
    plain = _explicit(rows, [*rows[-1], 0.0], 5)
    c = np.array([0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1])
    return replace(plain, c=c, e=np.array(e), P=np.array(P))


def tableau(name: str) -> Tableau | None:
    """The method of that name, or None for one that is not a table here."""
    match name:
        case "euler":
            return _explicit([], [1.0], 1)
        case "heun":
            return _explicit([[1.0]], [0.5, 0.5], 2)
        case "RK4":
            return _explicit([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], 4)
        case "RK45":
            return _dormand_prince()
        case _:
            return None

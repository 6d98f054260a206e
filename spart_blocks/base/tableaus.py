"""Explicit Runge-Kutta methods as tables: the one place where they and their names stand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, Literal, get_args

if TYPE_CHECKING:  # names alone are asked for by commands that need no numbers
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

FixedStepMethod = Literal["euler", "heun", "RK4"]
FIXED_STEP: tuple[FixedStepMethod, ...] = get_args(FixedStepMethod)
"""The methods below without error control, in any order."""
RECOMMENDED: FixedStepMethod = "RK4"
"""The one of them that is the default and that hints name first."""
CONTROLLED = "RK45"
"""The method below whose steps are as long as its error allows."""


@dataclass(frozen=True)
class Tableau:
    """A (s,s), b (s,), c (s,). e (s,): error weights of the embedded method, or None for
    fixed steps. P (s,m): dense output x + h sum_j K_j sum_m P_jm theta^(m+1), or None for
    cubic Hermite. A method with P ends on the slope at the new point.

    Raises ValueError for numbers that are no such method of that order, up to the third.
    """

    A: Floats
    b: Floats
    c: Floats
    order: int
    e: Floats | None = None
    P: Floats | None = None

    def __post_init__(self) -> None:
        import numpy as np

        A, b, c = self.A, self.b, self.c
        claims = {
            "A is strictly lower triangular": (np.triu(A), 0),
            "its rows add up to c": (A.sum(axis=1) - c, 0),
            "b adds up to 1": (b.sum(), 1),
            "b c = 1/2": (b @ c if self.order > 1 else 0.5, 0.5),
            "b c^2 = 1/3": (b @ c**2 if self.order > 2 else 1 / 3, 1 / 3),
            "b A c = 1/6": (b @ A @ c if self.order > 2 else 1 / 6, 1 / 6),
            "e adds up to 0": (0 if self.e is None else self.e.sum(), 0),
            "P ends on b": (0 if self.P is None else self.P.sum(axis=1) - b, 0),
        }
        for claim, (found, wanted) in claims.items():
            if np.abs(found - wanted).max() > 1e-12:
                raise ValueError(f"no explicit Runge-Kutta method: {claim} is not so")


def _explicit(rows: list[list[float]], b: list[float], order: int) -> Tableau:
    import numpy as np

    s = len(b)
    A = np.zeros((s, s))
    for i, row in enumerate(rows, start=1):
        A[i, : len(row)] = row
    return Tableau(A, np.array(b), A.sum(axis=1), order)


def _dormand_prince() -> Tableau:
    """Dormand and Prince's 5(4) pair, J. Comput. Appl. Math. 6 (1980), table 2, with L. F.
    Shampine's dense output, Math. Comp. 46 (1986); SciPy's RK45 has the same."""
    import numpy as np

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


_MAKERS: dict[str, Callable[[], Tableau]] = {
    "euler": lambda: _explicit([], [1.0], 1),
    "heun": lambda: _explicit([[1.0]], [0.5, 0.5], 2),
    "RK4": lambda: _explicit([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], 4),
    CONTROLLED: _dormand_prince,
}


@cache
def tableau(name: str) -> Tableau | None:
    """The method of that name, or None for one that is not a table here."""
    return _MAKERS[name]() if name in _MAKERS else None

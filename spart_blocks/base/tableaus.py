"""Runge-Kutta methods, explicit and linearly implicit, as tables: the one place where they and
their names stand.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Literal, get_args

from spart_blocks.base import verner

if TYPE_CHECKING:  # names alone are asked for by commands that need no numbers
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

ExplicitStepMethod = Literal["euler", "heun", "RK4"]
EXPLICIT_STEP: tuple[ExplicitStepMethod, ...] = get_args(ExplicitStepMethod)
"""The explicit methods below without error control, in any order."""
FixedStepMethod = Literal[ExplicitStepMethod, "Rodas3"]
FIXED_STEP: tuple[FixedStepMethod, ...] = get_args(FixedStepMethod)
"""The same with the linearly implicit one, for stiff equations."""
RECOMMENDED: FixedStepMethod = "RK4"
"""The one of them that is the default and that hints name first."""
PairMethod = Literal["RK45", "Tsit5", "DOP853", "Vern7", "Vern8"]
PAIRS: tuple[PairMethod, ...] = get_args(PairMethod)
"""The explicit methods below with steps as long as their error allows, in rising order."""
CONTROLLED: PairMethod = "RK45"
"""The one of them that is the default."""
StiffMethod = Literal["Rodas5P"]
STIFF: StiffMethod = "Rodas5P"
"""The method below for stiff equations, with error control too."""


@dataclass(frozen=True)
class Implicit:
    """What makes a method linearly implicit (a Rosenbrock method). Its first stage is the slope at
    the start of a step, and with error control its last one that at the end, both with zero
    weights; each stage i of the others solves

        (I / gamma - h J) K_i = f(t + c_i h, x + h sum_j A_ij K_j) + sum_j C_ij K_j + h d_i df/dt

    with the derivatives J = df/dx and df/dt at the start of the step. gamma: a number. C (s,s),
    strictly lower triangular; d (s,). Source: E. Hairer, G. Wanner, "Solving Ordinary Differential
    Equations II" (1996), sec. IV.7, (7.25), with U_i = h K_i.
    """

    gamma: float
    C: Floats
    d: Floats


@dataclass(frozen=True)
class Tableau:
    """A (n,n), b (s,), c (n,): the first s stages make the step, and those after them serve dense
    output alone. e (s,): error weights of the embedded method, or None for fixed steps. e2 (s,):
    those of a second one, for an estimate of both, or None. P (n,m): dense output x + h theta
    sum_j K_j sum_m P_jm (2 theta - 1)^m, or None for cubic Hermite. A method with e has P and ends
    on the slope at the new point. border: product of a step and the modulus of an eigenvalue above
    which the step is at the border of stability; None where that is not tested. implicit: of a
    linearly implicit method.

    Raises ValueError for numbers that are no such method of that order, up to the third.
    """

    A: Floats
    b: Floats
    c: Floats
    order: int
    e: Floats | None = None
    P: Floats | None = None
    e2: Floats | None = None
    border: float | None = None
    implicit: Implicit | None = None

    def __post_init__(self) -> None:
        import numpy as np

        s, order = len(self.b), self.order
        A, B, weights, b = self.slopes()
        c, ends = self.c[:s], self.A[s - 1, :s] if self.e is not None else self.b
        claims = {
            "A is strictly lower triangular": (np.triu(self.A), 0),
            "its rows add up to c": (A.sum(axis=1) - self.c, 0),
            "b adds up to 1": (b.sum(), 1),
            "b c = 1/2": (b @ B.sum(axis=1) if order > 1 else 0.5, 0.5),
            "b c^2 = 1/3": (b @ c**2 if order > 2 else 1 / 3, 1 / 3),
            "b A c = 1/6": (b @ B @ B.sum(axis=1) if order > 2 else 1 / 6, 1 / 6),
            "e adds up to 0": (0 if self.e is None else (self.e @ weights).sum(), 0),
            "e2 adds up to 0": (0 if self.e2 is None else (self.e2 @ weights).sum(), 0),
            "its last stage is its end": (ends - self.b, 0),
            "P ends on b": (0 if self.P is None else self.P.sum(axis=1)[:s] - self.b, 0),
            "P ends on no other stage": (0 if self.P is None else self.P.sum(axis=1)[s:].sum(), 0),
        }
        if self.implicit is not None:
            claims |= {
                "C is strictly lower triangular": (np.triu(self.implicit.C), 0),
                "the rows of Gamma add up to d": ((B - A[:s, :s]).sum(axis=1) - self.implicit.d, 0),
            }
        for claim, (found, wanted) in claims.items():
            if np.abs(found - wanted).max() > 1e-12:
                raise ValueError(f"no Runge-Kutta method: {claim} is not so")

    def slopes(self) -> tuple[Floats, Floats, Floats, Floats]:
        """The method in the slopes k_i = f(...) + h J sum_j Gamma_ij k_j + h d_i df/dt, by which
        its order is told: alpha (n,n) of the arguments; of the first s stages alpha + Gamma (s,s),
        W (s,s) with K = W^-1 k, and b (s,). Of an explicit method these are A, A, I and b.
        """
        import numpy as np

        s = len(self.b)
        W, Gamma = np.eye(len(self.c)), np.zeros_like(self.A)
        if self.implicit is not None:
            inner = slice(1, s if self.e is None else s - 1)
            inverse = np.eye(len(W[inner])) / self.implicit.gamma - self.implicit.C[inner, inner]
            W[inner, inner] = Gamma[inner, inner] = np.linalg.inv(inverse)
        A = self.A @ W
        return A, (A + Gamma)[:s, :s], W[:s, :s], self.b @ W[:s, :s]

    @property
    def reads(self) -> bool:
        """Whether the slopes of a step give its dense output, without more stages."""
        return self.P is not None and len(self.P) == len(self.b)

    def dense_weights(self, theta: float) -> Floats:
        """The weights (n,) of the slopes in dense output at the fraction theta of a step."""
        assert self.P is not None
        found: Floats = theta * self.P @ [(2 * theta - 1) ** m for m in range(self.P.shape[1])]
        return found

    @property
    def estimates(self) -> Floats | None:
        """The error weights of one embedded method, or of two in a row; None without any."""
        import numpy as np

        given = [e for e in (self.e, self.e2) if e is not None]
        return np.concatenate(given) if given else None


def _explicit(rows: list[list[float]], b: list[float], order: int) -> Tableau:
    import numpy as np

    s = len(b)
    A = np.zeros((s, s))
    for i, row in enumerate(rows, start=1):
        A[i, : len(row)] = row
    return Tableau(A, np.array(b), A.sum(axis=1), order)


def _in_powers(P: list[list[float]]) -> Floats:
    """P of a tableau from coefficients of theta^(m+1), of each stage."""
    from math import comb

    import numpy as np

    powers = np.array(P)
    m = range(powers.shape[1])  # theta^k = ((1 + (2 theta - 1)) / 2)^k
    found: Floats = powers @ np.array([[comb(k, i) / 2**k for i in m] for k in m])
    return found


def _pair(
    rows: list[list[float]],
    c: list[float],
    e: list[float],
    P: Floats,
    order: int,
    border: float,
) -> Tableau:
    """A method that ends on the slope at the new point. rows: of A from the second stage on."""
    import numpy as np

    s = len(e)
    A = np.zeros((len(c), len(c)))
    for i, row in enumerate(rows, start=1):
        A[i, : len(row)] = row
    return Tableau(A, A[s - 1, :s].copy(), np.array(c), order, np.array(e), P, border=border)


def _dormand_prince() -> Tableau:
    """Dormand and Prince's 5(4) pair, J. Comput. Appl. Math. 6 (1980), table 2, with L. F.
    Shampine's dense output, Math. Comp. 46 (1986); SciPy's RK45 has the same. The border of
    stability is E. Hairer's."""
    rows = [
        [1 / 5],
        [3 / 40, 9 / 40],
        [44 / 45, -56 / 15, 32 / 9],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
    e = [-71 / 57600, 0, 71 / 16695, -71 / 1920, 17253 / 339200, -22 / 525, 1 / 40]
    P: list[list[float]] = [
        [1, -8048581381 / 2820520608, 8663915743 / 2820520608, -12715105075 / 11282082432],
        [0, 0, 0, 0],
        [0, 131558114200 / 32700410799, -68118460800 / 10900136933, 87487479700 / 32700410799],
        [0, -1754552775 / 470086768, 14199869525 / 1410260304, -10690763975 / 1880347072],
        [0, 127303824393 / 49829197408, -318862633887 / 49829197408, 701980252875 / 199316789632],
        [0, -282668133 / 205662961, 2019193451 / 616988883, -1453857185 / 822651844],
        [0, 40617522 / 29380423, -110615467 / 29380423, 69997945 / 29380423],
    ]
    return _pair(rows, [0, 1 / 5, 3 / 10, 4 / 5, 8 / 9, 1, 1], e, _in_powers(P), 5, 3.25)


def _tsitouras() -> Tableau:
    """C. Tsitouras's 5(4) pair with its dense output, Comput. Math. Appl. 62 (2011), table 1."""
    rows = [
        [0.161],
        [-0.008480655492356989, 0.335480655492357],
        [2.8971530571054935, -6.359448489975075, 4.3622954328695815],
        [5.325864828439257, -11.748883564062828, 7.4955393428898365, -0.09249506636175525],
        [5.86145544294642, -12.92096931784711, 8.159367898576159, -0.071584973281401,
         -0.028269050394068383],
        [0.09646076681806523, 0.01, 0.4798896504144996, 1.379008574103742, -3.290069515436081,
         2.324710524099774],
    ]  # fmt: skip
    e = [-0.00178001105222577714, -0.0008164344596567469, 0.007880878010261995,
         -0.1447110071732629, 0.5823571654525552, -0.45808210592918697, 1 / 66]  # fmt: skip
    P = [
        [1, -2.763706197274826, 2.9132554618219126, -1.0530884977290216],
        [0, 0.1317, -0.2234, 0.1017],
        [0, 3.9302962368947516, -5.941033872131505, 2.490627285651253],
        [0, -12.411077166933676, 30.33818863028232, -16.548102889244902],
        [0, 37.50931341651104, -88.1789048947664, 47.37952196281928],
        [0, -27.896526289197286, 65.09189467479366, -34.87065786149661],
        [0, 1.5, -4, 2.5],
    ]
    return _pair(rows, [0, 0.161, 0.327, 0.9, 0.9800255409045097, 1, 1], e, _in_powers(P), 5, 3.44)


def _verner(A: list[Any], c: list[float], e: list[float], P: list[Any], border: float) -> Tableau:
    """One of Verner's pairs."""
    import numpy as np

    m = max(len(row) for row in P)
    dense = np.array([row or [0.0] * m for row in P])
    return _pair(A, c, e, dense, m, border)


def _dormand_prince_8() -> Tableau:
    """Dormand and Prince's method of order 8 with error estimates of orders 5 and 3 and dense
    output of order 7, by E. Hairer, S. P. Norsett, G. Wanner, "Solving Ordinary Differential
    Equations I" (1993), sec. II.5 and II.6. Its numbers are those that SciPy has.
    """
    import numpy as np
    from scipy import integrate

    given = integrate.DOP853
    s, n = given.n_stages + 1, given.n_stages + 1 + len(given.A_EXTRA)
    A, b = np.zeros((n, n)), np.append(given.B, 0.0)
    A[: s - 1, : s - 1], A[s - 1, :s], A[s:] = given.A, b, given.A_EXTRA
    # Dense output is theta (F_0 + u (F_1 + theta (F_2 + u (...)))) with u = 1 - theta, where the F
    # are b, then what makes it smooth at the start and the end, then D, times h K.
    F = np.zeros((len(given.D) + 3, n))
    F[0, :s] = b
    F[1], F[2] = -F[0], 2 * F[0]
    F[1, 0] += 1
    F[2, 0] -= 1
    F[2, s - 1] -= 1
    F[3:] = given.D
    theta, u = np.polynomial.Polynomial([0.5, 0.5]), np.polynomial.Polynomial([0.5, -0.5])
    P = np.zeros((n, len(F)))
    factor = np.polynomial.Polynomial([1.0])
    for k, row in enumerate(F):
        P[:, : k + 1] += np.outer(row, factor.coef)
        factor = factor * (theta if k % 2 else u)
    c = np.concatenate([given.C, [1.0], given.C_EXTRA])
    return Tableau(A, b, c, 8, given.E5, P, given.E3, border=6.1)


def _rodas5p() -> Tableau:
    """G. Steinebach's Rodas5P, 5(4), of eight implicit stages, stiffly accurate, with dense output
    of order four: "Construction of Rosenbrock-Wanner method Rodas5P and numerical benchmarks within
    the Julia Differential Equations package", BIT Numer. Math. 63 (2023).
    """
    import numpy as np

    last = [-7.502846399306121, 2.561846144803919, -11.627539656261098, -0.18268767659942256]
    last += [0.030198172008377946]
    rows = [
        [],
        [3.0],
        [2.849394379747939, 0.45842242204463923],
        [-6.954028509809101, 2.489845061869568, -10.358996098473584],
        [2.8029986275628964, 0.5072464736228206, -0.3988312541770524, -0.04721187230404641],
        last,
        [*last, 1.0],
        [*last, 1.0, 1.0],
    ]
    C_rows = [
        [],
        [-14.155112264123755],
        [-17.97296035885952, -2.859693295451294],
        [147.12150275711716, -1.41221402718213, 71.68940251302358],
        [165.43517024871676, -0.4592823456491126, 42.90938336958603, -5.961986721573306],
        [24.854864614690072, -3.0009227002832186, 47.4931110020768, 5.5814197821558125,
         -0.6610691825249471],
        [30.91273214028599, -3.1208243349937974, 77.79954646070892, 34.28646028294783,
         -19.097331116725623, -28.087943162872662],
        [37.80277123390563, -3.2571969029072276, 112.26918849496327, 66.9347231244047,
         -40.06618937091002, -54.66780262877968, -9.48861652309627],
    ]  # fmt: skip
    H = [
        [25.948786856663858, -2.5579724845846235, 10.433815404888879, -2.3679251022685204,
         0.524948541321073, 1.1241088310450404, 0.4272876194431874, -0.17202221070155493],
        [-9.91568850695171, -0.9689944594115154, 3.0438037242978453, -24.495224566215796,
         20.176138334709044, 15.98066361424651, -6.789040303419874, -6.710236069923372],
        [11.419903575922262, 2.8879645146136994, 72.92137995996029, 80.12511834622643,
         -52.072871366152654, -59.78993625266729, -0.15582684282751913, 4.883087185713722],
    ]  # fmt: skip
    c = [0.6358126895828704, 0.4095798393397535, 0.9769306725060716, 0.4288403609558664]
    d = [-0.42387512638858027, -0.3384627126235924, 1.8046452872882734, 2.325825639765069]
    gamma = 0.21193756319429014
    s = 10  # the slopes at both ends, and eight between them
    A, C = np.zeros((s, s)), np.zeros((s, s))
    for i, (row, row_of_C) in enumerate(zip(rows, C_rows, strict=True), start=1):
        A[i, 1 : 1 + len(row)] = row
        C[i, 1 : 1 + len(row_of_C)] = row_of_C
    b = np.array([0.0, *last, 1.0, 1.0, 1.0, 0.0])
    A[-1] = b
    e = np.zeros(s)
    e[-2] = 1.0
    # (1 - theta) x + theta (x_n + (1 - theta) (H_1 + theta H_2 + theta^2 H_3)), as powers of theta
    (H_1, H_2, H_3), P = np.array(H), np.zeros((s, 4))
    P[1:-1] = np.stack([b[1:-1] + H_1, H_2 - H_1, H_3 - H_2, -H_3], axis=1)
    times = np.array([0.0, 0.0, *c, 1.0, 1.0, 1.0, 1.0])
    implicit = Implicit(gamma, C, np.array([0.0, gamma, *d, 0.0, 0.0, 0.0, 0.0]))
    return Tableau(A, b, times, 5, e, _in_powers(P.tolist()), implicit=implicit)


def _rodas3() -> Tableau:
    """RODAS3 by A. Sandu et al., "Benchmarking stiff ODE solvers for atmospheric chemistry problems
    II: Rosenbrock solvers", Atmos. Environ. 31 (1997), table 1: of four implicit stages, stiffly
    accurate and L-stable.
    """
    import numpy as np

    A, C = np.zeros((5, 5)), np.zeros((5, 5))
    A[3, 1], A[4, 1:4] = 2.0, (2.0, 0.0, 1.0)
    C[2, 1], C[3, 1:3], C[4, 1:4] = 4.0, (1.0, -1.0), (1.0, -1.0, -8 / 3)
    implicit = Implicit(0.5, C, np.array([0.0, 0.5, 1.5, 0.0, 0.0]))
    b, c = np.array([0.0, 2.0, 0.0, 1.0, 1.0]), np.array([0.0, 0.0, 0.0, 1.0, 1.0])
    return Tableau(A, b, c, 3, implicit=implicit)


_MAKERS: dict[str, Callable[[], Tableau]] = {
    "euler": lambda: _explicit([], [1.0], 1),
    "heun": lambda: _explicit([[1.0]], [0.5, 0.5], 2),
    "RK4": lambda: _explicit([[0.5], [0.0, 0.5], [0.0, 0.0, 1.0]], [1 / 6, 1 / 3, 1 / 3, 1 / 6], 4),
    "Rodas3": _rodas3,
    CONTROLLED: _dormand_prince,
    "Tsit5": _tsitouras,
    "DOP853": _dormand_prince_8,
    "Vern7": lambda: _verner(verner.A7, verner.C7, verner.E7, verner.P7, 4.55),
    "Vern8": lambda: _verner(verner.A8, verner.C8, verner.E8, verner.P8, 5.75),
    STIFF: _rodas5p,
}


@cache
def tableau(name: str) -> Tableau | None:
    """The method of that name, or None for one that is not a table here."""
    return _MAKERS[name]() if name in _MAKERS else None

"""Stiff initial value problems with published references, each as a block with a state.

Sources: E. Hairer, G. Wanner, "Solving Ordinary Differential Equations II" (1996), sec. IV.10; F.
Mazzia, C. Magherini, "Test Set for Initial Value Problem Solvers", release 2.4 (2008), for HIRES,
POLLU, the ring modulator and Robertson's problem.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from bdsim.components import ContinuousBlock

import spart_blocks as sb

Entries = Sequence[Any]
Rates = Callable[[Any, Entries], list[Any]]
"""(t, entries of x) -> entries of dx/dt, of numbers or of expressions."""


@dataclass(frozen=True)
class Problem:
    """name; rates; x0 (n,); T [s], the end; smallest: of the tolerances, the part of rtol that is
    atol."""

    name: str
    rates: Rates
    x0: Entries
    T: float
    absolute: float = 1e-2


class Equations(ContinuousBlock):
    """The equations of a problem: x' = rates(t, x)."""

    nin = 0
    nout = 1

    def __init__(self, problem: Problem, **blockargs: Any) -> None:
        x0 = np.array(problem.x0, dtype=float)
        super().__init__(nstates=len(x0), x0=x0, onames=["y"], **blockargs)
        self.rates = problem.rates

    def output(self, t: Any, inputs: Any, x: Any) -> list[Any]:
        return [x]

    def deriv(self, t: Any, inputs: Any, x: Any) -> Any:
        return np.array(self.rates(t, [x[k] for k in range(x.shape[0])]))


def diagram(problem: Problem) -> Any:
    """The problem as a diagram with the one block `eq`."""
    bd = sb.new_diagram(problem.name)
    Equations(problem, bd=bd, name="eq")
    return bd


def robertson(t: Any, y: Entries) -> list[Any]:
    a, b, c = 0.04 * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] * y[1]
    return [b - a, a - b - c, c]


def oregonator(t: Any, y: Entries) -> list[Any]:
    return [
        77.27 * (y[1] + y[0] * (1 - 8.375e-6 * y[0] - y[1])),
        (y[2] - (1 + y[0]) * y[1]) / 77.27,
        0.161 * (y[0] - y[2]),
    ]


def hires(t: Any, y: Entries) -> list[Any]:
    r = 280 * y[5] * y[7]
    return [
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -r + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        r - 1.81 * y[6],
        -r + 1.81 * y[6],
    ]


def van_der_pol(t: Any, y: Entries) -> list[Any]:
    return [y[1], ((1 - y[0] * y[0]) * y[1] - y[0]) * 1e6]


def e5(t: Any, y: Entries) -> list[Any]:
    A, B, C, M = 7.89e-10, 1.1e7, 1.13e3, 1e6
    a, b, c, d = A * y[0], B * y[0] * y[2], M * C * y[1] * y[2], C * y[3]
    return [-a - b, a - c, a - b - c + d, b - d]


def pollution(t: Any, y: Entries) -> list[Any]:
    k = [0.35, 26.6, 1.23e4, 8.6e-4, 8.2e-4, 1.5e4, 1.3e-4, 2.4e4, 1.65e4, 9e3, 2.2e-2, 1.2e4]
    k += [1.88, 1.63e4, 4.8e6, 3.5e-4, 1.75e-2, 1e8, 4.44e11, 1.24e3, 2.1, 5.78, 4.74e-2, 1.78e3]
    k += [3.12]
    (y1, y2, y3, y4, y5, y6, y7, _, y9, y10, y11, _, y13, y14, _, y16, y17, _, y19, y20) = y
    r = [
        k[0] * y1, k[1] * y2 * y4, k[2] * y5 * y2, k[3] * y7, k[4] * y7, k[5] * y7 * y6,
        k[6] * y9, k[7] * y9 * y6, k[8] * y11 * y2, k[9] * y11 * y1, k[10] * y13,
        k[11] * y10 * y2, k[12] * y14, k[13] * y1 * y6, k[14] * y3, k[15] * y4, k[16] * y4,
        k[17] * y16, k[18] * y16, k[19] * y17 * y6, k[20] * y19, k[21] * y19, k[22] * y1 * y4,
        k[23] * y19 * y1, k[24] * y20,
    ]  # fmt: skip
    return [
        -r[0] - r[9] - r[13] - r[22] - r[23] + r[1] + r[2] + r[8] + r[10] + r[11] + r[21] + r[24],
        -r[1] - r[2] - r[8] - r[11] + r[0] + r[20],
        -r[14] + r[0] + r[16] + r[18] + r[21],
        -r[1] - r[15] - r[16] - r[22] + r[14],
        -r[2] + 2 * r[3] + r[5] + r[6] + r[12] + r[19],
        -r[5] - r[7] - r[13] - r[19] + r[2] + 2 * r[17],
        -r[3] - r[4] - r[5] + r[12],
        r[3] + r[4] + r[5] + r[6],
        -r[6] - r[7],
        -r[11] + r[6] + r[8],
        -r[8] - r[9] + r[7] + r[10],
        r[8],
        -r[10] + r[9],
        -r[12] + r[11],
        r[13],
        -r[17] - r[18] + r[15],
        -r[19],
        r[19],
        -r[20] - r[21] - r[23] + r[22] + r[24],
        -r[24] + r[23],
    ]


def ring_modulator(t: Any, y: Entries) -> list[Any]:
    C, Cs, Cp, R, Rp = 1.6e-8, 2e-12, 1e-8, 25e3, 50.0
    Lh, Ls1, Ls2, Ls3 = 4.45, 0.002, 5e-4, 5e-4
    Rg1, Rg2, Rg3, Ri, Rc = 36.3, 17.3, 17.3, 50.0, 600.0
    one, two = 0.5 * np.sin(2e3 * np.pi * t), 2 * np.sin(2e4 * np.pi * t)
    U = [
        y[2] - y[4] - y[6] - two,
        -y[3] + y[5] - y[6] - two,
        y[3] + y[4] + y[6] + two,
        -y[2] - y[5] + y[6] + two,
    ]
    q = [40.67286402e-9 * (np.exp(17.7493332 * u) - 1) for u in U]
    return [
        (y[7] - 0.5 * y[9] + 0.5 * y[10] + y[13] - y[0] / R) / C,
        (y[8] - 0.5 * y[11] + 0.5 * y[12] + y[14] - y[1] / R) / C,
        (y[9] - q[0] + q[3]) / Cs,
        (-y[10] + q[1] - q[2]) / Cs,
        (y[11] + q[0] - q[2]) / Cs,
        (-y[12] - q[1] + q[3]) / Cs,
        (-y[6] / Rp + q[0] + q[1] - q[2] - q[3]) / Cp,
        -y[0] / Lh,
        -y[1] / Lh,
        (0.5 * y[0] - y[2] - Rg2 * y[9]) / Ls2,
        (-0.5 * y[0] + y[3] - Rg3 * y[10]) / Ls3,
        (0.5 * y[1] - y[4] - Rg2 * y[11]) / Ls2,
        (-0.5 * y[1] + y[5] - Rg3 * y[12]) / Ls3,
        (-y[0] + one - (Ri + Rg1) * y[13]) / Ls1,
        (-y[1] - (Rc + Rg1) * y[14]) / Ls1,
    ]


def heat_rod(n: int) -> Rates:
    """A rod of n cells with fixed ends, heated in its middle third."""

    def rates(t: Any, y: Entries) -> list[Any]:
        whole = [0.0, *y, 0.0]
        heat = [1.0 if n // 3 <= k < 2 * n // 3 else 0.0 for k in range(n)]
        c = (n + 1) ** 2
        return [
            c * (whole[k] - 2 * whole[k + 1] + whole[k + 2]) + heat[k] - 0.1 * y[k] ** 3
            for k in range(n)
        ]

    return rates


_POLLUTION_START = [0, 0.2, 0, 0.04, 0, 0, 0.1, 0.3, 0.01, 0, 0, 0, 0, 0, 0, 0, 0.007, 0, 0, 0]
PROBLEMS = (
    Problem("robertson", robertson, [1.0, 0.0, 0.0], 1e5, 1e-6),
    Problem("oregonator", oregonator, [1.0, 2.0, 3.0], 360.0, 1e-2),
    Problem("hires", hires, [1.0, 0, 0, 0, 0, 0, 0, 0.0057], 321.8122, 1e-3),
    Problem("van_der_pol", van_der_pol, [2.0, 0.0], 2.0, 1e-2),
    Problem("e5", e5, [1.76e-3, 0.0, 0.0, 0.0], 1e5, 1e-16),
    Problem("pollution", pollution, _POLLUTION_START, 60.0, 1e-3),
    Problem("ring_modulator", ring_modulator, [0.0] * 15, 1e-3, 1e-2),
)

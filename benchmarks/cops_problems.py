"""The problems of benchmarks/cops/ as functions, for peers that read no diagrams.

Source: E. D. Dolan, J. J. More, T. S. Munson, "Benchmarking optimization software with COPS 3.0",
Argonne National Laboratory, ANL/MCS-TM-273 (2004).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import casadi as ca
import numpy as np


@dataclass(frozen=True)
class Control:
    """An optimal control problem. rates: of states x and controls u. start: of the states. end:
    states there, by number. low, high: of each control. T: the duration, a guess where it is free.
    least: what is minimized, of the states at the end and T. sign: by which it is the published
    figure. least_states: bounds by number. guess: the states at the end of straight lines.
    """

    name: str
    published: float
    rates: Callable[[Any, Any], list[Any]]
    start: tuple[float, ...]
    end: Mapping[int, float]
    low: float
    high: float
    u: tuple[float, ...]
    T: float
    least: Callable[[Any, Any], Any]
    free: bool = True
    sign: float = 1.0
    least_states: Mapping[int, float] = field(default_factory=dict)
    guess: tuple[float, ...] | None = None

    def lines(self, count: int) -> np.ndarray:
        """The guess of the states at so many instants (nx, count)."""
        ends = self.start if self.guess is None else self.guess
        return np.linspace(self.start, ends, count).T


@dataclass(frozen=True)
class Estimate:
    """A fit. rates: of t, states and parameters, of floats. start: of the states, or None where
    they are estimated after the parameters. first: where the search starts. low: of each value.
    """

    name: str
    published: float
    rates: Callable[[float, Any, Any], Any]
    start: tuple[float, ...] | None
    first: np.ndarray
    low: np.ndarray


def rocket(x, u):
    h, v, m = x[0], x[1], x[2]
    return [v, (u[0] - 310 * v**2 * ca.exp(500 * (1 - h))) / m - 1 / h**2, -u[0] / 0.5]


def steering(x, u):
    return [x[2], x[3], 100 * ca.cos(u[0]), 100 * ca.sin(u[0])]


def robot_arm(x, u):
    inertia = ((5 - x[0]) ** 3 + x[0] ** 3) / 3
    return [x[3], x[4], x[5], u[0] / 5, u[1] / (inertia * ca.sin(x[2]) ** 2), u[2] / inertia]


def catalyst(x, u):
    mixed = u[0] * (10 * x[1] - x[0])
    return [mixed, u[0] * (x[0] - 10 * x[1]) - (1 - u[0]) * x[1]]


def glider(x, u):
    r = (x[0] / 100 - 2.5) ** 2
    w = x[3] - 2.5 * (1 - r) * ca.exp(-r)
    q = 0.5 * 1.13 * 14 / 100 * ca.sqrt(x[2] ** 2 + w**2)
    lift, drag = u[0] * q, (0.034 + 0.069662 * u[0] ** 2) * q
    return [x[2], x[3], -drag * x[2] - lift * w, lift * x[2] - drag * w - 9.81]


QUARTER = np.pi / 4
SPEED = (13.2275675, -1.28750052)
CONTROLS = (
    Control("rocket", 1.01283, rocket, (1, 0, 1), {2: 0.6}, 0, 3.5, (1.75,), 0.2,
            lambda x, T: -x[0], sign=-1.0, least_states={0: 1.0, 1: 0.0}, guess=(1.01, 0.05, 0.6)),
    Control("steering", 0.554577, steering, (0, 0, 0, 0), {1: 5, 2: 45, 3: 0}, -2 * QUARTER,
            2 * QUARTER, (0.5,), 1.0, lambda x, T: T, guess=(12, 5, 45, 0)),
    Control("robot_arm", 9.14138, robot_arm, (4.5, 0, QUARTER, 0, 0, 0),
            {0: 4.5, 1: 2 * np.pi / 3, 2: QUARTER, 3: 0, 4: 0, 5: 0}, -1, 1, (0, 0, 0), 9.0,
            lambda x, T: T, guess=(4.5, 2 * np.pi / 3, QUARTER, 0, 0, 0)),
    Control("catalyst", -4.80556e-2, catalyst, (1, 0), {}, 0, 1, (0,), 1.0,
            lambda x, T: x[0] + x[1] - 1, free=False),
    Control("glider", 1255.05, glider, (0, 1000, *SPEED), {1: 900, 2: SPEED[0], 3: SPEED[1]},
            0, 1.4, (0.7,), 100.0, lambda x, T: -x[0], sign=-1.0, least_states={0: 0.0, 2: 0.0},
            guess=(1250, 900, *SPEED)),
)  # fmt: skip


def pinene(t, y, k):
    return [-(k[0] + k[1]) * y[0], k[0] * y[0], k[1] * y[0] - (k[2] + k[3]) * y[2] + k[4] * y[4],
            k[2] * y[2], k[3] * y[2] - k[4] * y[4]]  # fmt: skip


def gas_oil(t, y, k):
    return [-(k[0] + k[2]) * y[0] ** 2, k[0] * y[0] ** 2 - k[1] * y[1]]


def methanol(t, y, k):
    whole = (k[1] + k[4]) * y[0] + y[1]
    return [-(2 * k[1] - k[0] * y[1] / whole + k[2] + k[3]) * y[0],
            k[0] * y[0] * (k[1] * y[0] - y[1]) / whole + k[2] * y[0],
            k[0] * y[0] * (y[1] + k[4] * y[0]) / whole + k[3] * y[0]]  # fmt: skip


def marine(t, y, k):
    grown = [0.0, *(k[j] * y[j] for j in range(7))]
    return [grown[j] - k[7 + j] * y[j] - (grown[j + 1] if j < 7 else 0.0) for j in range(8)]


ANIMALS = (20000, 17000, 10000, 15000, 12000, 9000, 7000, 3000)
ESTIMATES = (
    Estimate("pinene", 19.8721, pinene, (100, 0, 0, 0, 0), np.zeros(5), np.zeros(5)),
    Estimate("gas_oil", 5.2366e-3, gas_oil, (1, 0), np.zeros(3), np.zeros(3)),
    Estimate("methanol", 9.02229e-3, methanol, (1, 0, 0), np.ones(5), np.zeros(5)),
    Estimate("marine", 1.97462e7, marine, None, np.array([*np.zeros(15), *ANIMALS]),
             np.array([*np.zeros(15), *np.full(8, -np.inf)])),
)  # fmt: skip

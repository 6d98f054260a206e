"""Model predictive control of linear plants, with bounds."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
from bdsim.components import SampledBlock

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.condensed import (
    AdmmSteps,
    Cost,
    Horizon,
    condensed,
    optimised,
    predictions,
)
from spart_blocks.block_support.declared import Declared, PortSpec
from spart_blocks.block_support.estimation import column, covariance, plant, regulated, scalar_or
from spart_blocks.block_support.parameters import fixed, tunable
from spart_blocks.block_support.values import counted, in_order, numbers, positive_number

_METHODS = ("zoh", "none")
MOST_ROWS = 1000
"""Largest number of bounds over the horizon: the program has tables of its square."""


class MPC_S(Declared, SampledBlock):
    """Model predictive control of a linear plant at the ticks of a clock, with bounds.

    At each tick the inputs u_0 ... u_(N-1) minimise the sum over the horizon of (x_k - xd)' Q (x_k
    - xd) + (u_k - uff)' R (u_k - uff) + (u_k - u_(k-1))' S (u_k - u_(k-1)), with the weight P at
    its end, within bounds of u and of its rate; u_0 is the output, held. y = C x has soft bounds:
    leaving them by d costs y_weight d^2. P is by default the cost of the regulator from there on,
    with which the block is that regulator where no bound acts.

    The program of the inputs (condensed) is solved by a fixed number of steps of ADMM from the
    multipliers of the tick before, moved by one tick. `residual` is the largest distance of what is
    bounded from its projection: it is small where the steps were enough. u is within its bounds in
    any case. In compiled code the steps are a loop over tables: with r bounds over the horizon, N
    for each bounded entry of u, of its rate and of y, a step is r^2 products.

    With `zoh`, A and B are those of a plant in continuous time whose input is held between ticks;
    with `none` those of the sampled plant. The bounds are tunable.

    Source: J. Maciejowski, "Predictive Control with Constraints" (2002), ch. 2-3; S. Boyd et al.,
    "Distributed Optimization ... ADMM" (2011); B. Stellato et al., "OSQP" (2020).

    :arg A: system matrix
    :arg B: input matrix
    :arg Q: weight of the state: a number, n numbers or a matrix
    :arg R: weight of the input, positive definite
    :arg N: horizon, number of ticks
    :arg lower: lower bounds of u
    :arg upper: upper bounds of u
    :arg rate: largest rate of u, per second
    :arg C: matrix of the outputs with soft bounds
    :arg y_lower: their lower bounds
    :arg y_upper: their upper bounds
    :arg y_weight: weight of the square of leaving them
    :arg S: weight of changes of u
    :arg P: weight of the last state
    :arg u0: input before the first tick
    :arg method: zoh or none
    :arg iterations: steps of ADMM at a tick
    :arg penalty: its penalty, relative to the curvature of each bound; more suits many active
        bounds
    """

    nin = 3
    nout = 2
    takes = (
        PortSpec("x", "n", "", "state, measured or estimated"),
        PortSpec("xd", "n", "", "desired state", optional=True),
        PortSpec("uff", "float or m", "", "input that keeps it", optional=True),
    )
    gives = (
        PortSpec("u", "float or m", "", "control"),
        PortSpec("residual", "", "", "distance of the solution from its bounds"),
    )
    A = fixed("n, n")
    B = fixed("n, m")
    Q = fixed("float or n, n")
    R = fixed("float or m, m")
    N = fixed("int")
    lower = tunable("float or m", "", None)
    upper = tunable("float or m", "", None)
    rate = tunable("float or m", "", None)
    C = fixed("p, n", "", None)
    y_lower = tunable("float or p", "", None)
    y_upper = tunable("float or p", "", None)
    y_weight = fixed("float", "", 1e4)
    S = fixed("float or m, m", "", 0.0)
    P = fixed("float or n, n", "", None)
    u0 = fixed("float or m", "", 0.0)
    method = fixed("str", "", "zoh", choices=_METHODS)
    iterations = fixed("int", "", 50)
    penalty = fixed("float", "", 3.0)
    delays = True

    def build(
        self, A: Any, B: Any, Q: Any, R: Any, N: Any, lower: Any, upper: Any, rate: Any,
        C: Any, y_lower: Any, y_upper: Any, y_weight: Any, S: Any, P: Any, u0: Any, method: Any,
        iterations: Any, penalty: Any,
    ) -> dict[str, Any]:  # fmt: skip
        system = plant(A, B, np.zeros((1, len(np.atleast_2d(A)))) if C is None else C, None)
        if method == "zoh":
            system = system.at(self.T, method)
        n, m = system.B.shape
        Q, R, self._K, onward = regulated(system, Q, R, sampled=True)
        cost = Cost(Q, R, covariance(S, "S", m), onward if P is None else covariance(P, "P", n))
        self._take_bounds(m, lower, upper, rate)
        self._take_soft(len(system.C), C, y_lower, y_upper)
        counted(N, "N")
        rows = self._rows(m, system.C)
        _refuse_many(N * sum(map(len, rows.values())))
        program = condensed(predictions(system.A, system.B, self._K, N), cost, N, rows)
        steps = AdmmSteps.of(program, positive_number(penalty, "penalty"))
        soft = 2 * positive_number(y_weight, "y_weight")
        sizes = {name: len(matrix) for name, matrix in rows.items()}
        softly = [np.full(N * size, float(name == "y")) for name, size in sizes.items()]
        give = np.concatenate([np.zeros(0), *softly]) * steps.rho / (steps.rho + soft)
        count = counted(iterations, "iterations", 10_000)
        steps = replace(steps, back=steps.back[:m], free=steps.free[:m])
        self._solver = Horizon(steps, give, _repeated(N, sizes), sum(sizes.values()), count)
        self._later = _one_later(N, sizes.values())
        before = numbers(u0, "u0")
        if before.shape not in ((), (m,)):
            raise InputError(f"u0 has shape {before.shape}, there are {m} inputs")
        start = np.concatenate([np.zeros(len(program.G)), np.broadcast_to(before, (m,))])
        return {"x0": start, "feedthrough": True, **self.resolve_ports(n=n, m=scalar_or(m))}

    def _take_bounds(self, m: int, lower: Any, upper: Any, rate: Any) -> None:
        self.lower, self.upper = _bound(lower, "lower", m, -np.inf), _bound(upper, "upper", m)
        in_order(self.lower, self.upper, ("lower", "upper"))
        self.rate = _bound(rate, "rate", m)
        if np.any(self.rate <= 0):
            raise InputError("rate must be above zero")

    def _take_soft(self, p: int, C: Any, y_lower: Any, y_upper: Any) -> None:
        if C is None and (y_lower is not None or y_upper is not None):
            raise InputError(Fault("y_lower and y_upper are of y = C x", hint="give C"))
        self.y_lower = _bound(y_lower, "y_lower", p, -np.inf)
        self.y_upper = _bound(y_upper, "y_upper", p)
        in_order(self.y_lower, self.y_upper, ("y_lower", "y_upper"))

    def _rows(self, m: int, C: Array) -> dict[str, Array]:
        """What is bounded at a tick, by name."""
        limits = {
            "u": (np.eye(m), self.lower, self.upper),
            "rate": (np.eye(m), -self.rate, self.rate),
            "y": (C, self.y_lower, self.y_upper),
        }
        self._bounded = tuple(
            name for name, (_, *sides) in limits.items() if np.isfinite(sides).any()
        )
        return {name: limits[name][0] for name in self._bounded}

    def _limits(self) -> tuple[Any, Any]:
        """The bounds of what is bounded at a tick."""
        step = self.rate * self.T
        sides = {"u": (self.lower, self.upper), "rate": (-step, step),
                 "y": (self.y_lower, self.y_upper)}  # fmt: skip
        low, high = (np.concatenate([sides[name][k] for name in self._bounded]) for k in (0, 1))
        return low, high

    def _solved(self, inputs: list[Any], x: Any) -> tuple[Any, Any, Any]:
        """u, the residual, and the multipliers."""
        state, xd, uff = inputs
        m, rows, _ = self._solver.sizes
        v, before = x[:rows], x[rows:]
        data = np.concatenate([state, xd, column(uff), before])
        residual: Any = 0.0
        if rows:
            found = optimised(self._solver, np.concatenate([data, v, *self._limits()]))
            u, residual, v = found[:m], found[m], found[m + 1 :]
        else:
            u = self._solver.steps.free @ data
        u = u - self._K @ state
        if "rate" in self._bounded:
            u = np.clip(u, before - self.rate * self.T, before + self.rate * self.T)
        if "u" in self._bounded:
            u = np.clip(u, self.lower, self.upper)
        return u, residual, v

    def output(self, t: float, inputs: list[Any], x: Any) -> list[Any]:
        u, residual, _ = self._solved(inputs, x)
        return [u if self.out_ports[0].shape else u[0], residual]

    def next(self, t: float, inputs: list[Any], x: Any) -> Any:
        u, _, v = self._solved(inputs, x)
        return np.concatenate([v[self._later], u])


def _refuse_many(rows: int) -> None:
    if rows > MOST_ROWS:
        text = f"there are {rows:,} bounds over the horizon"
        raise InputError(Fault(text, hint=f"shorten N; the most is {MOST_ROWS:,}"))


def _repeated(N: int, sizes: Mapping[str, int]) -> Array:
    """For each row the entry that it has of the bounds of one tick."""
    ends = np.cumsum([0, *sizes.values()])
    ticks = [np.tile(np.arange(a, b), N) for a, b in pairwise(ends)]
    return np.concatenate([np.zeros(0, dtype=int), *ticks])


def _bound(value: Any, name: str, size: int, nothing: float = np.inf) -> Array:
    found = np.full(size, nothing) if value is None else numbers(value, name)
    if found.shape not in ((), (size,)):
        raise InputError(f"{name} has shape {found.shape}, it takes a number or {size}")
    return np.broadcast_to(found, (size,)).copy()


def _one_later(N: int, sizes: Iterable[int]) -> Array:
    """For each row that of the tick after, the last one twice: where a solution goes on."""
    found, start = [np.zeros(0, dtype=int)], 0
    for size in sizes:
        ticks = np.minimum(np.arange(N) + 1, N - 1)
        found.append(start + (ticks[:, None] * size + np.arange(size)).ravel())
        start += N * size
    return np.concatenate(found)

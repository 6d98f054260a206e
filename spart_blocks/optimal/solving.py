"""Solves nonlinear programs with IPOPT, which is in the casadi wheel.

Source: A. Waechter and L. T. Biegler, "On the implementation of an interior-point filter
line-search algorithm for large-scale nonlinear programming", Mathematical Programming 106 (2006).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.base.interrupts import requests_go_to
from spart_blocks.optimal.mesh import Floats
from spart_blocks.optimal.transcription import Motion, Program

Progress = Callable[[int, float, float], None]
"""Called with the number of the step, the objective, and the largest scaled violation."""

TOLERANCE = 1e-9
FACTORS = 1e-6, 1e6
"""Between these are the derivatives by which the objective and conditions are scaled."""
QUIET: dict[str, Any] = {
    "ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes", "error_on_fail": False,
    "show_eval_warnings": False,
}  # fmt: skip
COMMON: dict[str, Any] = {
    **QUIET,
    "ipopt.tol": TOLERANCE, "ipopt.constr_viol_tol": 1e-9, "ipopt.nlp_scaling_method": "none",
    "ipopt.acceptable_tol": 1e-7, "ipopt.acceptable_iter": 10, "ipopt.mu_strategy": "adaptive",
    # Its permutation for large diagonals fails on some of these matrices (MUMPS 5.8.2 of casadi
    # 3.8): no step is found at all. All is scaled already.
    "ipopt.mumps_permuting_scaling": 0,
}  # fmt: skip
ROUGHLY, SMOOTH = 1e-2, 1e-5
"""How much roughness of controls counts beside the scaled objective, on the first mesh and at last:
so little that it decides only where the objective does not, as on singular arcs. On coarse meshes
controls would chatter to gain from what these miss, and then on all that are made of them."""
FIRST: dict[str, Any] = {
    "ipopt.hessian_approximation": "limited-memory", "ipopt.limited_memory_max_history": 20,
    "ipopt.tol": 1e-6, "ipopt.acceptable_tol": 1e-5,
}  # fmt: skip
"""Options of a search without second derivatives, which makes them from its last steps. It comes
near an optimum more slowly than others."""
ENDED = {"Solve_Succeeded": "optimal", "Solved_To_Acceptable_Level": "nearly optimal"}
WARM: dict[str, Any] = {
    "ipopt.mu_strategy": "monotone", "ipopt.mu_init": 1e-8, "ipopt.warm_start_init_point": "yes",
    "ipopt.warm_start_bound_push": 1e-8, "ipopt.warm_start_mult_bound_push": 1e-8,
    "ipopt.warm_start_slack_bound_push": 1e-8, "ipopt.warm_start_bound_frac": 1e-8,
    "ipopt.warm_start_slack_bound_frac": 1e-8,
}  # fmt: skip
"""Options of a search that starts near an optimum."""
EQUATIONS = ("motion", "start")
"""Conditions that are the equations of motion, others are limits."""
FOLLOWED = 1e-6
INFEASIBLE = ("Infeasible_Problem_Detected", "Restoration_Failed")
INTERRUPTED = "User_Requested_Stop"
WHY = {
    "Infeasible_Problem_Detected": "no motion meets all conditions",
    "Maximum_Iterations_Exceeded": "the most steps were taken",
    "Restoration_Failed": "no motion that meets all conditions was found",
    "Search_Direction_Becomes_Too_Small": "the steps became too small",
    "Diverging_Iterates": "the unknowns grow without bound",
    "Invalid_Number_Detected": "a value is not finite",
    INTERRUPTED: "interrupted",
    "NonIpopt_Exception_Thrown": "interrupted",
}


@dataclass(frozen=True, eq=False)
class Solved:
    """Where a search on one mesh ended. objective: as it is to be made least or greatest.
    violation: the largest of a scaled condition. multipliers: of the unknowns' bounds (nw,) and of
    the conditions (ng,).
    """

    program: Program
    motion: Motion
    objective: float
    violation: float
    conditions: Floats
    multipliers: tuple[Floats, Floats]
    steps: int
    status: str

    @property
    def ended(self) -> bool:
        """Whether it is an optimum."""
        return self.status in ENDED

    @property
    def why(self) -> str:
        """How it ended."""
        return ENDED.get(self.status) or WHY.get(self.status, self.status.replace("_", " ").lower())


class _Watch(ca.Callback):
    """Tells of each step, and asks to stop."""

    def __init__(self, nw: int, ng: int, told: Callable[[Any, Any, Any], bool]) -> None:
        super().__init__()
        self.shapes = [nw, 1, ng, nw, ng, 0]
        self.told = told
        self.construct("watch", {})

    def get_n_in(self) -> int:
        return int(ca.nlpsol_n_out())

    def get_n_out(self) -> int:
        return 1

    def get_name_in(self, i: int) -> str:
        return str(ca.nlpsol_out(i))

    def get_sparsity_in(self, i: int) -> Any:
        return ca.Sparsity.dense(self.shapes[i], 1) if self.shapes[i] else ca.Sparsity(0, 0)

    def eval(self, given: Any) -> list[int]:
        return [int(self.told(given[0], given[1], given[2]))]


@dataclass(frozen=True, eq=False)
class _Scales:
    """By what the objective and the conditions (ng,) are multiplied, so that the largest entries of
    their derivatives at the guess are 1."""

    f: float
    g: Floats

    @staticmethod
    def of(program: Program, guess: Floats) -> _Scales:
        """Those at scaled unknowns. Raises RunError where the functions have no value there."""
        by_w = ca.gradient(program.f, program.w), ca.jacobian(program.g, program.w)
        value, by_f, by_g = ca.Function("slopes", [program.w], [program.f, *by_w])(guess)
        if not np.isfinite(float(value)):
            text = f"{program.problem.objective} has no finite value where the search starts"
            raise RunError(text, hint="give guess: states at the end, or other starts of controls")
        rows = np.zeros(program.g.numel())
        at = np.array(by_g.sparsity().get_triplet()[0], dtype=int)
        np.maximum.at(rows, at, np.abs(np.array(by_g.nonzeros())))
        if not np.isfinite(rows).all():
            raise RunError("the conditions have no finite derivatives where the search starts")
        steep = float(np.abs(np.array(by_f.full())).max(initial=0.0))
        factors = np.where(rows > 0, 1.0 / np.clip(rows, *FACTORS), 1.0)
        return _Scales(1.0 / float(np.clip(steep, *FACTORS)), factors)

    def limits(self, program: Program) -> tuple[Floats, Floats]:
        """The scaled bounds of the conditions."""
        return program.lbg * self.g, program.ubg * self.g


def solve(
    program: Program, guess: Floats, *, iterations: int, exact: bool,
    warm: tuple[Floats, Floats] | None, smooth: float,
    progress: Progress | None, steps_before: int = 0,
) -> Solved:  # fmt: skip
    """Search from scaled unknowns. warm: multipliers of their bounds and of the conditions, where
    they are near the optimum. Raises RunError where the functions have no value at the guess. A
    request to end (Ctrl-C) stops it and keeps the best.
    """
    scales = _Scales.of(program, guess)
    low, high = scales.limits(program)
    sign = program.problem.sign
    stopped: list[int] = []
    count = [steps_before]

    def told(w: Any, f: Any, g: Any) -> bool:
        count[0] += 1
        if progress is not None:
            bad = _violation(np.array(g).ravel(), low, high)
            progress(count[0], sign * float(f) / scales.f, bad)
        return bool(stopped)

    watch = _Watch(program.w.numel(), program.g.numel(), told)
    options: dict[str, Any] = {**COMMON, "ipopt.max_iter": iterations, "iteration_callback": watch}
    if not exact:
        options |= FIRST
    first: dict[str, Any] = {}
    if warm is not None:
        options |= WARM
        first = {"lam_x0": warm[0] * scales.f, "lam_g0": warm[1] * scales.f / scales.g}
    least = scales.f * program.f + smooth * program.rough
    problem: Any = {"x": program.w, "f": least, "g": ca.MX(scales.g) * program.g}
    solver = ca.nlpsol("optimum", "ipopt", problem, options)
    with requests_go_to(lambda number, _: stopped.append(number)):
        found = solver(x0=guess, lbx=program.low, ubx=program.high, lbg=low, ubg=high, **first)
    w = np.array(found["x"]).ravel()
    status = INTERRUPTED if stopped else str(solver.stats()["return_status"])
    if status in INFEASIBLE:
        w = _nearest(program, (w, guess), iterations)
    values = ca.Function("values", [program.w], [program.f, program.g])(w)
    f, g = (np.array(one).ravel() for one in values)
    multipliers = (
        np.array(found["lam_x"]).ravel() / scales.f,
        np.array(found["lam_g"]).ravel() * scales.g / scales.f,
    )
    bad = _violation(g * scales.g, low, high)
    return Solved(program, program.motion(w), sign * float(f[0]), bad, g, multipliers, count[0],
                  status)  # fmt: skip


def _nearest(program: Program, starts: Sequence[Floats], iterations: int) -> Floats:
    """The motion that misses limits least, searched from some starts until one ends at a motion
    that follows the equations."""
    own = np.concatenate([np.full(c.count, c.label in EQUATIONS) for c in program.conditions])
    conditions = ca.Function("g", [program.w], [program.g])
    best, least = starts[0], np.inf
    for start in starts:
        w = least_violation(program, start, iterations)
        g = np.array(conditions(w)).ravel()
        off = _violation(g[own], program.lbg[own], program.ubg[own])
        if off < least:
            best, least = w, off
        if off < FOLLOWED:
            break
    return best


def least_violation(program: Program, guess: Floats, iterations: int) -> Floats:
    """The scaled unknowns of a motion that follows the equations, and misses the limits by as
    little as possible in all: the smallest sum of what rows of other conditions lack."""
    fixed = np.concatenate([
        np.full(one.count, one.label in EQUATIONS) for one in program.conditions
    ])  # fmt: skip
    slack = np.flatnonzero(~fixed)
    n = len(slack)
    size = np.maximum(1.0, np.maximum(
        np.where(np.isfinite(program.lbg), abs(program.lbg), 0.0),
        np.where(np.isfinite(program.ubg), abs(program.ubg), 0.0),
    ))[slack]  # fmt: skip
    s = ca.MX.sym("s", 2 * n)
    rows = program.g.numel()
    pick = ca.DM.triplet(slack.tolist(), list(range(n)), ca.DM(size), rows, n)
    g = program.g + ca.mtimes(ca.MX(pick), s[:n] - s[n:])
    options: dict[str, Any] = {**QUIET, "ipopt.max_iter": iterations}
    problem: Any = {"x": ca.vertcat(program.w, s), "f": ca.sum1(s), "g": g}
    solver = ca.nlpsol("elastic", "ipopt", problem, options)
    low, high = np.zeros(2 * n), np.full(2 * n, np.inf)
    found = solver(
        x0=np.concatenate([guess, np.full(2 * n, 0.1)]),
        lbx=np.concatenate([program.low, low]), ubx=np.concatenate([program.high, high]),
        lbg=program.lbg, ubg=program.ubg,
    )  # fmt: skip
    return np.array(found["x"]).ravel()[: program.w.numel()]


def _violation(g: Floats, low: Floats, high: Floats) -> float:
    return float(np.maximum(low - g, g - high).max(initial=0.0))

"""A servo's gains for two loads, by four searches from the same start: ours by exact derivatives of
the runs; SLSQP by SciPy's finite differences; IPOPT by exact derivatives; COBYQA by values. Told
are the designs that were run, the time, the objective and the largest violation.

    python benchmarks/designs.py [diagrams/tunes/servo.yaml]
"""

from __future__ import annotations

import sys
import time
import warnings

import casadi as ca
import numpy as np
from scipy.optimize import minimize

import spart_blocks as sb
from spart_blocks.diagram.sections.tune_section import TuneSection
from spart_blocks.sweeps.plan.asked_section import asked_section
from spart_blocks.sweeps.plan.memory_source import source_of
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.tunes.problem import Problem

FILE = "diagrams/tunes/servo.yaml"


class Counted:
    """A problem in scaled variables x, whose designs are counted: exact ones, and values alone."""

    def __init__(self, problem: Problem) -> None:
        self.problem, self.exact, self.values = problem, 0, 0
        space = problem.space
        self.low, self.high = space.searched(space.low), space.searched(space.high)
        self.start = (space.searched(space.start) - self.low) / (self.high - self.low)
        self.first = problem.at(space.start)
        self.demands = problem.demands(self.first.numbers)
        self.linear = self.demands.linear(self.first.numbers, self.first.slopes)
        self._known: dict[bytes, object] = {}

    def at(self, x):
        """Numbers and slopes by x; None where a run fails."""
        key = np.asarray(x).tobytes()
        if key not in self._known:
            self.exact += 1
            values = self._values(x)
            try:
                point = self.problem.at(values)
                by = np.where(self.problem.space.log, values, 1) * (self.high - self.low)
                self._known[key] = point.numbers, point.slopes * by
            except sb.RunError:
                self._known[key] = None
        return self._known[key]

    def numbers(self, x):
        """The numbers alone."""
        key = b"values" + np.asarray(x).tobytes()
        if key not in self._known:
            self.values += 1
            self._known[key] = self.problem.numbers(self._values(x)[None])[0]
        return self._known[key]

    def _values(self, x):
        return self.problem.space.values(self.low + np.asarray(x) * (self.high - self.low))

    def told(self, name, x, began):
        spent = time.perf_counter() - began
        numbers = self.problem.numbers(self._values(np.clip(x, 0, 1))[None])[0]
        told(name, self.exact, self.values, spent, self.demands, numbers)


def told(name, exact, values, spent, demands, numbers):
    ends = f"{demands.objective(numbers):.7f}  {demands.violation(numbers):9.1e}"
    print(f"{name:30} {exact:6} {values:7} {spent:7.2f}  {ends}")


def by_differences(counted, method):
    """SciPy's own way: a largest value s of the cases, and finite differences."""
    linear, n = counted.linear, len(counted.start)

    def slack(z):
        M = counted.numbers(z[:n])
        return np.concatenate([z[n] - linear.A @ M, linear.b - linear.B @ M])

    s = (linear.A @ counted.numbers(counted.start)).max()
    end = minimize(
        lambda z: z[n], np.append(counted.start, s), method=method,
        bounds=[(0, 1)] * n + [(None, None)], constraints={"type": "ineq", "fun": slack},
        options={"maxiter": 400},
    )  # fmt: skip
    return end.x[:n]


def by_ipopt(counted):
    """IPOPT with a quasi-Newton Hessian, the runs behind CasADi's callbacks."""
    linear, n, r = counted.linear, len(counted.start), len(counted.first.numbers)

    class Slopes(ca.Callback):
        def __init__(self, name, options):
            ca.Callback.__init__(self)
            self.construct(name, options)

        def get_n_in(self):
            return 2

        def get_sparsity_in(self, k):
            return ca.Sparsity.dense(r if k else n, 1)

        def get_sparsity_out(self, k):
            return ca.Sparsity.dense(r, n)

        def eval(self, given):
            found = counted.at(np.array(given[0]).ravel())
            return [ca.DM(np.full((r, n), np.nan) if found is None else found[1])]

    class Numbers(ca.Callback):
        def __init__(self):
            ca.Callback.__init__(self)
            self.construct("numbers", {})

        def get_sparsity_in(self, k):
            return ca.Sparsity.dense(n, 1)

        def get_sparsity_out(self, k):
            return ca.Sparsity.dense(r, 1)

        def eval(self, given):
            found = counted.at(np.array(given[0]).ravel())
            return [ca.DM(np.full(r, np.nan) if found is None else found[0])]

        def has_jacobian(self):
            return True

        def get_jacobian(self, name, inputs, outputs, options):
            self.slopes = Slopes(name, options)
            return self.slopes

    numbers = Numbers()
    x, s = ca.MX.sym("x", n), ca.MX.sym("s")
    M = numbers(x)
    g = ca.vertcat(ca.DM(linear.A) @ M - s, ca.DM(linear.B) @ M - ca.DM(linear.b))
    own = {"hessian_approximation": "limited-memory", "print_level": 0, "sb": "yes"}
    options = {"ipopt": own, "print_time": False, "show_eval_warnings": False}
    nlp = {"x": ca.vertcat(x, s), "f": s, "g": g}
    solver = ca.nlpsol("solver", "ipopt", nlp, options)
    height = (linear.A @ counted.at(counted.start)[0]).max()
    end = solver(x0=np.append(counted.start, height), lbx=[0] * n + [-np.inf],
                 ubx=[1] * n + [np.inf], ubg=0)  # fmt: skip
    return np.array(end["x"]).ravel()[:n]


def main(file: str) -> None:
    warnings.simplefilter("ignore")
    source = source_of(file)
    section = asked_section(source, "tune", TuneSection, {"samples": 0, "searches": 1})
    with Runner() as runner:

        def fresh():
            problem = Problem.of(source, section, runner)
            counted = Counted(problem)
            counted.numbers(counted.start)  # compiles
            counted.exact = counted.values = 0
            counted._known.clear()
            return counted

        print(f"{'':30}  exact  values time [s]  objective  violation")
        sb.tune(file, samples=0, searches=1)  # compiles
        began = time.perf_counter()
        found = sb.tune(file, samples=0, searches=1)
        spent, best = time.perf_counter() - began, found.found.best.numbers
        told("spart tune", found.found.evaluations - 1, 1, spent, found.found.demands, best)
        for name, search in (
            ("SLSQP by finite differences", lambda one: by_differences(one, "SLSQP")),
            ("IPOPT by exact derivatives", by_ipopt),
            ("COBYQA by values", lambda one: by_differences(one, "COBYQA")),
        ):
            counted = fresh()
            began = time.perf_counter()
            counted.told(name, search(counted), began)


if __name__ == "__main__":
    main(*(sys.argv[1:] or [FILE]))

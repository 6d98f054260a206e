"""Published optima of COPS 3.0 by `spart optimize` and `spart fit`: the values, what a run with the
found controls is off, and the time. Beside them: the collection's own rule, the trapezoidal one on
even meshes, as a program of CasADi; rockit and do-mpc; SciPy's `least_squares` by finite
differences; jaxonomy's derivatives of runs (its optimal control is for quadratic costs and given
durations). Peers that are not installed are left out.

    python benchmarks/optimal_control.py [--only NAME ...]

A time is that of a whole call, of the second call where there are two; a peer's includes that of
posing its problem, ours that of reading the diagram.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import logging
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path

import casadi as ca
import numpy as np
from cops_problems import CONTROLS, ESTIMATES, Control, Estimate
from scipy.integrate import solve_ivp
from scipy.optimize import least_squares

import spart_blocks as sb

COPS = Path(__file__).parent / "cops"
QUIET = {"ipopt.print_level": 0, "print_time": False, "ipopt.sb": "yes"}
MESHES = {"glider": (100, 200, 400, 800), "robot_arm": (200, 400, 800)}
PEERS = {"rockit": "rockit-meco", "do_mpc": "do-mpc", "jaxonomy": "jaxonomy"}
"""Packages by the name of their module."""
INTERVALS = (50, 200)
"""Of rockit."""


def timed(call: Callable[[], object]) -> tuple[float, object]:
    """Seconds of a call, and what it returned."""
    began = time.perf_counter()
    found = call()
    return time.perf_counter() - began, found


def silently(call: Callable[[], object]) -> object:
    """What a peer's call returns without its prints, or the first line of its error."""
    silence = io.StringIO()
    try:
        with contextlib.redirect_stdout(silence), contextlib.redirect_stderr(silence):
            return call()
    except Exception as error:
        return str(error).splitlines()[0][:60]


def row(*cells: object) -> None:
    print("".join(f"{cell:<30}" if k == 0 else f"{cell:>16}" for k, cell in enumerate(cells)))


# --- ours ---------------------------------------------------------------------------------


def ours(controls: list[Control], estimates: list[Estimate]) -> dict[str, float]:
    """Told and returned: the value of each problem."""
    values = {}
    row("", "published", "ours", "relative", "time [s]", "run again")
    for one in controls:
        sb.optimize(COPS / f"{one.name}.yaml")  # compiles
        spent, found = timed(lambda one=one: sb.optimize(COPS / f"{one.name}.yaml"))
        values[one.name] = found.objective
        off = found.objective / one.published - 1
        row(f"optimize {one.name}", f"{one.published:.6g}", f"{found.objective:.8g}",
            f"{off:.1e}", f"{spent:.2f}", f"{found.rerun.worst:.1e}")  # fmt: skip
    for one in estimates:
        sb.fit(COPS / f"{one.name}.yaml")  # compiles
        spent, found = timed(lambda one=one: sb.fit(COPS / f"{one.name}.yaml"))
        values[one.name] = found.squares
        off = found.squares / one.published - 1
        row(f"fit {one.name}", f"{one.published:.6g}", f"{found.squares:.8g}", f"{off:.1e}",
            f"{spent:.2f}", "")  # fmt: skip
    print()
    return values


# --- optimal control by others ------------------------------------------------------------


def trapezoidal(one: Control, intervals: int) -> float:
    """The published rule: states and controls at the ends of even intervals."""
    x, u = ca.SX.sym("x", len(one.start)), ca.SX.sym("u", len(one.u))
    rates = ca.Function("rates", [x, u], [ca.vertcat(*one.rates(x, u))])
    opti = ca.Opti()
    X, U = opti.variable(len(one.start), intervals + 1), opti.variable(len(one.u), intervals + 1)
    T = opti.variable() if one.free else one.T
    F = rates.map(intervals + 1)(X, U)
    opti.subject_to(X[:, 1:] == X[:, :-1] + 0.5 * T / intervals * (F[:, 1:] + F[:, :-1]))
    opti.subject_to(X[:, 0] == ca.DM(one.start))
    for k, value in one.end.items():
        opti.subject_to(X[k, -1] == value)
    for k, value in one.least_states.items():
        opti.subject_to(X[k, :] >= value)
    opti.subject_to(opti.bounded(one.low, ca.vec(U), one.high))
    opti.set_initial(X, one.lines(intervals + 1))
    opti.set_initial(U, np.tile(np.array(one.u)[:, None], intervals + 1))
    if one.free:
        opti.subject_to(T >= 0)
        opti.set_initial(T, one.T)
    opti.minimize(one.least(X[:, -1], T))
    opti.solver("ipopt", QUIET)
    return one.sign * float(opti.solve().value(opti.f))


def by_rockit(one: Control, intervals: int) -> float:
    """Collocation at four Radau points; a control is constant in each interval."""
    import rockit

    ocp = rockit.Ocp(T=rockit.FreeTime(one.T) if one.free else one.T)
    x = [ocp.state() for _ in one.start]
    u = [ocp.control() for _ in one.u]
    for state, rate in zip(x, one.rates(x, u), strict=True):
        ocp.set_der(state, rate)
    for state, value in zip(x, one.start, strict=True):
        ocp.subject_to(ocp.at_t0(state) == value)
    for k, value in one.end.items():
        ocp.subject_to(ocp.at_tf(x[k]) == value)
    for k, value in one.least_states.items():
        ocp.subject_to(x[k] >= value)
    for control in u:
        ocp.subject_to(one.low <= (control <= one.high))
    ocp.add_objective(one.least([ocp.at_tf(state) for state in x], ocp.T))
    ends = one.start if one.guess is None else one.guess
    for state, first, last in zip(x, one.start, ends, strict=True):
        ocp.set_initial(state, first + (last - first) * ocp.t / one.T)
    for control, value in zip(u, one.u, strict=True):
        ocp.set_initial(control, value)
    ocp.solver("ipopt", QUIET)
    ocp.method(rockit.DirectCollocation(N=intervals, M=1, degree=4))
    return one.sign * float(ocp.solve().value(ocp.objective))


def by_do_mpc(one: Control, intervals: int) -> float:
    """Collocation over a horizon of steps; a control is constant in each. Its horizon is given: no
    problem with a free duration."""
    import do_mpc

    model = do_mpc.model.Model("continuous")
    x = [model.set_variable("_x", f"x{k}") for k in range(len(one.start))]
    u = [model.set_variable("_u", f"u{k}") for k in range(len(one.u))]
    for k, rate in enumerate(one.rates(x, u)):
        model.set_rhs(f"x{k}", rate)
    model.setup()
    mpc = do_mpc.controller.MPC(model)
    mpc.set_param(n_horizon=intervals, t_step=one.T / intervals, collocation_deg=4,
                  store_full_solution=False, nlpsol_opts=QUIET)  # fmt: skip
    mpc.set_objective(mterm=one.least(x, one.T), lterm=ca.DM(0))
    mpc.set_rterm(**{f"u{k}": 0 for k in range(len(one.u))})
    for k in range(len(one.u)):
        mpc.bounds["lower", "_u", f"u{k}"], mpc.bounds["upper", "_u", f"u{k}"] = one.low, one.high
    mpc.setup()
    mpc.x0 = np.array(one.start, float)
    mpc.u0 = np.array(one.u, float)
    mpc.set_initial_guess()
    mpc.make_step(np.array(one.start, float)[:, None])
    ends = [mpc.opt_x_num_unscaled["_x", intervals, 0, -1, f"x{k}"] for k in range(len(one.start))]
    return one.sign * float(one.least(ends, one.T))


def controls_beside(controls: list[Control], values: dict[str, float]) -> None:
    """Tables of optimal control by others."""

    def told(name: str, one: Control, call: Callable[[], float]) -> None:
        spent, value = timed(lambda: silently(call))
        if isinstance(value, str):
            row(name, "none", "", value)
            return
        off = value / values[one.name] - 1
        row(name, f"{value:.8g}", f"{off:.1e}", f"{spent:.2f}")

    row("", "value", "beside ours", "time [s]")
    for one in controls:
        for n in MESHES.get(one.name, ()):
            told(f"trapezoids, {n}: {one.name}", one, lambda one=one, n=n: trapezoidal(one, n))
    if find_spec("rockit"):
        for one in controls:
            for n in INTERVALS:
                told(f"rockit, {n}: {one.name}", one, lambda one=one, n=n: by_rockit(one, n))
    if find_spec("do_mpc"):
        for one in (one for one in controls if not one.free):
            for n in INTERVALS:
                told(f"do-mpc, {n}: {one.name}", one, lambda one=one, n=n: by_do_mpc(one, n))
    print()


# --- fits by others -----------------------------------------------------------------------


def data_of(one: Estimate) -> tuple[np.ndarray, np.ndarray]:
    """Times (n,) and measurements (n, m)."""
    table = np.loadtxt(COPS / f"{one.name}.csv", delimiter=",", skiprows=1)
    return table[:, 0], table[:, 1:]


def parted(one: Estimate, k: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """The parameters, and the states at the start."""
    if one.start is not None:
        return k, np.array(one.start, float)
    return k[:-count], k[-count:]


def by_scipy(one: Estimate) -> tuple[float, int]:
    """Finite differences of runs: the sum of squares, and the runs that it took."""
    t, y = data_of(one)
    runs = [0]

    def errors(k: np.ndarray) -> np.ndarray:
        runs[0] += 1
        rates, first = parted(one, k, y.shape[1])
        found = solve_ivp(one.rates, (0.0, t[-1]), first, "LSODA", t, args=(rates,), rtol=1e-8,
                          atol=1e-10)  # fmt: skip
        return (found.y.T - y).ravel() if found.success else np.full(y.size, 1e6)

    with np.errstate(all="ignore"):
        end = least_squares(errors, one.first, bounds=(one.low, np.inf), x_scale="jac", ftol=1e-12,
                            xtol=1e-12, gtol=1e-12, max_nfev=1000)  # fmt: skip
    return 2 * end.cost, runs[0]


def by_jaxonomy(one: Estimate) -> tuple[float, int]:
    """Forward derivatives of runs from sample to sample, compiled: the sum of squares, and the runs
    that it took."""
    import jax
    import jax.numpy as jnp
    import jaxonomy

    jax.config.update("jax_enable_x64", True)
    t, y = data_of(one)
    m = y.shape[1]

    class System(jaxonomy.LeafSystem):
        def __init__(self) -> None:
            super().__init__(name="system")
            self.declare_dynamic_parameter("k", jnp.zeros(len(parted(one, one.first, m)[0])))
            self.declare_continuous_state(default_value=jnp.zeros(m), ode=self.rates)

        def rates(self, time: object, state: object, **given: object) -> object:
            return jnp.array(one.rates(time, state.continuous_state, given["k"]))

    system = System()
    base = system.create_context()
    options = jaxonomy.SimulatorOptions(rtol=1e-8, atol=1e-10, enable_autodiff=False)

    def errors(k: object) -> object:
        rates, first = parted(one, k, m)
        context = base.with_parameter("k", rates).with_continuous_state(jnp.asarray(first))
        rows, now = [], 0.0
        for then in map(float, t):
            if then > now:
                context = jaxonomy.simulate(system, context, (now, then), options=options).context
            rows.append(context.continuous_state)
            now = then
        return (jnp.stack(rows) - y).ravel()

    fast, slopes = jax.jit(errors), jax.jit(jax.jacfwd(errors))
    end = least_squares(
        lambda k: np.asarray(fast(k)), one.first, lambda k: np.asarray(slopes(k)),
        bounds=(one.low, np.inf), x_scale="jac", ftol=1e-12, xtol=1e-12, gtol=1e-12, max_nfev=1000,
    )  # fmt: skip
    return 2 * end.cost, end.nfev + end.njev


def estimates_beside(estimates: list[Estimate], values: dict[str, float]) -> None:
    """A table of fits by others."""
    row("", "value", "beside ours", "time [s]", "runs")
    for one in estimates:
        spent, (value, runs) = timed(lambda one=one: by_scipy(one))
        off = value / values[one.name] - 1
        row(f"SciPy, 2-point: {one.name}", f"{value:.8g}", f"{off:.1e}", f"{spent:.2f}", runs)
    if not find_spec("jaxonomy"):
        return
    for one in estimates:
        spent, found = timed(lambda one=one: silently(lambda: by_jaxonomy(one)))
        if isinstance(found, str):
            row(f"jaxonomy: {one.name}", "none", "", "", found)
            continue
        value, runs = found
        off = value / values[one.name] - 1
        row(f"jaxonomy: {one.name}", f"{value:.8g}", f"{off:.1e}", f"{spent:.2f}", runs)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    names = [one.name for one in (*CONTROLS, *ESTIMATES)]
    parser.add_argument("--only", nargs="+", choices=names, default=names, metavar="NAME")
    only = parser.parse_args().only
    warnings.simplefilter("ignore")
    logging.disable(logging.CRITICAL)
    there = ["casadi", "scipy", *(PEERS[module] for module in PEERS if find_spec(module))]
    print(", ".join(f"{one} {version(one)}" for one in there))
    missing = [PEERS[module] for module in PEERS if not find_spec(module)]
    if missing:
        print(f"left out: {', '.join(missing)} (pip install {' '.join(missing)})")
    print()
    controls = [one for one in CONTROLS if one.name in only]
    estimates = [one for one in ESTIMATES if one.name in only]
    values = ours(controls, estimates)
    controls_beside(controls, values)
    estimates_beside(estimates, values)


if __name__ == "__main__":
    main()

"""Stiff problems by Rodas5P, against CVODE in C of its own (dense, or KLU for the rod), and against
SciPy's Radau: work at equal error. CVODE has the same compiled rates and exact Jacobians, and where
rates jump it finds the place and begins anew there, as we do.

Needs SUNDIALS with KLU: apt-get install libsundials-dev libsuitesparse-dev.

    python benchmarks/stiff.py [--quick] [--keep] [NAME ...]
"""

from __future__ import annotations

import ctypes
import subprocess
import tempfile
import time
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from statistics import median
from typing import Any

import casadi as ca
import numpy as np
from scipy.integrate import solve_ivp
from side_by_side import arguments, keep
from stiff_problems import PROBLEMS, Problem, diagram, heat_rod

import spart_blocks as sb
from spart_blocks.program import Program
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.linearised import linearised
from spart_blocks.run.engines.compiled import CompiledLoop

TOLERANCES = [1e-4, 1e-5, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
ROD = Problem("heat_rod_1000", heat_rod(1000), [0.0] * 1000, 0.1, 1e-2)
DENSE_MOST = 100
"""Above this number of states CVODE solves by KLU."""


EXPLICIT = ("ring_modulator", "heat_rod_1000", "delta_contact")
"""The references of these take less time by explicit steps, since their Jacobians are large or
change all the time."""


@dataclass(frozen=True)
class Case:
    """A program to be run until T [s]. absolute: the part of rtol that is atol."""

    name: str
    program: Program
    T: float
    absolute: float = 1e-2

    def end(self, results: sb.Results) -> Any:
        """The continuous states at the end."""
        names = (slot.name for slot in self.program.states)
        return np.concatenate([results[f"states.{name}"][-1].ravel() for name in names])


def of_equations(problem: Problem) -> Case:
    return Case(problem.name, sb.trace(diagram(problem)), problem.T, problem.absolute)


def delta_contact() -> Case:
    program = sb.trace(sb.load(Path(__file__).with_name("delta_contact.yaml")))
    return Case("delta_contact", program, program.run.T)


CASES = {one.name: partial(of_equations, one) for one in (*PROBLEMS, ROD)}
CASES["delta_contact"] = delta_contact


class Timed:
    """The seconds that the compiled loop took since this was made."""

    def __init__(self) -> None:
        self.seconds, self.advance = 0.0, CompiledLoop._advance

    def __enter__(self) -> Timed:
        def timed(loop: CompiledLoop, steps: int) -> int:
            begun = time.perf_counter()
            status = self.advance(loop, steps)
            self.seconds += time.perf_counter() - begun
            return status

        CompiledLoop._advance = timed  # type: ignore[method-assign]
        return self

    def __exit__(self, *_: object) -> None:
        CompiledLoop._advance = self.advance  # type: ignore[method-assign]


def cvode(program: Program, folder: Path) -> Any:
    """CVODE's C for a program: go(x, p, T, rtol, atol, steps) -> seconds."""
    arguments, linear = program.rates.sx_in(), linearised(program)
    found, n = program.rates.jac_sparsity(0, 1), len(program.x0)
    rows = np.repeat(linear.order, np.diff(linear.starts))
    places = zip(rows.tolist(), np.array(linear.order)[list(linear.columns)].tolist(), strict=True)
    place_of = {pair: k for k, pair in enumerate(places)}
    entries = [place_of[pair] for pair in zip(*found.get_triplet(), strict=True)]
    bends = [k for k, crossing in enumerate(program.crossings) if crossing.kind == "bend"]
    columns = {
        "rates": program.rates(*arguments),
        "jacobian": linear.function(*arguments)[entries],
        "roots": program.watched(*arguments)[bends] if bends else ca.SX(0),
    }
    functions = [
        ca.Function(f"program_{name}", arguments, [ca.densify(one)], program.rates.name_in(), ["y"])
        for name, one in columns.items()
    ]
    room = max(f.sz_w() + f.sz_iw() for f in functions)
    defines = {"STATES": n, "NONZEROS": found.nnz(), "LARGEST": room, "SPARSE": int(n > DENSE_MOST)}
    defines["ROOTS"] = len(bends)
    tables = {"column_starts": found.colind(), "row_numbers": found.row()}
    parts = [f"#define {name} {value}" for name, value in defines.items()]
    parts += [
        f"static const int {name}[] = {{{', '.join(map(str, row))}}};"
        for name, row in tables.items()
    ]
    text = Path(__file__).with_name("stiff_cvode.c").read_text("utf-8")
    source = folder / f"{program.name}.c"
    source.write_text("\n".join([c_source(functions), *parts, text]), "utf-8")
    library = source.with_suffix(".so")
    solvers = ["cvode", "nvecserial", "sunlinsolklu", "sunlinsoldense"]
    solvers += ["sunmatrixdense", "sunmatrixsparse"]
    names = [f"-lsundials_{name}" for name in solvers]
    flags = ["-O2", "-march=native", "-fPIC", "-shared", "-I/usr/include/suitesparse"]
    subprocess.run(["cc", *flags, str(source), "-o", str(library), *names, "-lm"], check=True)
    loaded = ctypes.CDLL(str(library))
    loaded.go.restype = ctypes.c_double
    return loaded.go


def pointer(values: Any) -> Any:
    return values.ctypes.data_as(ctypes.POINTER(ctypes.c_double))


def reference(problem: Case) -> Any:
    """The states at the end, far more exact than any result compared."""
    program = problem.program
    if problem.name in EXPLICIT:
        options = {"T": problem.T, "rtol": 1e-13, "atol": 1e-13 * problem.absolute}
        with warnings.catch_warnings(action="ignore"):  # it is told that the problem is stiff
            results = sb.simulate(program, solver="DOP853", every=problem.T, **options)
        return problem.end(results)
    slope, found = program.rates, linearised(program)
    xd, p = program.xd0, program.p
    solution = solve_ivp(
        lambda t, x: np.array(slope(t, x, xd, p)).ravel(),
        (0, problem.T),
        program.x0,
        method="Radau",
        jac=lambda t, x: found.parted(np.array(found.function(t, x, xd, p)).ravel())[0],
        rtol=3e-13,
        atol=3e-13 * problem.absolute,
    )
    return solution.y[:, -1]


def measured(problem: Case, quick: bool, folder: Path) -> dict[str, float]:
    """Print work at equal error. Returns the figures to keep: ratios of CVODE's times to ours."""
    program = problem.program
    go, best = cvode(program, folder), reference(problem)
    repeats = 3 if quick else 9

    def error(x: Any) -> float:
        return float(np.sqrt(np.mean(((x - best) / (np.abs(best) + problem.absolute)) ** 2)))

    def ours(rtol: float) -> tuple[Any, float, int]:
        options = {"T": problem.T, "rtol": rtol, "atol": rtol * problem.absolute}
        with Timed() as timed:
            results = sb.simulate(program, solver="Rodas5P", every=problem.T, **options)
        return problem.end(results), timed.seconds, results.info["steps"]

    def theirs(rtol: float) -> tuple[Any, float, int]:
        x, steps = program.x0.copy(), ctypes.c_long()
        given = map(ctypes.c_double, (problem.T, rtol, rtol * problem.absolute))
        seconds = go(pointer(x), pointer(program.p), *given, ctypes.byref(steps))
        if program.project is not None:
            x = np.array(program.project(problem.T, x, program.xd0, program.p)).ravel()
        return x, seconds, steps.value

    def radau(rtol: float) -> float:
        options = {"T": problem.T, "rtol": rtol, "atol": rtol * problem.absolute}
        return float(
            sb.simulate(program, solver="Radau", every=problem.T, **options).info["wall_time"]
        )

    # Both take turns, at all tolerances, so that a machine whose pace changes is the same for all.
    rounds = [[(ours(rtol), theirs(rtol)) for rtol in TOLERANCES] for _ in range(repeats + 1)]

    def summary(found: Sequence[tuple[Any, float, int]]) -> tuple[float, float, int]:
        """Error, median time and steps; the first round is not counted."""
        return error(found[-1][0]), median(seconds for _, seconds, _ in found[1:]), found[-1][2]

    points = [
        (rtol, *map(summary, zip(*pairs, strict=True)))
        for rtol, pairs in zip(TOLERANCES, zip(*rounds, strict=True), strict=True)
    ]
    by_error = sorted((np.log(e), np.log(s)) for _, (e, s, _), _ in points)
    print(f"{problem.name}, {len(program.x0)} states", flush=True)
    ratios = []
    for rtol, (e, s, n), (e2, s2, n2) in points:
        at_equal = s2 / np.exp(np.interp(np.log(e2), *zip(*by_error, strict=True)))
        ratios.append(at_equal)
        line = f"  rtol {rtol:.0e}: Rodas5P {e:.1e} in {1e6 * s:8.0f} us, {n:5d} steps; "
        line += f"CVODE {e2:.1e} in {1e6 * s2:8.0f} us, {n2:6d} steps: "
        line += f"{s2 / s:5.1f} at equal rtol, {at_equal:5.1f} at CVODE's error"
        if rtol in (1e-4, 1e-8) and not quick:
            line += f"; Radau {radau(rtol) / s:.0f}"
        print(line, flush=True)
    return {f"{problem.name} least ratio": min(ratios), f"{problem.name} ratio": median(ratios)}


if __name__ == "__main__":
    parser = arguments(__doc__ or "")
    parser.add_argument("--quick", action="store_true", help="three times each, no Radau")
    parser.add_argument("names", nargs="*", help="of problems, by default all")
    asked = parser.parse_args()
    figures: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as made:
        for name, case in CASES.items():
            if not asked.names or name in asked.names:
                figures |= measured(case(), asked.quick, Path(made))
    if asked.keep and not asked.names:
        small = [f"{one.name} {{}}" for one in PROBLEMS]
        figures["least ratio"] = min(figures[name.format("least ratio")] for name in small)
        figures["largest ratio"] = max(figures[name.format("ratio")] for name in small)
        keep(__file__, figures, "casadi")

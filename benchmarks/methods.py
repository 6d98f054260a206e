"""Work against precision of the explicit pairs: evaluations of the rates and time of the loop
against the error at the end, on four problems.

  arm        the 7-joint arm under PD of closed_loop.py, 10 s
  spacecraft a free-flying arm of three joints under PD, diagrams/spacecraft_pd.yaml without its
             step, from an offset, 20 s
  arenstorf  a closed orbit about earth and moon, one period: E. Hairer, S. P. Norsett, G. Wanner,
             "Solving Ordinary Differential Equations I" (1993), sec. II.0
  pleiades   seven stars in a plane, 3 s: the same, sec. II.10

Each method runs at tolerances from 1e-3 to 1e-12 (atol a hundredth of rtol), without a record
and, as `recorded`, with the default one, which reads dense output between the steps. SciPy's
RK45 and DOP853 run in solve_ivp over the program's compiled rates. The error is that of all
states at the end, relative to the largest, against Vern8 at rtol 1e-14.

For each problem a table at equal errors, by straight lines between the logarithms: evaluations
and milliseconds, the least of `--repeat` runs, and in brackets those of RK45 over them.

Run: python benchmarks/methods.py [--repeat 5] [--all]      (needs the extra `test`)
--all prints each run too.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from arm import tracking
from scipy.integrate import solve_ivp
from side_by_side import versions

import spart_blocks as sb
from spart_blocks.base.tableaus import CONTROLLED, PAIRS
from spart_blocks.program import Program
from spart_blocks.run.engines.native import Native

ERRORS = [1e-2, 1e-4, 1e-6, 1e-8, 1e-10]
TOLERANCES = [10.0 ** (-k / 2) for k in range(6, 25)]
SCIPYS = ("RK45", "DOP853")
DIAGRAMS = Path(__file__).parents[1] / "diagrams"


def formulas(states: list[str], f: list[str], x0: list[float], T: float, **params: float) -> str:
    """The file of a diagram of one block of formulas."""
    quoted = ", ".join(f'"{text}"' for text in f)
    values = ", ".join(f"{name}: {value!r}" for name, value in params.items())
    return (
        f"blocks:\n  x: {{type: HYBRID_SYSTEM, states: [{', '.join(states)}], f: [{quoted}], "
        f"x0: {x0}, params: {{{values}}}}}\nwires: []\nrun: {{T: {T!r}}}\n"
    )


def arenstorf() -> str:
    first = "((x + mu)**2 + y**2)**1.5"
    second = "((x - 1 + mu)**2 + y**2)**1.5"
    f = [
        "u",
        "v",
        f"x + 2*v - (1 - mu)*(x + mu)/{first} - mu*(x - 1 + mu)/{second}",
        f"y - 2*u - (1 - mu)*y/{first} - mu*y/{second}",
    ]
    x0 = [0.994, 0.0, 0.0, -2.00158510637908252240537862224]
    T = 17.0652165601579625588917206249
    return formulas(["x", "y", "u", "v"], f, x0, T, mu=0.012277471)


def pleiades() -> str:
    x = [3.0, 3, -1, -3, 2, -2, 2]
    y = [3.0, -3, 2, 0, 0, -4, 4]
    u = [0.0, 0, 0, 0, 0, 1.75, -1.5]
    v = [0.0, 0, 0, -1.25, 1, 0, 0]
    stars = range(1, 8)

    def pull(axis: str, i: int) -> str:
        terms = (
            f"{j}*({axis}{j} - {axis}{i})/((x{i} - x{j})**2 + (y{i} - y{j})**2)**1.5"
            for j in stars
            if j != i
        )
        return " + ".join(terms)

    states = [f"{name}{i}" for name in "xyuv" for i in stars]
    f = [f"{name}{i}" for name in "uv" for i in stars]
    f += [pull(axis, i) for axis in "xy" for i in stars]
    return formulas(states, f, [float(value) for value in (*x, *y, *u, *v)], 3.0)


def problems(folder: Path) -> dict[str, Program]:
    texts = {"arenstorf": arenstorf(), "pleiades": pleiades()}
    files = {name: folder / f"{name}.yaml" for name in texts}
    for name, text in texts.items():
        files[name].write_text(text)
    space = sb.load(
        DIAGRAMS / "spacecraft_pd.yaml",
        overrides={"blocks.qd.T": 0.0, "blocks.plant.initial.qm": [0.9, -0.6, 0.5]},
    )
    arm = sb.trace(tracking("arm"))  # for 10 s
    found = {"arm": arm, "spacecraft": sb.trace(space)}
    return found | {name: sb.trace(file) for name, file in files.items()}


class Work:
    """The runs of one way at all tolerances: errors (n,), evaluations (n,) and seconds (n,)."""

    def __init__(self) -> None:
        self.rows: list[tuple[float, float, float]] = []

    def at(self, error: float) -> tuple[float, float] | None:
        """Evaluations and seconds at an error; None where no runs lie on both sides of it."""
        errors, evaluations, seconds = np.log(np.array(self.rows)).T
        order = np.argsort(errors)
        wanted = np.log(error)
        if not errors.min() <= wanted <= errors.max():
            return None
        found = (np.exp(np.interp(wanted, errors[order], v[order])) for v in (evaluations, seconds))
        one, other = found
        return float(one), float(other)


Way = Callable[[float], tuple[float, int, np.ndarray]]
"""rtol -> seconds, evaluations, states at the end."""


def ours(program: Program, solver: str, recorded: bool) -> Way:
    def run(rtol: float) -> tuple[float, int, np.ndarray]:
        kept: Any = None if recorded else program.run.T
        options = {"solver": solver, "rtol": rtol, "atol": rtol / 100, "every": kept}
        results = sb.simulate(program, engine="native", **options)
        states = results.final_state.continuous
        end = np.concatenate([np.ravel(states[slot.name]) for slot in program.states])
        return results.info["wall_time"], results.info["evaluations"], end

    return run


def scipys(program: Program, solver: str) -> Way:
    engine = Native(program)
    x0, xd = engine.initial()

    def run(rtol: float) -> tuple[float, int, np.ndarray]:
        start = time.perf_counter()
        found = solve_ivp(
            lambda t, x: engine.derivative(t, x, xd), (0.0, program.run.T), x0, method=solver,
            rtol=max(rtol, 3e-14), atol=rtol / 100, t_eval=[program.run.T],
        )  # fmt: skip
        return time.perf_counter() - start, found.nfev, found.y[:, -1]

    return run


def measured(
    ways: dict[str, Way], truth: np.ndarray, repeat: int, *, tell: bool
) -> dict[str, Work]:
    works = {name: Work() for name in ways}
    for way in ways.values():
        way(1e-3)
    for rtol in TOLERANCES:
        for name, way in ways.items():
            runs = [way(rtol) for _ in range(repeat if not name.startswith("SciPy") else 1)]
            _, evaluations, end = runs[0]
            error = float(np.abs(end - truth).max() / np.abs(truth).max())
            seconds = min(run[0] for run in runs)
            works[name].rows.append((max(error, 1e-16), evaluations, seconds))
            if tell:
                told = f"{evaluations:8} {seconds * 1e3:9.3f} ms {error:9.1e}"
                print(f"  {name:16} rtol {rtol:7.0e} {told}")
    return works


def show(name: str, works: dict[str, Work]) -> None:
    print(f"\n{name:16}" + "".join(f"{error:>30.0e}" for error in ERRORS))
    for way, work in works.items():
        base = works[CONTROLLED + " recorded" if way.endswith("recorded") else CONTROLLED]
        cells = []
        for error in ERRORS:
            found, one = work.at(error), base.at(error)
            if found is None:
                cells.append(f"{'-':>30}")
                continue
            text = f"{found[0]:.0f} {found[1] * 1e3:.2f} ms"
            if one is not None:
                text += f" ({one[0] / found[0]:.2f} {one[1] / found[1]:.2f})"
            cells.append(f"{text:>30}")
        print(f"{way:16}" + "".join(cells))


def main() -> None:
    import tempfile

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--only", help="one of the problems")
    asked = parser.parse_args()
    print(versions("scipy", "casadi"))
    with tempfile.TemporaryDirectory() as folder:
        for name, program in problems(Path(folder)).items():
            if asked.only not in (None, name):
                continue
            _, _, truth = ours(program, "Vern8", recorded=False)(1e-14)
            ways = {solver: ours(program, solver, recorded=False) for solver in PAIRS}
            ways |= {f"{one} recorded": ours(program, one, recorded=True) for one in PAIRS}
            ways |= {f"SciPy's {solver}": scipys(program, solver) for solver in SCIPYS}
            show(name, measured(ways, truth, asked.repeat, tell=asked.all))


if __name__ == "__main__":
    main()

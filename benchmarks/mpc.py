"""Model predictive control in compiled code: what compiling it costs, and a tick.

A chain of masses with springs, a force on the first, bounds of the force and one soft bound.
  lines           of C of the whole program
  compiler        its processor time [s], with an empty cache but for the loop of all programs
  tick            processor time of a run less that with a ZOH in its place, by the ticks [us]

Run: python benchmarks/mpc.py [--repeat 15]
"""

from __future__ import annotations

import argparse
import os
import resource
import statistics
import tempfile
import time
from pathlib import Path

import spart_blocks as sb
from spart_blocks.program.c import compiler
from spart_blocks.run.engines import compiled

CASES = {
    "4 states, horizon 25, 40 iterations": (2, 25, 40),
    "4 states, horizon 25, 2,000 iterations": (2, 25, 2000),
    "100 states, horizon 50, 40 iterations": (50, 50, 40),
}
TICKS = 1000


def diagram_text(masses: int, horizon: int, iterations: int, controlled: bool) -> str:
    """The chain under the controller at 20 Hz, or one that holds a position."""
    n = 2 * masses
    A = [[0.0] * n for _ in range(n)]
    for k in range(masses):
        A[k][masses + k] = 1.0
        A[masses + k][k] = -2.0
        for other in (k - 1, k + 1):
            if 0 <= other < masses:
                A[masses + k][other] = 1.0
        A[masses + k][masses + k] = -0.2
    B = [[1.0 if k == masses else 0.0] for k in range(n)]
    C = [[1.0 if k == 0 else 0.0 for k in range(n)]]
    eye = [[float(i == k) for k in range(n)] for i in range(n)]
    mpc = (
        f"type: MPC_S, clock: c, A: {A}, B: {B}, Q: 1, R: 0.1, N: {horizon}, lower: -1, upper: 1, "
        f"iterations: {iterations}, C: {C}, y_upper: 0.4"
    )
    held = "'plant[0] -> control', control -> pull"
    wires = "plant -> control.x, control.u -> pull" if controlled else held
    return f"""
clocks: {{c: {{rate: 20}}}}
blocks:
  control: {{{mpc if controlled else "type: ZOH, clock: c"}}}
  pull: {{type: GAIN, K: {1 if controlled else -1}}}
  plant: {{type: STATE_SPACE, A: {A}, B: {B}, C: {eye}, x0: {[0.3] * n}}}
wires: [{wires}, pull -> plant]
run: {{T: {TICKS / 20}, solver: RK4, max_step: 0.05, log: [pull]}}
"""


def spent(who: int = resource.RUSAGE_SELF) -> float:
    used = resource.getrusage(who)
    return used.ru_utime + used.ru_stime


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--repeat", type=int, default=15)
    given = parser.parse_args()
    print(f"compiler: {compiler.compiler_name()}; load {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory() as folder:
        os.environ["SPART_CACHE"] = folder
        assert compiled._driver() is not None
        for name, sizes in CASES.items():
            print(f"{name:42}", measured(Path(folder), sizes, given.repeat), flush=True)


def measured(folder: Path, sizes: tuple[int, int, int], repeat: int) -> str:
    programs = []
    for controlled in (True, False):
        path = folder / "chain.yaml"
        path.write_text(diagram_text(*sizes, controlled))
        programs.append(sb.trace(path))
    before = spent(resource.RUSAGE_CHILDREN)
    sb.simulate(programs[0], T=0.1)
    compiling = spent(resource.RUSAGE_CHILDREN) - before
    lines = source_of(programs[0]).count("\n")
    times: list[list[float]] = [[], []]
    for _ in range(repeat):
        for program, found in zip(programs, times, strict=True):
            start = time.process_time()
            sb.simulate(program)
            found.append(time.process_time() - start)
    with_it, without = map(statistics.median, times)
    tick = (with_it - without) / TICKS
    return f"{lines:6,} lines, compiler {compiling:5.2f} s, tick {1e6 * tick:7.1f} us"


def source_of(program: sb.Program) -> str:
    """The C of the library that a run of the program compiles."""
    functions = {**compiled._functions(program), "kept": program.selected(["pull"])}
    named = {f"program_{n}": compiled._renamed(f"program_{n}", f) for n, f in functions.items()}
    return compiled._source(program, named)


if __name__ == "__main__":
    main()

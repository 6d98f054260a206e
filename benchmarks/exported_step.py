"""The exported C step against the simulation's own compiled step, by RK4 at 1 kHz.

    python benchmarks/exported_step.py [--keep]

Closed loops: both compute the same outputs at each step, and move the states. Controllers: a
step of the exported code against the program's function of the outputs, compiled by the same
compiler with the same flags; the step also looks for numbers that are not finite. Medians of
interleaved repeats.
"""

from __future__ import annotations

import ctypes
import statistics
import time
from pathlib import Path

import numpy as np
from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.export import StepCode, step_code
from spart_blocks.program.c.compiler import compiler_name, loaded_library
from spart_blocks.program.c.machine_code import c_source
from spart_blocks.program.subdiagram import ALL, subdiagram_of

DIAGRAMS = Path(__file__).parents[1] / "diagrams"
STEPS, REPEATS = 20_000, 15

# inputs are nudged, so that no compiler takes a step out of the loop
HARNESS = """
double run(long long n);
double run(long long n) {{
  static {name}_inputs u; static {name}_outputs y; static {name}_parameters p;
  static {name}_state s;
  double sum = 0;
  {name}_nominal(&u, &p);
  {name}_init(&s, &p);
  for (long long k = 0; k < n; k++) {{
    *(double *)(void *)&u += 1e-9;
    sum += {name}_step(&s, &u, &p, &y) + *(const double *)(const void *)&y;
  }}
  return sum;
}}
"""
PROGRAM = """
double run(long long n);
double run(long long n) {{
  static double t, x[1], xd[1], p[{np}] = {{ {values} }}, y[{ny}];
  const double *arg[{sz_arg}] = {{&t, x, xd, p}};
  double *res[{sz_res}] = {{y}};
  double sum = 0;
  for (long long k = 0; k < n; k++) {{
    p[0] += 1e-9;
    selected(arg, res, 0, 0, 0);
    sum += y[0];
  }}
  return sum;
}}
"""


def timed(source: str):
    library = loaded_library(source)
    assert library is not None, "this needs a C compiler"
    library.run.argtypes, library.run.restype = [ctypes.c_longlong], ctypes.c_double

    def once() -> float:
        start = time.perf_counter()
        library.run(STEPS)
        return (time.perf_counter() - start) / STEPS

    return once


def exported(code: StepCode):
    return timed(code.whole_source() + HARNESS.format(name=code.name))


def simulated(part):
    """Seconds a step of the simulation's compiled loop."""
    T = STEPS * 1e-3

    def once() -> float:
        run = sb.simulate(part.program, T=T, solver="RK4", max_step=1e-3, every=1e-3)
        assert run.info["steps"] >= STEPS
        return run.info["wall_time"] / run.info["steps"]

    return once


def program(part):
    """Seconds a call of the program's outputs as the simulation's library has them."""
    function = part.program.selected([slot.name for slot in part.outputs])
    values = ", ".join(map(repr, part.program.p.tolist()))
    sizes = {"sz_arg": max(4, function.sz_arg()), "sz_res": max(1, function.sz_res())}
    glue = PROGRAM.format(np=len(part.program.p), values=values, ny=function.numel_out(0), **sizes)
    return timed(c_source([function]) + glue)


def compare(what: str, ours, theirs) -> dict[str, float]:
    pairs = [(ours(), theirs()) for _ in range(REPEATS)]
    ours_s, theirs_s = (statistics.median(column) for column in zip(*pairs, strict=True))
    print(f"{what:44s}{ours_s * 1e6:10.3f}{theirs_s * 1e6:12.3f}{theirs_s / ours_s:8.2f}")
    figures = {"C us": 1e6 * ours_s, "own us": 1e6 * theirs_s, "ratio": theirs_s / ours_s}
    return {f"{what}, {name}": value for name, value in figures.items()}


def main() -> None:
    given, figures = arguments(__doc__).parse_args(), {}
    np.seterr(all="ignore")
    print(compiler_name())
    print(f"{'':44s}{'C [us]':>10s}{'own [us]':>12s}{'ratio':>8s}")
    for name in ("arm_computed_torque", "spacecraft_pd", "momentum_exchange"):
        part = subdiagram_of(DIAGRAMS / f"{name}.yaml", [ALL])
        figures |= compare(name, exported(step_code(part)), simulated(part))
    for name, blocks in (("arm_computed_torque", ["ctrl"]), ("spacecraft_pd", ["ctrl"])):
        part = subdiagram_of(DIAGRAMS / f"{name}.yaml", blocks)
        figures |= compare(f"{name}, controller", exported(step_code(part)), program(part))
    if given.keep:
        keep(__file__, figures, "casadi")


if __name__ == "__main__":
    main()

"""Forward dynamics of the 7-joint arm in 2, 4 and 8 lanes of one core, against Pinocchio's C++.

Each side is called in a loop in C: ours over lanes, each lane with its own q, v
and tau, and Pinocchio's headers as dynamics.py compiles them. Both give the same accelerations,
which is checked first. Interleaved rounds; times are per evaluation, that is, of a call by the
number of its lanes: medians, with the median of each round's ratio, and the fastest rounds of all,
which a busy machine disturbs less.

Run: python benchmarks/lanes.py [--rounds 201] [--moment 0.003] [--eigen FOLDER] [--flags ...]
    [--keep]
"""

from __future__ import annotations

import ctypes
import os
import shutil
import statistics
from collections.abc import Callable
from pathlib import Path

import casadi as ca
import numpy as np
import pinocchio as pin
from dynamics import cpp_loop, pinocchio_library
from side_by_side import arguments, keep
from twins import ARM, Twins, interleaved, ratio

import spart_blocks as sb
from spart_blocks.program.c.compiler import compiler_name, loaded_library, usual_lanes
from spart_blocks.program.c.dialects import FLAGS, LANES, numbers_header
from spart_blocks.program.c.functions import c_function

LOOP = """
void loop(const SB_REAL *q, const SB_REAL *v, const SB_REAL *tau, SB_REAL *out, long long calls) {
  while (calls--) {
    forward(q, v, tau, out);
    __asm__ volatile("" ::: "memory"); /* each call anew */
  }
}
"""


def aligned(size: int) -> np.ndarray:
    """Numbers at a multiple of 64 bytes."""
    room = np.zeros(size + 8)
    start = -room.ctypes.data % 64 // 8
    return room[start : start + size]


def lanes_loop(function: ca.Function, lanes: int, given: list[np.ndarray], flags: list[str]):
    """Our function in a loop, and its results: a row a lane. given: (lanes, n) each."""
    text = f"#define SB_LANES {lanes}\n" + numbers_header()
    text += c_function("forward", function, dialect=LANES)
    library = loaded_library(text + LOOP, (*FLAGS, *flags))
    arrays = [aligned(v[:lanes].size) for v in given]
    for array, v in zip(arrays, given, strict=True):
        array[:] = v[:lanes].T.ravel()
    out = aligned(7 * lanes)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (*arrays, out)]

    def repeat(calls: int) -> None:
        library.loop(*pointers, ctypes.c_longlong(calls))

    repeat(1)
    return repeat, out.reshape(7, lanes).T.copy()


def peers(
    twins: Twins, library: ctypes.CDLL | None, flags: list[str]
) -> dict[str, Callable[[int], None]]:
    rows = [twins.random(seed) for seed in range(8)]
    given = [np.array([row[name] for row in rows]) for name in ("q", "v", "tau")]
    traced = sb.compiled(twins.forward, 7, 7, 7).program
    symbols = traced.sx_in()
    forward = ca.Function(
        "forward", symbols, [ca.densify(traced(*symbols))], ["q", "v", "tau"], ["a"]
    )
    data = twins.model.createData()
    truth = np.array([pin.aba(twins.model, data, *row) for row in zip(*given, strict=True)])
    found = {}
    for lanes in (1, 2, 4, 8):
        found[f"{lanes} lanes"], results = lanes_loop(forward, lanes, given, flags)
        assert np.abs(results - truth[:lanes]).max() < 1e-9 * np.abs(truth).max(), lanes
    if library:
        one = [np.ascontiguousarray(v[0]) for v in given]
        found["pinocchio"] = cpp_loop(library, "aba", twins.model, one, np.zeros(7))
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=201)
    parser.add_argument("--moment", type=float, default=0.003, help="seconds of each round")
    parser.add_argument("--flags", default="", help="of the compiler, besides ours")
    parser.add_argument(
        "--eigen",
        type=Path,
        default=Path(ca.__file__).parent / "include" / "eigen3",
        help="folder of Eigen's headers, by default those that CasADi brings",
    )
    options = parser.parse_args()
    compiler = shutil.which(os.environ.get("CXX", "g++"))
    library = pinocchio_library(options.eigen) if compiler else None
    print(f"pinocchio {pin.__version__}, compiler: {compiler_name()}")
    found = peers(Twins(ARM, floating=False), library, options.flags.split())
    times = interleaved(found, options.rounds, options.moment)
    figures = {}
    for name in found:
        lanes = int(name[0]) if name[0].isdigit() else 1
        each, least = (f(times[name]) / lanes * 1e9 for f in (statistics.median, min))
        figures[f"{name} ns"] = each
        text = f"{name:10} {each:7.1f} ns an evaluation, {least:7.1f} in the fastest round"
        if library and name != "pinocchio":
            median, best = ratio(times, name, "pinocchio"), min(times["pinocchio"])
            figures[f"{name} ratio"] = lanes * median
            text += f"; {lanes * median:5.1f} and {best * 1e9 / least:5.1f} x Pinocchio's C++"
        print(text)
    if options.keep:
        usual = f"{usual_lanes()} lanes"
        figures = {name.replace(usual, "usual lanes"): value for name, value in figures.items()}
        keep(__file__, {"lanes": usual_lanes(), **figures}, "pin", "casadi")


if __name__ == "__main__":
    main()

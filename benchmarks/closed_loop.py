"""A closed loop against bdsim with Pinocchio inside: the 7-joint arm, PD to a moving
reference, 10 s at rtol 1e-6 and atol 1e-8.

Peers, interleaved, medians of `--repeat` runs in one process:
  bdsim     bdsim's own sim.run of a compiled diagram, its plant a block that calls
            pinocchio.aba
  native    this package with CasADi's virtual machine (CVODES)
  compiled  this package with the compiled loop (RK45)
loop: the integration alone. call: sim.run, and sb.simulate with tracing and the library
from the cache. Each final state is compared with a reference at rtol 1e-12.

Then what comes before the loop, tracing, checking and compiling, with an empty cache and
with a filled one; it is the time of sb.simulate less that of its loop.

Run: python benchmarks/closed_loop.py [--repeat 5] [--keep]   (needs the extra `test`)
"""

from __future__ import annotations

import statistics
import tempfile
import time
from contextlib import redirect_stdout
from io import StringIO

import numpy as np
from arm import run_bdsim, run_ours, tracking
from side_by_side import arguments, compared, environment, keep, measure, show, versions

T, RTOL, ATOL = 10.0, 1e-6, 1e-8
OPTIONS = {"T": T, "rtol": RTOL, "atol": ATOL, "every": T}


def start_times(ours: object, repeat: int) -> dict[str, float]:
    """Medians of the seconds before the loop, by the state of the cache."""
    found: dict[str, list[float]] = {"empty cache": [], "from the cache": []}
    for _ in range(repeat):
        with tempfile.TemporaryDirectory() as folder, environment(SPART_CACHE=folder):
            for times in found.values():
                start = time.perf_counter()
                loop, _ = run_ours(ours, **OPTIONS, solver="RK45")
                times.append(time.perf_counter() - start - loop)
    return {name: statistics.median(times) for name, times in found.items()}


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    given = parser.parse_args()
    repeat = given.repeat
    theirs, ours = tracking("bdsim", pinocchio=True), tracking("ours")
    with redirect_stdout(StringIO()):
        theirs.compile()

    def interpreted() -> tuple[float, np.ndarray]:
        with environment(SPART_COMPILER="none"):
            return run_ours(ours, **OPTIONS, solver="CVODES")

    peers = {
        "bdsim": lambda: (None, run_bdsim(theirs, T, RTOL, ATOL)),
        "native": interpreted,
        "compiled": lambda: run_ours(ours, **OPTIONS, solver="RK45"),
    }
    _, truth = run_ours(ours, T=T, rtol=1e-12, atol=1e-13, solver="DOP853", every=T)
    print(versions("pin", "bdsim", "casadi"))
    results = measure(peers, repeat)
    show(results, "bdsim", truth)
    print()
    starts = start_times(ours, repeat)
    for name, seconds in starts.items():
        print(f"trace, check and compile, {name:15} {seconds:8.3f} s")
    if given.keep:
        figures = compared(results, "bdsim") | {f"{name} s": t for name, t in starts.items()}
        keep(__file__, figures, "pin", "bdsim", "casadi")


if __name__ == "__main__":
    main()

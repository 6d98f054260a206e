"""A sampled controller against bdsim with Pinocchio inside: the 7-joint arm, PD at 1 kHz
with its torque held between ticks, to a moving reference, rtol 1e-6 and atol 1e-8.

Peers, interleaved, medians of `--repeat` runs in one process:
  bdsim     bdsim's own sim.run of a compiled diagram, its plant a block that calls
            pinocchio.aba
  RK45      this package with the compiled loop, the same method and tolerances
  RK4       this package with the compiled loop, one step a tick
loop: the integration alone. call: sim.run, and sb.simulate with tracing and the library
from the cache. Clocks tick first at 1 ms, as bdsim has it. Final states are compared with
a reference at rtol 1e-12.

Run: python benchmarks/sampled.py [--repeat 5] [--t 10] [--keep]   (needs the extra `test`)
"""

from __future__ import annotations

from contextlib import redirect_stdout
from io import StringIO

from arm import run_bdsim, run_ours, tracking
from side_by_side import arguments, compared, keep, measure, show, versions

TICK, RTOL, ATOL = 1e-3, 1e-6, 1e-8


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--t", type=float, default=10.0, help="end time [s]")
    given = parser.parse_args()
    theirs, ours = tracking("bdsim", pinocchio=True, tick=TICK), tracking("ours", tick=TICK)
    with redirect_stdout(StringIO()):
        theirs.compile()
    T = given.t
    options = {"T": T, "every": T, "first_tick": "bdsim", "rtol": RTOL, "atol": ATOL}
    peers = {
        "bdsim": lambda: (None, run_bdsim(theirs, T, RTOL, ATOL)),
        "RK45": lambda: run_ours(ours, **options, solver="RK45"),
        "RK4": lambda: run_ours(ours, **options, solver="RK4", max_step=TICK),
    }
    tight = options | {"rtol": 1e-12, "atol": 1e-13}
    _, truth = run_ours(ours, **tight, solver="RK45")
    print(versions("pin", "bdsim", "casadi"))
    results = measure(peers, given.repeat)
    show(results, "bdsim", truth)
    if given.keep:
        keep(__file__, compared(results, "bdsim"), "pin", "bdsim", "casadi")


if __name__ == "__main__":
    main()

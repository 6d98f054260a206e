"""The 7-joint computed-torque controller against the clock: its step, and its deadlines.

    python benchmarks/realtime_loop.py [SECONDS] [--keep]

`spart realtime` runs diagrams/arm_computed_torque.yaml --part ctrl at 1 kHz. On a machine
shared with others, late wake-ups are the machine's; what the controller answers for is the
time of its own step, and deadlines missed by it.
"""

from __future__ import annotations

import sys
from pathlib import Path

from side_by_side import arguments, keep

from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.realtime import run

DIAGRAM = Path(__file__).parents[1] / "diagrams" / "arm_computed_torque.yaml"
LONGEST_STEP = 10e-6  # s, p99


def main() -> int:
    parser = arguments(__doc__)
    parser.add_argument("seconds", type=float, nargs="?", default=60.0)
    given = parser.parse_args()
    report = run(DIAGRAM, part=["ctrl"], rate=1000, T=given.seconds)
    print(report.summary())
    print(compiler_name())
    p99 = report.step.percentile(99)
    print(f"p99 of the step: {1e6 * p99:.2f} us, {LONGEST_STEP / p99:.1f} times under the limit")
    print(f"deadlines missed by the step itself: {report.missed['step']}")
    others = sum(report.missed.values()) - report.missed["step"]
    print(f"deadlines missed by links and the machine: {others}")
    if given.keep:
        figures = {"step p99 us": 1e6 * p99, "missed": report.missed["step"], "late": others}
        keep(__file__, figures | {"steps": round(1000 * given.seconds)}, "casadi")
    return int(p99 >= LONGEST_STEP or report.missed["step"] > 0 or not report.complete)


if __name__ == "__main__":
    sys.exit(main())

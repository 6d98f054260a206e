"""Forward dynamics with prescribed joints, and with joints that stick, against without.

The six-joint arm of tests/golden/hybrid_joints.json, joints 2 and 5 prescribed, and the
7-joint arm; each compiled by sb.compiled and called bound, in interleaved rounds. Medians,
and the median of each round's ratio to plain forward dynamics of the same arm.

Run: python benchmarks/hybrid_dynamics.py [--rounds 41] [--keep]
"""

from __future__ import annotations

import statistics
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
from side_by_side import arguments, keep
from twins import ARM, interleaved, ratio, repeated

import spart_blocks as sb
from spart_blocks import dynamics
from spart_blocks.robot import Drive, Robot

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))


def hybrid(robot: Robot, modes: bool = False) -> Callable[[], object]:
    """A bound, compiled call of the plant's rates."""
    n, weights = robot.nu, dynamics.gravity_wrenches([0, 0, -9.81], robot)
    none, R0 = np.zeros(6), np.eye(3)
    given = len(robot.kinematic)
    stuck = len(dynamics.joint_effects(robot).sticking)

    def rates(qm, um, taum, umdot_k, m):
        return dynamics.hybrid_rates(
            R0, none, qm, um, none, taum, *weights, robot, umdot_k, m if modes else None
        )[1::2]

    function = sb.compiled(rates, n, n, n, given, stuck)
    values = [np.full(n, x) for x in (0.3, 0.2, 1.0)]
    return function.bound(*values, np.ones(given), np.ones(stuck))


def arms() -> dict[str, dict[str, Callable[[], object]]]:
    """For each arm the calls to compare, plain forward dynamics first."""
    from robots import hybrid_arm

    six, _ = hybrid_arm("arm_6R")
    seven = sb.Robot.from_urdf(ARM, base="fixed")
    drive = Drive(gear=100.0, motor_inertia=1e-5, viscous=1e-4, coulomb=(0.01, -0.01))
    driven = replace(seven, joints=tuple(
        joint if joint.q_id < 0 else replace(joint, drive=drive) for joint in seven.joints
    ))  # fmt: skip
    named = [seven.active_joints[k] for k in (1, 4)]
    return {
        "6-joint arm": {
            "forward dynamics": hybrid(six.with_kinematic([])),
            "joints 2 and 5 prescribed": hybrid(six),
        },
        "7-joint arm": {
            "forward dynamics": hybrid(seven),
            "joints 2 and 5 prescribed": hybrid(seven.with_kinematic(named)),
            "motors and friction": hybrid(driven.with_effects(["motors", "friction"])),
            "and every joint may stick": hybrid(driven.with_effects(["motors", "friction"]), True),
        },
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--rounds", type=int, default=41)
    given, figures = parser.parse_args(), {}
    for name, calls in arms().items():
        peers = {what: repeated(call) for what, call in calls.items()}
        times = interleaved(peers, given.rounds, 0.02)
        first = next(iter(times))
        print(name)
        for what, seconds in times.items():
            each = 1e6 * statistics.median(seconds)
            print(f"  {what:28}{each:8.3f} us{ratio(times, first, what):8.2f}")
            figures[f"{name}, {what} us"] = each
            figures[f"{name}, {what} ratio"] = ratio(times, what, first)
    if given.keep:
        keep(__file__, figures, "casadi")


if __name__ == "__main__":
    main()

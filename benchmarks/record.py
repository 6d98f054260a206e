"""What a run's record costs, against samples at T/500, on diagrams of this repository.

For each diagram, interleaved, medians of `--repeat` runs in one process:
  lines    the default, as much as straight lines need
  samples  501 samples at T/500, which pass over what lies between
loop: the integration with its record. call: sb.simulate of a program that is there.
rows: how many are kept. memory: the numbers of the results, in MB.

Run: python benchmarks/record.py [--repeat 9] [--keep] [DIAGRAM ...]
"""

from __future__ import annotations

import statistics
import time
import warnings
from pathlib import Path

from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.base.errors import SpartWarning

ROOT = Path(__file__).resolve().parents[1]
DIAGRAMS = (
    "spacecraft_pd",
    "arm_computed_torque",
    "dual_arm",
    "momentum_exchange",
    "control/joint_pid",
    "loops/delta_pick_and_place",
)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--repeat", type=int, default=9)
    parser.add_argument("diagrams", nargs="*", default=DIAGRAMS)
    given, figures = parser.parse_args(), {}
    print(f"{'diagram':<28}{'rows':>8}{'loop':>20}{'ratio':>7}{'call':>20}{'ratio':>7}{'MB':>14}")
    for name in given.diagrams:
        path = ROOT / "diagrams" / f"{name}.yaml"
        if path.exists():
            figures |= _compare(name, path, given.repeat)
    for what in ("loop", "call"):
        ratios = [value for name, value in figures.items() if name.endswith(f"{what} ratio")]
        figures |= {f"least {what} ratio": min(ratios), f"largest {what} ratio": max(ratios)}
    if given.keep:
        keep(__file__, figures, "casadi")


def _compare(name: str, path: Path, repeat: int) -> dict[str, float]:
    program = sb.trace(sb.load(path))
    options = {"lines": {}, "samples": {"every": program.run.T / 500}}
    loops: dict[str, list[float]] = {way: [] for way in options}
    calls: dict[str, list[float]] = {way: [] for way in options}
    kept = {}
    for k in range(repeat + 1):
        for way, more in options.items():
            started = time.perf_counter()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", SpartWarning)
                results = sb.simulate(program, **more)
            spent = time.perf_counter() - started
            if k:  # the first compiles
                loops[way].append(results.info["wall_time"])
                calls[way].append(spent)
            arrays = (results.t, *results.signals.values(), *results.states.values())
            kept[way] = len(results.t), sum(array.nbytes for array in arrays) / 1e6
    cells = f"{name:<28}{kept['lines'][0]:>8}"
    figures = {}
    for what, times in (("loop", loops), ("call", calls)):
        lines, samples = (statistics.median(times[way]) for way in options)
        figures[f"{name} {what} ratio"] = lines / samples
        if what == "loop":
            figures[f"{name} real time"] = program.run.T / lines
        cells += f"{1e3 * lines:>9.2f}/{1e3 * samples:<7.2f}ms{lines / samples:>7.2f}"
    print(cells + f"{kept['lines'][1]:>7.2f}/{kept['samples'][1]:<6.2f}", flush=True)
    return figures


if __name__ == "__main__":
    main()

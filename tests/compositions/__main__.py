"""`python tests/compositions [--from N] [--count N] [--folder DIR] [--ways WAY ...]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if p and Path(p).resolve() != HERE]
sys.path[:0] = [str(HERE.parents[1]), str(HERE.parent)]
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")

from compositions.executing import WAYS  # noqa: E402
from compositions.nights import night  # noqa: E402

USUAL = ("interpreter", "traced", "split")


def main() -> int:
    parser = argparse.ArgumentParser(prog="compositions", description=__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0, help="the first seed")
    parser.add_argument("--count", type=int, default=100, help="of seeds")
    parser.add_argument("--step", type=int, default=1, help="from a seed to the next")
    parser.add_argument("--folder", type=Path, default=Path("build/compositions"))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--ways", nargs="+", choices=list(WAYS), default=list(USUAL))
    parser.add_argument("--small", action="store_true", help="diagrams of few blocks")
    parser.add_argument("--grid", action="store_true", help="fewer rows of sampled diagrams: fast")
    parser.add_argument("--limit", type=float, default=120.0, help="s for a seed")
    parser.add_argument("--shrink", type=float, default=120.0, help="s to make a failure small")
    asked = parser.parse_args()
    seeds = range(asked.first, asked.first + asked.count * asked.step, asked.step)
    counts = night(
        seeds, tuple(asked.ways), asked.folder, small=asked.small, limit=asked.limit,
        processes=asked.processes, shrink=asked.shrink, grid=asked.grid,
    )  # fmt: skip
    for outcome, count in counts.most_common():
        print(f"{count:6}  {outcome}")
    return 1 if any(not o.startswith(("agree", "known")) for o in counts) else 0


if __name__ == "__main__":
    sys.exit(main())

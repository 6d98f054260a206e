"""`python tests/nightly/fuzz [--count N] [--seed N] [--format NAME ...] [--case NAME:NUMBER]`."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:] = [p for p in sys.path if p and Path(p).resolve() != HERE]
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1]), str(HERE.parent)]
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ["SPART_COMPILER"] = "none"  # what is tried is what is read, and compiling costs

from fuzz.formats import FORMATS  # noqa: E402
from fuzz.runner import ground, night, tried  # noqa: E402


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz", description=__doc__)
    parser.add_argument("--count", type=int, default=100_000, help="cases of all formats")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--format", action="append", choices=[f.name for f in FORMATS])
    parser.add_argument("--case", metavar="FORMAT:NUMBER", help="try one case, and show it")
    parser.add_argument("--out", type=Path, default=Path("build/fuzz"), help="what is kept")
    asked = parser.parse_args()
    if asked.case:
        return _one(asked.case, asked.seed, asked.out)
    formats = [f for f in FORMATS if asked.format is None or f.name in asked.format]
    tallies = night(formats, asked.count, asked.seed, asked.out)
    for name, tally in tallies.items():
        answers = ", ".join(f"{kind} {count}" for kind, count in tally.answers.most_common())
        print(f"\n{name}: {tally.cases} cases, {tally.seconds:.0f} s, slowest "
              f"{tally.slowest:.1f} s (case {tally.slowest_case}): {answers}")  # fmt: skip
        for number, failure in tally.failures.items():
            print(f"  --seed {asked.seed} --case {name}:{number}: {failure.splitlines()[0]}")
    failed = sum(len(tally.failures) for tally in tallies.values())
    print(f"\n{sum(t.cases for t in tallies.values())} cases, {failed} failures")
    return 1 if failed else 0


def _one(asked: str, seed: int, out: Path) -> int:
    import signal

    from fuzz import runner

    signal.signal(signal.SIGPROF, runner._alarm)
    name, _, number = asked.partition(":")
    form = next(f for f in FORMATS if f.name == name)
    case = form.case(seed, int(number))
    case.keep(out / f"{name}-{seed}-{number}")
    with ground() as folder:
        report = tried(form, case, folder)
    print(f"kept in {out / f'{name}-{seed}-{number}'}", case.options, sep="\n")
    print(*(f"{key}: {value}" for key, value in report.items()), sep="\n")
    return 1 if "failure" in report else 0


if __name__ == "__main__":
    sys.exit(main())

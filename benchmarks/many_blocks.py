"""Diagrams of thousands of small blocks: what loading, tracing and running cost.

The diagram is a chain of first-order lags, each of five blocks: a CONSTANT, a SUM, two
GAINs and an INTEGRATOR; four SCOPEs watch it. Measured for each size, medians of `--repeat`
rounds in one process, the sizes interleaved, imports and block library done before:
  load            sb.load of the YAML file
  flatten         blocks and wires as a list in order of evaluation
  trace           sb.trace, flattening included
  first run       sb.simulate of the loaded diagram for 1 s, the cache of programs empty
  cached run      the same again
  no compiler     the same with SPART_COMPILER=none
  interpreter     the same with engine="interpreter"
  bdsim compile   bdsim's own BlockDiagram.compile of the same diagram

Beside the times stands the growth from the smallest size to the largest.

Run: python benchmarks/many_blocks.py [--sizes 1000 2000 10000] [--repeat 3] [--no-bdsim] [--keep]
"""

from __future__ import annotations

import gc
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from importlib.metadata import version
from io import StringIO
from pathlib import Path

from side_by_side import arguments, keep

import spart_blocks as sb
from spart_blocks.diagram.network.flatten import flatten
from spart_blocks.program.c.compiler import compiler_name

SCOPES = 4
STEPS = ("load", "flatten", "trace", "first run", "cached run", "no compiler", "interpreter")
THEIRS = "bdsim compile"


def diagram_text(blocks: int) -> str:
    """A diagram of this many blocks: lag k follows lag k - 1 and is pulled back by itself."""
    lags = (blocks - SCOPES - 1) // 5
    lines = ["name: many-blocks", "blocks:", "  start: {type: STEP, T: 0.1, on: 1.0}"]
    wires = ["wires:"]
    before = "start"
    for k in range(lags):
        lines += [
            f"  bias{k}: {{type: CONSTANT, value: {0.01 * (k % 7):.2f}}}",
            f"  error{k}: {{type: SUM, signs: '+-+'}}",
            f"  gain{k}: {{type: GAIN, K: {1.0 + 0.1 * (k % 11):.1f}}}",
            f"  lag{k}: {{type: INTEGRATOR, x0: 0.0}}",
            f"  out{k}: {{type: GAIN, K: 0.9}}",
        ]
        wires += [
            f"  - {before} -> error{k}.0",
            f"  - lag{k} -> error{k}.1, out{k}",
            f"  - bias{k} -> error{k}.2",
            f"  - error{k} -> gain{k}",
            f"  - gain{k} -> lag{k}",
        ]
        before = f"out{k}"
    for number in range(SCOPES):
        lines.append(f"  scope{number}: {{type: SCOPE}}")
        wires.append(f"  - lag{number * (lags - 1) // (SCOPES - 1)} -> scope{number}")
    return "\n".join([*lines, *wires, "run: {T: 1}"]) + "\n"


def seconds(function: Callable[[], object]) -> float:
    """How long a call takes [s]; garbage of the step before is not charged to it."""
    gc.collect()
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ours(file: Path) -> dict[str, float]:
    """The time of each step [s] for one file, beginning with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        os.environ["SPART_CACHE"] = cache
        os.environ.pop("SPART_COMPILER", None)
        times = {"load": seconds(lambda: sb.load(file))}
        diagram = sb.load(file)
        times["flatten"] = seconds(lambda: flatten(diagram.bd, diagram.places))
        times["trace"] = seconds(lambda: sb.trace(diagram))
        times["first run"] = seconds(lambda: sb.simulate(diagram))
        times["cached run"] = seconds(lambda: sb.simulate(diagram))
        os.environ["SPART_COMPILER"] = "none"
        times["no compiler"] = seconds(lambda: sb.simulate(diagram))
        times["interpreter"] = seconds(lambda: sb.simulate(diagram, engine="interpreter"))
    return times


def bdsim_compile(file: Path) -> float:
    """bdsim rewrites the diagram it compiles, so it gets one of its own."""
    bd = sb.load(file).bd
    with redirect_stdout(StringIO()):
        return seconds(bd.compile)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1000, 2000, 10_000])
    parser.add_argument("--repeat", type=int, default=3)
    parser.add_argument("--no-bdsim", action="store_true", help="leave bdsim's compile out")
    options = parser.parse_args()
    names = STEPS if options.no_bdsim else (*STEPS, THEIRS)
    compiler = compiler_name()
    found: dict[int, list[dict[str, float]]] = {size: [] for size in options.sizes}
    with tempfile.TemporaryDirectory() as folder:
        files = {size: Path(folder, f"{size}.yaml") for size in (50, *options.sizes)}
        for size, file in files.items():
            file.write_text(diagram_text(size))
        ours(files[50])  # imports, the block library
        for _ in range(options.repeat):
            for size in options.sizes:
                found[size].append(ours(files[size]))
                if not options.no_bdsim:
                    found[size][-1][THEIRS] = bdsim_compile(files[size])
    print(f"bdsim {version('bdsim')}, casadi {version('casadi')}, compiler: {compiler}")
    os.environ.pop("SPART_COMPILER", None)
    figures = report(names, found)
    if options.keep:
        keep(__file__, figures, "bdsim", "casadi")


def report(names: tuple[str, ...], found: dict[int, list[dict[str, float]]]) -> dict[str, float]:
    """Print the medians; the figures to keep."""
    sizes, figures = list(found), {}
    print(f"{'blocks':14}" + "".join(f"{size:>11,}" for size in sizes) + f"{'growth':>9}")
    for name in names:
        medians = [statistics.median(times[name] for times in found[size]) for size in sizes]
        row = "".join(f"{median:10.3f}s" for median in medians)
        print(f"{name:14}{row}{medians[-1] / medians[0]:8.1f}x")
        figures |= {f"{size} {name} s": m for size, m in zip(sizes, medians, strict=True)}
    for size in sizes:
        parts = ("load", "trace", "first run")
        whole = statistics.median(sum(times[name] for name in parts) for times in found[size])
        print(f"load + trace + first run of {size:,} blocks: {whole:.2f} s")
        figures[f"{size} whole s"] = whole
    return figures


if __name__ == "__main__":
    main()

"""Peers measured one after another, again and again, in one process; a table of medians.

A peer is a function that runs once and returns the seconds its loop took, or None where
that is the whole call, and the state it ends in. The call is timed around it.

With --keep a script writes its figures into results.json, of which docs/make_speed_page.py makes
the tables of pages.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import numpy as np

from spart_blocks.program.c.compiler import compiler_name

Peer = Callable[[], tuple[float | None, np.ndarray]]

KEPT = Path(__file__).with_name("results.json")


@dataclass(frozen=True)
class Measured:
    """Medians over the repeats: of the loop and of the whole call [s]; the last state."""

    loop: float
    call: float
    state: np.ndarray


def measure(peers: Mapping[str, Peer], repeat: int) -> dict[str, Measured]:
    """Run each peer once for nothing, then all in turn, `repeat` times."""
    for peer in peers.values():
        peer()
    loops: dict[str, list[float]] = {name: [] for name in peers}
    calls: dict[str, list[float]] = {name: [] for name in peers}
    states = {}
    for _ in range(repeat):
        for name, peer in peers.items():
            start = time.perf_counter()
            loop, state = peer()
            call = time.perf_counter() - start
            loops[name].append(call if loop is None else loop)
            calls[name].append(call)
            states[name] = np.ravel(state)
    middle = statistics.median
    return {n: Measured(middle(loops[n]), middle(calls[n]), states[n]) for n in peers}


def show(results: Mapping[str, Measured], base: str, truth: np.ndarray) -> None:
    """Print a row for each peer; ratios are the base's time over the peer's."""
    one = results[base]
    width = max(map(len, results))
    heads = ("loop [s]", "ratio", "call [s]", "ratio", "final error")
    print(" " * width + " ".join(f"{head:>12}" for head in heads))
    for name, row in results.items():
        error = np.abs(row.state - truth).max()
        print(
            f"{name:{width}}{row.loop:12.5f} {one.loop / row.loop:12.1f} "
            f"{row.call:12.5f} {one.call / row.call:12.1f} {error:12.2g}"
        )


def compared(results: Mapping[str, Measured], base: str) -> dict[str, float]:
    """The figures to keep: seconds of each loop and call, and their ratios to the base's."""
    one, figures = results[base], {}
    for name, row in results.items():
        figures |= {f"{name} loop s": row.loop, f"{name} call s": row.call}
        if name != base:
            figures[f"{name} loop ratio"] = one.loop / row.loop
            figures[f"{name} call ratio"] = one.call / row.call
    return figures


def versions(*names: str) -> str:
    return ", ".join(f"{name} {version(name)}" for name in names)


def arguments(text: str) -> argparse.ArgumentParser:
    """The parser of a script whose figures can be kept. text: its docstring."""
    parser = argparse.ArgumentParser(description=text.splitlines()[0])
    parser.add_argument(
        "--keep", action="store_true", help=f"write the figures into benchmarks/{KEPT.name}"
    )
    return parser


def keep(script: str, figures: Mapping[str, float], *packages: str, to: Path = KEPT) -> None:
    """Write the figures of a script in place of its former ones, with when and with what they were
    measured. Names end in the unit. packages: of the peers.
    """
    commit = subprocess.run(
        ["git", "rev-parse", "--short=8", "HEAD"], cwd=KEPT.parent, capture_output=True, text=True
    )
    kept = json.loads(to.read_text(encoding="utf-8")) if to.exists() else {}
    kept[Path(script).stem] = {
        "measured": f"{datetime.now(UTC):%Y-%m-%d}",
        "commit": commit.stdout.strip(),
        "processor": f"{os.cpu_count()} x {processor()}",
        "compiler": compiler_name(),
        "versions": {name: version(name) for name in packages},
        "figures": {name: _short(value) for name, value in figures.items()},
    }
    to.write_text(json.dumps(dict(sorted(kept.items())), indent=1) + "\n", encoding="utf-8")


def _short(value: float) -> float:
    return value if isinstance(value, int) else float(f"{value:.4g}")


def processor() -> str:
    """The name of the processor."""
    about = Path("/proc/cpuinfo")
    lines = about.read_text(encoding="utf-8").splitlines() if about.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else "unknown"


@contextmanager
def environment(**variables: str) -> Iterator[None]:
    """Environment variables set for a while."""
    before = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value

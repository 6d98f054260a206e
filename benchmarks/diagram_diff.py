"""Diffs of diagrams of 10,000 blocks: CPU seconds of reading both files, and of the diff itself.

python benchmarks/diagram_diff.py
"""

from __future__ import annotations

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from spart_blocks.diagram.build.registry import find_type
from spart_blocks.versions.differences import difference_of, two_sides

KINDS = {
    "GAIN": "K: {}",
    "SUM": 'signs: "+-"',
    "INTEGRATOR": "x0: {}",
    "CLIP": "min: -{}, max: 20",
}
RUNS = 3


def diagram(blocks: int, name: Callable[[int], str], gain: int = 17) -> str:
    """A file of this many blocks in a ladder: a chain with a wire around every three."""
    kinds = list(KINDS.items())
    lines = ["name: ladder", "blocks:"]
    for i in range(blocks):
        kind, parameters = kinds[i % 4]
        lines.append(f"  {name(i)}: {{type: {kind}, {parameters.format(i % gain)}}}")
    lines.append("wires:")
    for i in range(1, blocks):
        sums = i % 4 == 1
        lines.append(f"  - {name(i - 1)} -> {name(i)}{'.0' if sums else ''}")
        if sums and i > 4:
            lines.append(f"  - {name(i - 4)} -> {name(i)}.1")
    return "\n".join(lines)


def star(blocks: int, name: str) -> str:
    """A file of blocks that are all alike, on one signal."""
    names = [f"{name}{i}" for i in range(blocks - 1)]
    lines = [f"  {one}: {{type: GAIN, K: 1}}" for one in names]
    wires = [f"  - hub{name} -> {one}" for one in names]
    return "\n".join(["blocks:", f"  hub{name}: {{type: TIME}}", *lines, "wires:", *wires])


def plain(i: int) -> str:
    return f"b{i}"


STAR = "star, all renamed"
EDITS: dict[str, Callable[[int], str]] = {
    "equal": lambda n: diagram(n, plain),
    "one gain changed": lambda n: diagram(n, plain).replace(
        "b8: {type: GAIN, K: 8}", "b8: {type: GAIN, K: 9}"
    ),
    "100 blocks renamed": lambda n: diagram(n, lambda i: f"c{i}" if i % 100 == 0 else f"b{i}"),
    "all blocks renamed": lambda n: diagram(n, lambda i: f"c{i}"),
    "most parameters changed": lambda n: diagram(n, plain, gain=13),
    STAR: lambda n: star(n, "c"),
    "half the blocks removed": lambda n: diagram(n // 2, plain),
}


def main() -> None:
    """Print a row for each kind of edit."""
    blocks = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    find_type("GAIN")  # the library of blocks, which is imported once
    print(f"{blocks} blocks: CPU seconds, medians of {RUNS} runs")
    print(f"{'edit':28}{'read both':>10}{'diff':>8}{'changes':>9}")
    with tempfile.TemporaryDirectory() as folder:
        old, new = Path(folder, "old.yaml"), Path(folder, "new.yaml")
        for name, edit in EDITS.items():
            new.write_text(edit(blocks))
            old.write_text(star(blocks, "b") if name == STAR else diagram(blocks, plain))
            times = [measured(old, new) for _ in range(RUNS)]
            reading, comparing = (statistics.median(one[k] for one in times) for k in (0, 1))
            print(f"{name:28}{reading:10.3f}{comparing:8.3f}{times[0][2]:9d}")


def measured(old: Path, new: Path) -> tuple[float, float, int]:
    start = time.process_time()
    with two_sides(old, new) as sides:
        read = time.process_time()
        found = difference_of(*sides)
        end = time.process_time()
    return read - start, end - read, len(found.changes)


if __name__ == "__main__":
    main()

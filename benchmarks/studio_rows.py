"""What a page costs a run of the studio: 20 signals at 1 kHz, told 60 times a second.

    python benchmarks/studio_rows.py [SECONDS] [REPEATS]

The run goes as fast as it can, alone and as the studio runs it, in turn. Compared is the processor
time of its thread, which other work on the machine does not change. Then a process of the studio
runs it as fast as it goes and in real time: how many rows come, and how evenly.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from contextlib import suppress
from itertools import pairwise
from pathlib import Path

from spart_blocks.results import Results
from spart_blocks.run import DiagramFile, begin, finish
from spart_blocks.run.run import Run
from spart_blocks.studio.runs import runner as runs
from spart_blocks.studio.runs.registry import WORKER
from spart_blocks.workers.async_process import AsyncWorker
from spart_blocks.workers.frames import Outbox

SIGNALS = 20


def diagram(folder: Path, T: float) -> Path:
    """Motion of 20 lags, seen by a clock of 1 kHz."""
    lines = ["clocks: {c: {T: 0.001}}", "blocks:", "  scope: {type: SCOPE, nin: 20}"]
    wires = []
    for k in range(SIGNALS):
        lines += [
            f"  s{k}: {{type: WAVEFORM, wave: sine, freq: {1 + 0.1 * k:.1f}}}",
            f"  f{k}: {{type: LTI_SISO, N: [1], D: [0.1, 1]}}",
            f"  z{k}: {{type: ZOH, clock: c}}",
        ]
        wires += [f"s{k} -> f{k}", f"f{k} -> z{k}", f"z{k} -> scope.{k}"]
    path = folder / "rows.yaml"
    tail = [f"wires: [{', '.join(wires)}]", f"run: {{T: {T}, every: 0.001}}"]
    path.write_text("\n".join([*lines, *tail]) + "\n")
    return path


def alone(path: Path) -> float:
    """Processor time of the thread of a run that nobody watches [s]."""
    run = begin(DiagramFile(path))
    started = time.thread_time()
    finish(run)
    return time.thread_time() - started


class _Never:
    """No commands come."""

    def next(self, seconds: float | None) -> None:
        if seconds is None:
            raise EOFError


def told(path: Path) -> float:
    """The same of a run in the studio, whose rows are sent away."""
    runner = Runner(job(path, None), _Never(), Outbox(_NOWHERE), time.monotonic, {})
    with suppress(EOFError):
        runner.go()
    return _TIMED.pop()


_NOWHERE = open(os.devnull, "wb")  # noqa: SIM115 - threads write to it until the end
_TIMED: list[float] = []


class Runner(runs.Runner):
    """A run whose thread is timed."""

    def _finished(self, run: Run) -> bool:
        started = time.thread_time()
        more = super()._finished(run)
        _TIMED.append(time.thread_time() - started)
        return more


def job(path: Path, speed: float | None) -> dict[str, object]:
    """What a process of the studio is asked to run."""
    file = {"path": str(path), "root": str(path.parent), "variants": [], "blocks": []}
    return {"file": file, "speed": speed}


async def watched(path: Path, speed: float | None) -> tuple[float, int, int, float]:
    """Of a run in a process of the studio: its wall time [s], messages and rows that came, and the
    longest time between two messages [s]."""
    over = asyncio.Event()
    came = [0, 0]
    at: list[float] = []

    def heard(header: dict[str, object], body: bytes) -> None:
        if header["tell"] == "rows":
            came[0] += 1
            came[1] += int(str(header["rows"]))
            at.append(time.perf_counter())
        if header.get("state") in ("ended", "failed"):
            over.set()

    process = AsyncWorker(WORKER, heard, lambda why: over.set())
    await process.start()
    await process.send(job(path, speed))
    await over.wait()
    saved = path.with_suffix(".npz")
    await process.ask("save", {"file": str(saved)})
    await process.close()
    gaps = [after - before for before, after in pairwise(at)]
    return float(Results.load(saved).info["wall_time"]), came[0], came[1], max(gaps, default=0.0)


def main(T: float = 200.0, repeats: int = 7) -> None:
    """Measure and print."""
    with tempfile.TemporaryDirectory() as place:
        path = diagram(Path(place), T)
        alone(path)  # traces and compiles
        plain, sent = [], []
        for _ in range(repeats):
            plain.append(alone(path))
            sent.append(told(path))
        print(f"alone    {min(plain):.3f} s, the median {statistics.median(plain):.3f}")
        print(f"told     {min(sent):.3f} s, the median {statistics.median(sent):.3f}")
        ratio = statistics.median(sent) / statistics.median(plain)
        print(f"ratio    {min(sent) / min(plain):.4f}, of the medians {ratio:.4f}")
        for speed in (None, 1.0):
            end = T if speed is None else 5.0
            found = asyncio.run(watched(diagram(Path(place), end), speed))
            wall, messages, rows, gap = found
            print(
                f"speed {speed}: {rows} of {end * 1000:.0f} rows in {messages} messages over "
                f"{wall:.2f} s, {messages / wall:.1f} a second, at most {1e3 * gap:.0f} ms apart"
            )


if __name__ == "__main__":
    main(*(kind(text) for kind, text in zip((float, int), sys.argv[1:], strict=False)))

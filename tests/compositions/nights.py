"""Many seeds in processes beside this one, each with a time of its own; what is done is not done
again."""

from __future__ import annotations

import gc
import json
import multiprocessing as mp
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from multiprocessing.connection import wait
from pathlib import Path
from typing import Any

from compositions.generating import diagram_of, is_pure, text_of, unit_of
from compositions.judging import Verdict, judged, placed
from compositions.shrinking import shrunk

TURNS = 200
"""Seeds for a process: what one leaves behind would show in the next, and memory stays bounded."""


@dataclass(frozen=True)
class Task:
    """What is done with a seed; see night."""

    ways: tuple[str, ...]
    folder: Path
    small: bool
    shrink: float
    grid: bool

    def record(self, seed: int) -> dict[str, Any]:
        try:
            content = diagram_of(seed, self.small)
            every = unit_of(seed) if self.grid and is_pure(seed) else None
            path = placed(content, self.folder / "work", f"{seed}")
            verdict = judged(content, path, self.ways, is_pure(seed), every)
            if verdict.differ and not verdict.known:
                keep(seed, content, verdict, self.folder, self.shrink, every)
            elif not verdict.error:
                path.unlink()
        except Exception as error:
            return {"outcome": f"raised: {type(error).__name__}", "error": str(error)[:500]}
        return {
            "outcome": verdict.outcome, "blocks": len(content["blocks"]),
            "differ": verdict.differ, "error": verdict.error,
            "seconds": {way: round(s, 2) for way, s in verdict.seconds.items()},
        }  # fmt: skip


class Worker:
    """A process that is given seeds. seed: the one it works on."""

    def __init__(self, task: Task) -> None:
        context = mp.get_context("fork")
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=_work, args=(theirs, task))
        self.process.start()
        theirs.close()
        self.seed: int | None = None
        self.turns, self.begun = 0, 0.0

    def give(self, seed: int) -> None:
        self.seed, self.begun, self.turns = seed, time.monotonic(), self.turns + 1
        self.pipe.send(seed)

    def answer(self, limit: float) -> dict[str, Any] | None:
        """What it says of its seed, or has become of it; None while it works."""
        spent, found = time.monotonic() - self.begun, None
        if self.pipe.poll():
            try:
                found = self.pipe.recv()
            except EOFError:
                self.process.join()
                self.turns, found = TURNS, {"outcome": f"died: {self.process.exitcode}"}
        elif spent > limit:
            self.turns, found = TURNS, {"outcome": "too slow", "seconds": spent}
        return found

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


def night(
    seeds: Iterable[int], ways: tuple[str, ...], folder: Path, *,
    small: bool = False, limit: float = 120.0, processes: int = 1, shrink: float = 300.0,
    grid: bool = False,
) -> Counter[str]:  # fmt: skip
    """Judge seeds; those in folder/done.jsonl are done. Returns the counts by outcome, of all that
    are there. limit, shrink: seconds for a seed, and for making a failure small. grid: purely
    sampled diagrams keep a row at each multiple of their unit of time, at which all in them
    happens, in place of both sides of every instant: a tenth of the time."""
    folder.mkdir(parents=True, exist_ok=True)
    done = folder / "done.jsonl"
    lines = done.read_text(encoding="utf-8").splitlines() if done.exists() else []
    known = {record["seed"]: record for record in map(json.loads, lines)}
    waiting = [seed for seed in seeds if seed not in known][::-1]
    task, crew = Task(ways, folder, small, shrink, grid), list[Worker]()
    if waiting:
        warm(folder / "work", ways)
    try:
        while waiting or crew:
            while waiting and len(crew) < processes:
                crew.append(Worker(task))
                crew[-1].give(waiting.pop())
            wait([worker.pipe for worker in crew], timeout=1.0)
            for worker in list(crew):
                record = worker.answer(limit + shrink)
                if record is None:
                    continue
                known[worker.seed] = {"seed": worker.seed, **record}
                with done.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(known[worker.seed]) + "\n")
                print(worker.seed, record["outcome"], record.get("seconds", ""), flush=True)
                if waiting and worker.turns < TURNS:
                    worker.give(waiting.pop())
                else:
                    worker.end()
                    crew.remove(worker)
    finally:
        for worker in crew:
            worker.end()
    return Counter(record["outcome"] for record in known.values())


def warm(folder: Path, ways: tuple[str, ...]) -> None:
    """Import what every process needs, once, and keep it from their garbage collection."""
    for seed in range(6):
        content = diagram_of(seed, small=True)
        judged(content, placed(content, folder, "warm"), ways, False)
    gc.collect()
    gc.freeze()


def _work(pipe: Any, task: Task) -> None:
    while True:
        pipe.send(task.record(pipe.recv()))


def keep(
    seed: int, content: Any, verdict: Verdict, folder: Path, seconds: float, every: float | None
) -> Path:
    """Write a failure and its small form, with what differs."""
    pair = verdict.differ[0][:2]
    pure = "reference" in pair
    ways = tuple(way for way in pair if way != "reference")
    kind = _kind(verdict.differ[0][2])
    work = folder / "work" / f"shrinking{seed}"

    def fails(candidate: Any) -> bool:
        try:
            found = judged(candidate, placed(candidate, work), ways, pure, every)
        except Exception:
            return False
        same = [d for d in found.differ if d[:2] == pair and _kind(d[2]) == kind]
        return bool(same) and not found.known

    small = shrunk(content, fails, seconds) if seconds else content
    found = folder / "failures" / f"{seed}.yaml"
    found.parent.mkdir(exist_ok=True)
    last = judged(small, placed(small, work), ways, pure, every) if seconds else verdict
    told = "".join(f"# {one} | {other}: {line}\n" for one, other, line in last.differ)
    found.write_text(told + text_of(small), encoding="utf-8")
    return found


def _kind(line: str) -> tuple[str, ...]:
    """What a difference is, without its signals and numbers; of an error its name."""
    first, *rest = line.split()
    return first, *(word for word in rest[:1] if word.endswith("Error:"))

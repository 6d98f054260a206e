"""Many seeds, each in a process of its own with a time of its own; what is done is not done
again."""

from __future__ import annotations

import gc
import json
import multiprocessing as mp
import time
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from compositions.generating import diagram_of, is_pure, text_of, unit_of
from compositions.judging import Verdict, judged, placed
from compositions.shrinking import shrunk


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
    waiting = [seed for seed in seeds if seed not in known]
    if waiting:
        warm(folder / "work", ways)
    context = mp.get_context("fork")
    running: list[tuple[int, Any, Any, float]] = []
    while waiting or running:
        while waiting and len(running) < processes:
            seed = waiting.pop(0)
            mine, theirs = context.Pipe(duplex=False)
            given = (theirs, seed, ways, folder, small, shrink, grid)
            process = context.Process(target=_one, args=given)
            process.start()
            theirs.close()
            running.append((seed, process, mine, time.monotonic()))
        for entry in list(running):
            seed, process, pipe, begun = entry
            record = _answer(process, pipe, time.monotonic() - begun, limit + shrink)
            if record is not None:
                running.remove(entry)
                known[seed] = {"seed": seed, **record}
                with done.open("a", encoding="utf-8") as file:
                    file.write(json.dumps(known[seed]) + "\n")
                print(seed, record["outcome"], record.get("seconds", ""), flush=True)
        time.sleep(0.002)
    return Counter(record["outcome"] for record in known.values())


def warm(folder: Path, ways: tuple[str, ...]) -> None:
    """Import what every process needs, once, and keep it from their garbage collection."""
    for seed in range(6):
        judged(diagram_of(seed, True), placed(diagram_of(seed, True), folder, "warm"), ways, False)
    gc.collect()
    gc.freeze()


def _answer(process: Any, pipe: Any, spent: float, limit: float) -> dict[str, Any] | None:
    """What a process says, or has become of it; None while it works."""
    found: dict[str, Any] | None = None
    if pipe.poll():
        try:
            found = pipe.recv()
        except EOFError:
            process.join()
            found = {"outcome": f"died: {process.exitcode}"}
    elif spent > limit:
        process.kill()
        found = {"outcome": "too slow", "seconds": spent}
    if found is not None:
        process.join()
        pipe.close()
    return found


def _one(
    pipe: Any,
    seed: int,
    ways: tuple[str, ...],
    folder: Path,
    small: bool,
    shrink: float,
    grid: bool,
) -> None:
    try:
        content = diagram_of(seed, small)
        every = unit_of(seed) if grid and is_pure(seed) else None
        path = placed(content, folder / "work", f"{seed}")
        verdict = judged(content, path, ways, is_pure(seed), every)
        if verdict.differ and not verdict.known:
            keep(seed, content, verdict, folder, shrink, every)
        elif not verdict.error:
            path.unlink()
        pipe.send({
            "outcome": verdict.outcome, "blocks": len(content["blocks"]),
            "differ": verdict.differ, "error": verdict.error,
            "seconds": {way: round(s, 2) for way, s in verdict.seconds.items()},
        })  # fmt: skip
    except Exception as error:
        pipe.send({"outcome": f"raised: {type(error).__name__}", "error": str(error)[:500]})


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

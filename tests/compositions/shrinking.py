"""Smaller diagrams that still differ: blocks, wires, parameters and the length of the run are taken
away as long as the same two executions differ."""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterator
from typing import Any

Content = dict[str, Any]


def shrunk(content: Content, fails: Callable[[Content], bool], seconds: float = 300.0) -> Content:
    """The smallest diagram found within a time of which `fails` holds still."""
    until = time.monotonic() + seconds
    best, smaller = content, True
    while smaller:
        smaller = False
        for candidate in candidates(best):
            if time.monotonic() > until:
                return best
            if candidate != best and fails(candidate):
                best, smaller = candidate, True
                break
    return best


def candidates(content: Content) -> Iterator[Content]:
    """Diagrams with less, those with much less first."""
    names = [name for name in content["blocks"] if name != "zero"]
    size = len(names) // 2
    while size >= 1:
        for k in range(0, len(names), size):
            yield without(content, names[k : k + size])
        size //= 2
    for name in names:
        yield from bypassed(content, name)
    log = content["run"]["log"]
    for name in log if len(log) > 1 else ():
        yield {**content, "run": {**content["run"], "log": [n for n in log if n != name]}}
    yield from shorter(content)
    yield from plainer(content)


def tidy(content: Content) -> Content:
    """Without what nothing uses: logs, clocks, subsystems, and wires to nothing."""
    made = copy.deepcopy(content)
    blocks, text = made["blocks"], repr(made["blocks"]) + repr(made.get("subsystems", ""))
    known = {*blocks, *made.get("variants", {})}
    made["wires"] = [
        w for w in made["wires"] if head(w.partition(" -> ")[2]) in known
    ]  # fmt: skip
    made["run"]["log"] = [n for n in made["run"]["log"] if head(n) in known]
    for section in ("subsystems", "robots", "clocks"):
        for name in list(made.get(section, {})):
            if f"'{name}'" not in text:
                del made[section][name]
    used = {head(w.partition(" -> ")[0]) for w in made["wires"]}
    for name in list(made.get("variants", {})):
        if name not in used and f"{name}" not in made["run"]["log"]:
            del made["variants"][name]
            made["wires"] = [w for w in made["wires"] if head(w.partition(" -> ")[2]) != name]
    return made


def head(port: str) -> str:
    """The block of a port."""
    return port.partition(".")[0].partition("[")[0]


def without(content: Content, gone: list[str]) -> Content:
    """Without blocks; what read them reads a constant."""
    made = copy.deepcopy(content)
    for name in gone:
        del made["blocks"][name]
    wires = []
    for wire in made["wires"]:
        source, _, port = wire.partition(" -> ")
        if head(source) in gone and head(port) not in gone:
            made["blocks"].setdefault("zero", {"type": "CONSTANT", "value": 0.5})
            wires.append(f"zero -> {port}")
        else:
            wires.append(wire)
    made["wires"] = wires
    return tidy(made)


def bypassed(content: Content, name: str) -> Iterator[Content]:
    """With what reads a block reading one of its inputs instead."""
    into = [w.partition(" -> ")[0] for w in content["wires"] if head(w.split(" -> ")[1]) == name]
    for source in dict.fromkeys(into):
        if head(source) == name:
            continue
        made = copy.deepcopy(content)
        del made["blocks"][name]
        made["wires"] = [
            f"{source} -> {w.partition(' -> ')[2]}" if head(w) == name else w for w in made["wires"]
        ]
        yield tidy(made)


def shorter(content: Content) -> Iterator[Content]:
    """With an earlier end."""
    T = content["run"]["T"]
    for part in (0.25, 0.5, 0.75, 0.9):
        if round(T * part, 4) > 0:
            yield {**content, "run": {**content["run"], "T": round(T * part, 4)}}
    clocks = [c["T"] for c in content.get("clocks", {}).values() if "T" in c]
    for period in sorted(set(clocks)):
        k = int(round(T / period, 6))
        ends = [round(n * period, 10) for n in (k // 2, k - 1, k) if n > 0]
        yield from ({**content, "run": {**content["run"], "T": e}} for e in ends if e < T)


def plainer(content: Content) -> Iterator[Content]:
    """With fewer parameters, and rounder ones."""
    for name, block in content["blocks"].items():
        for key in block:
            if key not in ("type", "clock"):
                less = {k: v for k, v in block.items() if k != key}
                yield {**content, "blocks": {**content["blocks"], name: less}}
    for key in ("rtol", "atol", "max_step"):
        if key in content["run"]:
            less = {k: v for k, v in content["run"].items() if k != key}
            yield {**content, "run": less}

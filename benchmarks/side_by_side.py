"""Peers measured one after another, again and again, in one process; a table of medians.

A peer is a function that runs once and returns the seconds its loop took, or None where
that is the whole call, and the state it ends in. The call is timed around it.
"""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version

import numpy as np

Peer = Callable[[], tuple[float | None, np.ndarray]]


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


def versions(*names: str) -> str:
    return ", ".join(f"{name} {version(name)}" for name in names)


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

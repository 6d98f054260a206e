"""Pauses Python's cyclic garbage collector while a large diagram is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Context manager without garbage collection. Hundreds of thousands of objects are created and
    nearly all of them are kept, so each collection visits all of them and frees none, which takes a
    third of the time to load 10,000 blocks. The pause applies to the whole process; if two threads
    overlap, it may end early, which only costs time.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

"""Python's collector of cyclic garbage, paused while a large diagram is built."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def collector_paused() -> Iterator[None]:
    """Within, no cyclic garbage is looked for.

    Hundreds of thousands of objects are made here and nearly all of them stay, so each
    search for garbage goes through all of them and finds none: a third of the time that
    10,000 blocks take to load. The pause holds for the whole process; where two threads
    overlap, it may end early, which costs time only.
    """
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()

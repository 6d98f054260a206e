"""Runners for tests of executors: what they do in a worker process."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

from spart_blocks.sweeps.run.one_by_one import each_run


def slowly(work):
    """A run every 50 ms."""
    for k in range(len(work.runs)):
        time.sleep(0.05)
        yield from each_run(work.part(slice(k, k + 1)))


def ending_at_7(work):
    """Run 7 ends its process."""
    if 7 in work.runs:
        os.kill(os.getpid(), signal.SIGKILL)
    yield from each_run(work)


def ending_once(work):
    """The first process that does run 3 ends; a file remembers it."""
    mark = Path(os.environ["SPART_TEST_MARK"])
    if 3 in work.runs and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    yield from each_run(work)


def noting_processes(work):
    """Note the process in a file."""
    with Path(os.environ["SPART_TEST_MARK"]).open("a") as file:
        file.write(f"{os.getpid()} {len(work.runs)}\n")
    yield from slowly(work)

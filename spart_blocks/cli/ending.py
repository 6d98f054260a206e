"""Requests to end a command: Ctrl-C, and the signals of an init system or a closing terminal. All
act like Ctrl-C: the results so far are kept. While results are being written, the first request
does not interrupt the writing, the second does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spart_blocks.base.interrupts import requests_go_to
from spart_blocks.cli.terminal import say

SAME = 0.5
"""Requests within this time [s] count as one: a closing terminal or a service manager sends
several.
"""


class Once:
    """A signal handler that treats requests in quick succession as one. act: called with the number
    of the request, from 0."""

    def __init__(self, act: Callable[[int], None]) -> None:
        self.act, self.count, self._last = act, 0, -1e9

    def __call__(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        again, self._last = now - self._last < SAME, now
        if not again:
            self.count += 1
            self.act(self.count - 1)


def interrupt(_: int = 0) -> None:
    """Raise KeyboardInterrupt, as Ctrl-C does in Python."""
    raise KeyboardInterrupt


def interruptible() -> Any:
    """Context manager in which each request to end is a KeyboardInterrupt."""
    return requests_go_to(Once(interrupt))


@contextmanager
def writing() -> Iterator[None]:
    """Context manager in which the first request to end only prints a message, so that all results
    are written; the second one aborts."""

    def put_off(which: int) -> None:
        if which:
            interrupt()
        say("the results are being written; once more breaks off")

    with requests_go_to(Once(put_off)):
        yield

"""Requests to end a command: Ctrl-C, and what an init system or a terminal that closes sends.

Each of them ends what is being done as Ctrl-C does, which keeps what was computed. While
results are being written the first one waits, so that it does not cost what was to be kept.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from spart_blocks.cli.terminal import say

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")
SAME = 0.5
"""Requests that follow one another within so long are one [s]: a terminal that closes, and
who stops a service, send several."""

Handler = Callable[[int, Any], None]


@contextmanager
def requests_go_to(handler: Handler) -> Iterator[None]:
    """Within, requests to end call this. Those that the process was started to ignore, as
    with nohup, stay ignored. Elsewhere than in the main thread all is as it was."""
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        asked = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        before = {n: signal.getsignal(n) for n in asked}
        before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


class Once:
    """A handler that takes requests in quick succession for one. act: called with which of
    them it is, from 0 on."""

    def __init__(self, act: Callable[[int], None]) -> None:
        self.act, self.count, self._last = act, 0, -1e9

    def __call__(self, number: int, frame: Any) -> None:
        now = time.monotonic()
        again, self._last = now - self._last < SAME, now
        if not again:
            self.count += 1
            self.act(self.count - 1)


def interrupt(_: int = 0) -> None:
    """What Ctrl-C does in Python."""
    raise KeyboardInterrupt


def interruptible() -> Any:
    """Within, each request to end is a KeyboardInterrupt."""
    return requests_go_to(Once(interrupt))


@contextmanager
def writing() -> Iterator[None]:
    """Within, the first request to end is put off until all is written; the second breaks
    off."""

    def put_off(which: int) -> None:
        if which:
            interrupt()
        say("the results are being written; once more breaks off")

    with requests_go_to(Once(put_off)):
        yield

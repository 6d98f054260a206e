"""Requests to end (Ctrl-C, SIGTERM) that wait while something is written."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")


@contextmanager
def deferred() -> Iterator[None]:
    """Context manager after which the first request to end that came within it is answered, as it
    would have been; further ones are answered at once. Outside the main thread it has no effect.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    came: list[tuple[int, Any]] = []
    numbers = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
    before = {n: signal.getsignal(n) for n in numbers}
    before = {n: handler for n, handler in before.items() if callable(handler)}

    def wait(number: int, frame: Any) -> None:
        came.append((number, frame))
        if len(came) > 1:
            _answer(before[number], number, frame)

    for number in before:
        signal.signal(number, wait)
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    if came:
        number, frame = came[0]
        _answer(before[number], number, frame)


def _answer(handler: Any, number: int, frame: Any) -> None:
    handler(number, frame)

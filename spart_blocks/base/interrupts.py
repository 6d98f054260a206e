"""Requests to end: Ctrl-C, and the signals of an init system or a closing terminal."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

_NAMES = ("SIGINT", "SIGTERM", "SIGHUP")

Handler = Callable[[int, Any], None]


@contextmanager
def requests_go_to(handler: Handler) -> Iterator[Mapping[int, Any]]:
    """Context manager in which requests to end call a handler; gives those that they called before,
    by number. Signals that the process ignores from the start, as with nohup, stay ignored. Outside
    the main thread it has no effect.
    """
    before: dict[int, Any] = {}
    if threading.current_thread() is threading.main_thread():
        asked = [getattr(signal, name) for name in _NAMES if hasattr(signal, name)]
        before = {n: signal.getsignal(n) for n in asked}
        before = {n: old for n, old in before.items() if old not in (signal.SIG_IGN, None)}
    for number in before:
        signal.signal(number, handler)
    try:
        yield before
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def deferred() -> Iterator[None]:
    """Context manager after which the first request to end that came within it is answered, as it
    would have been; the second is answered at once."""
    came: list[int] = []

    def wait(number: int, frame: Any) -> None:
        came.append(number)
        if len(came) > 1:
            signal.signal(number, before[number])
            signal.raise_signal(number)

    with requests_go_to(wait) as before:
        yield
    if came:
        signal.raise_signal(came[0])

"""A worker process of `processes.py`: `python -m spart_blocks.sweeps.run.worker`.

Calls come as pickles on stdin, and their answers go as pickles to stdout, after an empty message:
whether a call returned, and the value or the exception. The process ends when stdin is closed.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
import threading
from contextlib import suppress
from queue import SimpleQueue
from typing import Any

from spart_blocks.base.errors import RunError, told
from spart_blocks.run.worker import own_stdout
from spart_blocks.sweeps.run.messages import read, write


def main() -> None:
    """Answer calls. The parent handles an interrupt and then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    answers = own_stdout()
    calls: SimpleQueue[bytes] = SimpleQueue()
    threading.Thread(target=_listen, args=(calls,), daemon=True).start()
    write(answers, b"")
    while True:
        write(answers, _answer(calls.get()))


def _listen(calls: SimpleQueue[bytes]) -> None:
    """Receive calls; the parent is gone when stdin closes."""
    with suppress(EOFError):
        while True:
            calls.put(read(sys.stdin.buffer))
    os._exit(0)


def _answer(message: bytes) -> bytes:
    answer: tuple[bool, Any]
    try:
        function, args, kwargs = pickle.loads(message)
        answer = True, function(*args, **kwargs)
    except Exception as error:
        answer = False, error
    try:
        return pickle.dumps(answer)
    except Exception as error:  # an exception of a user's block, for example
        return pickle.dumps((False, RunError(f"a worker cannot send its answer: {told(error)}")))


if __name__ == "__main__":
    main()

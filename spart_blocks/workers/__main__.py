"""The entry point of every worker process: `python -m spart_blocks.workers MODULE`.

The module has a function `serve(inbox, outbox)`, which receives the messages of the parent and
answers them. The process ends when it returns, or at once when the parent has ended.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import BinaryIO

from spart_blocks.workers.frames import Inbox, Outbox


def main(module: str) -> None:
    """Serve a module. Ctrl-C is ignored: the parent handles it and ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outbox = Outbox(_own_stdout())
    inbox = Inbox(open(0, "rb", buffering=0, closefd=False))  # noqa: SIM115 - of the whole process
    try:
        importlib.import_module(module).serve(inbox, outbox)
    finally:
        inbox.over = True
        outbox.close()


def _own_stdout() -> BinaryIO:
    """The pipe to the parent. Output printed by blocks is redirected to stderr."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])

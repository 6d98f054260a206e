"""The main of every worker process: `python -m spart_blocks.workers MODULE`.

The module has a function `serve(inbox, outbox)`, which takes the messages of the parent and answers
them until its work is done. The process ends when it returns, or at once when the parent is gone.
"""

from __future__ import annotations

import importlib
import os
import signal
import sys
from typing import BinaryIO

from spart_blocks.workers.boxes import Inbox, Outbox


def main(module: str) -> None:
    """Serve a module. The parent answers an interrupt, and then ends this process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    outbox = Outbox(_own_stdout())
    inbox = Inbox(open(0, "rb", buffering=0, closefd=False))  # noqa: SIM115 - of the whole process
    try:
        importlib.import_module(module).serve(inbox, outbox)
    finally:
        inbox.over = True
        outbox.close()


def _own_stdout() -> BinaryIO:
    """The pipe to the parent; what blocks print goes to stderr instead."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    return answers


if __name__ == "__main__":
    main(sys.argv[1])

"""A run of the studio in a worker process.

The first message is the job; commands follow. The process stays when the run has ended, and answers
what is asked of its record, until its parent closes it.
"""

from __future__ import annotations

import time

from spart_blocks.studio.runs.runner import Runner
from spart_blocks.workers.boxes import Inbox, Outbox


class WallClock:
    """The clock on the wall [s]."""

    def now(self) -> float:
        return time.monotonic()


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Do the job, then answer for ever."""
    job = inbox.next(None)
    assert job is not None
    Runner(job, inbox, outbox, WallClock()).go()

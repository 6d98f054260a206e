"""Worker process for a run of the studio.

The first message is the job; commands follow. After the run, the process stays to answer queries of
its record until its parent closes it.
"""

from __future__ import annotations

import time

from spart_blocks.studio.runs.answers import ANSWERS
from spart_blocks.studio.runs.runner import Runner
from spart_blocks.workers.frames import Inbox, Outbox


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Perform the run of the job, then answer queries until the process ends."""
    job = inbox.next(None)
    assert job is not None
    Runner(job, inbox, outbox, time.monotonic, ANSWERS).go()

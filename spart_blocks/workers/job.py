"""Worker processes that do one job: they take it, tell what comes of it, and can be interrupted."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable
from typing import Any

from spart_blocks.workers.frames import Inbox, Outbox, error_as_json

Say = Callable[..., None]
"""Sends a message to the parent: a header with `tell`, and a body."""


def serve_job(inbox: Inbox, outbox: Outbox, work: Callable[[dict[str, Any], Say], None]) -> None:
    """Do the job of the first message, then end. work: called with the job and a function that
    sends messages. Messages from here are "done" after it, "stopped" after an interrupt, or
    "failed" with an error. Another message from the parent interrupts it, as Ctrl-C does."""
    job, _ = inbox.receive()
    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=_interrupt, args=(inbox,), daemon=True).start()
    try:
        work(job, outbox.send)
        outbox.send({"tell": "done"})
    except KeyboardInterrupt:
        outbox.send({"tell": "stopped"})
    except Exception as error:
        outbox.send({"tell": "failed", "error": error_as_json(error)})
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # it is over, or one is enough


def _interrupt(inbox: Inbox) -> None:
    """Interrupt the main thread when a message comes."""
    main_thread = threading.main_thread().ident
    assert main_thread is not None
    while inbox.receive():
        signal.pthread_kill(main_thread, signal.SIGINT)

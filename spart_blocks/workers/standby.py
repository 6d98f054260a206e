"""Worker process that is started before there is work for it.

Messages of the parent are orders, which are done in turn, and at the end {"serve": MODULE}: from
then on it is a worker of this module, like one that was started for it. An order names a module,
whose import may be all that is wanted, or whose function `prepare(order, say)` fills the caches of
this process. `nice` of an order lowers the priority of the thread that does it, but not that of the
work that follows. Messages to the parent are {"tell": "doing", "doing"} of an order that takes
long, and {"tell": "ready"} after each. An order that fails has prepared nothing: the work meets the
error again.
"""

from __future__ import annotations

import os
import queue
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from importlib import import_module
from typing import Any

from spart_blocks.workers.frames import Inbox, Outbox


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Do orders until there is work, then the work."""
    orders: queue.SimpleQueue[Mapping[str, Any] | None] = queue.SimpleQueue()
    ahead = threading.Thread(target=_work_ahead, args=(orders, outbox), daemon=True)
    ahead.start()
    while "serve" not in (message := inbox.receive()[0]):
        orders.put(message)
    orders.put(None)
    ahead.join()
    import_module(message["serve"]).serve(inbox, outbox)


def _work_ahead(orders: queue.SimpleQueue[Mapping[str, Any] | None], outbox: Outbox) -> None:
    """Do orders in this thread, whose priority can be lowered without that of the main thread."""
    while (order := orders.get()) is not None:
        _give_way(order.get("nice", 0))
        with suppress(Exception):
            prepare = getattr(import_module(order["module"]), "prepare", None)
            if prepare is not None:
                prepare(order, outbox.send)
        outbox.send({"tell": "ready"})


def _give_way(nice: int) -> None:
    """Lower the priority of this thread. Linux alone has priorities of threads."""
    if sys.platform == "linux" and nice:
        with suppress(OSError):
            os.setpriority(os.PRIO_PROCESS, threading.get_native_id(), nice)

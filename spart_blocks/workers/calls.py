"""Performs the calls of an executor in a worker process.

A call is a pickled function with its arguments, and its answer the pickled result or exception. An
exception is also sent as JSON, since some cannot be pickled.
"""

from __future__ import annotations

import pickle
from contextlib import suppress
from typing import Any

from spart_blocks.base.errors import RunError, told
from spart_blocks.workers.boxes import Inbox, Outbox
from spart_blocks.workers.faults import error_as_json, error_from_json
from spart_blocks.workers.frames import Message


def serve(inbox: Inbox, outbox: Outbox) -> None:
    """Report that the process is ready, then answer calls until it ends."""
    outbox.send({"ready": True})
    while True:
        outbox.send(*_answer(inbox.receive()[1]))


def _answer(call: bytes) -> Message:
    try:
        function, args, kwargs = pickle.loads(call)
        value = function(*args, **kwargs)
    except Exception as error:
        return _raised(error)
    try:
        return {}, pickle.dumps(value)
    except Exception as error:
        return _raised(RunError(f"a worker cannot send its answer: {told(error)}"))


def _raised(error: Exception) -> Message:
    pickled = b""
    with suppress(Exception):  # whatever an exception of a user's block raises
        pickled = pickle.dumps(error)
    return {"error": error_as_json(error)}, pickled


def returned(answer: Message) -> Any:
    """The result of a call from its answer. Raises the exception that the call raised."""
    header, body = answer
    if "error" not in header:
        return pickle.loads(body)
    error: Any = None
    with suppress(Exception):
        error = pickle.loads(body)
    raise error if isinstance(error, Exception) else error_from_json(header["error"])

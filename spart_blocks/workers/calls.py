"""The calls of an executor, served in a worker process.

A call comes as a pickle of a function and its arguments, and its answer is the pickle of what it
returned or raised. An exception is told as JSON too, for one that no pickle holds.
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
    """Say that the process is ready, and answer calls for ever."""
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
    """What a call returned. Raises what it raised."""
    header, body = answer
    if "error" not in header:
        return pickle.loads(body)
    error: Any = None
    with suppress(Exception):
        error = pickle.loads(body)
    raise error if isinstance(error, Exception) else error_from_json(header["error"])

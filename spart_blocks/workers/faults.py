"""Errors as JSON, for messages between processes."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from typing import Any

from spart_blocks.base.errors import (
    DiagramError,
    Fault,
    InputError,
    Place,
    RobotError,
    RunError,
    SpartError,
)

_INPUT_ERRORS = {kind.__name__: kind for kind in (InputError, RobotError, DiagramError)}


def error_as_json(error: Exception) -> dict[str, Any]:
    """An error as data for JSON, see `error_from_json`. A subclass of InputError is stored as its
    nearest base class that can be restored. Other exceptions become a RunError with their
    traceback."""
    if isinstance(error, InputError):
        faults = [
            {
                "message": fault.message,
                "hint": fault.hint,
                "place": fault.place and [fault.place.file, fault.place.line, fault.place.column],
            }
            for fault in error.faults
        ]
        kind = next(c.__name__ for c in type(error).__mro__ if c.__name__ in _INPUT_ERRORS)
        return {"kind": kind, "faults": faults}
    if isinstance(error, RunError):
        known = {key: getattr(error, key) for key in ("message", "block", "time", "hint")}
        return {"kind": "RunError", **known}
    if isinstance(error, SpartError):
        return {"kind": "RunError", "message": str(error)}
    trace = "".join(traceback.format_exception(error)).rstrip()
    message = f"this should not have happened: {type(error).__name__}: {error}"
    return {"kind": "RunError", "message": message, "trace": trace}


def error_from_json(plain: Mapping[str, Any]) -> SpartError:
    """The error restored from the data of `error_as_json`."""
    kind = _INPUT_ERRORS.get(plain["kind"])
    if kind is not None:
        return kind(
            Fault(one["message"], one["place"] and Place(*one["place"]), one["hint"])
            for one in plain["faults"]
        )
    fields = {key: plain.get(key) for key in ("block", "time", "hint")}
    error = RunError(plain["message"], **fields)
    if "trace" in plain:
        error.add_note(plain["trace"])  # shown by --debug
    return error

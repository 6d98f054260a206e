"""Finds and calls the handler of each request, and converts errors to answers."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from importlib import import_module
from typing import Any

from spart_blocks.base.errors import Fault, InputError, RunError, SpartError, told
from spart_blocks.studio.client import LATER, Client, Handler

_HOMES = (
    "spart_blocks.studio.project",
    "spart_blocks.studio.files",
    "spart_blocks.studio.runs.handlers",
    "spart_blocks.studio.runs.debugging",
    "spart_blocks.studio.claims.handlers",
    "spart_blocks.studio.jobs.handlers",
    "spart_blocks.studio.changes.handlers",
)
_LOG = logging.getLogger(__name__)


def all_handlers() -> dict[str, Handler]:
    """All handlers by the name of their request."""
    found: dict[str, Handler] = {}
    for home in _HOMES:
        found |= import_module(home).HANDLERS
    return found


async def answer(client: Client, handlers: Mapping[str, Handler], text: str) -> None:
    """Handle one message of a page, and send the answer."""
    try:
        request = json.loads(text)
        n, what = int(request.pop("n")), str(request.pop("do"))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError):
        client.post(json.dumps({"n": 0, "problem": {"message": "that is no request"}}))
        return
    reply: dict[str, Any] = {"n": n}
    try:
        handler = handlers.get(what)
        if handler is None:
            raise InputError(f"there is no request {what[:40]!r}")
        found = await handler(client, {**request, "n": n})
        if found is LATER:
            return
        reply["ok"] = found
    except SpartError as error:
        reply["problem"] = problem_of(error)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        _LOG.exception("request %s", what)
        reply["problem"] = {"message": f"{what}: wrong arguments ({told(error)})"}
    except Exception as error:  # one request's fault is not the end of a session
        _LOG.exception("request %s", what)
        reply["problem"] = {"message": f"{what} failed: {told(error)}"}
    client.post(json.dumps(reply))


def problem_of(error: SpartError) -> dict[str, Any]:
    """An error as data for the page: its first fault, with the others under `others`."""
    if isinstance(error, InputError):
        first, *others = map(problem_of_fault, error.faults)
        return {**first, "others": others} if others else first
    found: dict[str, Any] = {"message": str(error)}
    if isinstance(error, RunError):
        found |= {"block": error.block, "time": error.time}
    return {key: value for key, value in found.items() if value is not None}


def problem_of_fault(fault: Fault) -> dict[str, Any]:
    """A fault as data for the page: message, hint, place, and the edit that corrects it."""
    place = None if fault.place is None else str(fault.place)
    found: dict[str, Any] = {"message": fault.message, "hint": fault.hint, "place": place}
    if fault.edit:
        op, name, *wires = fault.edit
        slot, _, choice = name.partition(".")
        found["edit"] = {"op": op, "slot": slot, "choice": choice, "wires": wires}
    return {key: value for key, value in found.items() if value is not None}


def text_of(given: Mapping[str, Any], name: str, otherwise: str | None = None) -> str:
    """A text argument of a request. Raises InputError if it is none."""
    value = given.get(name, otherwise)
    if not isinstance(value, str):
        raise InputError(f"the request needs a text {name!r}")
    return value


def number_of(given: Mapping[str, Any], name: str) -> float:
    """A numeric argument of a request. Raises InputError if it is no finite number."""
    value = given.get(name)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value - value != 0:
        raise InputError(f"the request needs a number {name!r}")
    return float(value)

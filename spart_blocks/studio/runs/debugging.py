"""Handlers of the requests about steps and breakpoints of runs."""

from __future__ import annotations

from typing import Any

from spart_blocks.base.errors import InputError
from spart_blocks.studio.client import Client, Handler
from spart_blocks.studio.requests import number_of, text_of
from spart_blocks.studio.runs.handlers import Given, ask_run, entry_of, steer
from spart_blocks.studio.runs.kept_breakpoints import BreakpointBook, enabled_breakpoints
from spart_blocks.studio.runs.registry import runs_of

_ASKED = ("to", "clock", "interval")


async def step(client: Client, given: Given) -> None:
    """Step the latest run of a file."""
    asked = {key: given[key] for key in _ASKED if given.get(key) is not None}
    if given.get("t") is not None:
        asked["t"] = number_of(given, "t")
    await steer(client, given, "step", **asked)


async def moment(client: Client, given: Given) -> Any:
    """An instant of the record of a run, None if it has none."""
    asked = {key: given[key] for key in (*_ASKED, "back") if given.get(key) is not None}
    about = {"t": number_of(given, "t"), "to": text_of(given, "to"), **asked}
    return (await ask_run(entry_of(client, given), "moment", **about))[0]


async def changed(client: Client, given: Given) -> Any:
    """What happened at time t [s] of a run, and what it changed."""
    return (await ask_run(entry_of(client, given), "changed", t=number_of(given, "t")))[0]


async def breakpoints(client: Client, given: Given) -> Any:
    """The breakpoints of a file."""
    return client.session.part(BreakpointBook).of(text_of(given, "path"))


async def set_breakpoints(client: Client, given: Given) -> Any:
    """Set the breakpoints of a file, for all its pages and for a run that goes on."""
    path, session = text_of(given, "path"), client.session
    found = session.part(BreakpointBook).set(path, given.get("breakpoints"))
    session.tell({"tell": "breakpoints", "path": path, "breakpoints": found})
    for entry in runs_of(session).of(path):
        if entry.active and entry.process is not None:
            texts = enabled_breakpoints(session, path)
            try:
                await ask_run(entry, "breakpoints", conditions=texts)
            except InputError:
                continue  # it has ended meanwhile
    return found


HANDLERS: dict[str, Handler] = {
    "step": step,
    "moment": moment,
    "changed": changed,
    "breakpoints": breakpoints,
    "set-breakpoints": set_breakpoints,
}

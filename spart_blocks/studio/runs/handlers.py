"""Handlers of the requests about runs: start, control, continue, and query the record."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.studio.client import LATER, Client, Handler
from spart_blocks.studio.files.session import opened_files
from spart_blocks.studio.requests import number_of, text_of
from spart_blocks.studio.runs import loops, opened
from spart_blocks.studio.runs.kept_breakpoints import enabled_breakpoints
from spart_blocks.studio.runs.opened import job_of
from spart_blocks.studio.runs.record import table_of
from spart_blocks.studio.runs.registry import WORKER, RunEntry, loaded, runs_of
from spart_blocks.studio.runs.suggestions import suggested
from spart_blocks.versions.edits import Operation, Tune
from spart_blocks.workers.async_process import AsyncWorker

SLOWEST, FASTEST = 1e-3, 1e3
"""Limits of the speed of a run, as a multiple of real time."""
_MOST_TEXT = 100_000

Given = dict[str, Any]


async def run(client: Client, given: Given) -> Given:
    """Start a run of a file, with the values tuned in the one before. A run of it that is still
    active is stopped first."""
    path, job = job_of(client.session, text_of(given, "path"))
    job |= {"speed": speed_of(given), "T": _end(given), "paused": given.get("paused") is True}
    job["breakpoints"] = enabled_breakpoints(client.session, path)
    registry = runs_of(client.session)
    job["carried"] = registry.carried(path)
    return (await registry.begin(path, job, "run {}")).told


async def go_on(client: Client, given: Given) -> Given:
    """Start a run that continues an earlier one from time t."""
    path, job = job_of(client.session, text_of(given, "path"))
    registry = runs_of(client.session)
    entry, t = registry.entry(path, given.get("run")), number_of(given, "t")
    job |= {"speed": speed_of(given), "T": _end(given), "paused": given.get("paused") is True}
    job["breakpoints"] = enabled_breakpoints(client.session, path)
    states = given.get("states") or {}
    if not isinstance(states, dict) or not all(isinstance(x, list) for x in states.values()):
        raise InputError("states are lists of numbers by block")
    job["start"] = (await ask_run(entry, "state", t=t))[0]
    job["states"] = states
    job["tuned"] = _tuned(given.get("tuned"), entry.facts["tuned"])
    label = f"run {{}}, from {entry.facts['label'].partition(',')[0]} at {t:g} s"
    return (await registry.begin(path, job, label)).told


def _tuned(given: Any, before: Mapping[str, str]) -> dict[str, str]:
    """The tuned values for the new run: those of the request, otherwise those of the earlier
    run."""
    if given is None:
        return dict(before)
    if not isinstance(given, dict) or not all(isinstance(text, str) for text in given.values()):
        raise InputError("tuned are texts of values by name")
    return given


async def pause(client: Client, given: Given) -> None:
    await steer(client, given, "pause")


async def resume(client: Client, given: Given) -> None:
    await steer(client, given, "resume")


async def stop(client: Client, given: Given) -> None:
    registry = runs_of(client.session)
    await registry.end(registry.current(text_of(given, "path")))


async def speed(client: Client, given: Given) -> None:
    await steer(client, given, "speed", speed=speed_of(given))


async def tune(client: Client, given: Given) -> Any:
    """Set a parameter of the latest run, or of a loop."""
    path, name, text = (text_of(given, key) for key in ("path", "name", "text"))
    if len(text) > _MOST_TEXT:
        raise InputError("this value is too long")
    if loops.is_loop(path):
        return await loops.tune(client.session, path, name, text)
    return await steer(client, given, "tune", name=name, text=text)


async def push(client: Client, given: Given) -> None:
    """Push a body of the latest run."""
    asked = {key: given.get(key) for key in ("body", "force", "point")}
    await steer(client, given, "push", **asked)


async def steer(client: Client, given: Given, what: str, **arguments: Any) -> Any:
    """Send a command to the latest run of a file; returns its answer."""
    entry = runs_of(client.session).current(text_of(given, "path"))
    return (await ask_run(entry, what, **arguments))[0]


async def keep(client: Client, given: Given) -> Any:
    """Write the values tuned in the latest run into the file."""
    path = text_of(given, "path")
    entry = runs_of(client.session).current(path)
    found = (await ask_run(entry, "tuned"))[0]
    operations: list[Operation] = [Tune(name, value) for name, value in found.items()]
    if not operations:
        raise InputError(Fault("nothing has been tuned in this run", hint="tune a parameter"))
    changed = await opened.keep(client, path, text_of(given, "at", ""), operations)
    await ask_run(entry, "kept")
    return changed


async def runs(client: Client, given: Given) -> list[Given]:
    """The runs of a file that are kept."""
    registry, path = runs_of(client.session), text_of(given, "path")
    file = opened_files(client.session).files.get(path)
    if file is not None:
        registry.look_at(file)
    return [entry.told for entry in registry.of(path)]


async def values(client: Client, given: Given) -> Any:
    """The values of signals at time t [s], by default those of the wires of a sheet."""
    entry, at, names = entry_of(client, given), text_of(given, "at", ""), given.get("names")
    if names is None:
        names = await opened.wire_signals(client.session, entry.path, at)
    asked = {"at": at, "t": number_of(given, "t"), "names": names}
    return (await ask_run(entry, "values", **asked))[0]


async def states(client: Client, given: Given) -> Any:
    """The states of blocks at time t [s] of a run."""
    return (await ask_run(entry_of(client, given), "states", t=number_of(given, "t")))[0]


async def active(client: Client, given: Given) -> Any:
    """The active states of a machine at time t [s] of a run."""
    asked = {"t": number_of(given, "t"), "block": text_of(given, "block")}
    return (await ask_run(entry_of(client, given), "active", **asked))[0]


async def pushed(client: Client, given: Given) -> Any:
    """The plants on which a push acts at time t [s] of a run."""
    return (await ask_run(entry_of(client, given), "pushed", t=number_of(given, "t")))[0]


async def tunables(client: Client, given: Given) -> Any:
    """The parameters that can be tuned in a run or a loop."""
    path = text_of(given, "path")
    if loops.is_loop(path):
        return await loops.tunables(client.session, path)
    return (await ask_run(entry_of(client, given), "tunables"))[0]


async def signals(client: Client, given: Given) -> Any:
    """Send signals of a run as rows, over the whole run or a part of it."""
    entry = entry_of(client, given)
    asked = {key: given.get(key) for key in ("names", "from", "to")}
    if entry.process is None and entry.saved is not None:
        head, body = await asyncio.to_thread(table_of, loaded(entry.saved), **_span(asked))
    else:
        head, body = await ask_run(entry, "signals", **asked)
    header = {"tell": "rows", "n": given["n"], "path": entry.path, "run": entry.number, **head}
    client.post_numbers(header, np.frombuffer(body, dtype="<f8"))
    return LATER


def _span(asked: Mapping[str, Any]) -> Given:
    return {"names": asked["names"], "first": asked["from"], "last": asked["to"]}


async def suggest(client: Client, given: Given) -> Any:
    """Suggested claims that hold for a signal of a run."""
    entry, signal = entry_of(client, given), text_of(given, "signal")
    if entry.process is None and entry.saved is not None:
        return await asyncio.to_thread(suggested, loaded(entry.saved), signal)
    return (await ask_run(entry, "suggest", signal=signal))[0]


async def motion(client: Client, given: Given) -> Any:
    """The recording of a run, or of the plants at their initial poses. From now on, runs of the
    file also send poses."""
    path, job = job_of(client.session, text_of(given, "path"))
    registry = runs_of(client.session)
    if path not in registry.shows_motion:
        registry.shows_motion.add(path)
        for entry in registry.of(path):
            if entry.active:
                await ask_run(entry, "poses")
    if given.get("run") is None:
        body = await _still(job)
    else:
        body = (await ask_run(entry_of(client, given), "motion"))[1]
    return json.loads(body)


async def _still(job: Given) -> bytes:
    """The recording of a file's plants at their initial poses, made in a process of its own."""
    process = AsyncWorker(WORKER, lambda *_: None, lambda _: None)
    await process.start()
    try:
        await process.send({**job, "still": True})
        return (await process.ask("still", {}))[1]
    finally:
        await process.close()


def speed_of(given: Given) -> float | None:
    """The speed of a request, as a multiple of real time; None for as fast as it goes."""
    if given.get("speed") is None:
        return None
    found = number_of(given, "speed")
    if not SLOWEST <= found <= FASTEST:
        raise InputError(f"a speed is from {SLOWEST:g} to {FASTEST:g} times real time")
    return found


def _end(given: Given) -> float | None:
    return None if given.get("T") is None else number_of(given, "T")


def entry_of(client: Client, given: Given) -> RunEntry:
    """The run that a request names."""
    return runs_of(client.session).entry(text_of(given, "path"), given.get("run"))


async def ask_run(entry: RunEntry, what: str, **arguments: Any) -> tuple[Any, bytes]:
    """Send a command to the process of a run. Raises InputError if it is gone."""
    if entry.process is None:
        text = f"{entry.facts['label']} has ended, and its process is gone"
        hint = "run it again" if entry.saved is None else "its kept signals can still be plotted"
        raise InputError(Fault(text, hint=hint))
    return await entry.process.ask(what, arguments)


HANDLERS: dict[str, Handler] = {
    "run": run,
    "continue": go_on,
    "pause": pause,
    "resume": resume,
    "stop": stop,
    "speed": speed,
    "tune": tune,
    "push": push,
    "keep": keep,
    "runs": runs,
    "values": values,
    "signals": signals,
    "suggest": suggest,
    "states": states,
    "active": active,
    "pushed": pushed,
    "tunables": tunables,
    "motion": motion,
    **loops.HANDLERS,
}

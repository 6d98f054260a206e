"""Answers of a run's process to queries of its record: values, signals, motion, states, files."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.animation.page import page_of
from spart_blocks.base.document import parse_value
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.build.companions import AUDIT
from spart_blocks.diagram.sections.declarations import NOTHING
from spart_blocks.program.tracing.gains import wired
from spart_blocks.results import Results
from spart_blocks.run.engines.native import Native
from spart_blocks.studio.runs.changes import changed, moment
from spart_blocks.studio.runs.machines import active
from spart_blocks.studio.runs.record import (
    RecordPart,
    check_names,
    joined,
    plain_state,
    state_at,
    table_of,
)
from spart_blocks.studio.runs.runner import Answer, Runner, file_of_job
from spart_blocks.studio.runs.suggestions import suggested
from spart_blocks.studio.runs.tuning import carried, declared_in, listed, text_now
from spart_blocks.studio.runs.values import names_at, rates_of, values_at

MOST_STATES = 200
"""Largest number of states of a block that the page shows."""
MOST_TEXT = 2_000
"""Largest number of characters of a parameter that the page shows."""


def values(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The values of the named signals at time t [s], by default those of sheet `at`."""
    parts = runner.parts_at(float(asked["t"]))
    if not parts:
        return {}, b""
    engine = parts[0].engine
    given = asked.get("names")
    names = names_at(engine, asked["at"]) if given is None else check_names(given)
    if runner.rates is None:
        runner.rates = rates_of(engine)
    return values_at(parts, float(asked["t"]), names, runner.rates), b""


def signals(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """Signals over the whole run, or from one time [s] to another, with fewer rows for drawing."""
    return table_of(_results(runner), asked["names"], asked.get("from"), asked.get("to"))


def suggest(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """Suggested claims that hold for a signal of the run."""
    return suggested(_results(runner), asked["signal"]), b""


def motion(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The recording of the motion so far, as JSON for the viewer."""
    from spart_blocks.animation.recording import recording_of

    results = _results(runner)
    diagram, nodes = runner.known_parts()[0].engine.made_of()
    return None, json.dumps(recording_of(results, nodes, diagram)).encode()


def poses(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """Start sending poses of bodies during the run."""
    from spart_blocks.studio.runs.posing import Posing

    if runner.posing is None and runner.setting is not None:
        runner.posing = Posing(runner.setting.engine)
    return None, b""


def state(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The state at time t [s], from which a new run can continue."""
    return plain_state(state_at(_begun(runner), float(asked["t"]))), b""


def states(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The states of the blocks at time t [s] that the user may change."""
    parts = _begun(runner)
    engine, found = parts[0].engine, state_at(parts, float(asked["t"]))
    held = {one.name for one in engine.holds if one.is_added}
    return [
        {"block": name, "values": x.tolist(), "labels": list(engine.display.states.get(name, ()))}
        for name, x in {**found.continuous, **found.discrete}.items()
        if name not in held and not name.endswith(AUDIT) and len(x) <= MOST_STATES
        if np.isfinite(x).all()
    ], b""


def pushed(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The plants on which a push acts at time t [s]."""
    from spart_blocks.studio.runs.pushes import pushed_plants

    parts = [one for one in runner.known_parts() if one.begins <= float(asked["t"])]
    return pushed_plants(parts[-1].engine) if parts else [], b""


def tunable(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The parameters that can be tuned, with their present and initial values."""
    now, first = runner.next_setting or runner.setting, runner.first
    if now is None or first is None or not isinstance(first, Native):
        return [], b""
    engine = now.engine
    assert isinstance(engine, Native)
    found, known = [], declared_in(now.file)
    for name, used in listed(replace(now, engine=first)).items():
        values = [text_now(one, name) for one in (engine, first)]
        if len(values[0]) <= MOST_TEXT:
            slots = engine.program.given.get(name, (name,))
            units = (engine.display.units.get(slot, "") for slot in slots)
            one = known.get(name) or NOTHING
            found.append({
                "name": name,
                "text": values[0],
                "first": values[1],
                "unit": next(units, ""),
                "doc": one.doc or "",
                "min": one.min,
                "max": one.max,
                "used": used,
            })  # fmt: skip
    return found, b""


def tuned_values(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The tuned values that differ from the file's, by path of the file, to be written there. The
    parameters of a slot are in the choice of the run.
    """
    setting = runner.next_setting or runner.setting
    texts = {name: setting.texts[name] for name in carried(setting)} if setting else {}
    chosen = dict(one.split("=", 1) for one in runner.job["file"]["variants"])
    found = {}
    for name, text in texts.items():
        slot, _, rest = name.removeprefix("blocks.").partition(".")
        path = f"variants.{slot}.choices.{chosen[slot]}.{rest}" if slot in chosen else name
        found[path] = parse_value(text, name)
    return found, b""


def still(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """The recording of the plants at their initial poses, as JSON."""
    from spart_blocks.animation.still import start_of

    diagram = file_of_job(runner.job).load()
    return None, json.dumps(start_of(wired(diagram).nodes, diagram)).encode()


def save(runner: Runner, asked: Mapping[str, Any]) -> Answer:
    """Write the results to a file in the format of its suffix; for .html, a page with the motion,
    for .live.html one that runs with the present values of parameters, and for .mcap a recording
    with the robots."""
    path = Path(asked["file"])
    if path.name.endswith(".live.html"):
        path.write_text(_live_page(runner), encoding="utf-8")
        return None, b""
    results = _results(runner)
    if path.suffix == ".html":
        from spart_blocks.animation.recording import recording_of

        diagram, nodes = runner.known_parts()[0].engine.made_of()
        path.write_text(page_of(recording_of(results, nodes, diagram)), encoding="utf-8")
    elif path.suffix == ".mcap":
        from spart_blocks.recordings.record import record

        diagram, _ = runner.known_parts()[0].engine.made_of()
        record(results, path, diagram)
    else:
        results.save(path)
    return None, b""


def _live_page(runner: Runner) -> str:
    from spart_blocks.web.page import page_of_runs
    from spart_blocks.web.runnable import Runnable

    _begun(runner)
    now = runner.next_setting or runner.setting
    assert now is not None
    diagram, _ = now.engine.made_of()
    program = now.engine.program if isinstance(now.engine, Native) else None
    return page_of_runs([Runnable.of(diagram, program)])


def _begun(runner: Runner) -> list[RecordPart]:
    """The parts so far. Raises InputError before the run has begun."""
    parts = runner.known_parts()
    if not parts:
        raise InputError("the run has not begun")
    return parts


def _results(runner: Runner) -> Results:
    """The results so far. Raises InputError before the run has begun."""
    parts = _begun(runner)
    if runner.whole is None or runner.whole[0] != parts:
        tuned = runner.setting.texts if runner.setting else {}
        runner.whole = parts, joined(parts, tuned)
    return runner.whole[1]


ANSWERS: dict[str, Callable[[Runner, Mapping[str, Any]], Answer]] = {
    "values": values,
    "signals": signals,
    "suggest": suggest,
    "motion": motion,
    "poses": poses,
    "state": state,
    "save": save,
    "states": states,
    "active": active,
    "still": still,
    "pushed": pushed,
    "changed": changed,
    "moment": moment,
    "tunables": tunable,
    "tuned": tuned_values,
}

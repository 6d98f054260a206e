"""Stores a program as text: JSON that contains CasADi's own serialisation."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, astuple, fields
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spart_blocks.diagram.build.origins import Origin, Use
from spart_blocks.diagram.check.bounds import Bound
from spart_blocks.diagram.check.feedback_signs import PositiveLoop
from spart_blocks.diagram.network.clocks import Clock
from spart_blocks.diagram.network.display import Display
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.program import Handover, Program, Slot
from spart_blocks.program.tracing.holds import HeldOutput
from spart_blocks.program.tracing.switching import Crossing
from spart_blocks.results import ScopeSpec

if TYPE_CHECKING:
    from spart_blocks.base.document import Keys

_FUNCTIONS = (
    "rates",
    "held",
    "outputs",
    "watched",
    "switched",
    "restarted",
    "edges",
    "project",
    "reach",
    "advance",
)
_FAMILIES = ("updates", "resets")


def to_text(program: Program) -> str:
    """The program as text, without its robots, which are in the diagram. Raises TypeError if a
    scope's style is not plain data.
    """
    plain: dict[str, Any] = {f.name: getattr(program, f.name) for f in fields(program)}
    plain["plants"] = {}
    plain["origins"] = [_origin_text(*item) for item in program.origins.items()]
    plain["run"] = program.run.model_dump()
    plain["display"] = asdict(program.display)
    plain["p"] = program.p.tolist()
    plain["start"], plain["random"] = dict(program.start), dict(program.random)
    for name in ("states", "discrete", "parameters", "signals", "crossings"):
        plain[name] = [asdict(item) for item in plain[name]]
    plain["clocks"] = [
        {**asdict(clock), "period": str(clock.period), "offset": str(clock.offset)}
        for clock in program.clocks
    ]
    plain["holds"] = [asdict(one) for one in program.holds]
    plain["handovers"] = [(h.clock, h.slots, h.renewed.serialize()) for h in program.handovers]
    for name in _FUNCTIONS:
        plain[name] = None if plain[name] is None else plain[name].serialize()
    for name in _FAMILIES:
        plain[name] = {key: f.serialize() for key, f in plain[name].items()}
    return json.dumps(plain)


def from_text(text: str) -> Program:
    """The program from the text of `to_text`. The text must be from a trusted source, since CasADi
    does not check its part.
    """
    plain = json.loads(text)
    display = plain["display"]
    for name in ("watched", "acting", "passed_on"):
        display[name] = tuple(display[name])
    for part in ("states", "levels", "told", "entries"):
        display[part] = {name: tuple(texts) for name, texts in display[part].items()}
    display["bounds"] = tuple(Bound(**bound) for bound in display["bounds"])
    display["positive_loops"] = tuple(
        PositiveLoop(**{**loop, "blocks": tuple(loop["blocks"])})
        for loop in display["positive_loops"]
    )
    display["scopes"] = tuple(ScopeSpec.from_plain(scope) for scope in display["scopes"])
    plain["run"], plain["display"] = RunOptions(**plain["run"]), Display(**display)
    plain["p"] = np.array(plain["p"], dtype=float)
    plain["clocks"] = tuple(_clock(clock) for clock in plain["clocks"])
    plain["crossings"] = tuple(_crossing(item) for item in plain["crossings"])
    plain["holds"] = tuple(HeldOutput(**one) for one in plain["holds"])
    plain["handovers"] = tuple(
        Handover(clock, tuple(slots), ca.Function.deserialize(renewed))
        for clock, slots, renewed in plain["handovers"]
    )
    for name in ("states", "discrete", "parameters", "signals"):
        plain[name] = tuple(_slots(plain[name]))
    plain["origins"] = {tuple(path): _origin(*rest) for path, *rest in plain["origins"]}
    for name in ("switching", "stepped", "fixed", "drifting", "damped"):
        plain[name] = tuple(plain[name])
    for name in _FUNCTIONS:
        plain[name] = plain[name] and ca.Function.deserialize(plain[name])
    for name in _FAMILIES:
        plain[name] = {key: ca.Function.deserialize(f) for key, f in plain[name].items()}
    return Program(**plain)


def _crossing(item: dict[str, Any]) -> Crossing:
    return Crossing(**{**item, "signals": tuple(item["signals"])})


def _slots(items: Iterable[dict[str, Any]]) -> Iterable[Slot]:
    return (Slot(item["name"], item["start"], tuple(item["shape"])) for item in items)


def _origin_text(path: Keys, origin: Origin) -> list[Any]:
    return [path, [astuple(use) for use in origin.uses], origin.alone, sorted(origin.apart)]


def _origin(uses: Iterable[list[Any]], alone: bool, apart: Iterable[float]) -> Origin:
    found = (Use(block, name, tuple(within), *rest) for block, name, within, *rest in uses)
    return Origin(None, tuple(found), alone, frozenset(apart))


def _clock(item: dict[str, Any]) -> Clock:
    period, offset = Fraction(item["period"]), Fraction(item["offset"])
    return Clock(item["name"], period, offset, item["first"], tuple(item["blocks"]))

"""What a run does at a surface on which its equations jump: pass through it, slide along it, or
end with an error that names the cause.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.run.constants import AHEAD, CLEAR, RAPID
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.holds import Contact, Held
from spart_blocks.run.events.sliding import (
    MOST_SURFACES,
    Sliding,
    Surface,
    Way,
    geometry,
    surfaces_at,
    way_on,
)
from spart_blocks.run.events.stops import just_after
from spart_blocks.run.record.record import Dense
from spart_blocks.run.run import Run

REMEDY = (
    "run: {sliding: filippov} slides along it; hysteresis (a RELAY with a gap between on and "
    "off), or a smooth function in place of the switch, prevents endless switching"
)


def meet(run: Run, found: Sequence[int], t: float) -> None:
    """Pass through, slide along, or leave the surfaces of the crossings that were found at t."""
    slid = run.held.sliding
    switching = [k for k in found if run.crossings[k].kind in ("bend", "mode")]
    if not switching or not len(run.x):
        return
    if slid or any(_comes_back(run, k, t) for k in switching):
        _decide(run, switching, t)


def held_at(run: Run, t: float) -> bool:
    """Start to slide if the states are on a surface with rates towards it from both sides. Returns
    whether this has changed the sliding.
    """
    before = run.held.sliding
    if len(run.x):
        _decide(run, [k for k, c in enumerate(run.crossings) if c.kind in ("bend", "mode")], t)
    return run.held.sliding != before


def jumped_off(run: Run, t: float) -> None:
    """Release the surfaces that the states have left by a jump at this stop."""
    if run.held.sliding is None:
        return
    ks = [s.k for s in run.held.sliding.surfaces]
    if len(surfaces_at(run.engine, t, run.x, run.xd, ks)) < len(ks):
        _decide(run, [], t)


def straight(run: Run, t0: float, x0: Floats) -> Dense:
    """The straight line from state x0 at t0 along its rates just after t0."""
    slope = run.derivative(just_after(t0), x0)
    return lambda t: np.asarray((np.multiply.outer(np.asarray(t) - t0, slope) + x0).T)


def turns_back(run: Run, line: Dense, before: float, after: float, last: float) -> bool:
    """Whether the rates change direction at a surface that a line crosses between two times:
    before it they lead towards the surface, behind it back. A motion cannot continue through such
    a surface. last: latest time at which signals may be evaluated.
    """
    values, changes = _changes(run, before, np.asarray(line(before)), last)
    up = np.where(values > 0, -1.0, 1.0)
    comes = changes * up > 0
    old = np.where(comes, values, np.nan)
    return leads_back(run, old, after, np.asarray(line(after)), last)


def leads_back(run: Run, before: Floats, t: float, x: Floats, last: float) -> bool:
    """Whether the rates at x lead a signal back across a zero that it has crossed since its value
    was `before`; entries of `before` that are NaN are ignored.
    """
    values, changes = _changes(run, t, x, last)
    up = np.where(before > 0, -1.0, 1.0)
    back = np.isfinite(before) & (changes * up <= 0)
    return any(back[k] and run.crossings[k].kind != "limit" for k in run.crossed(before, values))


def _changes(run: Run, t: float, x: Floats, last: float) -> tuple[Floats, Floats]:
    """The zero-crossing values at a state, and their changes within the time AHEAD."""
    values = run.watch(min(t, last), x)
    slope = run.derivative(min(t, last), x)
    ahead = run.watch(min(t + AHEAD, last), x + AHEAD * slope)
    return values, ahead - values


def _decide(run: Run, switching: Sequence[int], t: float) -> None:
    """Determine how the motion continues from these crossings and the surfaces that it slides
    along.
    """
    slid = run.held.sliding.surfaces if run.held.sliding else ()
    ks = list(dict.fromkeys([*(s.k for s in slid), *switching]))
    surfaces = surfaces_at(run.engine, t, run.x, run.xd, ks)
    if not surfaces:
        run.hold(t, replace(run.held, sliding=None))
        for surface in slid:
            run.events.add(t, run.crossings[surface.k].block, "leaves zero")
        return
    if len(surfaces) > MOST_SURFACES:
        names = ", ".join(run.crossings[s.k].block for s in surfaces)
        raise RunError(
            f"the surfaces of {names} meet, and motions along {MOST_SURFACES} at most are known",
            time=t,
            hint="give some of them hysteresis, or smooth functions",
        )
    way = way_on(run.engine, t, run.x, run.xd, surfaces)
    if way.along and run.options.sliding != "filippov":
        raise RunError(
            "it switches without end: from both sides its signal leads back to where it "
            "switches (a sliding mode)",
            block=run.crossings[way.along[0].k].block,
            time=t,
            hint=REMEDY,
        )
    _go(run, t, slid, way)


def _comes_back(run: Run, k: int, t: float) -> bool:
    """Whether a signal that has just crossed can cross again at once."""
    if run.crossings[k].kind == "mode":
        recent = run.recent
        return len(recent) >= 3 and t - recent[-3] < RAPID
    engine, x, xd = run.engine, run.x, run.xd
    now = float(engine.watch(t, x, xd)[k])
    ahead = x + AHEAD * engine.derivative(t, x, xd)
    change = float(engine.watch(t + AHEAD, ahead, xd)[k]) - now
    return change * (1 if now > 0 else -1) <= 0


def _go(run: Run, t: float, slid: Sequence[Surface], way: Way) -> None:
    """Apply a continuation: move the states onto the surfaces to slide along, and to the chosen
    sides of the others.
    """
    engine = run.engine
    held = Held(Sliding(way.along) if way.along else None, run.held.contacts)
    for surface, side in way.beside:
        at = geometry(engine, t, run.x, run.xd, [surface.k])
        if side * at.g[0] <= 0:
            clear = side * CLEAR * at.size[0] / (at.J @ at.along.T)[0, 0]
            run.x = at.onto(run.x) + clear * abs((at.J @ at.along.T)[0, 0]) * at.along[0]
    now = {s.k for s in way.along}
    before = {s.k for s in slid}
    for k in sorted(now - before):
        run.events.add(t, run.crossings[k].block, "slides along zero")
    for k in sorted(before - now):
        run.events.add(t, run.crossings[k].block, "leaves zero")
    run.hold(t, held)
    run.x = run.project(t, run.x)


def rest(run: Run, t: float, contact: Contact) -> None:
    """Hold the signal of an EVENT at zero from now on."""
    run.hold(t, replace(run.held, contacts=(*run.held.contacts, contact)))
    run.events.add(t, run.crossings[contact.k].block, "rests at zero")
    run.x = run.project(t, run.x)


def let_go(run: Run, t: float, found: Sequence[int]) -> None:
    """End the contacts (signals held at zero) of the crossings `found`, and those whose signal
    leaves zero by itself; each gives an event.
    """
    if not run.held.contacts:
        return
    before = {c.k for c in run.held.contacts}
    held, run.x = run.held.let_go(run.engine, t, run.x, run.xd, set(found))
    run.hold(t, held)
    for k in sorted(before - {c.k for c in run.held.contacts}):
        run.events.add(t, run.crossings[k].block, "leaves zero")

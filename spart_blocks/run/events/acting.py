"""What acts at one time of a run: the ticks and events of a stop, and crossings.

The functions of the same names in C stand in sb_advance.h, and take the same order.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from spart_blocks.base.errors import RunError
from spart_blocks.diagram.network.clocks import exact
from spart_blocks.run.constants import MOST_SWITCHES
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.bounces import after_resets
from spart_blocks.run.events.crossings import chatters, jumped
from spart_blocks.run.events.meeting import jumped_off, let_go, meet
from spart_blocks.run.run import Run
from spart_blocks.run.tape import Act, Kind


def enter(run: Run, inputs: Sequence[Any]) -> bool:
    """Handle all that happens at this stop: known events and what they trigger, then ticks and
    what they trigger. Returns whether anything happened. inputs: those before, of blocks that
    are notified of jumps.
    """
    t, any_acts = float(run.t), False
    due = [c for c in run.clocks if c.time(run.ticks[c.name]) == run.t]
    if due:
        _apply_jumps(run, t, inputs)
        any_acts = jump(run, ticks_follow=True)
        if run.before is not None:
            run.before = run.watch(t, run.x)
        inputs = run.engine.jump_inputs(t, run.x, run.xd)
        run.xd = run.engine.tick(t, run.x, run.xd, due)
        for clock in due:
            run.ticks[clock.name] += 1
    _apply_jumps(run, t, inputs)
    return jump(run) or any_acts or bool(due)


def jump(run: Run, *, ticks_follow: bool = False) -> bool:
    """Handle crossings by a jump at this stop, STOPs whose signal is positive, and modes that
    request a switch. Returns whether there were any. ticks_follow: STOPs and faults wait for
    the ticks at this stop.
    """
    jumped_off(run, float(run.t))
    now, before = run.watch(float(run.t), run.x), run.before
    crossed = [] if before is None else run.crossed(before, now)
    leads = [k for k in run.held.leaders if now[k] * (run.crossings[k].direction or 1.0) > 0]
    found = sorted({*jumped(run.crossings, crossed, now, ticks_follow), *leads})
    cross(run, found, float(run.t), ticks_follow=ticks_follow)
    return bool(found)


def _apply_jumps(run: Run, t: float, before: Sequence[Any]) -> bool:
    """Notify blocks of jumps of their inputs, and apply the switches that they request.
    Returns whether there were any. before: the previous inputs.
    """
    found = run.engine.jumped(before, t, run.x, run.xd)
    for k in found:
        run.x, run.xd = run.engine.reset(k, t, run.x, run.xd)
        _noted(run, t, "switch", k)
    return bool(found)


def cross(run: Run, found: Sequence[int], t: float, *, ticks_follow: bool = False) -> Fraction:
    """Handle the crossings found at t: stop the run, reset states by the function of an EVENT,
    switch modes until none requests it, let EVENTs act that these set off, or set states to the
    limits that they reached. Returns t as an exact fraction. ticks_follow: a STOP or fault whose
    signal becomes positive by this waits for the ticks at t.
    """
    if found:
        count_crossings(run, found, t)
        _noted(run, t, "found", *found, ticks_follow=ticks_follow)
    kinds = {run.crossings[k].kind for k in found}
    x, xd = run.x, run.xd
    inputs = run.engine.jump_inputs(t, x, xd) if kinds & {"event", "mode"} else ()
    sets_off = run.resetting and t > run.start and kinds & {"event", "mode"}
    values = run.watch(t, x) if sets_off else None
    touching = [contact.k for contact in run.held.contacts]
    first = found
    for k in (k for k in found if k not in touching):
        crossing = run.crossings[k]
        if crossing.kind == "stop":
            stop(run, crossing.block, t)
        elif crossing.kind == "fault":
            raise run.engine.failure(k, t, run.x, run.xd)
        elif crossing.kind == "event":
            _reset(run, k, t)
    if kinds & {"event", "mode"} and run.stopped is None:
        settle(run, t)
        if _apply_jumps(run, t, inputs):
            settle(run, t)
        if values is not None:
            found = _set_off(run, found, values, t)
    before, beside = run.held, run.x
    if run.stopped is None:
        meet(run, found, t)
    if (run.held != before or run.x is not beside) and run.stopped is None:
        settle(run, t)
    if kinds & {"event", "mode"}:
        let_go(run, t, [k for k in touching if k in found])
    if kinds & {"event", "mode", "limit"}:
        run.x = run.project(t, run.x)
        _noted(run, t, "project")
    if kinds & {"event", "mode"} and run.stopped is None and not ticks_follow:
        _stop_after_reset(run, t)
    if "event" in kinds and run.stopped is None:
        events = [k for k in first if run.crossings[k].kind == "event" and k not in touching]
        run.limit = after_resets(run, t, x, xd, events)
    return exact(t)


def _reset(run: Run, k: int, t: float) -> None:
    """Reset states by the function of an EVENT."""
    run.events.add(t, run.crossings[k].block, "crossed zero")
    run.x, run.xd = run.engine.reset(k, t, run.x, run.xd)
    _noted(run, t, "reset", k)


def _noted(run: Run, t: float, kind: Kind, *k: int, ticks_follow: bool = False) -> None:
    """Note on the run's tape, if it has one, that something has acted."""
    if run.tape is not None:
        run.tape.acts.append(Act(t, kind, k, ticks_follow))


def _set_off(run: Run, found: Sequence[int], values: Floats, t: float) -> list[int]:
    """Let EVENTs act whose signals the resets and switches at t have made cross, and those that
    these set off in turn; each once at a time. found: the crossings that have acted. values:
    before they did. Returns all that have acted.
    """
    acted, touching = list(found), [contact.k for contact in run.held.contacts]
    while True:
        now = run.watch(t, run.x)
        more = [k for k in run.crossed(values, now) if k in run.resetting and k not in acted]
        if not more:
            return acted
        for k in (k for k in more if k not in touching):
            _reset(run, k, t)
        acted, values = [*acted, *more], now
        settle(run, t)


def settle(run: Run, t: float) -> None:
    """Let blocks switch their modes until no mode has a positive value."""
    led = run.held.leaders  # their values belong to holds, not to modes
    modes = {k: c.block for k, c in enumerate(run.crossings) if c.kind == "mode" and k not in led}
    for _ in range(MOST_SWITCHES if modes else 0):
        now = run.watch(t, run.x)
        unfit = {modes[k]: k for k in modes if now[k] > 0}
        if not unfit:
            return
        for block, k in unfit.items():
            before = run.x.copy()
            run.x, run.xd = run.engine.reset(k, t, run.x, run.xd)
            _noted(run, t, "switch", k)
            what = switch_text(run.engine, block, before, run.x)
            if what:
                run.events.add(t, block, what)
    if modes:
        raise RunError(
            f"it switches without end: {MOST_SWITCHES:,} times at once",
            block=next(iter(unfit)),
            time=t,
            hint="leave a gap between the values at which it switches on and off",
        )


def count_crossings(run: Run, found: Sequence[int], t: float) -> None:
    """Count the crossings at t. Raises RunError if there are too many within a short time."""
    chatter = run.chatter
    run.recent.append(t)
    if chatters(chatter, t, float(run.end)):
        within = f"{chatter.count:,} crossings in {t - chatter.since:.3g} s"
        raise RunError(
            f"it crosses zero without end: {within}",
            block=run.crossings[found[0]].block,
            time=t,
            hint="reset the state to the side that the signal came from, or add hysteresis",
        )


def stop(run: Run, block: str, t: float) -> None:
    run.events.add(t, block, "stopped the run")
    run.stopped = f"stopped by block {block} at t = {t:.6g} s"


def _stop_after_reset(run: Run, t: float) -> None:
    """End the run if the new states make the signal of a STOP or of a fault positive."""
    for k, (crossing, value) in enumerate(zip(run.crossings, run.watch(t, run.x), strict=True)):
        if crossing.kind == "fault" and value > 0:
            raise run.engine.failure(k, t, run.x, run.xd)
        if crossing.kind == "stop" and value > 0:
            stop(run, crossing.block, t)
            return


# --- Texts of switches ----------------------------------------------------------------------------


_SINCE = "since."
"""Prefix of the names of the times at which the states of a state machine were entered; they
follow the state of their region.
"""
_MODE = "mode."
"""Prefix of the names of a plant's states that say whether a joint sticks (0) or slides (1, -1)."""


def switch_text(engine: Engine, block: str, before: Floats, after: Floats) -> str:
    """The text of a switch, from the states before and after: the joints that stick, slip or turn
    round; the states that a state machine leaves and enters; 'failed' for a check; the new phase
    of a condition (empty for what it holds or resets); 'switched' for other blocks.
    """
    if block in engine.display.checks:
        return "failed"
    part = engine.continuous.get(block, slice(0))
    texts = engine.display.told.get(block)
    if texts is not None:
        phase = round(float(after[part][0])) if len(texts) else 0
        return texts[phase] if phase < len(texts) and before[part][0] != after[part][0] else ""
    names = engine.display.states.get(block, ())
    changes = list(zip(names, before[part], after[part], strict=False))
    joints = [
        f"joint {name.removeprefix(_MODE)!r} {_change(old, new)}"
        for name, old, new in changes
        if name.startswith(_MODE) and old != new
    ]
    return ", ".join([*_passages(engine, block, changes), *joints]) or "switched"


def _passages(engine: Engine, block: str, changes: list[tuple[str, float, float]]) -> list[str]:
    """For each region of a state machine the states that it leaves and enters. If there are
    several regions, those without a change of the state or the time of entry are left out.
    """
    regions: list[tuple[str, bool]] = []
    for name, old, new in changes:
        levels = engine.display.levels.get(f"{block}.{name}")
        if levels is not None:
            regions.append((_passage(levels, old, new), old != new))
        elif regions and name.startswith(_SINCE):
            regions[-1] = (regions[-1][0], regions[-1][1] or old != new)
    return [told for told, changed in regions if changed or len(regions) == 1]


def _passage(levels: tuple[str, ...], old: float, new: float) -> str:
    """The text of a change from one level to another; level 0 means before the start, or an
    inactive region.
    """
    names = ("", *levels)
    left, entered = (names[min(max(round(number), 0), len(levels))] for number in (old, new))
    if left and entered:
        return f"{left} -> {entered}"
    return f"leaves {left}" if left else f"enters {entered}"


def _change(old: float, new: float) -> str:
    if new == 0:
        return "sticks"
    return "slips" if old == 0 else "turns round"

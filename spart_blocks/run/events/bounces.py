"""The effect of an EVENT's reset on the signal that triggered it: whether the signal turns back,
and when it returns to zero.

A signal that is turned back is on its old side for a while and then crosses again. If a ball loses
speed at each bounce, these flights become shorter and shorter, and their times accumulate (Zeno
behaviour). A flight shorter than the tolerance of crossing location would let the ball fall
through the floor. Near a reset the signal is approximated by q(s) = q0 + v s + a s^2 / 2, positive
beyond zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.run.constants import FLIGHT, PROBED, TURNED
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.events.holds import Contact
from spart_blocks.run.events.meeting import rest
from spart_blocks.run.run import Bounces, Run


@dataclass(frozen=True)
class Motion:
    """A signal near a time: its value q, its rate v and its acceleration a."""

    q: float
    v: float
    a: float


def motion_of(engine: Engine, k: int, t: float, x: Floats, xd: Floats, span: float) -> Motion:
    """The motion of the signal of crossing k from states x on; values beyond zero are positive."""
    sign = engine.crossings[k].direction or 1.0
    q = [sign * float(engine.watch(t, x, xd)[k])]
    slope = engine.derivative(t, x, xd)
    for s in (span, 2 * span):
        middle = engine.derivative(t + s / 2, x + s / 2 * slope, xd)
        q.append(sign * float(engine.watch(t + s, x + s * middle, xd)[k]))
    rate = (4 * q[1] - q[2] - 3 * q[0]) / (2 * span)
    return Motion(q[0], rate, (q[2] - 2 * q[1] + q[0]) / span**2)


def flight(s: Motion) -> float:
    """Time [s] that a signal stays on its old side; 0 if it does not return there."""
    if s.a <= 0:
        return float("inf") if s.v < 0 or s.a < 0 else 0.0
    depth = s.v**2 - 2 * s.a * s.q
    return 2 * depth**0.5 / s.a if s.v < 0 < depth else 0.0


def turned(before: Motion, after: Motion) -> bool:
    """Whether a reset turned its signal back. Otherwise the signal passes zero, perhaps at another
    speed.
    """
    return not (before.v <= 0 or after.v > TURNED * before.v)


def at_rest(before: Motion, after: Motion, shortest: float) -> bool:
    """Whether a signal that was turned back stays at zero: it only touches zero, or returns in
    less than `shortest` [s].
    """
    touch = abs(after.v) <= TURNED * before.v and after.a > 0
    return touch or flight(after) < shortest


def after_resets(run: Run, t: float, x: Floats, xd: Floats, events: Sequence[int]) -> float:
    """The longest step [s] after the resets of these crossings at t that does not pass over a
    return to zero.

    x, xd: states before the resets. If a signal is turned back but stays at zero, a run with
    sliding holds it there; any other run raises RunError.
    """
    longest = float("inf")
    if not len(x):
        return longest
    span = PROBED * min(run.options.max_step or float("inf"), float(run.end) - t)
    if span <= FLIGHT:
        return longest
    for k in events:
        before = motion_of(run.engine, k, t, x, xd, span)
        after = motion_of(run.engine, k, t, run.x, run.xd, span)
        bounces = run.bounces.get(k, Bounces())
        # Back so soon, its rate may have either sign: that of the solver's error.
        soon = bool(bounces.times) and t - bounces.times[-1] < FLIGHT
        if not soon and not turned(before, after):
            continue
        run.bounces[k] = bounces
        bounces.times.append(t)
        bounces.count += 1
        if before.v >= 1e-3 * bounces.hardest:
            bounces.jump = run.x - x
        bounces.hardest = max(bounces.hardest, before.v)
        if soon or at_rest(before, after, FLIGHT):
            if run.slides and bounces.jump is not None:
                length = float(np.linalg.norm(bounces.jump))
                rest(run, t, Contact(k, bounces.jump / length))
                continue
            raise _no_return(run.crossings[k].block, bounces, t)
        longest = min(longest, flight(after) / 2)
    return longest


def _no_return(block: str, bounces: Bounces, t: float) -> RunError:
    """Error of a run that cannot continue because a signal rests at zero."""
    hint = (
        "run: {sliding: filippov} holds its signal at zero from there on, until it is pulled "
        "off; a STOP ends the run before"
    )
    times = bounces.times
    if len(times) < 3:
        text = "its reset leaves its signal at zero, and from there it goes on through"
        return RunError(text, block=block, time=t, hint=hint)
    last, previous = times[-1] - times[-2], times[-2] - times[-3]
    ratio = min(last / previous, 0.999) if previous > 0 else 0.0
    end = t + last * ratio / (1 - ratio)
    text = (
        f"its resets accumulate (Zeno), {bounces.count:,} of them, the last {last:.3g} s apart: "
        "its signal would go on through zero"
    )
    return RunError(text, block=block, time=end, hint=hint)

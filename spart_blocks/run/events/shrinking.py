"""Detects runs that make no progress because their steps become ever shorter.

There are two causes. Either the rates of a state jump at a surface that no block reports as a
crossing, and the solver steps to and fro across it; or the states approach a point beyond which
the equations have no solution. Every LOOKED_AT steps their mean length is compared with the length
of the run. If it is much too small, the rates are evaluated along a line through the present
state. A change of the rates that stays in the same place, with the same size, when the interval is
halved again and again, is a jump. Otherwise the state whose rate changes fastest is blamed.
"""

from __future__ import annotations

import numpy as np

from spart_blocks.base.errors import RunError
from spart_blocks.base.tableaus import FIXED_STEP
from spart_blocks.run.constants import SLOW
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.events.meeting import held_at
from spart_blocks.run.run import Pace, Run

LOOKED_AT = 1_000
"""Smallest number of steps between two checks."""
STUCK = 1e-12
"""Mean steps shorter than this fraction of the run count as no progress."""
STEADY = 0.01
SHORTEST = 1e-9
"""Mean steps have not shrunk if they are longer than STEADY times the mean before and longer than
SHORTEST [s]; then the run is just too long for them.
"""
POINTS = 33
REACH = 4.0
"""A jump is searched within this number of mean steps before and after the present time."""
HALVED = 20
SMOOTH = (
    "let a SWITCH, a RELAY or an FCN make the jump: its switching is located, and "
    "run: {sliding: filippov} slides along it; or take a smooth function"
)


def report(run: Run, t: float, *, settled: bool = False) -> None:
    """Report progress; called from time to time. t: the time reached [s]. settled: whether all that
    happens at t has happened. Raises RunError if the run takes too many steps or makes no progress.
    """
    run.settled = settled
    if run.stats.steps > run.most_steps:
        hint = "it may diverge, or its max_step be too short for its T"
        text = f"the run has taken more than {run.most_steps:,} steps"
        raise RunError(text, time=t, hint=hint)
    _check_progress(run, t)
    if run.progress is not None:
        run.progress(t, float(run.end))


def _check_progress(run: Run, t: float) -> None:
    """Check the progress of a run. Raises RunError, with the block that is the cause, if it makes
    none.
    """
    pace, steps = run.pace, run.stats.steps
    taken = steps - pace.steps
    if taken < LOOKED_AT or run.options.solver in FIXED_STEP or not len(run.x):
        return
    if run.recent and run.recent[-1] >= pace.t:  # crossings are checked where they act
        run.pace = Pace(steps, t)
        return
    mean = (t - pace.t) / taken
    whole = float(run.end)
    near = None
    if mean < SLOW * whole and not run.held and not held_at(run, t):
        near = _jump(run, t, max(mean, 4 * float(np.spacing(t))))
        if near is not None and pace.jumped:
            raise RunError(
                f"the rate of its state jumps here, and the solver steps to and fro across: "
                f"{taken:,} steps of {mean:.2g} s on average",
                block=near,
                time=t,
                hint=SMOOTH,
            )
        if mean < STUCK * whole and mean > max(STEADY * t / steps, SHORTEST):
            raise RunError(
                f"at its steps of {mean:.2g} s on average, T = {whole:g} s takes some "
                f"{whole / mean:.0e} steps",
                time=t,
                hint="T is in seconds: give a shorter T",
            )
        if mean < STUCK * whole:
            raise RunError(
                f"the steps of the solver shrink without end, {taken:,} of them within "
                f"{t - pace.t:.2g} s; the rate of this block's state changes fastest",
                block=_fastest(run, t, mean),
                time=t,
                hint="a state may go to infinity here, or a signal be singular (a division by "
                "zero, the root of zero); a STOP ends the run before",
            )
    run.pace = Pace(steps, t, near is not None)


def no_step(run: Run, t: float, failure: RunError) -> RunError:
    """The error for a failed step at t that no shorter step could avoid, with its
    block and cause.
    """
    if failure.block is not None:
        return failure
    near = 4 * max(1e-9 * float(run.end), float(np.spacing(t)))
    block = _jump(run, t, near)
    if block is None:
        return RunError(failure.message, block=_fastest(run, t, near), time=t, hint=failure.hint)
    text = f"the rate of its state jumps here; {failure.message}"
    return RunError(text, block=block, time=t, hint=SMOOTH)


def _jump(run: Run, t: float, mean: float) -> str | None:
    """The block whose state's rate jumps within a few mean steps (length `mean` [s]) around t;
    None if there is none.
    """
    try:
        slope = run.engine.derivative(t, run.x, run.xd)

        def rates(s: float) -> Floats:
            return run.engine.derivative(t + s, run.x + s * slope, run.xd)

        at = np.linspace(-REACH * mean, REACH * mean, POINTS)
        changes = np.abs(np.diff([rates(s) for s in at], axis=0))
        whole = changes.sum(axis=0)
        share = np.where(whole > 0, changes.max(axis=0) / np.where(whole > 0, whole, 1.0), 0.0)
        size = np.abs(slope) + changes.max(axis=0)
        i = int(np.argmax(np.where(changes.max(axis=0) > 1e-6 * size, share, 0.0)))
        if share[i] < 0.5:
            return None
        k = int(np.argmax(changes[:, i]))
        low, high, jump = at[k], at[k + 1], changes[k, i]
        for _ in range(HALVED):
            middle = 0.5 * (low + high)
            if abs(rates(middle)[i] - rates(low)[i]) > 0.5 * jump:
                high = middle
            else:
                low = middle
        stays = abs(rates(high)[i] - rates(low)[i]) > 0.5 * jump
    except RunError:  # no number there
        return None
    return _block(run, i) if stays else None


def _fastest(run: Run, t: float, mean: float) -> str | None:
    """The block whose state's rate changes most over a step of length `mean` [s], relative to the
    tolerance.
    """
    try:
        slope = run.engine.derivative(t, run.x, run.xd)
        before = run.engine.derivative(t - mean, run.x - mean * slope, run.xd)
    except RunError as error:
        return error.block
    allowed = run.options.atol + run.options.rtol * np.abs(run.x)
    return _block(run, int(np.argmax(np.abs(slope - before) / allowed)))


def _block(run: Run, i: int) -> str:
    """The block to which entry i of x belongs."""
    parts = run.engine.continuous
    return next(name for name, part in parts.items() if part.start <= i < part.stop)

"""Looking at a run while it goes on, and going over a part of it again.

Rows are copied from where they lie. What is recorded, and the steps that are taken, are those of a
run that nobody watches.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spart_blocks.diagram.clocks import exact
from spart_blocks.simulation.engine import Floats
from spart_blocks.simulation.run import Run


@dataclass(frozen=True)
class Watched:
    """Rows of a run: times t (N,) [s], its kept signals side by side (N, width), and its states x
    (N, nx) and xd (N, nd)."""

    t: Floats
    signals: Floats
    x: Floats
    xd: Floats

    def part(self, which: slice) -> Watched:
        """Some of its rows."""
        return Watched(self.t[which], self.signals[which], self.x[which], self.xd[which])


def rows_since(run: Run, first: int) -> Watched | None:
    """A copy of the rows that a run has recorded so far, from the number `first` on; None where
    there are none. The last step may be missing, whose rows are not yet chosen."""
    parts: list[Watched] = []
    count = run.recorder.count
    if first < count:
        t, signals, x, xd = run.recorder.since(first)
        flat = [np.reshape(signal, (len(t), -1)) for signal in signals]
        parts.append(Watched(t, np.hstack([np.zeros((len(t), 0)), *flat]), x, xd))
    late = _waiting(run, max(first - count, 0))
    if late is not None and len(late.t):
        parts.append(late)
    if not parts:
        return None
    return Watched(
        np.concatenate([part.t for part in parts]),
        np.concatenate([part.signals for part in parts]),
        np.concatenate([part.x for part in parts]),
        np.concatenate([part.xd for part in parts]),
    )


def _waiting(run: Run, first: int) -> Watched | None:
    """The rows that wait for the recorder."""
    if run.loop is not None:
        return Watched(*run.loop.waiting(first))
    keeper = getattr(run, "keeper", None)  # there is none before the first step
    found = keeper.waiting() if keeper is not None else None
    if found is None:
        return None
    width = found.values.shape[1] - len(run.x)
    whole = Watched(found.t, found.values[:, :width], found.values[:, width:], found.xd)
    return whole.part(slice(first, None))


def end_at(run: Run, t: float) -> None:
    """Make a run that has not begun end at t [s], with the steps that it takes to its own end:
    then its final state is the state at t of the whole run. Known events after t are left out."""
    run.bound_steps()  # by the length of the whole
    end: Fraction = exact(t)
    run.event_times = [time for time in run.event_times if time <= end]
    run.end = end

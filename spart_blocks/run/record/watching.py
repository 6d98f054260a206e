"""Reads the rows of a run while it proceeds, and repeats a part of a run.

Rows are copied. This changes neither what is recorded nor the steps that the solver takes.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from spart_blocks.diagram.network.clocks import exact
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.record.record import Rows
from spart_blocks.run.run import Run


@dataclass(frozen=True)
class Watched:
    """Rows of a run: times t (N,) [s], its kept signals side by side (N, width), and its states x
    (N, nx) and xd (N, nd)."""

    t: Floats
    signals: Floats
    x: Floats
    xd: Floats


def row_count(run: Run) -> int:
    """The number of rows that a run has recorded so far. Rows of the last step may be missing,
    since they are not selected yet.
    """
    return run.recorder.count + _waiting_count(run)


def rows_since(run: Run, first: int, stride: int = 1) -> Watched | None:
    """A copy of every `stride`-th row that a run has recorded so far, from number `first` on; None
    if there are none.
    """
    parts: list[Watched] = []
    count = run.recorder.count
    if first < count:
        t, signals, x, xd = run.recorder.since(first, stride)
        flat = [np.reshape(signal, (len(t), -1)) for signal in signals]
        parts.append(Watched(t, np.hstack([np.zeros((len(t), 0)), *flat]), x, xd))
        first += stride * len(t)
    end = _waiting_count(run)
    if first - count < end:
        parts.append(_waiting(run, slice(first - count, end, stride)))
    if len(parts) < 2:
        return parts[0] if parts else None
    return Watched(
        np.concatenate([part.t for part in parts]),
        np.concatenate([part.signals for part in parts]),
        np.concatenate([part.x for part in parts]),
        np.concatenate([part.xd for part in parts]),
    )


def _waiting_count(run: Run) -> int:
    if run.loop is not None:
        return run.loop.count
    found = _waiting_lines(run)
    return 0 if found is None else len(found.t)


def _waiting(run: Run, rows: slice) -> Watched:
    """Some rows that were not passed to the recorder yet."""
    if run.loop is not None:
        return Watched(*run.loop.waiting(rows))
    found = _waiting_lines(run)
    assert found is not None
    some = found.part(rows)
    width = some.values.shape[1] - len(run.x)
    return Watched(some.t, some.values[:, :width], some.values[:, width:], some.xd)


def _waiting_lines(run: Run) -> Rows | None:
    keeper = getattr(run, "keeper", None)  # there is none before the first step
    return None if keeper is None else keeper.waiting()


def end_at(run: Run, t: float) -> None:
    """Let a run that has not started end at t [s], with the same steps as the whole run would
    take. Its final state is then the state of the whole run at t. Known events after t are left
    out.
    """
    run.bound_steps()  # by the length of the whole
    end: Fraction = exact(t)
    run.known = run.known.up_to(end)
    run.end = end

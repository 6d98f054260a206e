"""The stops of a taped run: which clocks tick there, and which need nothing but their ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spart_blocks.diagram.network.clocks import Clock, grid, meant
from spart_blocks.gradients.instants import Edges
from spart_blocks.gradients.loops import SAME_ULPS
from spart_blocks.gradients.tangents import Floats
from spart_blocks.run.run import Run
from spart_blocks.run.tape import PLAIN, STOPPED

SPECIAL = -1
"""The code of a row that needs more than a step and ticks."""


def edge(t: float) -> float:
    """Times that differ by less are the same."""
    return float(_edges(np.array(t)))


def _edges(times: Floats) -> Floats:
    edges: Floats = SAME_ULPS * np.spacing(np.maximum(np.abs(times), 1e-300))
    return edges


@dataclass(frozen=True)
class Stops:
    """due: for each row of the tape the number, in `sets`, of the clocks that tick at its end.
    codes: for each row 0 if it ends plainly, 1 more than `due` if nothing happens at its end but
    ticks, SPECIAL otherwise. first: the clocks that tick at the start of the run.
    """

    clocks: tuple[Clock, ...]
    sets: tuple[tuple[Clock, ...], ...]
    due: NDArray[np.int64]
    codes: NDArray[np.int64]
    first: tuple[Clock, ...]

    @property
    def names(self) -> tuple[tuple[str, ...], ...]:
        """The names of the clocks of each set."""
        return tuple(tuple(clock.name for clock in due) for due in self.sets)

    @staticmethod
    def of(run: Run, edges: Edges) -> Stops:
        """Those of a run that has ended. edges: times at which sources switch and that move."""
        assert run.tape is not None
        rows, clocks = run.tape.rows, tuple(run.clocks)
        start, end = float(run.start), float(run.t)
        until, ends = rows[:, 2], rows[:, 3]
        masks, first = np.zeros(len(rows), np.int64), 0
        for j, clock in enumerate(clocks):
            begin = clock.first_tick_from(run.start)
            times = grid(clock.offset, clock.period, begin, meant(end) + clock.period)
            masks |= np.isin(until, times).astype(np.int64) << j
            first |= int(start in times[:1]) << j
        stopped = ends == STOPPED
        masks[~stopped] = 0
        found, due = np.unique(masks, return_inverse=True)
        codes = np.where(stopped, due + 1, np.where(ends == PLAIN, 0, SPECIAL))
        acts = np.array([act.t for act in run.tape.acts])
        slack = _edges(until)
        near = np.searchsorted(acts, until - slack) < np.searchsorted(acts, until + slack, "right")
        codes[near | edges.moving(until)] = SPECIAL
        codes[-1:] = SPECIAL
        holds = [act for act in run.tape.acts if act.kind == "held"]
        begun = np.searchsorted([act.t for act in holds], rows[:, 0] + _edges(rows[:, 0]), "right")
        codes[np.array([False, *(bool(act.held) for act in holds)])[begun]] = SPECIAL
        sets = tuple(_chosen(clocks, int(mask)) for mask in found)
        return Stops(clocks, sets, due.astype(np.int64).ravel(), codes, _chosen(clocks, first))


def _chosen(clocks: Sequence[Clock], mask: int) -> tuple[Clock, ...]:
    return tuple(clock for j, clock in enumerate(clocks) if mask >> j & 1)

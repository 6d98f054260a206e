"""What all runs of a program in lanes share: a prepared run, and the compiled library."""

from __future__ import annotations

import ctypes
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.base.tableaus import STIFF, tableau
from spart_blocks.measures.work import Floats, Work
from spart_blocks.program import Program
from spart_blocks.program.c.compiler import compiler_name, loaded_library, usual_lanes
from spart_blocks.program.c.dialects import FLAGS
from spart_blocks.program.linearised import can_linearise
from spart_blocks.program.tracing.switching import UpcomingSwitches, rounded_times
from spart_blocks.run.engines.native import Native
from spart_blocks.run.run import Run
from spart_blocks.run.start import prepare
from spart_blocks.sweeps.run.lane_meters import meters_of
from spart_blocks.sweeps.run.lane_source import Made, refused, source

LOOKS = 50
"""A run is measured in at least this many intervals of five points; intervals that are not smooth
are halved. This is ten times fewer than in `simulate`, because measuring took most of the time of
small diagrams.
"""


class WorkStruct(ctypes.Structure):
    """sb_work of runs.h."""

    _fields_ = (
        ("runs", ctypes.c_longlong),
        *((name, ctypes.c_void_p) for name in ("x0", "xd0", "p", "ticks", "due", "known")),
        *((name, ctypes.c_void_p) for name in ("known_from", "known_to", "samples")),
        *((name, ctypes.c_longlong) for name in ("nticks", "nsamples")),
        *(
            (n, ctypes.c_double)
            for n in ("end", "rtol", "atol", "max_step", "fixed_step", "coarse")
        ),
        ("heeds_stiffness", ctypes.c_int),
        *((name, ctypes.c_void_p) for name in ("status", "reason", "t", "x", "xd", "meters")),
        *((name, ctypes.c_void_p) for name in ("events", "rows", "steps", "stop")),
    )


@dataclass(eq=False)
class LaneSetup:
    """A program with what is measured of its runs.

    begun: a run with the nominal parameters at its initial time; it gives clocks, samples and
    options. look [s]: longest step without continuous states, after which crossings are checked.
    """

    program: Program
    begun: Run
    made: Made | None
    samples: Floats
    look: float
    _libraries: dict[int, ctypes.CDLL | None] = field(default_factory=dict)

    @staticmethod
    def of(work: Work) -> LaneSetup:
        """The setup for a work, cached for works of the same program. Raises InputError if no run
        could start.
        """
        key = (id(work.program), work.gauges, work.blocks, work.every)
        found = _REMEMBERED.get(key)
        if found is None:
            while len(_REMEMBERED) >= _MOST_REMEMBERED:
                _REMEMBERED.pop(next(iter(_REMEMBERED)), None)
            found = _REMEMBERED[key] = _ready(work)
        return found

    @property
    def refusal(self) -> str | None:
        """Why the runs cannot be executed in lanes; None if they can."""
        return "there is no C compiler" if compiler_name() is None else self._refusal

    @cached_property
    def _refusal(self) -> str | None:
        if self.program.run.sliding != "error":
            return "run: sliding is filippov"
        if self.made is None:
            return f"solver {self.begun.options.solver} is not a method of ours"
        if self.made.method.implicit is not None and not can_linearise(self.program):
            return "the derivatives of its rates are too long to be compiled"
        why = refused(self.made)
        if why is None and self.library(usual_lanes()) is None:
            return "the C compiler made no library"
        return why

    @cached_property
    def for_stiff_runs(self) -> Program:
        """The program with the solver by which its stiff runs go in lanes."""
        return replace(self.program, run=self.program.run.model_copy(update={"solver": STIFF}))

    def library(self, lanes: int) -> ctypes.CDLL | None:
        """The compiled library for this number of lanes; None if compilation failed."""
        if lanes not in self._libraries:
            assert self.made is not None
            library = loaded_library(source(self.made, lanes), FLAGS)
            if library is not None:
                library.sb_size.restype = library.sb_work_size.restype = ctypes.c_size_t
                assert library.sb_work_size() == ctypes.sizeof(WorkStruct)
                library.sb_go.restype = None
                library.sb_go.argtypes = [ctypes.c_void_p] * 4
            self._libraries[lanes] = library
        return self._libraries[lanes]

    @cached_property
    def ticks(self) -> tuple[Floats, NDArray[np.uint8]]:
        """The times (k,) [s] at which clocks tick, and which clocks tick then (k, clocks). They are
        found in windows, since finding all at once takes ten times their memory.
        """
        run = copy(self.begun)
        run.ticks = dict(run.ticks)
        until, after, parts = float(run.t), None, []
        while until < run.end:
            until += run.window
            stops, due, _ = run.stops_and_ticks(until, after)
            ticking = due.any(axis=1) if due.shape[1] else np.zeros(len(stops), bool)
            parts.append((stops[ticking], due[ticking]))
            after = float(stops[-1])
            for clock, ticks in zip(run.clocks, due.T, strict=True):
                run.ticks[clock.name] += int(ticks.sum())
        times, clocks = zip(*parts, strict=True)
        return np.concatenate(times), np.concatenate(clocks)

    @cached_property
    def numbers(self) -> dict[str, Any]:
        """The fields of sb_work that are the same for all runs."""
        run, options = self.begun, self.begun.options
        return {
            "nticks": len(self.ticks[0]), "nsamples": len(self.samples), "end": float(run.end),
            "rtol": options.rtol, "atol": options.atol, "max_step": options.max_step or np.inf,
            "fixed_step": run.fixed_step if len(self.program.x0) else self.look,
            "coarse": float(run.end) / LOOKS,
            "heeds_stiffness": self.program.run.solver == "auto" and not run.engine.damped,
        }  # fmt: skip

    def known_times(self, p: Floats) -> tuple[dict[str, NDArray[Any]], NDArray[np.bool_]]:
        """The times known in advance at which signals switch, for runs with parameters p (n, np).

        known (k,) [s]: the times, sorted within each run. known_from, known_to (n,): the range of
        each run in them. Second (n,): which runs switch more often than the limit; their times are
        left out.
        """
        program, run = self.program, self.begun
        if not program.switching:
            none = np.zeros(len(p), np.int64)
            return {"known": np.zeros(1), "known_from": none, "known_to": none}, none > 0
        edges = np.array(program.edges(p.T), dtype=float).T.reshape(len(p), -1)
        _, one_of, which = np.unique(edges, axis=0, return_index=True, return_inverse=True)
        which = which.ravel()
        times: list[Floats] = []
        crowded = np.zeros(len(one_of), bool)
        for k, one in enumerate(one_of):
            try:
                times.append(rounded_times(program.switches(p[one]), run.start, run.end))
            except InputError:
                times.append(np.zeros(0))
                crowded[k] = True
        counts = np.array([len(some) for some in times], np.int64)
        last = np.cumsum(counts)
        flat = np.concatenate(times)
        known = flat if len(flat) else np.zeros(1)
        first = (last - counts)[which]
        return {"known": known, "known_from": first, "known_to": last[which]}, crowded[which]


_REMEMBERED: dict[tuple[Any, ...], LaneSetup] = {}
_MOST_REMEMBERED = 8


def _ready(work: Work) -> LaneSetup:
    meters = meters_of(work.program, work.gauges)
    program = timed = work.program.seeing(meters.names)
    if work.every is not None:
        timed = replace(program, run=program.run.model_copy(update={"every": work.every}))
    begun = prepare(Native(timed), None, None)
    begun.bound_steps()
    begun.known = UpcomingSwitches()  # each run has its own
    samples = np.zeros(0) if work.every is None else begun.sample_times()
    # Without continuous states every step leads from stop to stop, whatever the method.
    method = tableau(begun.options.solver if len(program.x0) else IDLE)
    made = None
    if method is not None:
        made = Made(program, method, meters, work.blocks)
    return LaneSetup(program, begun, made, samples, _look(program))


IDLE = "euler"


def _look(program: Program) -> float:
    """The interval [s] at which `simulate` checks crossings without continuous states: its
    sampling interval, whatever rows are recorded.
    """
    if len(program.x0) or not program.crossings:
        return np.inf
    return float(prepare(Native(program), None, None).samples.every)

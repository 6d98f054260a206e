"""A run at its start: initial states, clocks, event times, and whether it fits in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

from spart_blocks.diagram.clocks import Clock, clocks_of, exact
from spart_blocks.errors import Fault, InputError
from spart_blocks.program.compiler import compiler_name
from spart_blocks.results import FinalState
from spart_blocks.simulation.crossings import crossings_of
from spart_blocks.simulation.interpreter import Interpreter
from spart_blocks.simulation.recorder import Recorder
from spart_blocks.simulation.run import Progress, Run, Samples

DEFAULT_SAMPLES = 500
MOST_SAMPLES = 20_000_000
MOST_STOPS = 50_000_000
MOST_STEPS = 10_000_000_000
"""Bounds on a run: samples kept, times at which it must stop, and steps."""


def prepare(engine: Interpreter, initial: FinalState | None, progress: Progress | None) -> Run:
    """A run at its start: initial states, clocks, event times."""
    options = engine.diagram.run
    diagram = replace(
        engine.diagram, run=options.model_copy(update={"solver": picked_solver(engine)})
    )
    clocks = clocks_of(list(engine.wiring.of_kind("sampled")), options.first_tick)
    x, xd = engine.initial()
    start = Fraction(0)
    if initial is not None:
        start = exact(initial.t)
    ticks = {clock.name: clock.first_tick_from(start) for clock in clocks}
    if initial is not None:
        ticks |= {name: k for name, k in initial.ticks.items() if name in ticks}
    end = exact(options.T)
    if end <= start:
        raise InputError(f"the run would end at T = {options.T} s, it starts at {float(start)} s")
    declared = _Declarations(options.T)
    for node in engine.wiring.of_kind("source"):
        node.block.start(declared)
    for node in engine.wiring.of_kind("function"):
        node.block.start(declared)
    every = exact(options.every) if options.every else end / DEFAULT_SAMPLES
    _check_size(start, end, every, clocks, options.max_step)
    return Run(
        diagram=diagram,
        engine=engine,
        clocks=clocks,
        crossings=crossings_of(engine.nodes),
        recorder=Recorder(engine, options.log),
        t=start,
        end=end,
        x=x,
        xd=xd,
        ticks=ticks,
        event_times=sorted(
            {exact(t) for t in declared.times if start < exact(t) < end}, reverse=True
        ),
        samples=Samples(start, every),
        progress=progress,
    )


def picked_solver(engine: Interpreter) -> str:
    """The solver asked for. 'auto' is CVODES where the native engine has no compiler and no
    crossings to find, and RK45 elsewhere."""
    asked = engine.diagram.run.solver
    if asked != "auto":
        return asked
    slow = engine.traced and compiler_name() is None
    return "CVODES" if slow and not crossings_of(engine.nodes) else "RK45"


def _check_size(
    start: Fraction,
    end: Fraction,
    every: Fraction,
    clocks: Sequence[Clock],
    step: float | None,
) -> None:
    """Refuse what would not fit into memory, before anything is computed."""
    samples = (end - start) / every
    if samples > MOST_SAMPLES:
        raise InputError(
            Fault(
                f"the run would keep {float(samples):.3g} samples; the most is {MOST_SAMPLES:,}",
                hint=f"give a longer run.every than {float(every):g} s, or a shorter T",
            )
        )
    if step is not None and (end - start) / exact(step) > MOST_STEPS:
        raise InputError(
            Fault(
                f"a max_step of {step:g} s means more than {MOST_STEPS:,} steps until "
                f"T = {float(end):g} s",
                hint="give a longer max_step or a shorter T",
            )
        )
    for clock in clocks:
        if (end - start) / clock.period > MOST_STOPS:
            raise InputError(
                Fault(
                    f"a clock of period {float(clock.period):g} s ticks more than {MOST_STOPS:,} "
                    f"times until T = {float(end):g} s",
                    hint="give a longer period or a shorter T",
                )
            )


class _Declarations:
    """What bdsim's blocks tell at start: their event times. It stands in for bdsim's
    SimulationState, of which blocks use T, tf, t and declare_event."""

    def __init__(self, end: float) -> None:
        self.T = self.tf = end
        self.t = 0.0
        self.stop: Any = None
        self.options = None
        self.times: list[float] = []

    def declare_event(self, block: Any, t: float) -> None:
        self.times.append(float(t))
        if len(self.times) > MOST_STOPS:
            raise InputError(
                f"block {block.name} switches more than {MOST_STOPS:,} times until T = {self.T} s"
            )

"""Prepares a run: initial states, clocks, event times, and a check that it fits into memory."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Literal

from spart_blocks.base.errors import Fault, InputError, brief, warn
from spart_blocks.base.tableaus import EXPLICIT_STEP, FIXED_STEP, RECOMMENDED
from spart_blocks.diagram.network.clocks import Clock, exact, meant
from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.program.c.compiler import compiler_name
from spart_blocks.program.tracing.switching import BENDS, MOST_SWITCHES
from spart_blocks.results import FinalState
from spart_blocks.run.engines.engine import Engine
from spart_blocks.run.record.recorder import Recorder, Samples
from spart_blocks.run.run import Progress, Run

DEFAULT_SAMPLES = 500
MOST_SAMPLES = 20_000_000
MOST_KEPT = 200_000_000
MOST_STOPS = MOST_SWITCHES
MOST_STEPS = 1_000_000_000
"""Upper limits of a run: samples kept, numbers in them, times at which it must stop, and steps."""
TIGHT = 1e-10
"""Largest rtol at which Vern8 costs no more than RK45 on smooth diagrams, dense output for the
record included: measured by benchmarks/methods.py. Restarts at ticks and crossings cost it more.
"""
MANY_STEPS = 20_000_000
"""Number of steps that takes minutes, for which there is a warning."""
MUCH_MEMORY = 1e9
"""Size of samples [bytes] that is announced."""

_logger = logging.getLogger(__name__)


def prepare(
    engine: Engine,
    initial: FinalState | None,
    progress: Progress | None,
    *,
    solver: str | None = None,
    states: float | Literal["at the end"] | None = None,
) -> Run:
    """A run that is ready to start, with initial states, clocks and event times.

    solver: the result of `picked_solver`, if known. states: record states only, at this interval
    [s] or at the end, instead of what the run options ask for; the steps are those of a run that
    is recorded by lines.
    """
    options = engine.run.model_copy(update={"solver": solver or picked_solver(engine)})
    _check_solver(engine, options.solver)
    _check_damped(engine, options)
    x, xd = engine.initial()
    start = meant(initial.t) if initial is not None else Fraction(0)
    ticks = {clock.name: clock.first_tick_from(start) for clock in engine.clocks}
    if initial is not None:
        ticks |= _ticks_done(initial, ticks)
    end = meant(options.T)
    if end <= start:
        raise InputError(f"the run would end at T = {options.T} s, it starts at {float(start)} s")
    every = meant(options.every) if options.every else end / DEFAULT_SAMPLES
    fixed_step = options.max_step or float(every)
    _check_size(start, end, every, engine.clocks, options.max_step)
    names = engine.display.kept(options.log, engine.signals()) if states is None else []
    kept = None if states is None else _grid_of(states, start, end)
    if options.every and kept is None:
        _check_room((end - start) / every, len(x) + len(xd) + engine.width(names), every)
    return Run(
        engine=engine,
        options=options,
        recorder=Recorder(engine, names),
        t=start,
        end=end,
        x=x,
        xd=xd,
        ticks=ticks,
        known=engine.switches_within(start, end),
        start=start,
        samples=Samples(start, every, end),
        fixed_step=fixed_step,
        lines=options.every is None and states is None,
        kept=kept,
        progress=progress,
    )


def _grid_of(states: float | Literal["at the end"], start: Fraction, end: Fraction) -> Samples:
    """The sample times of a run that records states only."""
    every = end if states == "at the end" else exact(states)
    if (end - start) / every > MOST_SAMPLES:
        text = f"states every {float(every):g} s are more than {MOST_SAMPLES:,} rows"
        raise InputError(Fault(text, hint="give a longer interval, or a shorter T"))
    return Samples(start, every, end)


def picked_solver(engine: Engine) -> str:
    """The solver to use. 'auto' means CVODES if the native engine has no compiler and no crossings
    to locate except bends; otherwise Vern8 for tight tolerances on smooth diagrams, and RK45.
    """
    asked = engine.run.solver
    if asked != "auto":
        return asked
    slow = engine.traced and compiler_name() is None and engine.run.sliding == "error"
    if engine.damped:
        return "RK45"
    if slow and all(crossing.kind in BENDS for crossing in engine.crossings):
        return "CVODES"
    smooth = not engine.clocks and not engine.crossings
    return "Vern8" if smooth and engine.run.rtol <= TIGHT else "RK45"


def _check_solver(engine: Engine, solver: str) -> None:
    """Raise InputError for a method with error control if a block advances by a one-step map: such
    steps have no error estimate, and would lose their advantages with varying length.
    """
    if engine.fixed and solver not in FIXED_STEP:
        faults = [
            Fault(
                f"{name} steps by itself, and solver {solver} chooses its own steps",
                hint=f"give run: {{solver: {RECOMMENDED}, max_step: 0.01}}, or another of "
                f"fixed steps: {', '.join(_listed(FIXED_STEP)[1:])}",
            )
            for name in engine.fixed
        ]
        raise InputError(faults)


def _listed(methods: Sequence[str]) -> list[str]:
    """Fixed-step methods, the recommended one first."""
    return [RECOMMENDED, *(name for name in methods if name != RECOMMENDED)]


_LEAST_RTOL = 1e-6


def _check_damped(engine: Engine, options: RunOptions) -> None:
    """Raise InputError for solvers that change the energy where loops lose rank. Multistep methods
    violate the loop constraints there, error control takes short steps in the pose itself, where
    the motion is undetermined, and implicit steps follow derivatives that are far too large there.
    Measured in docs/closed_chains.md.
    """
    if not engine.damped or options.solver in EXPLICIT_STEP:
        return
    if options.solver == "RK45" and options.rtol >= _LEAST_RTOL:
        return
    what = (
        f"{options.solver} at rtol {options.rtol:g}" if options.solver == "RK45" else options.solver
    )
    raise InputError(
        Fault(
            f"{name} has singular: damp, and solver {what} gains or loses energy where its loops "
            "lose rank",
            hint=f"give run: {{solver: RK45}} with an rtol of {_LEAST_RTOL:g} or more, or fixed "
            f"steps: {', '.join(_listed(EXPLICIT_STEP))}",
        )
        for name in engine.damped
    )


def _ticks_done(state: FinalState, due: Mapping[str, int]) -> dict[str, int]:
    """The numbers of ticks that the clocks have done in a final state. due: number of each clock's
    next tick at that time, which may differ by one because of rounding.
    """
    done = {name: k for name, k in state.ticks.items() if name in due}
    for name, k in done.items():
        if abs(k - due[name]) > 1:
            text = f"the state at t = {state.t:g} s counts {brief(k)} ticks of the clock {name}"
            raise InputError(Fault(text, hint=f"at this time it has done {due[name]}"))
    return done


def _check_size(
    start: Fraction,
    end: Fraction,
    every: Fraction,
    clocks: Sequence[Clock],
    step: float | None,
) -> None:
    """Raise InputError, before anything is computed, if the record of a run would not fit into
    memory.
    """
    samples = (end - start) / every
    if samples > MOST_SAMPLES:
        raise InputError(
            Fault(
                f"the run would keep {float(samples):.3g} samples; the most is {MOST_SAMPLES:,}",
                hint=f"give a longer run.every than {float(every):g} s, or a shorter T",
            )
        )
    if step is not None:
        _check_steps((end - start) / exact(step), step, end)
    for clock in clocks:
        if (end - start) / clock.period > MOST_STOPS:
            raise InputError(
                Fault(
                    f"a clock of period {float(clock.period):g} s ticks more than {MOST_STOPS:,} "
                    f"times until T = {float(end):g} s",
                    hint="give a longer period or a shorter T",
                )
            )


def _check_steps(steps: Fraction, step: float, end: Fraction) -> None:
    """Raise InputError if max_step is so short that the run would not end, and warn if it would
    take long.
    """
    until = f"steps until T = {float(end):g} s"
    hint = (
        "leave max_step out, and the solver finds its steps; or give a longer one, or a shorter T"
    )
    if steps > MOST_STEPS:
        text = f"a max_step of {step:g} s takes {float(steps):.3g} {until}"
        raise InputError(Fault(f"{text}; the most is {MOST_STEPS:,}", hint=hint))
    if steps > MANY_STEPS:
        text = f"a max_step of {step:g} s takes at least {float(steps):.3g} {until}"
        warn(f"{text}, which takes long\n  {hint}")


def _check_room(samples: Fraction, width: int, every: Fraction) -> None:
    """Raise InputError if the samples contain too many numbers in total, and log the memory that
    many take. width: numbers per sample.
    """
    if samples * width > MOST_KEPT:
        raise InputError(
            Fault(
                f"the run would keep {float(samples):.3g} samples of {width:,} numbers; "
                f"the most is {MOST_KEPT:,} numbers",
                hint=f"give a longer run.every than {float(every):g} s, or keep fewer signals",
            )
        )
    size = 8 * float(samples) * width
    if size > MUCH_MEMORY:  # no SpartWarning: nothing is wrong with the diagram
        _logger.warning(
            "the samples of this run take %.1f GB of memory: %s of %s numbers, every %g s\n"
            "  Ctrl-C ends the run and keeps those so far; without run.every the memory is bounded",
            *(size / 1e9, f"{math.ceil(samples):,}", f"{width:,}", float(every)),
        )

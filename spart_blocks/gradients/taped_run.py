"""Runs that note their steps, to be repeated with derivatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.base.tableaus import CONTROLLED, tableau
from spart_blocks.diagram.sections.run_options import RunOptions, Solver
from spart_blocks.run.engines.native import Native
from spart_blocks.run.loop import execute
from spart_blocks.run.measure.gauges import Gauge
from spart_blocks.run.run import Run
from spart_blocks.run.simulate import failing
from spart_blocks.run.start import prepare


def explicit(options: RunOptions) -> RunOptions:
    """Run options with a solver whose steps can be repeated."""
    asked = options.solver
    if asked != "auto" and not _is_explicit(asked):
        known = ", ".join(name for name in get_args(Solver) if _is_explicit(name))
        text = f"a gradient repeats explicit steps, and solver {asked} has none"
        raise InputError(Fault(text, hint=f"solver is one of {known} here"))
    solver = CONTROLLED if asked == "auto" else asked
    return options.model_copy(update={"solver": solver})


def _is_explicit(name: str) -> bool:
    method = tableau(name)
    return method is not None and method.implicit is None


def taped(engine: Native, gauges: Sequence[Gauge] = ()) -> Run:
    """A run that has ended, with its tape and the readings of gauges. Raises RunError if it failed,
    KeyboardInterrupt if it was interrupted.
    """
    with failing("the run cannot begin"):
        run = prepare(engine, None, None, states="at the end")
        run.x = engine.project(float(run.t), run.x)
        run.measure(gauges)
        run.take_tape()
    with failing("the run failed", run):
        execute(run)
    if run.interrupted:
        raise KeyboardInterrupt
    return run

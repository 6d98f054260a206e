"""`tune`: finds parameters of a design, so that a metric is least and constraints hold in every
case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from spart_blocks.base.errors import InputError, brief
from spart_blocks.diagram.sections.tune_section import TuneSection
from spart_blocks.fits.fit import FitRunOptions
from spart_blocks.run.simulate import file_of
from spart_blocks.sweeps.plan.asked_section import asked_section
from spart_blocks.sweeps.plan.memory_source import source_of
from spart_blocks.sweeps.plan.sweep_job import with_options
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.tunes.problem import Problem
from spart_blocks.tunes.search import Progress, best_design
from spart_blocks.tunes.tuned import Tuned, started

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.written.overrides import Overrides
    from spart_blocks.program import Program


class TuneRunOptions(FitRunOptions, total=False):
    """Run options of a call, which replace those of the diagram; see `RunOptions`."""

    T: float


def tune(
    diagram: Diagram | Program | str | Path | Any,
    parameters: Mapping[str, Any] | None = None,
    *,
    minimize: str | Mapping[str, Any] | None = None,
    maximize: str | Mapping[str, Any] | None = None,
    aggregate: str | Mapping[str, float] | None = None,
    constraints: Mapping[str, Any] | None = None,
    claims: str | Sequence[str] | None = None,
    frequency: Mapping[str, Any] | None = None,
    points: Mapping[str, Any] | None = None,
    over: Mapping[str, Any] | None = None,
    runs: int | None = None,
    seed: int | None = None,
    variants: str | Mapping[str, Any] | None = None,
    faults: Mapping[str, Any] | None = None,
    faultless: bool | None = None,
    search: str | None = None,
    samples: int | None = None,
    searches: int | None = None,
    iterations: int | None = None,
    start: Tuned | str | Path | None = None,
    progress: Progress | None = None,
    overrides: Overrides = (),
    blocks: str | Path | Sequence[str | Path] = (),
    **run_options: Unpack[TuneRunOptions],
) -> Tuned:
    """Find the parameters of a design with which a metric is least, and constraints hold in every
    case.

    diagram: as `simulate` takes it. What is not given is that of the file's `tune:` section
    (docs/tune.md). parameters: by name, bounds: `[0, 1]`, `{"min": 1e-6, "scale": "log"}`, or None.
    minimize, maximize: a metric, "rms(error)", or several by name, each with its weight. aggregate:
    of the cases, "worst", "mean" or {"quantile": 0.95}. constraints: by name, "peak(tau) <= 2" or
    {"metric": "peak(tau)", "max": 2, "aggregate": "mean"}. claims: of `expect:`, by name, or "all".
    frequency: by name, loops and transfers with bounds, {"loop": "ctrl.tau", "phase_margin_deg":
    45}; points: at which they are linearised.
    over, runs, seed, variants, faults, faultless: the cases, as `sweep` takes them.
    search: "gradient", by exact derivatives, or "derivative-free". samples: designs that are tried
    before it; searches: how many of the best of these it starts from. iterations: the most steps of
    a search. start: an earlier result, or its file, at which the search starts.
    progress: called with the number of the step, the objective and the largest violation.
    overrides, blocks, T [s], solver, rtol, atol, max_step [s], sliding: as for `simulate`.

    An interrupt (Ctrl-C) ends the search and keeps the best so far. Raises InputError for wrong
    input; RunError if no design that is tried runs, NoGradientError if the first has no derivative.
    """
    if overrides or blocks:
        diagram = file_of(diagram, overrides, {}, blocks)
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a function of three numbers, not {brief(progress)}")
    changes = {
        "parameters": parameters, "minimize": minimize, "maximize": maximize,
        "aggregate": aggregate, "constraints": constraints, "claims": claims, "over": over,
        "frequency": frequency, "points": points,
        "runs": runs, "seed": seed, "variants": variants, "faults": faults,
        "faultless": faultless, "search": search, "samples": samples, "searches": searches,
        "iterations": iterations,
    }  # fmt: skip
    source = source_of(with_options(diagram, run_options))
    section = asked_section(source, "tune", TuneSection, changes)
    with Runner() as runner:
        given = [name for name, value in changes.items() if value is not None]
        problem = Problem.of(source, section, runner, given)
        if start is not None:
            problem = started(problem, start)
        return Tuned.of(best_design(problem, progress), source.title)

"""`fit`: estimates parameters of a diagram from measured signals."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from spart_blocks.base.errors import InputError, brief
from spart_blocks.diagram.sections.fit_section import FitSection
from spart_blocks.fits.estimate import Fit, started
from spart_blocks.fits.leave_one_out import check_several
from spart_blocks.fits.making import problem_of
from spart_blocks.fits.profile import check_profiles
from spart_blocks.fits.search import Progress, search
from spart_blocks.run.simulate import file_of
from spart_blocks.sweeps.plan.asked_section import asked_section
from spart_blocks.sweeps.plan.memory_source import source_of

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.sections.run_options import Solver
    from spart_blocks.diagram.written.overrides import Overrides
    from spart_blocks.program import Program


class FitRunOptions(TypedDict, total=False):
    """Run options of a call, which replace those of the diagram; see `RunOptions`."""

    solver: Solver
    rtol: float
    atol: float
    max_step: float | None
    sliding: str


def fit(
    diagram: Diagram | Program | str | Path | Any,
    parameters: Mapping[str, Any] | None = None,
    experiments: Mapping[str, Any] | None = None,
    *,
    loss: str | None = None,
    outlier: float | None = None,
    starts: int | None = None,
    seed: int | None = None,
    iterations: int | None = None,
    confidence: float | None = None,
    prior: float | None = None,
    profiles: Sequence[str] = (),
    several: bool = False,
    start: Fit | str | Path | None = None,
    progress: Progress | None = None,
    overrides: Overrides = (),
    variants: Mapping[str, str] | None = None,
    blocks: str | Path | Sequence[str | Path] = (),
    **run_options: Unpack[FitRunOptions],
) -> Fit:
    """Estimate parameters of a diagram, so that its runs are as they were measured.

    diagram: as `simulate` takes it. What is not given is that of the file's `fit:` section
    (docs/fit.md). parameters: by name, bounds: `[0, 1]`, `{"min": 1e-6, "scale": "log"}`, or None.
    experiments: by name, what was measured: `{"file": "step.csv", "signals": {"motor.w": "w"}}`.
    loss: "linear" for least squares; "soft_l1", "huber", "cauchy" or "arctan" heed outliers less,
    which are beyond `outlier` standard deviations. starts: searches from different starts, selected
    by seed. iterations: the most runs of a search. confidence: of the intervals. prior: how far, as
    a fraction, links' inertial parameters of the file may be wrong. start: an earlier fit, or its
    file, from whose estimates this one starts.
    profiles: names of estimates that will be asked for by `profile`, checked before the search.
    several: whether `leave_one_out` will be, which needs two experiments.
    progress: called with the number of the step, the sum of squares, the relative step, and the
    name of the search, as "start 2 of 5".
    overrides, variants, blocks, solver, rtol, atol, max_step [s], sliding: as for `simulate`.

    The squares of the errors fall along exact derivatives of the runs (docs/gradients.md). An
    interrupt (Ctrl-C) ends the search and keeps the best so far. Raises InputError for wrong
    input; RunError if the run from the start fails, NoGradientError if it has no derivative.
    """
    if overrides or variants or blocks:
        diagram = file_of(diagram, overrides, {} if variants is None else variants, blocks)
    if progress is not None and not callable(progress):
        raise InputError(
            f"progress is a function of three numbers and a text, not {brief(progress)}"
        )
    changes = {
        "parameters": parameters, "experiments": experiments, "loss": loss, "outlier": outlier,
        "starts": starts, "seed": seed, "iterations": iterations, "confidence": confidence,
        "prior": prior,
    }  # fmt: skip
    source = source_of(diagram)
    section = asked_section(source, "fit", FitSection, changes)
    problem = problem_of(source, section, run_options, of_file=experiments is None)
    check_profiles(problem.space, profiles)
    if several:
        check_several(problem)
    if start is not None:
        problem = started(problem, start)
    return Fit.of(search(problem, section, progress), section, source.title)

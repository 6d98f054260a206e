"""`optimize`: optimal control of a diagram."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import InputError, brief
from spart_blocks.diagram.sections.optimize_section import OptimizeSection
from spart_blocks.optimal.optimum import Optimum, started
from spart_blocks.optimal.problem import problem_of
from spart_blocks.optimal.search import search
from spart_blocks.optimal.solving import Progress
from spart_blocks.run.simulate import file_of
from spart_blocks.sweeps.plan.asked_section import asked_section
from spart_blocks.sweeps.plan.memory_source import source_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from spart_blocks.diagram import Diagram
    from spart_blocks.diagram.written.overrides import Overrides
    from spart_blocks.program import Program


def optimize(
    diagram: Diagram | Program | str | Path | Any,
    *,
    minimize: str | None = None,
    maximize: str | None = None,
    controls: Mapping[str, Any] | None = None,
    parameters: Mapping[str, Any] | None = None,
    T: Any = None,
    path: Mapping[str, Any] | None = None,
    end: Mapping[str, Any] | None = None,
    constraints: Mapping[str, Any] | None = None,
    information: Mapping[str, Any] | None = None,
    phases: Mapping[str, Any] | None = None,
    mesh: Mapping[str, Any] | None = None,
    guess: Any = None,
    iterations: int | None = None,
    exact: bool | None = None,
    start: Optimum | str | Path | None = None,
    progress: Progress | None = None,
    overrides: Overrides = (),
    variants: Mapping[str, str] | None = None,
    blocks: str | Path | Sequence[str | Path] = (),
) -> Optimum:
    """Find controls and parameters of a diagram that make a metric least or greatest.

    diagram: as `simulate` takes it; its motion must be continuous. What is not given is that of the
    file's `optimize:` section (docs/optimize.md). minimize, maximize: a metric, such as "duration"
    or "integral(u[0]**2)". controls: parameters that become functions of time, as the value of a
    CONSTANT, with bounds `[-1, 1]`. parameters: what is chosen once, initial states too. T: the
    duration [s], a number or bounds. path, end: formulas of signals with limits, a number or
    `{"max": 1}`, all the time and at the end. constraints: metrics with limits. information: what
    measurements are to tell, `{"parameters": ["R"], "signals": {"current": 0.05}}`; then
    "information" is a metric. phases: parts of
    the motion in their order. mesh: intervals, degree, tolerance, refinements. guess: "run",
    "line", or the states at the end of lines. iterations: most steps on one mesh. exact: whether
    second derivatives are. start: an earlier optimum, or its .json file.
    progress: called with the number of the step, the objective and the largest violation.
    overrides, variants, blocks: as for `simulate`.

    Direct collocation at Radau's points with refined meshes, solved by IPOPT. An interrupt (Ctrl-C)
    ends the search and keeps the best so far. Raises InputError for wrong input; RunError where the
    functions have no value at the start.
    """
    if overrides or variants or blocks:
        diagram = file_of(diagram, overrides, {} if variants is None else variants, blocks)
    if progress is not None and not callable(progress):
        raise InputError(f"progress is a function of three numbers, not {brief(progress)}")
    changes = {
        "minimize": minimize, "maximize": maximize, "controls": controls,
        "parameters": parameters, "T": T, "path": path, "end": end, "constraints": constraints,
        "information": information, "phases": phases, "mesh": mesh, "guess": guess,
        "iterations": iterations, "exact": exact,
    }  # fmt: skip
    source = source_of(diagram)
    section = asked_section(source, "optimize", OptimizeSection, changes, added=("mesh",))
    problem = problem_of(source, section)
    first = None if start is None else started(problem, start)
    return Optimum(search(problem, first, progress), source)

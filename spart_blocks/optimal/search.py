"""Searches an optimum on finer and finer meshes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spart_blocks.optimal.functions import PhaseFunctions, Read, phase_functions
from spart_blocks.optimal.guess import guessed, on_meshes
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.refinement import errors_of, refined
from spart_blocks.optimal.solving import Progress, Solved, solve
from spart_blocks.optimal.transcription import Motion, Sizes, Transcription
from spart_blocks.optimal.warm import carried

SETTLED = 1e-6
"""The objective has settled where it changes by a smaller fraction from mesh to mesh."""


@dataclass(frozen=True, eq=False)
class Search:
    """The end of a search. solved: on the last mesh. errors: the largest error of an interval, on
    each mesh. objectives, intervals: on each mesh. functions: of the phases.
    """

    problem: Problem
    solved: Solved
    sizes: Sizes
    errors: tuple[float, ...]
    objectives: tuple[float, ...]
    intervals: tuple[int, ...]
    functions: tuple[PhaseFunctions, ...]

    @property
    def accurate(self) -> bool:
        """Whether the motion follows the equations to the tolerance."""
        return self.errors[-1] <= self.problem.section.mesh.tolerance


def search(
    problem: Problem, start: Motion | None = None, progress: Progress | None = None
) -> Search:
    """The optimum of a problem. start: where the search starts, in place of the section's guess."""
    read = Read.of(problem)
    functions = [phase_functions(problem, phase, read) for phase in problem.phases]
    transcription = Transcription(problem, read, functions)
    mesh = problem.section.mesh
    guess = guessed(problem) if start is None else start
    sizes = Sizes.of(problem, guess)
    found: Solved | None = None
    errors, objectives, intervals = list[float](), list[float](), list[int]()
    best: Solved | None = None
    for turn in range(mesh.refinements + 1):
        program = transcription.on(guess, sizes)
        warm = None if found is None else carried(found.program, program, *found.multipliers)
        found = solve(
            program, program.values(guess), iterations=problem.section.iterations,
            exact=problem.section.exact, warm=warm, progress=progress,
            steps_before=0 if found is None else found.steps,
        )  # fmt: skip
        if not found.ended and turn > 0 and found.status != "User_Requested_Stop":
            found = solve(
                program, program.values(guess), iterations=problem.section.iterations,
                exact=problem.section.exact, warm=None, progress=progress,
                steps_before=found.steps,
            )  # fmt: skip
        if not found.ended and best is not None:
            found = best if found.status != "User_Requested_Stop" else _stopped(best)
            break
        off = errors_of(problem, found.motion, functions, sizes.x)
        errors.append(max(float(one.max(initial=0.0)) for one in off))
        objectives.append(found.objective)
        intervals.append(sum(one.mesh.n for one in found.motion.phases))
        best = found
        if not found.ended or turn == mesh.refinements:
            break
        moving = len(objectives) < 2 or not np.isclose(
            objectives[-1], objectives[-2], rtol=SETTLED, atol=SETTLED * 1e-3
        )
        if errors[-1] <= mesh.tolerance and not moving:
            break
        rough = errors[-1] <= 100 * mesh.tolerance
        meshes = refined(found.motion, off, mesh.tolerance, mesh.most, rough=rough)
        if meshes is None:
            break
        guess = on_meshes(found.motion, meshes)
    assert found is not None
    return Search(problem, found, sizes, tuple(errors), tuple(objectives), tuple(intervals),
                  tuple(functions))  # fmt: skip


def _stopped(best: Solved) -> Solved:
    return replace(best, status="User_Requested_Stop")

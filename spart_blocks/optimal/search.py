"""Searches an optimum on finer and finer meshes."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from spart_blocks.optimal.excitation import excited
from spart_blocks.optimal.expected import Expected, information_errors
from spart_blocks.optimal.functions import PhaseFunctions, Read, phase_functions
from spart_blocks.optimal.guess import guessed, on_meshes
from spart_blocks.optimal.information import Basis
from spart_blocks.optimal.mesh import Floats, Mesh
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.refinement import errors_of, refined
from spart_blocks.optimal.solving import (
    INFEASIBLE,
    INTERRUPTED,
    ROUGHLY,
    SMOOTH,
    Progress,
    Solved,
    solve,
)
from spart_blocks.optimal.transcription import Motion, Sizes, Transcription
from spart_blocks.optimal.warm import carried

WORSE = 3.0
"""Controls chatter if the error grows by more than this factor on a finer mesh."""
TOLD = 1e-3
"""How much an error of the information counts beside one of a state."""
SETTLED = 1e-6
"""The objective has settled where it changes by a smaller fraction from mesh to mesh."""


@dataclass(frozen=True, eq=False)
class Search:
    """The end of a search. solved: on the last mesh. errors: the largest error of an interval, on
    each mesh. objectives, intervals: on each mesh. functions: of the phases. expected: what
    measurements would tell, where that was asked for.
    """

    problem: Problem
    solved: Solved
    sizes: Sizes
    errors: tuple[float, ...]
    objectives: tuple[float, ...]
    intervals: tuple[int, ...]
    functions: tuple[PhaseFunctions, ...]
    expected: Expected | None = None

    @property
    def accurate(self) -> bool:
        """Whether the motion follows the equations to the tolerance."""
        return self.errors[-1] <= self.problem.section.mesh.tolerance


def search(
    problem: Problem, start: Motion | None = None, progress: Progress | None = None
) -> Search:
    """The optimum of a problem. start: where the search starts, in place of the section's guess."""
    read = Read.of(problem)
    if problem.wanted is not None:
        basis, guess = excited(problem, read, start)
        return _Refining(problem, read, guess, progress, basis).search(guess)
    guess = guessed(problem) if start is None else start
    return _Refining(problem, read, guess, progress).search(guess)


class _Refining:
    """A search on finer and finer meshes, with smaller and smaller weights of roughness."""

    def __init__(
        self,
        problem: Problem,
        read: Read,
        guess: Motion,
        progress: Progress | None,
        basis: Basis | None = None,
    ) -> None:
        self.problem, self.progress, self.read, self.basis = problem, progress, read, basis
        along = None if basis is None else basis.directions
        self.functions = [phase_functions(problem, phase, read, along) for phase in problem.phases]
        self.transcription = Transcription(problem, read, self.functions)
        self.sizes = Sizes.of(problem, guess)
        self.steps = 0
        self.errors: list[float] = []
        self.objectives: list[float] = []
        self.intervals: list[int] = []

    def search(self, guess: Motion) -> Search:
        """The end of the search."""
        mesh = self.problem.section.mesh
        smooth, least = ROUGHLY, SMOOTH
        best: Solved | None = None
        halved = False
        for _ in range(mesh.refinements + 1):
            found = self._solved(guess, best, smooth)
            again = best is None and not halved and mesh.refinements > 0
            if found.status in INFEASIBLE and again:
                # Too few intervals for what the motion has to do look the same.
                guess, halved = on_meshes(found.motion, _halved(found.motion)), True
                continue
            if not found.ended and best is not None:
                interrupted = found.status == INTERRUPTED
                return self._ended(replace(best, status=found.status) if interrupted else best)
            off = self._errors(found.motion)
            error = max(float(one.max(initial=0.0)) for one in off)
            if best is not None and self._chatters(error):
                if smooth >= ROUGHLY:
                    break
                least = smooth = min(ROUGHLY, 10 * smooth)
                continue  # again on this mesh
            best = found
            self._note(found, error)
            settled = self._settled() and smooth == least
            if not found.ended or (error <= mesh.tolerance and settled):
                break
            rough = error <= 100 * mesh.tolerance
            meshes = refined(found.motion, off, mesh.tolerance, mesh.most, rough=rough)
            if meshes is None and settled:
                break
            smooth = least if meshes is None else max(least, 0.1 * smooth)
            guess = found.motion if meshes is None else on_meshes(found.motion, meshes)
        assert best is not None
        return self._ended(best)

    def _solved(self, guess: Motion, best: Solved | None, smooth: float) -> Solved:
        """The optimum on the meshes of a guess. best: that on the meshes before."""
        program = self.transcription.on(guess, self.sizes)
        section = self.problem.section
        warm = None if best is None else carried(best.program, program, *best.multipliers)
        for first in (warm, None):
            found = solve(
                program, program.values(guess), iterations=section.iterations,
                exact=section.exact and self.basis is None,
                warm=first, smooth=smooth, progress=self.progress, steps_before=self.steps,
            )  # fmt: skip
            self.steps = found.steps
            if found.ended or first is None or found.status == INTERRUPTED:
                break
        return found

    def _errors(self, motion: Motion) -> list[Floats]:
        """The error of each interval, by phase."""
        off = errors_of(self.problem, motion, self.functions, self.sizes.x)
        if self.basis is None:
            return off
        told = information_errors(self.problem, self.functions, motion)
        return [np.maximum(a, TOLD * b) for a, b in zip(off, told, strict=True)]

    def _chatters(self, error: float) -> bool:
        """Whether controls gain from what the mesh misses, so that a finer one misses more."""
        worse = error > WORSE * self.errors[-1]
        return worse and error > 10 * self.problem.section.mesh.tolerance

    def _settled(self) -> bool:
        """Whether the objective has settled."""
        if len(self.objectives) < 2:
            return False
        last, before = self.objectives[-1], self.objectives[-2]
        return bool(np.isclose(last, before, rtol=SETTLED, atol=SETTLED * 1e-3))

    def _note(self, found: Solved, error: float) -> None:
        self.errors.append(error)
        self.objectives.append(found.objective)
        self.intervals.append(sum(one.mesh.n for one in found.motion.phases))

    def _ended(self, solved: Solved) -> Search:
        problem, functions, motion = self.problem, self.functions, solved.motion
        sizes, expected = self.sizes, None
        if self.basis is not None:
            expected = Expected.of(problem, self.basis, functions, motion)
            nx = problem.counts[0]
            motion, sizes = motion.of_states(nx), replace(sizes, x=sizes.x[:nx])
            functions = [phase_functions(problem, phase, self.read) for phase in problem.phases]
        return Search(
            problem, replace(solved, steps=self.steps, motion=motion), sizes, tuple(self.errors),
            tuple(self.objectives), tuple(self.intervals), tuple(functions), expected,
        )  # fmt: skip


def _halved(motion: Motion) -> tuple[Mesh, ...]:
    """The meshes with all intervals halved."""
    return tuple(one.mesh.divided(np.full(one.mesh.n, 2)) for one in motion.phases)

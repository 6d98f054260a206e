"""Carries the multipliers of an optimum over to another mesh, where the next search starts.

Those of conditions and bounds at points of collocation are values of functions of time, times the
weights of the points in an integral: D. Garg et al., Automatica 46 (2010), sec. 4.
"""

from __future__ import annotations

import numpy as np

from spart_blocks.optimal.mesh import Floats, Mesh
from spart_blocks.optimal.transcription import Program


def carried(
    before: Program, after: Program, of_unknowns: Floats, of_conditions: Floats
) -> tuple[Floats, Floats]:
    """The multipliers of the unknowns' bounds and of the conditions on another mesh."""
    problem = before.problem
    nx, (_, nu, _) = before.states, problem.counts
    unknowns, at = list[Floats](), 0
    for phase, old, new in zip(problem.phases, before.meshes, after.meshes, strict=True):
        size = nx * (old.points + 1)
        unknowns.append(np.zeros(nx * (new.points + 1)))  # states have no bounds of their own
        at += size
        unknowns.append(_on(old, new, of_unknowns[at : at + nu * old.points], nu))
        at += nu * old.points
        if not phase.T.fixed:
            unknowns.append(of_unknowns[at : at + 1])
            at += 1
    unknowns.append(of_unknowns[at:])
    conditions, at = list[Floats](), 0
    for one in before.conditions:
        part = of_conditions[at : at + one.count]
        at += one.count
        if one.label in ("motion", "path") and one.phase >= 0:
            old, new = before.meshes[one.phase], after.meshes[one.phase]
            part = _on(old, new, part, one.count // old.points)
        conditions.append(part)
    return np.concatenate(unknowns), np.concatenate(conditions)


def _on(old: Mesh, new: Mesh, values: Floats, width: int) -> Floats:
    """Multipliers at the points of a mesh (points * width,) for those of another."""
    if not width:
        return np.zeros(0)
    density = values.reshape(old.points, width) / old.weights[:, None]
    there = [np.interp(new.times, old.times, column) for column in density.T]
    return np.ascontiguousarray(np.array(there).T * new.weights[:, None]).ravel()

"""Divides intervals in which the motion misses the equations.

The error of an interval is the integral of the difference between the polynomials' derivatives and
the rates, relative to the size of a state (J. T. Betts, "Practical Methods for Optimal Control",
2nd ed., SIAM 2010, sec. 4.7). Where all are small but the objective still changes, as at a jump of
a control, intervals in which a control is no smooth polynomial are divided.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from spart_blocks.optimal.functions import PhaseFunctions
from spart_blocks.optimal.mesh import Floats, Mesh, gauss
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.transcription import Motion, PhaseMotion

MOST_PIECES = 4
ROUGH = 1e-2
"""A control that leaves the straight line of an interval by this fraction of its range is not
smooth there."""


def errors_of(
    problem: Problem, motion: Motion, functions: Sequence[PhaseFunctions], sizes: Floats
) -> list[Floats]:
    """The error of each interval, by phase, with controls that are cut off at their bounds. sizes
    (nx,): of the states."""
    found = []
    for phase, one, f, t0 in zip(
        problem.phases, motion.phases, functions, motion.starts, strict=True
    ):
        parts, weight = gauss(one.mesh.degree + 2)
        x = one.mesh.states_at(one.x, parts)
        u = np.clip(one.mesh.controls_at(one.u, parts), phase.low, phase.high)
        rates = one.mesh.rates_at(one.x, parts)
        n, p, nx = x.shape
        times = t0 + one.T * one.mesh.inside(parts)
        q = np.tile(motion.q[:, None], (1, n * p))
        flat = x.reshape(n * p, nx).T, u.reshape(n * p, u.shape[2]).T
        wanted = np.array(f.rates.map(n * p)(times[None], *flat, q)).T.reshape(n, p, nx)
        off = np.abs(rates - one.T * wanted) / np.maximum(sizes, np.abs(one.x).max(axis=0))
        sums = np.einsum("p,kpm->km", weight, off) * one.mesh.lengths[:, None]
        found.append(sums.max(axis=1, initial=0.0))
    return found


def roughness_of(phase: PhaseMotion) -> Floats:
    """How far controls leave straight lines within each interval and jump at its ends (n,),
    relative to their range."""
    if not phase.u.shape[1]:
        return np.zeros(phase.mesh.n)
    ends = phase.mesh.controls_at(phase.u, np.array([0.0, 0.5, 1.0]))
    span = np.maximum(phase.u.max(axis=0) - phase.u.min(axis=0), 1e-9)
    bent = np.abs(ends[:, 1] - 0.5 * (ends[:, 0] + ends[:, 2])) / span
    jump = np.abs(ends[1:, 0] - ends[:-1, 2]) / span
    whole = bent.max(axis=1)
    apart = jump.max(axis=1, initial=0.0)
    whole[1:] = np.maximum(whole[1:], apart)
    whole[:-1] = np.maximum(whole[:-1], apart)
    return np.asarray(whole)


def pieces_of(errors: Floats, tolerance: float, degree: int) -> NDArray[np.intp]:
    """Into how many pieces each interval is divided."""
    ratio = np.maximum(errors / tolerance, 1.0)
    pieces = np.ceil(ratio ** (1.0 / (degree + 1)))
    return np.where(errors > tolerance, np.clip(pieces, 2, MOST_PIECES), 1).astype(int)


def refined(
    motion: Motion, errors: list[Floats], tolerance: float, most: int, *, rough: bool
) -> tuple[Mesh, ...] | None:
    """Finer meshes, or None where nothing is to be divided. rough: whether intervals are divided
    where controls are not smooth."""
    meshes, moved = [], False
    for one, off in zip(motion.phases, errors, strict=True):
        pieces = pieces_of(off, tolerance, one.mesh.degree)
        if rough:
            least = one.mesh.lengths > 1e-6
            pieces = np.where(least & (roughness_of(one) > ROUGH), np.maximum(pieces, 2), pieces)
        if pieces.sum() > most:
            order = np.argsort(-off)
            room = most - one.mesh.n
            for k in order:
                add = min(int(pieces[k]) - 1, max(room, 0))
                pieces[k], room = 1 + add, room - add
        moved = moved or bool((pieces > 1).any())
        meshes.append(one.mesh.divided(pieces))
    return tuple(meshes) if moved else None

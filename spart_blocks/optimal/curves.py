"""An optimum's controls and states as samples that straight lines join."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from spart_blocks.base.curves.lines import parted
from spart_blocks.optimal.mesh import Floats, gauss
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.transcription import Motion, PhaseMotion

TRUE = 3e-5
"""Straight lines between samples of a control are true to this fraction of its range."""
MOST_PARTS = 20
_SAME = 1e-9
_LEAST = 2


@dataclass(frozen=True, eq=False)
class Samples:
    """Samples at times t (n,) [s], a jump as two that differ by rounding: controls u (n, nu),
    states x (n, nx), and the number of the phase (n,)."""

    t: Floats
    u: Floats
    x: Floats
    phase: Floats


def samples_of(problem: Problem, motion: Motion) -> Samples:
    """Samples of all phases."""
    parts = []
    for k, (one, t0) in enumerate(zip(motion.phases, motion.starts, strict=True)):
        phase = problem.phases[k]
        t, u, x = _sampled(one, phase.low, phase.high)
        parts.append((t0 + t, u, x, np.full(len(t), float(k))))
    t, u, x, number = (np.concatenate(list(one)) for one in zip(*parts, strict=True))
    return Samples(parted(t), u, x, number)


def _sampled(one: PhaseMotion, low: Floats, high: Floats) -> tuple[Floats, Floats, Floats]:
    span = np.maximum(one.u.max(axis=0, initial=0.0) - one.u.min(axis=0, initial=0.0), 1e-300)
    times, controls, states = [], [], []
    mesh = one.mesh
    fine = np.linspace(0.0, 1.0, 9)
    bent = np.clip(mesh.controls_at(one.u, fine), low, high)
    turns = np.abs(np.diff(bent, n=2, axis=1)) / span  # a second difference over 1/8 of it
    count = np.clip(np.ceil(8 * np.sqrt(turns.max(axis=(1, 2), initial=0.0) / (8 * TRUE))),
                    _LEAST, MOST_PARTS).astype(int)  # fmt: skip
    points, weight = gauss(mesh.degree + 3)
    whole = np.einsum("p,kpm->km", weight, np.clip(mesh.controls_at(one.u, points), low, high))
    for parts in np.unique(count).tolist():
        at = np.linspace(0.0, 1.0, parts + 1)
        u = np.clip(mesh.controls_at(one.u, at), low, high)
        # Straight lines cut corners: inner samples are moved so that the integral is kept.
        lines = (u[:, 1:] + u[:, :-1]).sum(axis=1) / (2 * parts)
        u[:, 1:-1] += ((whole - lines) * parts / (parts - 1))[:, None]
        u = np.clip(u, low, high)
        x = mesh.states_at(one.x, at)
        for k in np.flatnonzero(count == parts):
            times.append(one.T * (mesh.borders[k] + at * mesh.lengths[k]))
            controls.append(u[k])
            states.append(x[k])
    order = np.argsort([part[0] for part in times])
    t, u, x = (np.concatenate([rows[k] for k in order]) for rows in (times, controls, states))
    same = np.concatenate([[False], np.diff(t) <= _SAME * max(one.T, 1e-300)])
    same[1:] &= (np.abs(np.diff(u, axis=0)) <= _SAME * span).all(axis=1)
    t[1:] = np.where(np.diff(t) <= _SAME * max(one.T, 1e-300), t[:-1], t[1:])
    return t[~same], u[~same], x[~same]

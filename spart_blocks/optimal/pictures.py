"""Pictures of an optimum: controls with their bounds, states, and how its mesh is divided."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from spart_blocks.optimal.curves import Samples
from spart_blocks.optimal.problem import Problem
from spart_blocks.optimal.transcription import Motion
from spart_blocks.results.plots import add_legend, dress, look, new_figure
from spart_blocks.results.signal_names import STATES

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CURVES = 8
"""Largest number of elements of a control or of a block's states that are drawn."""
MOST_PICTURES = 16
_FAINT = "#9AA1AB"


def pictures(problem: Problem, motion: Motion, samples: Samples) -> list[Figure]:
    """One for each control, one for the states of each block, and one of the mesh."""
    found = [_control(problem, motion, samples, k) for k in range(len(problem.controls))]
    program = problem.program
    for slot in program.states[: MOST_PICTURES - len(found)]:
        figure = new_figure(f"states of {slot.name}", 3.4)
        axis = figure.subplots()
        rows = samples.x[:, slot.part]
        names = [label.removeprefix(STATES) for label in problem.state_labels[slot.part]]
        names = names[:MOST_CURVES]
        for k, name in enumerate(names):
            axis.plot(samples.t, rows[:, k], label=name, **look(k))
        _dressed(axis, f"States of {slot.name}", motion)
        add_legend(axis, names)
        found.append(figure)
    found.append(_mesh(motion))
    return found


def _control(problem: Problem, motion: Motion, samples: Samples, which: int) -> Figure:
    one = problem.controls[which]
    figure = new_figure(one.name, 3.4)
    axis = figure.subplots()
    names = one.labels[:MOST_CURVES]
    for k, name in enumerate(names):
        column = one.part.start + k
        axis.plot(samples.t, samples.u[:, column], label=name, **look(k))
        for t0, motion_of, phase in zip(motion.starts, motion.phases, problem.phases, strict=True):
            for bound in (phase.low[column], phase.high[column]):
                if np.isfinite(bound):
                    span = [t0, t0 + motion_of.T]
                    axis.plot(span, [bound, bound], color=_FAINT, linewidth=0.8, linestyle="--")
    _dressed(axis, one.name, motion)
    add_legend(axis, names)
    return figure


def _dressed(axis: object, title: str, motion: Motion) -> None:
    dress(axis, title)  # type: ignore[arg-type]
    for t0 in motion.starts[1:]:
        axis.axvline(t0, color=_FAINT, linewidth=0.8)  # type: ignore[attr-defined]
    axis.set_xlabel("t [s]")  # type: ignore[attr-defined]


def _mesh(motion: Motion) -> Figure:
    figure = new_figure("mesh", 2.4)
    axis = figure.subplots()
    for t0, one in zip(motion.starts, motion.phases, strict=True):
        at = t0 + one.T * one.mesh.borders
        axis.step(at, one.T * np.append(one.mesh.lengths, one.mesh.lengths[-1]), where="post",
                  color=look(0)["color"])  # fmt: skip
    axis.set_yscale("log")
    _dressed(axis, "Lengths of intervals [s]", motion)
    return figure

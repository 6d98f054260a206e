"""Inputs of a subdiagram during a comparison. They vary, so that their effects are compared.

Each input is constant over equal intervals of time, as importers hold inputs between communication
points. Its values are those of the whole diagram at the starts of the intervals. Sines replace
inputs that are constant there, or all inputs if the diagram cannot be run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import casadi as ca
import numpy as np

from spart_blocks.base.errors import SpartError
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.subdiagram import Subdiagram, entries_of
from spart_blocks.program.tracing.switched_parameters import substituted
from spart_blocks.run import simulate
from spart_blocks.run.engines.engine import Floats

if TYPE_CHECKING:
    from spart_blocks.diagram import Diagram

SEGMENTS = 25
_SLOWEST = 1.5
"""Periods of the slowest sine within the compared time."""
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True)
class Excitation:
    """The inputs of a comparison. rows (segments, nu): values in each segment, in the order of the
    subdiagram. length: of a segment [s]. told: for each input the source of its values, as text.
    """

    rows: Floats
    length: float
    told: dict[str, str]


def excitation_of(part: Subdiagram, horizon: float, diagram: Diagram | None) -> Excitation:
    """The excitation of the inputs of a subdiagram over a horizon [s]."""
    length = horizon / SEGMENTS
    rows, told = moved(part, _recorded(part, horizon, length, diagram), SEGMENTS)
    found = Excitation(rows, length, told)
    return found if _bearable(part, found, horizon) else _at_rest(part, length)


def moved(
    part: Subdiagram, recorded: Mapping[str, Floats], count: int
) -> tuple[Floats, dict[str, str]]:
    """The inputs of a subdiagram (count, nu) at `count` times, and the source of each.
    recorded: values (count, n) by input, if there are any; sines are added to constant ones."""
    columns, told, number = [np.zeros((count, 0))], {}, 0
    for slot in part.inputs:
        values = recorded.get(slot.name)
        told[slot.name] = "as in the diagram"
        if values is None or not np.ptp(values, axis=0).any():
            start = part.program.p[slot.part] if values is None else values[0]
            moves = not _has_a_norm(slot, start)
            told[slot.name] = "sines" if moves else "held"
            values = np.tile(start, (count, 1))
            if moves:
                values = values + _sines(number, values.shape[1], count) * _size(start)
        number += values.shape[1]
        columns.append(values)
    return np.concatenate(columns, axis=1), told


def driven(program: Program, part: Subdiagram, fed: Excitation) -> Program:
    """The program with these inputs instead of those in its p."""
    if not part.inputs:
        return program
    entries = entries_of(part.inputs)

    def effective(t: Any, p: Any) -> Any:
        # The threshold is half-way between a segment's start and the last time a run uses before.
        segment = ca.floor(t / fed.length * (1 + 2.0**-51))
        p = ca.SX(p)
        for column, entry in enumerate(entries):
            values = fed.rows[:, column].tolist()
            p[entry] = ca.pw_const(segment, [k + 0.5 for k in range(SEGMENTS - 1)], values)
        return p

    return stopping(substituted(program, len(program.p), effective), fed.length, "inputs")


def stopping(program: Program, every: float, what: str) -> Program:
    """The program whose runs stop at all multiples of a time [s], as where a source switches.
    what: the name of this source."""
    (p,) = program.edges.sx_in()
    rows = ca.vertcat(ca.densify(program.edges(p)), every, every)
    return replace(
        program,
        edges=ca.Function("edges", [p], [rows], ["p"], ["edges"]),
        switching=(*program.switching, what),
    )


def _recorded(
    part: Subdiagram, horizon: float, length: float, diagram: Diagram | None
) -> dict[str, Floats]:
    """The values of each input in the diagram at the start of each segment (segments, n)."""
    if diagram is None or not part.inputs:
        return {}
    names = tuple(slot.name for slot in part.inputs)
    try:
        results = simulate(diagram, T=horizon, every=length, log=names)
    except SpartError:
        return {}
    at = np.searchsorted(results.t, np.arange(SEGMENTS) * length - 0.01 * length)
    at = at.clip(max=len(results.t) - 1)  # a STOP may end the run early
    return {
        name: np.asarray(results[name], dtype=float)[at].reshape(SEGMENTS, -1) for name in names
    }


def _has_a_norm(slot: Slot, start: Floats) -> bool:
    """Whether an input is a rotation matrix, a quaternion or another unit vector."""
    value = start.reshape(slot.shape)
    if slot.shape == (3, 3):
        return bool(np.allclose(value @ value.T, np.eye(3), atol=1e-9))
    return slot.shape in ((3,), (4,)) and bool(abs(np.linalg.norm(value) - 1) < 1e-9)


def _size(start: Floats) -> float:
    """The amplitude of a sine: a tenth of the largest magnitude, or 1 if that is zero."""
    largest = float(np.abs(start).max(initial=0.0))
    return 0.1 * largest if largest else 1.0


def _sines(first: int, width: int, count: int) -> Floats:
    """(count, width): sines that start at zero, each with a different frequency."""
    numbers = np.arange(first, first + width)
    periods = _SLOWEST * (1 + (numbers * _GOLDEN) % 1)
    sines: Floats = np.sin(2 * np.pi * periods * np.arange(count)[:, None] / count)
    return sines


def _bearable(part: Subdiagram, fed: Excitation, horizon: float) -> bool:
    """Whether the subdiagram runs with these inputs. Some functions are not finite everywhere."""
    try:
        simulate(driven(part.program, part, fed), T=horizon, every=fed.length)
    except SpartError:
        return False
    return True


def _at_rest(part: Subdiagram, length: float) -> Excitation:
    rows = np.tile(part.program.p[entries_of(part.inputs)], (SEGMENTS, 1))
    return Excitation(rows, length, dict.fromkeys((s.name for s in part.inputs), "held"))

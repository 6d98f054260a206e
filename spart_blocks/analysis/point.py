"""The operating point of an analysis: time, states and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import casadi as ca
import numpy as np

from spart_blocks.base.argument_checks import as_number
from spart_blocks.base.errors import InputError, brief
from spart_blocks.program.derivatives import Moves, Point, Rowwise
from spart_blocks.results import FinalState, Results
from spart_blocks.run.engines.engine import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.run.states import set_states, telling_origin


@dataclass(frozen=True, eq=False)
class Trim:
    """An equilibrium.

    states: state of every block that has one, in the form of `initial=` of simulate. parameters:
    whole values of those that contain unknowns. values: the solution for each unknown. residual:
    largest remaining rate, or difference from a condition. t [s]: its time. evaluations: number of
    evaluations of the equations.
    """

    states: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    values: Mapping[str, Floats]
    residual: float
    t: float
    evaluations: int


def operating_point(engine: Native, at: Any, t: float | None) -> Point:
    """The operating point for the argument `at`; by default the diagram's initial state.

    at: a FinalState, Results or the file of a run, for its end; a Trim, with its parameters;
    or a mapping from blocks to state vectors or, for a plant, to its `initial` entries. t [s]: by
    default the time of `at`, or 0.
    """
    given, time, states, p = _given(engine, at)
    x, xd = (engine if p is engine.program.p else engine.with_parameters(p)).initial()
    with telling_origin(given, engine.title):
        set_states(engine, states, x, xd, argument="at", each="at:")
    now, x = time if t is None else as_number(t, "t"), engine.project(0.0, x)
    # A point is looked at as a tick reads it.
    if engine.program.holds:
        xd = engine.program.filled(now, x, xd, p)
    return Point(now, x, xd, p)


def moves_of(engine: Native, at: Any, point: Point, changes: Floats) -> Moves:
    """How an operating point moves with parameters along directions, changes (np, m): with initial
    states that are parameters. States that `at` gives stand still.
    """
    program = engine.program
    dx, dxd = (np.array(one.T) for one in program.starts(changes.T))
    for name in _given(engine, at)[2]:
        for slices, change in ((engine.continuous, dx), (engine.sampled, dxd)):
            if name in slices:
                change[slices[name]] = 0.0
    return filled_moves(engine, point, projected_moves(engine, point, Moves(dx, dxd, changes)))


def projected_moves(engine: Native, point: Point, moves: Moves) -> Moves:
    """The same with the states kept on their constraints."""
    program = engine.program
    if program.project is None or not (moves.dx.any() or moves.dp.any()):
        return moves
    onto = Rowwise(program.project, np.arange(len(moves.dx)))
    return Moves(onto.moved(point, moves).T, moves.dxd, moves.dp)


def filled_moves(engine: Native, point: Point, moves: Moves) -> Moves:
    """The same with the changes of outputs that are held, which follow from the others."""
    program = engine.program
    added = {one.name for one in program.holds if one.is_added}
    if not added:
        return moves
    slots = (slot for slot in program.discrete if slot.name in added)
    rows = np.concatenate([np.arange(slot.part.start, slot.part.stop) for slot in slots])
    arguments = program.outputs.sx_in()
    renewed = ca.Function("renewed", arguments, [program.renewed(*arguments)])
    dxd = moves.dxd.copy()
    dxd[rows] = Rowwise(renewed, rows).moved(point, moves).T
    return Moves(moves.dx, dxd, moves.dp)


def _given(engine: Native, at: Any) -> tuple[Any, float, Mapping[str, Any], Floats]:
    """What `at` gives: itself, read if it was a file; the time, states by block, parameters."""
    if isinstance(at, (str, Path)):
        at = Results.load(at)
    given = at
    if isinstance(at, Results):
        at = at.final_state
    program, time, states, p = engine.program, 0.0, at, engine.program.p
    if isinstance(at, FinalState):
        time, states = at.t, {**at.continuous, **at.discrete}
    elif isinstance(at, Trim):
        time, states, p = at.t, at.states, program.with_parameters(at.parameters).p
    elif at is not None and not isinstance(at, Mapping):
        raise InputError(
            f"at must be a final state, results, a file, a trim or a mapping, not {brief(at)}"
        )
    return given, time, states or {}, p

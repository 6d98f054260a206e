"""The operating point of an analysis: time, states and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spart_blocks.base.argument_checks import as_number
from spart_blocks.base.errors import InputError, brief
from spart_blocks.program.derivatives import Point
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

    at: a FinalState, Results or the .npz file of a run, for its end; a Trim, with its parameters;
    or a mapping from blocks to state vectors or, for a plant, to its `initial` entries. t [s]: by
    default the time of `at`, or 0.
    """
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
    x, xd = engine.initial()
    with telling_origin(given, engine.title):
        set_states(engine, states or {}, x, xd, argument="at", each="at:")
    now, x = time if t is None else as_number(t, "t"), engine.project(0.0, x)
    # A point is looked at as a tick reads it.
    if program.holds:
        xd = program.filled(now, x, xd, p)
    return Point(now, x, xd, p)

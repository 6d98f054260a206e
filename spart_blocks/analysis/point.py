"""The point at which a diagram is looked at: time, states and parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.errors import Fault, InputError, did_you_mean
from spart_blocks.results import FinalState, Results
from spart_blocks.simulation.interpreter import Floats
from spart_blocks.simulation.native import Native


@dataclass(frozen=True)
class Point:
    """t [s], continuous states x, discrete states xd, parameters p."""

    t: float
    x: Floats
    xd: Floats
    p: Floats


@dataclass(frozen=True, eq=False)
class Trim:
    """An equilibrium.

    states: the state of every block that has one, as `initial=` of simulate takes it.
    parameters: those that were unknown, whole. values: what was found for each unknown.
    residual: the largest rate, or difference from a condition, that is left.
    t [s]: the time at which it was looked for. evaluations: of the equations.
    """

    states: Mapping[str, Floats]
    parameters: Mapping[str, Floats]
    values: Mapping[str, Floats]
    residual: float
    t: float
    evaluations: int


def operating_point(engine: Native, at: Any, t: float | None) -> Point:
    """The point that `at` means: by default the diagram's start.

    at: a FinalState, Results or the .npz file of a run, of which it is the end; a Trim,
    with its parameters; or a mapping from blocks to state vectors or, for a plant, to its
    `initial` entries. t [s]: by default the time of `at`, or 0.
    """
    if isinstance(at, (str, Path)):
        at = Results.load(at)
    if isinstance(at, Results):
        at = at.final_state
    program, time, states, p = engine.program, 0.0, at, engine.program.p
    if isinstance(at, FinalState):
        time, states = at.t, {**at.continuous, **at.discrete}
    elif isinstance(at, Trim):
        time, states, p = at.t, at.states, program.with_parameters(at.parameters).p
    elif at is not None and not isinstance(at, Mapping):
        raise InputError(
            f"at must be a final state, results, a file, a trim or a mapping, not {at!r}"
        )
    x, xd = engine.initial()
    _set_states(engine, states or {}, x, xd)
    return Point(float(time if t is None else t), engine.project(x), xd, p)


def _set_states(engine: Native, states: Mapping[str, Any], x: Floats, xd: Floats) -> None:
    slices = {engine.nodes[i].name: (i, x, part) for i, part in engine.continuous.items()}
    slices |= {engine.nodes[i].name: (i, xd, part) for i, part in engine.sampled.items()}
    faults = [
        Fault(f"at: no block {name!r} with a state", hint=did_you_mean(name, slices))
        for name in states
        if name not in slices
    ]
    if faults:
        raise InputError(faults)
    for name, value in states.items():
        i, vector, part = slices[name]
        if isinstance(value, Mapping):
            plant = getattr(engine.nodes[i].block, "plant_state", None)
            if plant is None:
                raise InputError(f"at: {name} takes a vector; only a plant takes entries")
            value = plant.initial(value)[1]
        value = np.atleast_1d(np.asarray(value, dtype=float))
        if value.shape != vector[part].shape:
            raise InputError(f"at: {name} has shape {value.shape}, takes {vector[part].shape}")
        vector[part] = value

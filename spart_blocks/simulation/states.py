"""States that a user gives by block, put into an engine's vectors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.blocks._initial import PlantState
from spart_blocks.errors import Fault, InputError, did_you_mean
from spart_blocks.simulation.interpreter import Floats, Interpreter


def set_states(
    engine: Interpreter,
    states: Mapping[str, Any],
    x: Floats,
    xd: Floats,
    *,
    argument: str = "initial",
    each: str = "initial of",
) -> None:
    """Overwrite the states of the named blocks in x and xd.

    A value is the block's state vector or, for a plant, its `initial` entries. argument
    and each lead the messages of the InputErrors that name what is wrong.
    """
    slices = {engine.nodes[i].name: (i, x, part) for i, part in engine.continuous.items()}
    slices |= {engine.nodes[i].name: (i, xd, part) for i, part in engine.sampled.items()}
    faults = [
        Fault(f"{argument}: no block {name!r} with a state", hint=did_you_mean(name, slices))
        for name in states
        if name not in slices
    ]
    if faults:
        raise InputError(faults)
    for name, value in states.items():
        i, vector, part = slices[name]
        plant: PlantState | None = getattr(engine.nodes[i].block, "plant_state", None)
        vector[part] = _state(value, plant, vector[part].shape, f"{each} {name}")


def _state(value: Any, plant: PlantState | None, shape: tuple[int, ...], what: str) -> Floats:
    if isinstance(value, Mapping):
        if plant is None:
            raise InputError(f"{what} must be a vector; only a plant takes entries")
        value = plant.initial(value)[1]
    try:
        state: Floats = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"{what} must be numbers, not {value!r}") from None
    if not np.isfinite(state).all():
        raise InputError(f"{what} holds a number that is not finite")
    if state.shape != shape:
        raise InputError(f"{what} has shape {state.shape}, takes {shape}")
    if plant is not None and plant.floating and abs(np.linalg.norm(state[:4]) - 1) > 1e-3:
        raise InputError(f"{what}: its quaternion, the first four, is not of unit length")
    return state

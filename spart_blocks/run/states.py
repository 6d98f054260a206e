"""Writes states that a user gives by block into an engine's vectors."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, did_you_mean
from spart_blocks.results import Results
from spart_blocks.run.engines.engine import Engine, Floats

if TYPE_CHECKING:
    from spart_blocks.block_support.plants.state import PlantState


def set_states(
    engine: Engine,
    states: Mapping[str, Any],
    x: Floats,
    xd: Floats,
    *,
    argument: str = "initial",
    each: str = "initial of",
) -> None:
    """Overwrite the states of the named blocks in x and xd.

    A value is the block's state vector or, for a plant, its `initial` entries. argument, each:
    start of the messages of InputErrors.
    """
    slices = {name: (x, part) for name, part in engine.continuous.items()}
    slices |= {name: (xd, part) for name, part in engine.sampled.items()}
    faults = [
        Fault(f"{argument}: no block {name!r} with a state", hint=did_you_mean(name, slices))
        for name in states
        if name not in slices
    ]
    if faults:
        raise InputError(faults)
    for name, value in states.items():
        vector, part = slices[name]
        vector[part] = _state(value, engine, name, vector[part].shape, f"{each} {name}")
    for one in engine.holds:  # what is shown of a state starts as that state
        if one.shows == "state" and one.block in states and one.name not in states:
            xd[engine.sampled[one.name]] = xd[engine.sampled[one.block]]
    for name, part in engine.continuous.items():
        if name in states:
            off = engine.project(0.0, x)[part] - x[part]
            if np.abs(off).max(initial=0.0) > 1e-3:
                raise InputError(
                    f"{each} {name} is off by {np.abs(off).max():.3g} from where the block keeps "
                    "it: a quaternion of a plant has length 1, a closed chain its loops, an "
                    "integrator its limits"
                )


@contextmanager
def telling_origin(given: Any, title: str) -> Iterator[None]:
    """A context in which an error about states that do not match says whether they are from
    another diagram. given: their source. title: of this diagram.
    """
    try:
        yield
    except InputError as error:
        other = given.diagram_name if isinstance(given, Results) else ""
        if not other or other == title:
            raise
        text = f"these are results of another diagram, {other!r}; this one is {title!r}"
        raise InputError(Fault(text, hint=str(error))) from None


def hold_as_now(engine: Engine, given: Collection[str], t: float, x: Floats, xd: Floats) -> None:
    """Set held outputs that are not given (because the states are from a run that did not hold
    them) to their present values.
    """
    missing = [one.name for one in engine.holds if one.is_added and one.name not in given]
    if missing:
        now = engine.filled(t, x, xd)
        for name in missing:
            xd[engine.sampled[name]] = now[engine.sampled[name]]


def _state(value: Any, engine: Engine, name: str, shape: tuple[int, ...], what: str) -> Floats:
    if isinstance(value, Mapping):
        plant: PlantState | None = engine.plant_state(name)
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
    return state


def vectors_of(engine: Engine, states: Mapping[str, Floats], count: int) -> tuple[Floats, Floats]:
    """The states of blocks at `count` times, each (count, nstates), as the vectors (count, nx) and
    (count, nd) of an engine.
    """
    x, xd = (
        np.zeros((count, max((part.stop for part in parts.values()), default=0)))
        for parts in (engine.continuous, engine.sampled)
    )
    for parts, vector in ((engine.continuous, x), (engine.sampled, xd)):
        for name, part in parts.items():
            vector[:, part] = states[name]
    return x, xd

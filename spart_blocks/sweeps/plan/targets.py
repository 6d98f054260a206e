"""Which parameters of a program have the value of a path."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base import paths
from spart_blocks.base.document import Keys
from spart_blocks.base.errors import InputError
from spart_blocks.diagram.sections.tunable import QUANTITIES
from spart_blocks.program import Program
from spart_blocks.program.parameter_paths import Target, entry_places
from spart_blocks.program.slots import Places, Slot

Floats = NDArray[np.float64]


def dotted(path: str) -> str:
    """A path in dot notation: `plant.initial.qm.0` for `plant.initial.qm[0]`. A text that is not a
    path is returned unchanged.
    """
    try:
        return paths.dotted(paths.keys_of(path))
    except InputError:
        return path


@dataclass(frozen=True)
class StartTarget:
    """An entry of the `initial` of a plant, such as ('qm',) or ('qm', 0)."""

    block: str
    entry: Keys


@dataclass(frozen=True)
class MatterTarget:
    """Masses or inertias of a robot. target: the varied ones. whole: indices in p of
    all of them.
    """

    target: Target
    whole: Places
    robot: str
    quantity: str


def slots_of(program: Program) -> dict[str, Slot]:
    """The parameters of a program by name."""
    return {slot.name: slot for slot in program.parameters}


def matter_of(path: str, robots: Sequence[str]) -> tuple[str, str, Keys] | None:
    """The robot, the quantity and the index of `sc.mass`, `robots.sc.mass` or `sc.mass.1`."""
    parts = path.removeprefix("robots.").split(".")
    if len(parts) < 2 or parts[0] not in robots or parts[1] not in QUANTITIES:
        return None
    return parts[0], parts[1], tuple(parts[2:])


def matter_target(program: Program, robot: str, quantity: str, within: Keys) -> MatterTarget | None:
    """The entries of p of masses or inertias; None if they are not parameters."""
    slot = slots_of(program).get(f"{robot}.{quantity}")
    place = None if slot is None else entry_places(slot, within)
    if slot is None or place is None:
        return None
    whole = np.arange(slot.part.start, slot.part.stop, dtype=np.intp).reshape(slot.shape)
    return MatterTarget(Target((place,), (slot.name,)), whole, robot, quantity)


def start_of(program: Program, block: str) -> Slot | None:
    """The parameter that is the initial state of a block; None if there is none."""
    return slots_of(program).get(program.start.get(block, ""))


def as_given(plant: Any, x: Floats) -> Mapping[str, Any]:
    """The entries of a plant's `initial` for a state x, in the frame of the base's
    centre of mass.
    """
    named: dict[str, list[float]] = {}
    for name, value in zip(plant.names, x, strict=False):
        named.setdefault(name.partition(".")[0], []).append(float(value))
    named.pop("mode", None)
    if "q0" in named:
        named["quaternion"] = named.pop("q0")
    return {key: np.array(values) for key, values in named.items()}

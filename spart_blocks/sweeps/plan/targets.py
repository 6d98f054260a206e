"""Where the value of a path stands among the parameters of a program."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.document import Keys
from spart_blocks.diagram.sections.tunable import QUANTITIES
from spart_blocks.program import Program
from spart_blocks.program.program import Slot
from spart_blocks.sweeps.plan.uses import Use

Places = NDArray[np.intp]
Floats = NDArray[np.float64]

INITIAL = "initial"
"""The argument of a plant that its initial state is made of."""
_INDEX = re.compile(r"\[(\d+(?:\s*,\s*\d+)*)\]$")


def dotted(path: str) -> str:
    """A path with dots alone: `plant.initial.qm.0` for `plant.initial.qm[0]`."""
    found = _INDEX.search(path)
    if found is None:
        return path
    return f"{path[: found.start()]}.{'.'.join(k.strip() for k in found[1].split(','))}"


@dataclass(frozen=True)
class Target:
    """Entries of p that take a value: each of `places`, arrays of one or several shapes. slots: the
    names of the parameters that they belong to. signs: with which they take it. apart: values that
    are no parameter's, but structural."""

    places: tuple[Places, ...]
    slots: tuple[str, ...]
    signs: tuple[int, ...] = ()
    apart: frozenset[float] = frozenset()

    @property
    def signed(self) -> list[tuple[Places, int]]:
        """The places, each with its sign."""
        return list(zip(self.places, self.signs or (1,) * len(self.places), strict=True))

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether values of a shape fit: a number fills all."""
        return shape == () or all(place.shape == shape for place in self.places)

    def put(self, p: Floats, values: Any, shift: Places | None = None) -> None:
        """Write values (n, ...) into the rows of p (n, np). shift: where else entries stand."""
        for place, sign in self.signed:
            rows = sign * np.asarray(values, dtype=float)
            where = (place if shift is None else shift[place]).ravel()
            if rows.ndim == 1 and place.ndim:
                p[:, where] = rows[:, None]
            else:
                p[:, where] = rows.reshape(len(p), -1)

    def of(self, p: Floats) -> Floats:
        """The value in a vector p, of the first parameter."""
        place, sign = self.signed[0]
        return np.asarray(sign * p[place])


@dataclass(frozen=True)
class StartTarget:
    """An entry of the `initial` of a plant, such as ('qm',) or ('qm', 0)."""

    block: str
    entry: Keys


@dataclass(frozen=True)
class MatterTarget:
    """The masses or inertias of a robot, or some of them. whole: all of them among the entries
    of p."""

    target: Target
    whole: Places
    robot: str
    quantity: str


def slots_of(program: Program) -> dict[str, Slot]:
    """The parameters of a program by name."""
    return {slot.name: slot for slot in program.parameters}


def place_of(slot: Slot, within: Sequence[Any]) -> Places | None:
    """The entries of p of an element or a row of a parameter, or of all of it; None where there is
    none."""
    places = np.arange(slot.part.start, slot.part.stop, dtype=np.intp).reshape(slot.shape)
    for key in within:
        text = str(key)
        if not places.ndim or not text.isdecimal() or int(text) >= len(places):
            return None
        places = np.asarray(places[int(text)])
    return places


def target_of_uses(program: Program, uses: Sequence[Use]) -> Target | None:
    """The entries of p that arguments of blocks are; None if one of them is none."""
    slots = slots_of(program)
    places: list[Places] = []
    names: list[str] = []
    signs: list[int] = []
    for use in uses:
        name, within = f"{use.block}.{use.argument}", use.within
        if name not in slots and use.argument == "params" and within:  # of FCN
            name, within = f"{use.block}.{within[0]}", within[1:]
        if name not in slots and use.origin is not None:
            name = use.origin
        place = place_of(slots[name], within) if name in slots else None
        if place is None:
            return None
        if name not in names or not any(np.array_equal(place, other) for other in places):
            places.append(place)
            names.append(name)
            signs.append(use.sign)
    if not places:
        return None
    apart = frozenset[float]().union(*(use.apart for use in uses))
    return Target(tuple(places), tuple(names), tuple(signs), apart)


def target_of_name(program: Program, path: str) -> Target | None:
    """The entries of p of a parameter's own name, with the index of an element perhaps."""
    slots = slots_of(program)
    parts = path.split(".")
    for end in range(len(parts), 0, -1):
        name, within = ".".join(parts[:end]), parts[end:]
        names = program.given.get(name, (name,))
        if all(one in slots for one in names):
            places = [place_of(slots[one], within) for one in names]
            if any(place is None for place in places):
                return None
            return Target(tuple(p for p in places if p is not None), tuple(names))
        if any(not part.isdecimal() for part in within):
            continue
    return None


def matter_of(path: str, robots: Sequence[str]) -> tuple[str, str, Keys] | None:
    """The robot, the quantity and the index of `sc.mass`, `robots.sc.mass` or `sc.mass.1`."""
    parts = path.removeprefix("robots.").split(".")
    if len(parts) < 2 or parts[0] not in robots or parts[1] not in QUANTITIES:
        return None
    return parts[0], parts[1], tuple(parts[2:])


def matter_target(program: Program, robot: str, quantity: str, within: Keys) -> MatterTarget | None:
    """The entries of p of masses or inertias; None if they are no parameters."""
    slot = slots_of(program).get(f"{robot}.{quantity}")
    place = None if slot is None else place_of(slot, within)
    if slot is None or place is None:
        return None
    whole = np.arange(slot.part.start, slot.part.stop, dtype=np.intp).reshape(slot.shape)
    return MatterTarget(Target((place,), (slot.name,)), whole, robot, quantity)


def start_of(program: Program, block: str) -> Slot | None:
    """The parameter that is the initial state of a block."""
    return slots_of(program).get(program.start.get(block, ""))


def same_nominal(target: Target, p: Floats, value: Any) -> bool:
    """Whether the entries of p are a value that the file gives, or are filled by it."""
    try:
        given = np.asarray(value, dtype=float)
        return all(
            bool(np.array_equal(np.broadcast_to(sign * given, place.shape), p[place]))
            for place, sign in target.signed
        )
    except (TypeError, ValueError):
        return False


def flat_size(shape: tuple[int, ...]) -> int:
    """The count of numbers in an array of a shape."""
    return math.prod(shape)


def as_given(plant: Any, x: Floats) -> Mapping[str, Any]:
    """The entries of a plant's `initial` that mean a state x, in the frame of the base's centre of
    mass."""
    named: dict[str, list[float]] = {}
    for name, value in zip(plant.names, x, strict=False):
        named.setdefault(name.partition(".")[0], []).append(float(value))
    named.pop("mode", None)
    if "q0" in named:
        named["quaternion"] = named.pop("q0")
    return {key: np.array(values) for key, values in named.items()}

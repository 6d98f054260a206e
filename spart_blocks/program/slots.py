"""Named quantities in flat vectors: their positions, and the elements that a name selects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.paths import look_up, places, select, split_index
from spart_blocks.diagram.build.origins import Origins
from spart_blocks.diagram.network.composed import former_names

Places = NDArray[np.intp]
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Slot:
    """The place of one named quantity in a flat vector, and its shape."""

    name: str
    start: int
    shape: tuple[int, ...]

    @property
    def part(self) -> slice:
        return slice(self.start, self.start + math.prod(self.shape))

    def places(self, index: str | None = None, name: str = "") -> Places:
        """The indices of its elements in the vector, in the shape that an index such as '0:2'
        selects. name: for the error message of an invalid index.
        """
        return places(name or self.name, self.start, self.shape, index)


def slot_of(
    slots: Iterable[Slot],
    name: str,
    aliases: Mapping[str, str] = {},
    others: Iterable[str] = (),
) -> tuple[Slot, str | None]:
    """The slot of a signal such as 'plant.qm[0]', and the index in it. aliases: other names of
    slots. others: further names that exist. Raises InputError with the nearest names."""
    known = {slot.name: slot for slot in slots}
    full, index = look_up(name, "there is no signal {}", known, aliases, others)
    return known[full], index


def given_names(origins: Origins, parameters: Iterable[Slot]) -> dict[str, tuple[str, ...]]:
    """For names of the file's `params:` that are not parameters themselves, the parameters that
    have their values.
    """
    slots = {slot.name for slot in parameters}
    given = {}
    for path, origin in origins.items():
        if path[0] == "params" and len(path) == 2 and path[1] not in slots:
            taken = tuple(dict.fromkeys(use.name for use in origin.uses if use.shares))
            if taken:
                given[str(path[1])] = taken
    return given


# --- entries of the vector of parameters ------------------------------------------------------


@dataclass(frozen=True)
class Target:
    """Entries of p that have a value.

    places: arrays of indices in p, of one or several shapes. slots: names of the parameters that
    they belong to. apart: values that are structural instead.
    """

    places: tuple[Places, ...]
    slots: tuple[str, ...]
    apart: frozenset[float] = frozenset()

    def elements(self, name: str, index: str | None) -> Target:
        """Those that an index such as '0:2' selects. name: for the error. Raises InputError."""
        picked = (np.asarray(select(name, one[None], index)[0]) for one in self.places)
        return replace(self, places=tuple(picked))

    def takes(self, shape: tuple[int, ...]) -> bool:
        """Whether values of a shape can be set; a scalar sets all entries."""
        return shape == () or all(place.shape == shape for place in self.places)

    def put(self, p: Floats, values: Any, shift: Places | None = None) -> None:
        """Write values (n, ...) into the rows of p (n, np). shift: other indices of the entries,
        by index.
        """
        rows = np.asarray(values, dtype=float)
        for place in self.places:
            where = (place if shift is None else shift[place]).ravel()
            if rows.ndim == 1 and place.ndim:
                p[:, where] = rows[:, None]
            else:
                p[:, where] = rows.reshape(len(p), -1)

    def of(self, p: Floats) -> Floats:
        """The value in a vector p, from its first array of indices."""
        return np.asarray(p[self.places[0]])


def entry_places(slot: Slot, within: Sequence[Any]) -> Places | None:
    """The indices in p of a parameter, or of an element or row of it; None if it does not exist."""
    found = slot.places()
    for key in within:
        text = str(key)
        if not found.ndim or not text.isdecimal() or int(text) >= len(found):
            return None
        found = np.asarray(found[int(text)])
    return found


def parameter_target(
    name: str, slots: Iterable[Slot], given: Mapping[str, tuple[str, ...]]
) -> Target | None:
    """The entries of p of a parameter, 'arm/ctrl.kp', or of those that have the value of one of the
    file, 'kp'; or of elements of them, 'kp[0:2]' or 'kp.0'. None for an unknown name or element;
    raises InputError for an invalid index in brackets. given: the names of the file.
    """
    known = {slot.name: slot for slot in slots}
    for base, index in _spellings(name):
        parts = base.split(".")
        for end in range(len(parts), 0, -1):
            names = given.get(".".join(parts[:end]), (".".join(parts[:end]),))
            if all(one in known for one in names):
                found = [entry_places(known[one], parts[end:]) for one in names]
                if any(place is None for place in found):
                    continue  # a block's name may also be one of the file: goal.q0[0], and goal
                target = Target(tuple(p for p in found if p is not None), tuple(names))
                return target.elements(name, index)
    return None


def _spellings(name: str) -> Iterator[tuple[str, str | None]]:
    """What a name may mean, with the index behind it: names that end in brackets come first, and
    the former names of arguments of composed blocks last.
    """
    base, index = split_index(name)
    yield name, None
    yield base, index
    yield from ((one, index) for one in former_names(base))

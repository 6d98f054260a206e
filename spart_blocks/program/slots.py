"""Named quantities in flat vectors: their positions, and the elements that a name selects."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.paths import look_up, places
from spart_blocks.diagram.build.origins import Origins

Places = NDArray[np.intp]


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

"""Names of table columns: elements of a signal by number, states of a block by name.

A named state is 'states.plant.qm.Joint_1'.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from spart_blocks.base.paths import element_names
from spart_blocks.results.signal_names import STATES

_UNITS = {"omega0": "rad/s", "v0": "m/s"}
"""Units of states that belong to a signal with two units."""


def state_columns(
    block: str, states: Mapping[str, NDArray[Any]], names: Mapping[str, Sequence[str]]
) -> list[str]:
    """The column name of each state of a block: by its name, or by number if it has none.

    states: arrays (N, ...) by block. names: of the states that have any, by block.
    """
    own, width = names.get(block, ()), states[block].shape[1:]
    if width == (len(own),) and len(set(own)) == len(own):
        return [f"{STATES}{block}.{name}" for name in own]
    return element_names(STATES + block, width)


def state_place(
    name: str, states: Mapping[str, NDArray[Any]], names: Mapping[str, Sequence[str]]
) -> tuple[str, int] | None:
    """The block of a state and its column, by its name; None if there is none."""
    for block in states:
        if name.startswith(f"{STATES}{block}."):
            columns = state_columns(block, states, names)
            if name in columns:
                return block, columns.index(name)
    return None


def unit_in_signal(name: str, block: str, units: Mapping[str, str]) -> str:
    """The unit of a named state of a block: that of the signal it is part of; '' if unknown."""
    part = name.removeprefix(f"{STATES}{block}.").split(".")[0]
    return units.get(f"{block}.{part}", _UNITS.get(part, ""))

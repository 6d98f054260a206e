"""Names of table columns: elements of a signal by number, states of a block by name.

A named state is 'states.plant.qm.Joint_1'.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from numpy.typing import NDArray

from spart_blocks.base.paths import element_names
from spart_blocks.results.signal_names import STATES

if TYPE_CHECKING:
    from spart_blocks.results.run_data import RunData

_UNITS = {"omega0": "rad/s", "v0": "m/s"}
"""Units of states that belong to a signal with two units."""


def column_names(results: RunData, name: str) -> list[str]:
    """The names of the columns of a signal, or of all states of a block."""
    block = name.removeprefix(STATES)
    whole = name.startswith(STATES) and block in results.states
    return state_columns(results, block) if whole else results.labels(name)


def state_columns(results: RunData, block: str) -> list[str]:
    """The column name of each state of a block: by its name, or by number if it has none."""
    names, width = results.state_names.get(block, ()), results.states[block].shape[1:]
    if width == (len(names),) and len(set(names)) == len(names):
        return [f"{STATES}{block}.{name}" for name in names]
    return element_names(STATES + block, width)


def state_by_name(results: RunData, name: str) -> NDArray[Any] | None:
    """One state (N,) by its name; None if there is none."""
    for block, array in results.states.items():
        names = state_columns(results, block) if name.startswith(f"{STATES}{block}.") else []
        if name in names:
            column: NDArray[Any] = array[:, names.index(name)]
            return column
    return None


def state_unit(results: RunData, name: str) -> str:
    """The unit of a state by its name: that of the signal it is part of; '' if unknown."""
    for block in results.states:
        before = f"{STATES}{block}."
        if name.startswith(before) and name in state_columns(results, block):
            part = name.removeprefix(before).split(".")[0]
            return results.units.get(f"{block}.{part}", _UNITS.get(part, ""))
    return ""

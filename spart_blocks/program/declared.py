"""What a diagram's file declares of its parameters, by their names in the program."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from spart_blocks.diagram.build.origins import Origins
from spart_blocks.diagram.network.display import Display
from spart_blocks.diagram.sections.declarations import Declarations
from spart_blocks.program.slots import Slot, given_names


def declared_parameters(
    declared: Declarations, parameters: Iterable[Slot], origins: Origins
) -> Declarations:
    """The declarations by the names of the program's parameters."""
    slots = list(parameters)
    known, given = {slot.name for slot in slots}, given_names(origins, slots)
    return {
        slot: one
        for name, one in declared.items()
        for slot in ((name,) if name in known else given.get(name, ()))
    }


def with_units(
    display: Display, declared: Declarations, parameters: Iterable[Slot], origins: Origins
) -> Display:
    """The display with the units of declared parameters."""
    found = declared_parameters(declared, parameters, origins)
    units = {name: one.unit for name, one in found.items() if one.unit}
    return replace(display, units={**display.units, **units}) if units else display

"""The `compare:` section of a diagram: the signals measured when its variants are compared."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field, StrictStr

if TYPE_CHECKING:
    from spart_blocks.diagram.build.wiring import Wiring


class CompareOptions(BaseModel):
    """What is measured; what is left out is found from the diagram."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    track: dict[StrictStr, StrictStr] | None = Field(
        None, description="signals, and the signal that each should follow: plant.qm: qd"
    )
    effort: tuple[StrictStr, ...] | None = Field(
        None, description="signals whose size is the effort of the control"
    )
    base: tuple[StrictStr, ...] | None = Field(
        None, description="plants whose base is watched; they have the outputs R0 and r0"
    )


def check_compare(section: CompareOptions, wiring: Wiring) -> None:
    """Check that every signal of the section exists."""
    document = wiring.document
    for signal, reference in (section.track or {}).items():
        keys = ("compare", "track", signal)
        wiring.check_signal(signal, keys, "compare: track", document.key_place(*keys))
        wiring.check_signal(reference, keys, "compare: track")
    for number, signal in enumerate(section.effort or ()):
        wiring.check_signal(signal, ("compare", "effort", number), "compare: effort")
    for number, plant in enumerate(section.base or ()):
        for signal in base_signals(plant):
            wiring.check_signal(signal, ("compare", "base", number), "compare: base")


def base_signals(plant: str) -> tuple[str, str]:
    """The signals of the attitude and the position of a plant's base."""
    return f"{plant}.R0", f"{plant}.r0"

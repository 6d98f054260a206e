"""The `drawing:` section of a file and of its subsystems: notes, areas, and looks of blocks."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Annotated, Literal, get_args

from pydantic import BeforeValidator, Field, StrictBool, StrictStr

from spart_blocks.base.document import Document, Keys
from spart_blocks.base.errors import Fault, did_you_mean
from spart_blocks.diagram.sections.section import Section
from spart_blocks.drawing.faced import Facing

Colour = Literal["red", "orange", "yellow", "green", "blue", "violet", "grey"]
COLOURS: tuple[str, ...] = get_args(Colour)
MOST_ENTRIES, LONGEST_TEXT = 10_000, 20_000
_FARTHEST = 1e7


_LIST = BeforeValidator(lambda value: [] if value is None else value)
_MAPPING = BeforeValidator(lambda value: {} if value is None else value)
_Length = Annotated[float, Field(ge=-_FARTHEST, le=_FARTHEST)]


class NoteSection(Section):
    """A text on the sheet."""

    text: StrictStr = Field(max_length=LONGEST_TEXT, description="the text, of one or more lines")
    at: tuple[_Length, _Length] = Field(
        description="x to the right and y down to its upper left corner [px]"
    )
    by: StrictStr | None = Field(
        None, description="the block that it stays with; `at` is then from the block's corner"
    )


class AreaSection(Section):
    """A coloured rectangle with a title behind blocks."""

    title: StrictStr = Field("", max_length=LONGEST_TEXT, description="what stands above it")
    colour: Colour = Field("blue", description="its colour")
    blocks: tuple[StrictStr, ...] = Field(
        min_length=1, max_length=MOST_ENTRIES, description="the blocks that it lies around"
    )


class LookSection(Section):
    """How a block is drawn."""

    facing: Facing = Field("right", description="the side to which its outputs lead")
    colour: Colour | None = Field(None, description="by default that of its class of blocks")
    name: StrictBool = Field(True, description="whether its name is shown")


class DrawingSection(Section):
    """What the drawing of a sheet has besides blocks and wires."""

    notes: Annotated[tuple[NoteSection, ...], _LIST] = Field(
        (), max_length=MOST_ENTRIES, description="texts on the sheet"
    )
    areas: Annotated[tuple[AreaSection, ...], _LIST] = Field(
        (), max_length=MOST_ENTRIES, description="rectangles behind blocks"
    )
    looks: Annotated[dict[StrictStr, LookSection], _MAPPING] = Field(
        default_factory=dict, description="how blocks are drawn, by their names"
    )

    def names(self) -> Iterator[tuple[Keys, str]]:
        """The blocks that it names, with the path of each name."""
        for k, note in enumerate(self.notes):
            if note.by is not None:
                yield ("notes", k, "by"), note.by
        for k, area in enumerate(self.areas):
            for n, name in enumerate(area.blocks):
                yield ("areas", k, "blocks", n), name
        for name in self.looks:
            yield ("looks", name), name


NO_DRAWING = DrawingSection.model_validate({})
PLAIN = LookSection.model_validate({})


def check_drawing(
    section: DrawingSection,
    names: Collection[str],
    document: Document,
    path: Keys,
    faults: list[Fault],
) -> None:
    """Add a fault for each name that is not among those of the sheet's blocks. path: of the sheet
    in the file.
    """
    for keys, name in section.names():
        if name not in names:
            where = (*path, "drawing", *keys)
            place = document.key_place(*where) if keys[0] == "looks" else document.place(*where)
            hint = did_you_mean(name, names)
            faults.append(Fault(f"the drawing names {name[:60]!r}, which is no block", place, hint))

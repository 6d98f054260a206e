"""A checked diagram: bdsim's wired blocks, how to run them, and where each came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pydantic import BaseModel

from spart_blocks.base.errors import Place
from spart_blocks.diagram.build.origins import Origins, shared_arguments
from spart_blocks.diagram.sections.comparison import CompareOptions
from spart_blocks.diagram.sections.declarations import Declarations
from spart_blocks.diagram.sections.drawing_section import NO_DRAWING, DrawingSection
from spart_blocks.diagram.sections.expectations import ExpectSection
from spart_blocks.diagram.sections.exporting import ExportOptions
from spart_blocks.diagram.sections.realtime_options import RealtimeOptions
from spart_blocks.diagram.sections.run_options import RunOptions as RunOptions
from spart_blocks.diagram.sections.run_options import Solver as Solver
from spart_blocks.diagram.sections.table import Sections
from spart_blocks.robot import Robot

MOST_SHOWN = 300
"""Largest number of blocks of a diagram that a notebook draws automatically; the layout of 1,000
takes seconds.
"""


@dataclass(frozen=True, repr=False)
class Diagram:
    """A diagram ready to run.

    bd is bdsim's BlockDiagram. places maps 'blocks.ctrl', 'wires.ctrl.tau -> plant.taum'
    and the like to the file, line and column they were read from.

    sections: the file's sections on runs, comparison, export and so on.

    origins: by the path of an entry of the file, params.kp or blocks.arm.kp, the arguments of
    blocks that have its value. files: those read besides its source, such as robots. variants:
    the choice for each slot of the file's `variants:`. packages:
    those that the blocks of a file are of. tunable: the quantities of robots that stay parameters
    of the program, such as 'sc.mass', where they would otherwise be folded into it as constants.
    drawing: the notes, areas and looks of blocks of its picture.
    """

    name: str
    bd: Any
    sections: Sections = field(default_factory=lambda: Sections.model_validate({}))
    robots: Mapping[str, Robot] = field(default_factory=dict)
    params: Mapping[str, Any] = field(default_factory=dict)
    declared: Declarations = field(default_factory=dict)
    source: Path | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    origins: Origins = field(default_factory=dict)
    tunable: tuple[str, ...] = ()
    files: tuple[Path, ...] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    packages: frozenset[str] = frozenset()
    drawing: DrawingSection = NO_DRAWING

    @property
    def shared(self) -> Mapping[str, tuple[tuple[str, str], ...]]:
        """For each parameter of the file's `params:`, the (block, argument) pairs that took its
        value unchanged, so that all of them are one parameter of the program. The block goes by its
        full name (`arm/ctrl`), the argument by its name in the constructor.

        Included: a number, or a list of numbers, written as `kp: $kp`, or passed on so to a
        subsystem. Not included: `$kp` within a larger list or a mapping, a value that the block's
        other parameters change (a scalar broadcast to a vector), a text, and a subsystem's own
        default.
        """
        return shared_arguments(self.origins)

    @property
    def run(self) -> RunOptions:
        """The options of its runs."""
        return self.sections.run

    @property
    def compare(self) -> CompareOptions:
        """What comparisons of its variants measure."""
        return self.sections.compare

    @property
    def export(self) -> ExportOptions:
        """Which part is exported as code, and its fixed step."""
        return self.sections.export

    @property
    def realtime(self) -> RealtimeOptions:
        """The options of its loop in real time."""
        return self.sections.realtime

    @property
    def expect(self) -> ExpectSection | None:
        """The claims about its runs; None if there are none."""
        return self.sections.expect

    def with_sections(self, **changed: BaseModel | None) -> Diagram:
        """The same diagram with some sections replaced, by name."""
        return replace(self, sections=self.sections.changed(**changed))

    def __repr__(self) -> str:
        robots = f"; robots {', '.join(self.robots)}" if self.robots else ""
        # Constants that only fill an input left open, 'plant.tau0=0', are nobody's.
        blocks = sum("=0" not in block.name for block in self.bd.blocklist)
        wires = sum("=0" not in wire.start.block.name for wire in self.bd.wirelist)
        counts = f"{blocks} blocks, {wires} wires"
        return f"<diagram {self.name}: {counts}{robots}; T = {self.run.T:g} s>"

    def _repr_svg_(self) -> str | None:
        """The drawing for notebooks, of diagrams of up to 300 blocks."""
        if len(self.bd.blocklist) > MOST_SHOWN:
            return None
        from spart_blocks.diagram.diagram_drawing import draw
        from spart_blocks.drawing.files import rendered

        return rendered(draw(self), "svg").decode()

    def show(self, path: str | Path | None = None, block: str | None = None) -> Path | None:
        """Draw the diagram: blocks as boxes, wires as lines. block: the name of a STATE_MACHINE, of
        which the chart is drawn instead.

        path: a file to write, .svg, .png or .pdf, which is returned. Without it the drawing
        appears in the notebook, or in a window until that is closed. Raises InputError where
        the file cannot be written, and where no window can be opened.
        """
        from spart_blocks.diagram.chart_drawing import draw_machine
        from spart_blocks.diagram.diagram_drawing import draw
        from spart_blocks.drawing.files import show, write

        picture = draw(self) if block is None else draw_machine(self, block)
        if path is not None:
            return write(picture, path)
        show(picture)
        return None

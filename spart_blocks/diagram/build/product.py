"""The data that is collected while the files of a diagram are built."""

from __future__ import annotations

from dataclasses import dataclass, field

from spart_blocks.base.errors import DiagramError, Fault, Place
from spart_blocks.diagram.build.origins import OriginRecorder
from spart_blocks.diagram.build.subsystems import MAX_BLOCKS
from spart_blocks.diagram.build.wire_counts import MAX_WIRES
from spart_blocks.diagram.build.wiring import Wiring
from spart_blocks.diagram.sections.schema import MAX_COLLECTED, PartSection, SubsystemSection

Section = SubsystemSection | PartSection
Part = tuple[Section, Wiring]
"""A section with ports, and its diagram."""


@dataclass
class Product:
    """Data collected while all files of a diagram are built: the faults, the places of blocks and
    wires, the origins of the blocks' arguments, and the packages of the blocks. triggered: number
    of triggered subsystems around the one being built.
    """

    faults: list[Fault] = field(default_factory=list)
    places: dict[str, Place] = field(default_factory=dict)
    origins: OriginRecorder = field(default_factory=OriginRecorder)
    packages: set[str] = field(default_factory=set)
    blocks: int = 0
    wires: int = 0
    triggered: int = 0

    def count(self, place: Place, *, blocks: int = 0, wires: int = 0) -> None:
        """Add to the numbers of blocks and wires. Raises DiagramError if there are too many, or
        too many faults.
        """
        self.blocks += blocks
        self.wires += wires
        hint = "use fewer subsystems and files in each other"
        for what, number, most in (
            ("blocks", self.blocks, MAX_BLOCKS),
            ("wires and ports", self.wires, MAX_WIRES),
        ):
            if number > most:
                message = f"with its subsystems the diagram has more than {most} {what}"
                raise DiagramError([*self.faults, Fault(message, place, hint)])
        if len(self.faults) > MAX_COLLECTED:  # each use of a subsystem repeats its mistakes
            self.faults[:] = dict.fromkeys(self.faults)
            if len(self.faults) > MAX_COLLECTED // 2:
                raise DiagramError(self.faults)

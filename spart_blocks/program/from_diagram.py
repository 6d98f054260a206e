"""Makes the program of a diagram: first its gains are designed, then it is traced."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from spart_blocks.base.errors import overheard
from spart_blocks.diagram import Diagram, as_diagram
from spart_blocks.diagram.build.paused_collector import collector_paused
from spart_blocks.diagram.network.flatten import FlatDiagram
from spart_blocks.program.kept import Contents, keep
from spart_blocks.program.program import Program
from spart_blocks.program.tracing.gains import wired
from spart_blocks.program.tracing.trace import traced


def trace(
    diagram: Diagram | str | Path | Any, wiring: FlatDiagram | None = None, *, resets: bool = True
) -> Program:
    """The program of a diagram.

    diagram: a loaded diagram, a path of a YAML file, or a bdsim BlockDiagram. wiring: its
    flattened form with gains, if already known. resets: whether to trace the effect of EVENT
    functions on states, which calls each of them once. Raises TraceError naming the block, the
    line and the reason if a block cannot be an expression; DiagramError if a gain cannot be
    designed. A run of the diagram uses the program, too, if nothing of the diagram changes before.
    """
    diagram = as_diagram(diagram)
    with collector_paused():
        if wiring is not None:
            return traced(diagram, wiring, resets=resets)
        with overheard() as told:
            program = traced(diagram, wired(diagram), resets=resets)
        keep(diagram, "program", program, told, Contents.of(diagram))
        return program

"""From a YAML file, or a diagram made in Python, to a checked diagram."""

from spart_blocks.diagram.loader import as_diagram, load, load_expectations
from spart_blocks.diagram.model import Diagram, RunOptions, Solver
from spart_blocks.diagram.registry import new_diagram
from spart_blocks.diagram.wires import complete

__all__ = [
    "Diagram",
    "RunOptions",
    "Solver",
    "as_diagram",
    "complete",
    "load",
    "load_expectations",
    "new_diagram",
]

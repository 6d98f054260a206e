"""Diagrams: from a YAML file, or from blocks wired in Python, to a checked diagram.

A cached program runs without the modules that read diagrams, so each name is imported when it is
first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.base.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.diagram.build.connect import complete
    from spart_blocks.diagram.build.loader import as_diagram, load, load_expectations
    from spart_blocks.diagram.build.registry import new_diagram
    from spart_blocks.diagram.diagram import Diagram
    from spart_blocks.diagram.sections.run_options import RunOptions, Solver

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

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Diagram": "spart_blocks.diagram.diagram",
        "RunOptions": "spart_blocks.diagram.sections.run_options",
        "Solver": "spart_blocks.diagram.sections.run_options",
        "as_diagram": "spart_blocks.diagram.build.loader",
        "complete": "spart_blocks.diagram.build.connect",
        "load": "spart_blocks.diagram.build.loader",
        "load_expectations": "spart_blocks.diagram.build.loader",
        "new_diagram": "spart_blocks.diagram.build.registry",
    },
)

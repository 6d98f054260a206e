"""From a YAML file, or a diagram built in Python, to a checked diagram. A cached program runs
without the readers of diagrams, so each name is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.diagram.diagram import Diagram
    from spart_blocks.diagram.loader import as_diagram, load, load_expectations
    from spart_blocks.diagram.registry import new_diagram
    from spart_blocks.diagram.run_options import RunOptions, Solver
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

__getattr__, __dir__ = lazily(
    __name__,
    {
        "Diagram": "diagram",
        "RunOptions": "run_options",
        "Solver": "run_options",
        "as_diagram": "loader",
        "complete": "wires",
        "load": "loader",
        "load_expectations": "loader",
        "new_diagram": "registry",
    },
)

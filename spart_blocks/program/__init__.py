"""Programs of diagrams and functions: expressions recorded by running them once on symbols.

A program from the cache runs without the tracing code, so each name is imported when first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.program.from_diagram import trace
    from spart_blocks.program.functions import BoundCall, CompiledFunction, compiled
    from spart_blocks.program.program import Program, Slot
    from spart_blocks.program.symbol import TraceError

__all__ = [
    "BoundCall",
    "CompiledFunction",
    "Program",
    "Slot",
    "TraceError",
    "compiled",
    "trace",
]

__getattr__, __dir__ = lazily(
    __name__,
    {
        "BoundCall": "functions",
        "CompiledFunction": "functions",
        "Program": "program",
        "Slot": "program",
        "TraceError": "symbol",
        "compiled": "functions",
        "trace": "from_diagram",
    },
)

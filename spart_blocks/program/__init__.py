"""Programs: diagrams and functions as expressions, recorded by running their code once with
symbols.

A program from the cache runs without the tracing code, so each name is imported when it is first
used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.base.lazy import lazily

if TYPE_CHECKING:
    from spart_blocks.program.from_diagram import trace
    from spart_blocks.program.program import Program, Slot
    from spart_blocks.program.tracing.functions import BoundCall, CompiledFunction, compiled
    from spart_blocks.program.tracing.symbol import TraceError

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
        "BoundCall": "spart_blocks.program.tracing.functions",
        "CompiledFunction": "spart_blocks.program.tracing.functions",
        "Program": "spart_blocks.program.program",
        "Slot": "spart_blocks.program.program",
        "TraceError": "spart_blocks.program.tracing.symbol",
        "compiled": "spart_blocks.program.tracing.functions",
        "trace": "spart_blocks.program.from_diagram",
    },
)

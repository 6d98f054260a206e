"""From a diagram, or a function, to a program: expressions, recorded by running it once on
symbols."""

from spart_blocks.program import array_functions  # noqa: F401  (fills symbol's tables)
from spart_blocks.program.functions import BoundCall, CompiledFunction, compiled
from spart_blocks.program.program import Program, Slot
from spart_blocks.program.symbol import TraceError
from spart_blocks.program.trace import trace

__all__ = [
    "BoundCall",
    "CompiledFunction",
    "Program",
    "Slot",
    "TraceError",
    "compiled",
    "trace",
]

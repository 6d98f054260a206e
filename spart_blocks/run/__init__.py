"""Running diagrams: engines, their solvers, clocks, events and samples."""

from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.simulate import begin, finish, simulate

__all__ = ["DiagramFile", "begin", "finish", "simulate"]

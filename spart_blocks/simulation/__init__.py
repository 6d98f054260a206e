"""Running diagrams: engines, their solvers, clocks, events and samples."""

from spart_blocks.simulation.from_file import DiagramFile
from spart_blocks.simulation.simulate import begin, finish, simulate

__all__ = ["DiagramFile", "begin", "finish", "simulate"]

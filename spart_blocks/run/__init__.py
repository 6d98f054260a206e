"""Runs of diagrams: engines, solvers, clocks, events, and the record of signals."""

from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.simulate import begin, finish, simulate

__all__ = ["DiagramFile", "begin", "finish", "simulate"]

"""Running diagrams: the interpreter, its clocks, events and samples."""

from spart_blocks.simulation.simulate import simulate

__all__ = ["simulate"]

"""What a program tells beyond its runs: linear systems, equilibria, and whether both
engines agree."""

from spart_blocks.analysis.linearize import linearize
from spart_blocks.analysis.point import Trim
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.analysis.trim import trim

__all__ = ["LinearSystem", "Trim", "linearize", "trim"]

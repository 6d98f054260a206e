"""Analysis of programs: linear systems, equilibria, comparison of the two engines, and comparison
of the variants of a diagram.
"""

from spart_blocks.analysis.compare import compare
from spart_blocks.analysis.comparison import Comparison
from spart_blocks.analysis.linearize import linearize
from spart_blocks.analysis.lqr import lqr
from spart_blocks.analysis.point import Trim
from spart_blocks.analysis.system import LinearSystem
from spart_blocks.analysis.trim import trim
from spart_blocks.program.tracing.gains import LQRGain

__all__ = ["Comparison", "LQRGain", "LinearSystem", "Trim", "compare", "linearize", "lqr", "trim"]

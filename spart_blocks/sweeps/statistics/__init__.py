"""Statistics of sweeps: intervals, confidence sequences, sensitivities, comparisons, summaries.

Importing this loads NumPy only; SciPy loads when a number is asked for.
"""

from spart_blocks.sweeps.statistics.anytime import ConfidenceSequence, MeanSequence, draws_needed
from spart_blocks.sweeps.statistics.intervals import (
    Interval,
    mean,
    quantile,
    quantiles,
    success,
    success_of,
)
from spart_blocks.sweeps.statistics.sobol import SobolIndices, sobol_indices

__all__ = [
    "ConfidenceSequence",
    "Interval",
    "MeanSequence",
    "SobolIndices",
    "draws_needed",
    "mean",
    "quantile",
    "quantiles",
    "sobol_indices",
    "success",
    "success_of",
]

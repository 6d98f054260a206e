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
from spart_blocks.sweeps.statistics.paired import (
    Comparison,
    Difference,
    compare_faults,
    compare_success,
    compare_values,
    compare_variants,
    holm,
)
from spart_blocks.sweeps.statistics.sobol import SobolIndices, sobol_indices
from spart_blocks.sweeps.statistics.summary import (
    GroupSummary,
    MetricSummary,
    Summary,
    summarize,
)

__all__ = [
    "Comparison",
    "ConfidenceSequence",
    "Difference",
    "GroupSummary",
    "Interval",
    "MeanSequence",
    "MetricSummary",
    "SobolIndices",
    "Summary",
    "compare_faults",
    "compare_success",
    "compare_values",
    "compare_variants",
    "draws_needed",
    "holm",
    "mean",
    "quantile",
    "quantiles",
    "sobol_indices",
    "success",
    "success_of",
    "summarize",
]

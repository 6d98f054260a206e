"""The outcome of a run: named signals, files and plots.

Importing this loads NumPy only; Matplotlib and SciPy load when a plot or a .mat
file is asked for.
"""

from __future__ import annotations

from spart_blocks.results.model import Event, FinalState, Results, ScopeSpec
from spart_blocks.results.plots import show_windows

__all__ = ["Event", "FinalState", "Results", "ScopeSpec", "show_windows"]

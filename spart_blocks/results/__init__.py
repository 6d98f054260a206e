"""The outcome of a run: named signals, files and plots.

Importing this loads NumPy only; Matplotlib and SciPy load when a plot or a .mat
file is asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from spart_blocks.base.lazy import lazily
from spart_blocks.results.results import Results
from spart_blocks.results.run_data import Event, FinalState, ScopeSpec

if TYPE_CHECKING:
    from spart_blocks.results.plots import show_windows

__all__ = ["Event", "FinalState", "Results", "ScopeSpec", "show_windows"]

__getattr__, __dir__ = lazily(__name__, {"show_windows": "spart_blocks.results.plots"})

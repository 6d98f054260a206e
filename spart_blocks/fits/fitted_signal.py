"""A measured signal beside the model's."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spart_blocks.fits.statistics import Whiteness, whiteness
from spart_blocks.gradients.tangents import Floats


@dataclass(frozen=True)
class FittedSignal:
    """One measured signal of one run. times (n,) [s]; measured, modelled (n, w). hold_out: whether
    the fit has not seen it.
    """

    experiment: str
    signal: str
    times: Floats
    measured: Floats
    modelled: Floats
    hold_out: bool

    @property
    def errors(self) -> Floats:
        """Measured minus modelled (n, w)."""
        return self.measured - self.modelled

    @property
    def rms(self) -> float:
        """Root mean square of the errors, in the signal's unit."""
        return float(np.sqrt(np.mean(self.errors**2)))

    @property
    def explained(self) -> float:
        """1 - |errors| / |measured - its mean|: 1 for a perfect model, 0 for one that is no better
        than the mean. NaN if what was measured is constant."""
        size = float(np.linalg.norm(self.measured - self.measured.mean(axis=0)))
        return 1 - float(np.linalg.norm(self.errors)) / size if size else float("nan")

    @cached_property
    def whiteness(self) -> Whiteness | None:
        """The correlation of the errors in time, of the least white element; None if unknown."""
        found = [one for one in map(whiteness, self.errors.T) if one is not None]
        return min(found, key=lambda one: one.p) if found else None

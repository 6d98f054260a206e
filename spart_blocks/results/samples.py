"""Samples of a signal."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


class Samples(NamedTuple):
    """Samples of a signal: times (k,) [s], which rise, and values (k, ...)."""

    times: Floats
    values: Floats

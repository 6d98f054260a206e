"""Rows of numbers that hold several arrays side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def parted(rows: NDArray[Any], shapes: Sequence[tuple[int, ...]]) -> list[NDArray[Any]]:
    """Rows (N, width) of arrays with these shapes as one array (N, ...) for each."""
    ends = np.cumsum([math.prod(shape) for shape in shapes], dtype=int)
    columns = np.split(rows, ends[:-1], axis=1) if shapes else []
    return [c.reshape(len(rows), *shape) for c, shape in zip(columns, shapes, strict=True)]

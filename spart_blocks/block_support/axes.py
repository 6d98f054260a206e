"""Points and directions of actuators and sensors in the base body frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.errors import InputError
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.values import numbers

MOST = 200
"""Actuators of a block at most."""


def rows_of_three(value: Any, name: str) -> Array:
    """Vectors (n,3) as a new array, one in each row; a ValueError otherwise."""
    found = numbers(value, name)
    if found.ndim != 2 or found.shape[1] != 3 or not 0 < len(found) <= MOST:
        raise ValueError(f"{name} must be 1 to {MOST} rows of three numbers, not {found.shape}")
    return found


def directions_of(value: Any, name: str) -> Array:
    """Unit vectors (n,3) along the given ones; an InputError for one of length zero."""
    found = rows_of_three(value, name)
    lengths = np.linalg.norm(found, axis=1)
    if not lengths.all():
        row = int(np.argmin(lengths))
        raise InputError(f"{name}: row {row} is zero, it has no direction")
    unit: Array = found / lengths[:, None]
    return unit


def direction_of(value: Any, name: str) -> Array:
    """A unit vector (3,)."""
    found: Array = directions_of([numbers(value, name, (3,))], name)[0]
    return found

"""Points and directions of actuators and sensors in the base body frame."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
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


def for_each(value: Any, name: str, count: int) -> Any:
    """A number, or a vector with an entry for each of count; an InputError otherwise."""
    found = numbers(value, name)
    if found.shape not in ((), (count,)):
        text = f"{name} has shape {found.shape}"
        raise InputError(Fault(text, hint=f"give a number, or one for each of {count}"))
    return found if found.ndim else float(found)


def at_least_zero(value: Any, name: str, count: int) -> Any:
    """As `for_each`, no entry negative."""
    found = for_each(value, name, count)
    if np.any(np.asarray(found) < 0):
        raise InputError(f"{name} must not be negative")
    return found


def positive_each(value: Any, name: str, count: int) -> Any:
    """As `for_each`, all entries positive."""
    found = for_each(value, name, count)
    if np.any(np.asarray(found) <= 0):
        raise InputError(f"{name} must be above zero")
    return found

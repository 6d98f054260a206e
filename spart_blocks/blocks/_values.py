"""What parameters of blocks are made of: finite numbers and words of a choice."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from spart_blocks.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.spatial import Array


def finite(value: Any, name: str) -> Array:
    """Finite numbers as a new array of floats, of any shape; a ValueError for anything else."""
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError):
        out = None
    if out is None or isinstance(value, (bool, str)):
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    if not np.isfinite(out).all():
        raise ValueError(f"{name} must be finite, not {brief(value)}")
    return out


def chosen(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of some words; InputError for any other, with the nearest."""
    if not isinstance(value, str) or value not in choices:
        text = f"{name} must be one of {', '.join(choices)}, not {brief(value)}"
        raise InputError(Fault(text, hint=did_you_mean(str(value), choices)))
    return value

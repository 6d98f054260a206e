"""Checked numbers and breakpoints of tables."""

from __future__ import annotations

from typing import Any

import numpy as np

from spart_blocks.blocks._values import numbers
from spart_blocks.curves.intervals import Floats

MOST_NUMBERS = 2_000_000
"""Largest count of numbers in a table; its compiled code contains each."""


def rising(points: Any, what: str) -> Floats:
    """Breakpoints as floats (n,), two or more, finite and increasing; ValueError otherwise."""
    out = table_numbers(points, what)
    if out.ndim != 1 or len(out) < 2:
        raise ValueError(f"{what} must be a list of two numbers or more, not {np.shape(points)}")
    wrong = np.flatnonzero(np.diff(out) <= 0)
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(f"{what} must rise: {out[k + 1]:g} follows {out[k]:g}")
    return out


def table_numbers(given: Any, what: str) -> Floats:
    """An array of finite floats, not too large for a table; ValueError otherwise."""
    out = numbers(given, what)
    if out.size > MOST_NUMBERS:
        raise ValueError(f"{what} has {out.size:,} numbers, a table takes up to {MOST_NUMBERS:,}")
    return out

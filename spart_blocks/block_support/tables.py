"""Checked numbers and breakpoints of tables."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from spart_blocks.base.curves.intervals import Floats
from spart_blocks.base.curves.lines import multilinear
from spart_blocks.base.errors import InputError, brief
from spart_blocks.block_support.values import numbers
from spart_blocks.formulas.crossings import bare

OUTSIDE = ("clip", "extrapolate", "refuse")
"""What a table does outside its breakpoints."""
MOST_NUMBERS = 2_000_000
"""Largest count of numbers in a table; its compiled code contains each."""
MOST_WATCHED = 32
"""Largest number of breakpoints at which steps end; with more, kinks are left to the solver's error
control.
"""


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


def grid_axes(axes: Any, what: str, most: int) -> list[Floats]:
    """The breakpoints of one axis or more, each increasing; InputError or ValueError otherwise."""
    if not isinstance(axes, list | tuple | np.ndarray) or not 0 < len(axes) <= most:
        wanted = f"a list of 1 to {most} lists of breakpoints"
        raise InputError(f"{what} must be {wanted}, not {brief(axes)}")
    return [rising(points, f"{what}[{k}]") for k, points in enumerate(axes)]


def grid_values(given: Any, what: str, axes: Sequence[Floats]) -> Floats:
    """Values for each point of a grid (n_1, ..., n_d, ...); InputError or ValueError otherwise."""
    out, grid = table_numbers(given, what), tuple(len(points) for points in axes)
    if out.shape[: len(grid)] != grid or not out.size:
        raise InputError(
            f"{what} must have a number or an array for each point of the {len(grid)} axes: "
            f"its shape must begin with {grid}, it is {out.shape}"
        )
    return out


def grid_kinks(axes: Sequence[Floats], at: Sequence[Any]) -> list[Any]:
    """Zero-crossing functions for the kinks at the breakpoints, of axes with few of them."""
    return [
        u - point
        for u, points in zip(at, axes, strict=True)
        if len(points) <= MOST_WATCHED
        for point in points
    ]


def on_grid(
    axes: Sequence[Floats],
    values: Any,
    at: Sequence[Any],
    outside: str,
    interpolate: Callable[..., Any] = multilinear,
) -> Any:
    """Interpolated values; beyond the axes as one of OUTSIDE says, not a number for `refuse`."""
    if outside == "extrapolate":
        return interpolate(axes, values, at)
    ends = [points[[0, -1]] for points in axes]
    out = interpolate(axes, values, [np.clip(u, *end) for u, end in zip(at, ends, strict=True)])
    if outside == "clip":
        return out
    apart = reduce(np.logical_or, (outside_of(u, *end) for u, end in zip(at, ends, strict=True)))
    return bare(np.where(apart, np.nan, out))


def outside_of(u: Any, first: float, last: float) -> Any:
    """Whether a coordinate lies outside a table."""
    return np.logical_or(u < first, u > last)

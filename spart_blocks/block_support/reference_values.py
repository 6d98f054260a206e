"""Checked parameters of references: numbers of one shape, durations, times and directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.ports import Shape
from spart_blocks.block_support.values import above_zero, numbers

MOTION = (
    PortSpec("q", "float or n", "rad, m", "position"),
    PortSpec("u", "float or n", "rad/s, m/s", "rate"),
    PortSpec("a", "float or n", "rad/s^2, m/s^2", "acceleration"),
)
"""The outputs of a reference for joints."""


def of_one_width(values: Mapping[str, Any]) -> dict[str, Array]:
    """Scalars () or vectors (n,), all of one shape: a scalar is broadcast to a vector."""
    found = {name: numbers(value, name) for name, value in values.items()}
    shapes = {value.shape for value in found.values() if value.ndim}
    if len(shapes) > 1 or any(len(shape) > 1 for shape in shapes):
        told = ", ".join(f"{name} {value.shape}" for name, value in found.items())
        raise ValueError(f"a number for each joint is needed, the shapes are {told}")
    shape = shapes.pop() if shapes else ()
    if shape == (0,):
        raise ValueError("a number for each joint is needed, there are none")
    return {name: np.broadcast_to(value, shape).copy() for name, value in found.items()}


def limit_of(value: Any, name: str, shape: Shape) -> Array:
    """A positive limit for each joint, in this shape; a scalar is broadcast."""
    limit = numbers(value, name)
    if limit.ndim and limit.shape != shape:
        raise ValueError(f"{name} has shape {limit.shape}, it takes {shape}")
    return np.broadcast_to(above_zero(limit, name), shape).copy()


def unit_vector(value: Any, name: str) -> Array:
    """The direction (3,) of a vector, of length one."""
    v = numbers(value, name, (3,))
    length = float(np.linalg.norm(v))
    if length == 0:
        raise ValueError(f"{name} is zero; it must have a direction")
    return v / length


def increasing(value: Any, name: str, count: int) -> Array:
    """Times (count,) [s], each later than the one before."""
    times = numbers(value, name, (count,))
    wrong = np.flatnonzero(np.diff(times) <= 0)
    if wrong.size:
        k = int(wrong[0])
        raise ValueError(
            f"{name} must increase: {times[k + 1]:g} s (number {k + 1}) follows {times[k]:g} s"
        )
    return times

"""Checked parameters of references, and how they run through their way in time."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.curves.piecewise import quintic
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.declared import PortSpec
from spart_blocks.block_support.ports import Shape
from spart_blocks.block_support.values import above_zero, numbers
from spart_blocks.formulas.crossings import settled

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


# --- scalings of time -----------------------------------------------------------------------------


class Scaling(NamedTuple):
    """s from 0 to 1, its rate [1/s] and its acceleration [1/s^2]."""

    s: Any
    rate: Any
    acceleration: Any


def rest_to_rest(t: Any, T: Any, duration: Any) -> Scaling:
    """A quintic from rest to rest between T and T + duration, with continuous acceleration."""
    s, rate, acceleration = quintic(np.clip((t - T) / duration, 0.0, 1.0))
    return Scaling(s, rate / duration, acceleration / (duration * duration))


def trapezoid(t: Any, marks: tuple[Any, Any, Any, Any]) -> Scaling:
    """Constant acceleration, cruise, and as much braking. marks [s]: where it starts, cruises,
    brakes and rests. Source: K. Lynch and F. Park, "Modern Robotics" (2017), 9.2.2.2."""
    t = settled(t)
    start, cruise, brake, end = marks
    rate = 1 / (brake - start)
    acceleration = rate / (cruise - start)
    x, left = np.maximum(t - start, 0.0), np.maximum(end - t, 0.0)
    speeding, cruising, braking = t < cruise, t < brake, t < end

    def chosen(first: Any, second: Any, third: Any, rest: Any) -> Any:
        return np.where(speeding, first, np.where(cruising, second, np.where(braking, third, rest)))

    started = np.where(t >= start, acceleration, 0.0)
    return Scaling(
        chosen(
            acceleration * x * x / 2,
            rate * (x - (cruise - start) / 2),
            1 - acceleration * left * left / 2,
            1.0,
        ),
        chosen(acceleration * x, rate, acceleration * left, 0.0),
        chosen(started, 0.0, -acceleration, 0.0),
    )


def run_up(t: Any, T: Any, rise: float) -> Scaling:
    """Time [s] since T, whose rate rises from 0 to 1 within rise [s] like `rest_to_rest`, so that
    its acceleration is continuous; it jumps for rise 0.
    """
    x = t - T
    if not rise:
        going = np.where(x >= 0, 1.0, 0.0)
        return Scaling(x * going, going, 0.0 * going)
    s = rest_to_rest(t, T, rise)
    part = np.clip(x / rise, 0.0, 1.0)
    risen = ((part - 3) * part + 2.5) * part * part * part * part
    return Scaling(rise * risen + np.maximum(x - rise, 0.0), s.s, s.rate)

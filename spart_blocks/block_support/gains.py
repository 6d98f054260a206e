"""Gains, limits and the like of controllers, checked where they are given."""

from __future__ import annotations

from typing import Any

from spart_blocks.base.errors import brief
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.values import numbers, shown


def gain(
    value: Any, name: str, length: int | None = None, of: str = "the robot has {} active joints"
) -> Array:
    """A gain as a float scalar () or vector (n,), not negative; otherwise a ValueError. of: a text
    that says how many entries it must have.
    """
    out = numbers(value, name)
    if out.ndim > 1:
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    if out.ndim == 1 and length is not None and len(out) != length:
        raise ValueError(f"{name} has {len(out)} entries, {of.format(length)}")
    if (out < 0).any():
        raise ValueError(f"{name} must not be negative, it is {shown(out)}")
    return out


def one_gain(value: Any, name: str) -> Array:
    """As `gain`, and a single number ()."""
    out = gain(value, name)
    if out.ndim:
        raise ValueError(f"{name} must be a number, not {brief(value)}")
    return out


def one_length(gains: dict[str, Array], without: int | None = None) -> Any:
    """The common length of the gains that are vectors, `without` if there is none; a ValueError
    names two that differ.
    """
    vectors = [(name, len(k)) for name, k in gains.items() if k.ndim]
    for name, length in vectors[1:]:
        if length != vectors[0][1]:
            raise ValueError(f"{vectors[0][0]} has {vectors[0][1]} entries and {name} has {length}")
    return vectors[0][1] if vectors else without

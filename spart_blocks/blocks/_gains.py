"""Gains, limits and the like of controllers, checked where they are given."""

from __future__ import annotations

from typing import Any

from spart_blocks.blocks._values import finite
from spart_blocks.errors import brief
from spart_blocks.spatial import Array


def gain(
    value: Any, name: str, length: int | None = None, of: str = "the robot has {} active joints"
) -> Array:
    """A gain as a float scalar () or vector (n,), none below zero; a ValueError where it is
    something else. of: what there should be as many entries as."""
    out = finite(value, name)
    if out.ndim > 1:
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    if out.ndim == 1 and length is not None and len(out) != length:
        raise ValueError(f"{name} has {len(out)} entries, {of.format(length)}")
    if (out < 0).any():
        raise ValueError(f"{name} must not be negative, it is {shown(out)}")
    return out


def positive(value: Any, name: str, length: int | None = None) -> Array:
    """As `gain`, and above zero."""
    out = gain(value, name, length)
    if not (out > 0).all():
        raise ValueError(f"{name} must be positive, it is {shown(out)}")
    return out


def shown(value: Array) -> str:
    """A gain as the user wrote it."""
    return f"{value:.6g}" if value.ndim == 0 else f"[{', '.join(f'{x:.6g}' for x in value)}]"


def one_gain(value: Any, name: str) -> Array:
    """As `gain`, and a single number ()."""
    out = gain(value, name)
    if out.ndim:
        raise ValueError(f"{name} must be a number, not {brief(value)}")
    return out


def one_length(gains: dict[str, Array], without: int | None = None) -> Any:
    """The one length of those gains that are vectors, `without` where none is; a ValueError
    names two that differ."""
    vectors = [(name, len(k)) for name, k in gains.items() if k.ndim]
    for name, length in vectors[1:]:
        if length != vectors[0][1]:
            raise ValueError(f"{vectors[0][0]} has {vectors[0][1]} entries and {name} has {length}")
    return vectors[0][1] if vectors else without

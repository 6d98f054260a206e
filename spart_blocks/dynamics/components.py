"""The six components of a twist, or of a pose error, by name."""

from __future__ import annotations

from typing import Any

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean

COMPONENTS = ("wx", "wy", "wz", "vx", "vy", "vz")
"""Inertial: angular first."""
ALL = " ".join(COMPONENTS)


def rows_of(components: Any, name: str = "components") -> list[int]:
    """The rows named by a text such as "wz vx vy", or by a list of names, in their own order.
    name: of the parameter. Raises InputError.
    """
    words = components.split() if isinstance(components, str) else components
    if not isinstance(words, (list, tuple)) or not words:
        raise InputError(f'{name} must be names as "{ALL}", not {brief(components)}')
    for word in words:
        if word not in COMPONENTS:
            hint = did_you_mean(str(word), COMPONENTS)
            raise InputError(Fault(f"{name} has no component {brief(word)}", hint=hint))
    if len(set(words)) < len(words):
        raise InputError(f"{name} names a component twice: {brief(components)}")
    return sorted(COMPONENTS.index(word) for word in words)

"""Companion blocks of a plant, which get the same inputs: its accelerations, and its audit."""

from __future__ import annotations

from typing import Any

COMPANION = ".companion"
"""What the block of a plant's accelerations is called after the plant's name."""
AUDIT = ".audit"
"""What a plant's audit is called after the plant's name."""


def can_be_audited(block: Any) -> bool:
    """Whether a block takes `audit: true`."""
    return hasattr(type(block), "make_audit")


def wants_audit(block: Any) -> bool:
    """Whether a block has `audit: true`."""
    return can_be_audited(block) and bool(block.audit)


def is_audit(block: Any) -> bool:
    """Whether a block is the audit of a plant."""
    return block.type == "audit" and str(block.name).endswith(AUDIT)


def make_companion(plant: Any, suffix: str, bd: Any) -> Any:
    """The plant's block of this suffix, in bd, with no wires yet."""
    make = plant.make_audit if suffix == AUDIT else plant.make_companion
    return make(bd=bd, name=f"{plant.name}{suffix}")

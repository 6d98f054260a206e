"""Companion blocks of a plant, which have the same inputs: one for accelerations, one for the
audit of balances.
"""

from __future__ import annotations

from typing import Any

COMPANION = ".companion"
"""Suffix of the name of the block with a plant's accelerations."""
AUDIT = ".audit"
"""Suffix of the name of a plant's audit."""


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
    """Make the companion block of a plant with this suffix, in bd, without wires."""
    make = plant.make_audit if suffix == AUDIT else plant.make_companion
    return make(bd=bd, name=f"{plant.name}{suffix}")

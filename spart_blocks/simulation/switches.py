"""Descriptions of mode switches of blocks."""

from __future__ import annotations

from spart_blocks.simulation.engine import Engine, Floats

_MODE = "mode."
"""Name prefix of a plant's states that say whether a joint sticks (0) or slides (1, -1)."""


def told_switch(engine: Engine, block: str, before: Floats, after: Floats) -> str:
    """The joints that stick, slip or turn round, from the states before and after; 'switched' for
    blocks whose modes are not those of joints."""
    part = engine.continuous.get(block, slice(0))
    changes = zip(engine.display.states.get(block, ()), before[part], after[part], strict=False)
    told = [
        f"joint {name.removeprefix(_MODE)!r} {_change(old, new)}"
        for name, old, new in changes
        if name.startswith(_MODE) and old != new
    ]
    return ", ".join(told) or "switched"


def _change(old: float, new: float) -> str:
    if new == 0:
        return "sticks"
    return "slips" if old == 0 else "turns round"

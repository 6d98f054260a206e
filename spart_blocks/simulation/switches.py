"""Descriptions of mode switches of blocks."""

from __future__ import annotations

from spart_blocks.simulation.engine import Engine, Floats

_MODE = "mode."
"""Name prefix of a plant's states that say whether a joint sticks (0) or slides (1, -1)."""


def told_switch(engine: Engine, block: str, before: Floats, after: Floats) -> str:
    """The joints that stick, slip or turn round, or the states that a machine leaves and enters,
    from the states before and after; that a check failed; 'switched' for blocks with other modes. A
    condition tells its new phase; nothing is told of what is held or reset by it."""
    if block in engine.display.checks:
        return "failed"
    part = engine.continuous.get(block, slice(0))
    texts = engine.display.told.get(block)
    if texts is not None:
        phase = round(float(after[part][0])) if len(texts) else 0
        return texts[phase] if phase < len(texts) and before[part][0] != after[part][0] else ""
    changes = zip(engine.display.states.get(block, ()), before[part], after[part], strict=False)
    told = []
    for name, old, new in changes:
        levels = engine.display.levels.get(f"{block}.{name}")
        if levels is not None:
            told.append(_passage(levels, old, new))
        elif name.startswith(_MODE) and old != new:
            told.append(f"joint {name.removeprefix(_MODE)!r} {_change(old, new)}")
    return ", ".join(told) or "switched"


def _passage(levels: tuple[str, ...], old: float, new: float) -> str:
    """From one level to another; 0 is before the start."""
    names = ("", *levels)
    left, entered = (names[min(max(round(number), 0), len(levels))] for number in (old, new))
    return f"{left} -> {entered}" if left else f"enters {entered}"


def _change(old: float, new: float) -> str:
    if new == 0:
        return "sticks"
    return "slips" if old == 0 else "turns round"

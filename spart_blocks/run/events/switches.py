"""Descriptions of mode switches of blocks."""

from __future__ import annotations

from spart_blocks.run.engines.engine import Engine, Floats

_SINCE = "since."
"""Name prefix of the times at which a machine has entered its states, after that of a region."""
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
    names = engine.display.states.get(block, ())
    changes = list(zip(names, before[part], after[part], strict=False))
    joints = [
        f"joint {name.removeprefix(_MODE)!r} {_change(old, new)}"
        for name, old, new in changes
        if name.startswith(_MODE) and old != new
    ]
    return ", ".join([*_passages(engine, block, changes), *joints]) or "switched"


def _passages(engine: Engine, block: str, changes: list[tuple[str, float, float]]) -> list[str]:
    """The states that each region of a machine leaves and enters; not of one in which neither the
    state nor a time since it was entered has changed, if there are several."""
    regions: list[tuple[str, bool]] = []
    for name, old, new in changes:
        levels = engine.display.levels.get(f"{block}.{name}")
        if levels is not None:
            regions.append((_passage(levels, old, new), old != new))
        elif regions and name.startswith(_SINCE):
            regions[-1] = (regions[-1][0], regions[-1][1] or old != new)
    return [told for told, changed in regions if changed or len(regions) == 1]


def _passage(levels: tuple[str, ...], old: float, new: float) -> str:
    """From one level to another; 0 is before the start, or where the region is not active."""
    names = ("", *levels)
    left, entered = (names[min(max(round(number), 0), len(levels))] for number in (old, new))
    if left and entered:
        return f"{left} -> {entered}"
    return f"leaves {left}" if left else f"enters {entered}"


def _change(old: float, new: float) -> str:
    if new == 0:
        return "sticks"
    return "slips" if old == 0 else "turns round"

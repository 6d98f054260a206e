"""Describes mode switches of blocks as text."""

from __future__ import annotations

from spart_blocks.run.engines.engine import Engine, Floats

_SINCE = "since."
"""Prefix of the names of the times at which the states of a state machine were entered; they
follow the state of their region.
"""
_MODE = "mode."
"""Prefix of the names of a plant's states that say whether a joint sticks (0) or slides (1, -1)."""


def told_switch(engine: Engine, block: str, before: Floats, after: Floats) -> str:
    """The text of a switch, from the states before and after: the joints that stick, slip or turn
    round; the states that a state machine leaves and enters; 'failed' for a check; the new phase
    of a condition (empty for what it holds or resets); 'switched' for other blocks.
    """
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
    """For each region of a state machine the states that it leaves and enters. If there are
    several regions, those without a change of the state or the time of entry are left out.
    """
    regions: list[tuple[str, bool]] = []
    for name, old, new in changes:
        levels = engine.display.levels.get(f"{block}.{name}")
        if levels is not None:
            regions.append((_passage(levels, old, new), old != new))
        elif regions and name.startswith(_SINCE):
            regions[-1] = (regions[-1][0], regions[-1][1] or old != new)
    return [told for told, changed in regions if changed or len(regions) == 1]


def _passage(levels: tuple[str, ...], old: float, new: float) -> str:
    """The text of a change from one level to another; level 0 means before the start, or an
    inactive region.
    """
    names = ("", *levels)
    left, entered = (names[min(max(round(number), 0), len(levels))] for number in (old, new))
    if left and entered:
        return f"{left} -> {entered}"
    return f"leaves {left}" if left else f"enters {entered}"


def _change(old: float, new: float) -> str:
    if new == 0:
        return "sticks"
    return "slips" if old == 0 else "turns round"

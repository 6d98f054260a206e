"""What of a chart can never be: states that are never entered, and their transitions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

from spart_blocks.state_machines.chart import Chart


def entered(chart: Chart) -> frozenset[int]:
    """The states that are entered if every condition may hold: those at the start, and from them
    along the transitions. History leads only to states that were entered before."""
    found: set[int] = set()
    more = set(chart.entered_first())
    while more - found:
        found |= more
        targets = {one.target for one in chart.transitions if one.source in found}
        more = {i for to in targets for i in _entered_with(chart, to)}
    return frozenset(found)


def _entered_with(chart: Chart, target: int) -> Iterator[int]:
    """The states that may be entered with a state: those around it, their other regions, and the
    initial substates."""
    path = chart.path(target)
    yield from (*path, *chart.inward(target))
    for index, within in pairwise(path):
        if chart.is_parallel(index):
            for child in chart.states[index].children:
                yield from chart.inward(child) if child != within else ()


def doubts(chart: Chart) -> tuple[str, ...]:
    """What to tell the user of states that are never entered: one text, or none."""
    found = entered(chart)
    never = [i for i in range(len(chart.states)) if i not in found]
    if not never:
        return ()
    names = [chart.states[i].name for i in never]
    text = f"never enters {', '.join(names)}: no transition leads there"
    idle = [one for one in chart.transitions if one.source not in found]
    ends = [f"{chart.states[one.source].name} -> {chart.states[one.target].name}" for one in idle]
    return (f"{text}, so that none of {', '.join(ends)} is taken" if ends else text,)

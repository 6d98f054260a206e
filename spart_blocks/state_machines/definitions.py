"""Formulas under `during` of states that are active together: each variable has one at most, where
they hold at all times.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from spart_blocks.base.errors import Fault
from spart_blocks.state_machines.chart import Action, Chart


def definition_faults(chart: Chart) -> list[Fault]:
    """Faults of variables that two states define, and of formulas that read what one further below
    defines, so that its value would be an old one."""
    acting = [index for index, state in enumerate(chart.states) if state.during]
    return [
        fault
        for one, other in combinations(acting, 2)
        if _together(chart, one, other)
        for action in chart.states[one].during
        for fault in _faults_of(chart, one, other, action)
    ]


def _together(chart: Chart, one: int, other: int) -> bool:
    """Whether two states are in different regions of one state."""
    paths = chart.path(one), chart.path(other)
    around = None
    for a, b in zip(*paths, strict=False):
        if a != b:
            return chart.is_parallel(around)
        around = a
    return False


def _faults_of(chart: Chart, one: int, other: int, action: Action) -> Iterator[Fault]:
    first, second = chart.states[one].name, chart.states[other].name
    later = {also.variable for also in chart.states[other].during}
    if action.variable in later:
        yield Fault(
            f"{_path(chart, other)}.during.{action.variable}: {first} defines {action.variable} "
            f"too, and both may be active together",
            hint="a formula under `during` holds at all times: define it in one of them",
        )
    for name in sorted(action.reads & later):
        yield Fault(
            f"{_path(chart, one)}.during.{action.variable} reads {name}, which {second} defines "
            "further below and may be active together with it",
            hint="write the region that defines it first",
        )


def _path(chart: Chart, index: int) -> str:
    """The path of a state's entry, such as states.work.states.fast."""
    return ".".join(f"states.{chart.states[i].name}" for i in chart.path(index))

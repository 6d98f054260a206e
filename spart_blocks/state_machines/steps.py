"""The steps of a chart, on numbers and on symbols: which states are active, which transitions are
taken, and what their actions make of the variables.

Nothing branches on data: each action is computed, and assigned where its mask holds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from spart_blocks.formulas.crossings import HAIR, LOCATED_WITHIN, bare, zero_or_one
from spart_blocks.formulas.reader import query
from spart_blocks.state_machines.chart import (
    ACTIVE,
    ELAPSED,
    Action,
    Chart,
    Known,
    Region,
    Transition,
)

Mask = Any
"""A truth value, or a condition of symbols."""
Taken = Sequence[tuple[Transition, Mask]]
"""Transitions, each with whether it is taken."""


@dataclass(frozen=True)
class Configuration:
    """The state of a chart. leaves: for each region the number of its active leaf, 0 before the
    start and where the region is not active. ages: for each level of each region, the time [s]
    since its active state was entered. history: for each state with history the number of the
    substate that was active last, from 0. variables: by name. entered: for each level, whether a
    step has entered a state of it.
    """

    leaves: Sequence[Any]
    ages: Sequence[Any]
    history: Mapping[int, Any]
    variables: Mapping[str, Any]
    entered: Sequence[Mask]


def active(chart: Chart, leaves: Sequence[Any], index: int) -> Mask:
    """Whether a state is active."""
    state = chart.states[index]
    leaf = leaves[state.region]
    return np.logical_and(leaf > state.first - 0.5, leaf < state.last + 0.5)


def with_active(chart: Chart, now: Configuration, known: Known) -> Known:
    """The values by name, with those of active(...)."""
    asked = {
        query(ACTIVE, chart.states[index].name): zero_or_one(active(chart, now.leaves, index))
        for index in chart.asked
    }
    return {**known, **asked} if asked else known


def either(masks: Iterable[Mask]) -> Mask:
    """Whether one of some masks holds; False, the literal, where none can."""
    return reduce(np.logical_or, (mask for mask in masks if mask is not False), False)


def both(one: Mask, other: Mask) -> Mask:
    return False if one is False or other is False else np.logical_and(one, other)


def assigned(
    variables: Mapping[str, Any], actions: Sequence[Action], mask: Mask, known: Known, elapsed: Any
) -> Mapping[str, Any]:
    """The variables after actions, one after the other, where the mask holds."""
    for action in actions:
        old = variables[action.variable]
        new = action.value({**known, **variables, ELAPSED: elapsed})
        if np.ndim(new) and np.shape(new) != np.shape(old):
            raise ValueError(
                f"{action.variable} has the shape {np.shape(old)}, "
                f"{action.text} gives {np.shape(new)}"
            )
        variables = {**variables, action.variable: bare(np.where(mask, new, old))}
    return variables


def during(chart: Chart, now: Configuration, known: Known) -> Configuration:
    """With the formulas of the active states in the variables, in the order of the states."""
    variables = now.variables
    for index, state in enumerate(chart.states):
        if state.during:
            mask, age = active(chart, now.leaves, index), now.ages[chart.slots[index]]
            variables = assigned(variables, state.during, mask, known, age)
    return replace(now, variables=variables)


def crossings(chart: Chart, now: Configuration, known: Known) -> list[Any]:
    """The zero-crossing functions of the formulas of the active states."""
    found = []
    for index, state in enumerate(chart.states):
        values = {**known, **now.variables, ELAPSED: now.ages[chart.slots[index]]}
        for action in state.during:
            mask = active(chart, now.leaves, index)
            found += [bare(np.where(mask, v, 1.0)) for v in action.crossings(values)]
    return found


def margin(chart: Chart, transition: Transition, now: Configuration, known: Known) -> Any:
    """Above zero where a transition can be taken, and at most zero elsewhere."""
    age = now.ages[chart.slots[transition.source]]
    values = {**known, **now.variables, ELAPSED: age}
    value: Any = 1.0
    if transition.value is not None:
        value = transition.value(values)
    if transition.after is not None:
        left = _since_after(transition, values) + HAIR * np.abs(known["t"])
        value = left if transition.value is None else np.minimum(value, left)
    return bare(np.where(active(chart, now.leaves, transition.source), value, -1.0))


def _since_after(transition: Transition, values: Known) -> Any:
    """The time [s] since the end of `after`; below zero before it."""
    assert transition.after is not None
    wait = transition.after(values)
    if np.ndim(wait):
        raise ValueError(f"after is one time, {transition.after_text} gives {np.shape(wait)}")
    return values[ELAPSED] - wait


def _overdue(chart: Chart, now: Configuration, known: Known, taken: Taken) -> Any:
    """The time [s] since the end of `after` where that is why a transition is taken now, and since
    its source was entered where that is the same instant: the states it leads to were entered then,
    so that a chain of them does not drift. At an instant of the file only rounding is left, and the
    instant counts."""
    late: Any = 0.0
    for transition, mask in taken:
        since: Any = now.ages[chart.slots[transition.source]]
        if transition.after is not None:
            since = _since_after(transition, {**known, **now.variables, ELAPSED: since})
        by_time = np.logical_and(since <= LOCATED_WITHIN, since > 2 * HAIR * np.abs(known["t"]))
        late = np.where(np.logical_and(mask, by_time), since, late)
    return late


def moved(
    chart: Chart, now: Configuration, known: Known, taken: Taken, starting: Mask = False
) -> Configuration:
    """After transitions of which one at most is taken: states are left from the innermost, of
    several regions those of the last one first; then come the actions of the transition; then
    states are entered from the outermost, of several regions those of the first one first.
    starting: whether the chart is entered.
    """
    variables, late = now.variables, _overdue(chart, now, known, taken)
    for index, state in reversed(list(enumerate(chart.states))):
        left = _leaving(chart, index, taken) if state.exit else False
        if left is not False:
            left = np.logical_and(left, active(chart, now.leaves, index))
            age = now.ages[chart.slots[index]]
            variables = assigned(variables, state.exit, left, known, age)
    for transition, mask in taken:
        age = now.ages[chart.slots[transition.source]]
        variables = assigned(variables, transition.do, mask, known, age)
    leaves = list(now.leaves)
    for number, region in enumerate(chart.regions):
        left = False if region.root is None else _leaving(chart, region.root, taken)
        if left is not False:
            leaves[number] = np.where(left, 0.0, leaves[number])
    now = replace(now, leaves=leaves, variables=variables)
    return _entered(chart, now, known, taken, starting, late)


def _leaving(chart: Chart, index: int, taken: Taken) -> Mask:
    """Whether a transition leaves a state, if that is active."""
    path = chart.path(index)
    return either(mask for transition, mask in taken if transition.left in path)


def _entered(
    chart: Chart, now: Configuration, known: Known, taken: Taken, starting: Mask, late: Any
) -> Configuration:
    leaves, history, variables = list(now.leaves), dict(now.history), now.variables
    ages, entered = list(now.ages), list(now.entered)
    ends: dict[int | None, Mask] = {None: starting}  # where the way in goes on to what comes first
    for index, state in enumerate(chart.states):
        ways = [
            both(ends[state.parent], _comes_first(chart, index, now)),
            *(mask for transition, mask in taken if transition.target == index),
            *(mask for transition, mask in taken if _beside(chart, index, transition)),
        ]
        ends[index] = either(ways)
        passed = [m for tr, m in taken if index in tr.entered and tr.target != index]
        enters = either([ends[index], *passed])
        if enters is False:
            continue
        slot = chart.slots[index]
        ages[slot] = np.where(enters, late, ages[slot])
        entered[slot] = np.logical_or(entered[slot], enters)
        variables = assigned(variables, state.entry, enters, known, 0.0)
        if state.parent in history:
            place = float(chart.states[state.parent].children.index(index))
            history[state.parent] = np.where(enters, place, history[state.parent])
        if state.is_leaf:
            leaves[state.region] = np.where(enters, float(state.first), leaves[state.region])
    return Configuration(leaves, ages, history, variables, entered)


def _beside(chart: Chart, index: int, transition: Transition) -> bool:
    """Whether a region is entered by default, as a transition leads into another one beside it."""
    parent, way = chart.states[index].parent, transition.entered
    passes = parent in way and transition.target != parent
    return passes and chart.is_parallel(parent) and index not in way


def _comes_first(chart: Chart, index: int, now: Configuration) -> Mask:
    """Whether a state is entered with the state around it, or with the chart."""
    parent = chart.states[index].parent
    if parent is None:
        return index in chart.initial
    if parent not in now.history:
        return index in chart.states[parent].initial
    place = chart.states[parent].children.index(index)
    return np.abs(now.history[parent] - place) < 0.5


def switched(chart: Chart, now: Configuration, known: Known, starting: Mask) -> Configuration:
    """After one visit of all regions at an instant, where `during` holds at all times."""
    return _visited(chart, now, known, during, starting, starting)[0]


def ticked(chart: Chart, now: Configuration, known: Known, most: int) -> Configuration:
    """After a tick of a clock. A state that takes no transition does what is under `during`, once.
    most: the number of visits, and so of transitions in each region.
    """
    starting = now.leaves[0] < 0.5
    now, again = _visited(chart, now, known, None, starting, starting, acts=True)
    for _ in range(most - 1):
        now, again = _visited(chart, now, known, None, np.logical_not(again))
    return now


def _visited(
    chart: Chart,
    now: Configuration,
    known: Known,
    before: Callable[..., Configuration] | None,
    over: Mask,
    starting: Mask = False,
    acts: bool = False,
) -> tuple[Configuration, Mask]:
    """After a visit of all regions in the order written, and whether a transition was taken. Each
    region takes one at most, the first that can be taken, and sees what those before it have done.
    A region is not visited after it was left or entered. over: whether none is visited. starting:
    whether the chart is entered. before: what is done before each region. acts: whether states that
    stay do what is under `during`.
    """
    ended = [over] * len(chart.regions)
    found: list[Mask] = []
    for number, region in enumerate(chart.regions):
        values = with_active(chart, now, known)
        if before is not None:
            now = before(chart, now, values)
        now, taken = _chosen(chart, region, now, values, ended[number], acts)
        first = starting if number == 0 else False
        if taken or first is not False:
            now = moved(chart, now, values, taken, first)
        for k, other in enumerate(chart.regions):
            changed = (m for tr, m in taken if _changed(chart, tr) in other.around)
            ended[k] = either([ended[k], *changed])
        found += [mask for _, mask in taken]
    return now, either(found)


def _changed(chart: Chart, transition: Transition) -> int:
    """The number of the outermost region whose states a transition changes."""
    return chart.states[transition.left].region


def _chosen(
    chart: Chart, region: Region, now: Configuration, known: Known, ended: Mask, acts: bool
) -> tuple[Configuration, Taken]:
    """The transitions of a region, of which the first that can be taken is: its states are visited
    from the outermost. ended: whether none is taken."""
    taken: list[tuple[Transition, Mask]] = []
    for index in region.states:
        for transition in chart.transitions:
            if transition.source == index:
                fits = margin(chart, transition, now, known) > 0.0
                taken.append((transition, np.logical_and(fits, np.logical_not(ended))))
                ended = np.logical_or(ended, fits)
        state = chart.states[index]
        if acts and state.during:
            here = active(chart, now.leaves, index)
            stays = np.logical_and(here, np.logical_not(ended))
            age = now.ages[chart.slots[index]]
            values = assigned(now.variables, state.during, stays, known, age)
            now = replace(now, variables=values)
    return now, taken

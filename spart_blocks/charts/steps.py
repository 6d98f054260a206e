"""The steps of a chart, on numbers and on symbols: which states are active, which transition is
taken, and what its actions make of the variables.

Nothing branches on data: each action is computed, and assigned where its mask holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any

import numpy as np

from spart_blocks.charts.chart import ELAPSED, Action, Chart, Known, Transition
from spart_blocks.formulas.crossings import bare
from spart_blocks.formulas.instants import HAIR

Mask = Any
"""A truth value, or a condition of symbols."""


@dataclass(frozen=True)
class Configuration:
    """The state of a chart. leaf: number of the active leaf, 0 before the start. ages: for each
    level, the time [s] since its active state was entered. history: for each state with history
    the number of the substate that was active last, from 0. variables: by name. entered: for each
    level, whether a step has entered a state of it.
    """

    leaf: Any
    ages: Sequence[Any]
    history: Mapping[int, Any]
    variables: Mapping[str, Any]
    entered: Sequence[Mask]


def active(chart: Chart, leaf: Any, index: int) -> Mask:
    """Whether a state is active."""
    state = chart.states[index]
    return np.logical_and(leaf > state.first - 0.5, leaf < state.last + 0.5)


def either(masks: Iterable[Mask]) -> Mask:
    return reduce(np.logical_or, masks, False)


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
    """With the formulas of the active states, outer ones first, in the variables."""
    variables = now.variables
    for index, state in enumerate(chart.states):
        if state.during:
            mask = active(chart, now.leaf, index)
            variables = assigned(variables, state.during, mask, known, now.ages[state.depth])
    return replace(now, variables=variables)


def crossings(chart: Chart, now: Configuration, known: Known) -> list[Any]:
    """The zero-crossing functions of the formulas of the active states."""
    found = []
    for index, state in enumerate(chart.states):
        values = {**known, **now.variables, ELAPSED: now.ages[state.depth]}
        for action in state.during:
            mask = active(chart, now.leaf, index)
            found += [bare(np.where(mask, v, 1.0)) for v in action.crossings(values)]
    return found


def margin(chart: Chart, transition: Transition, now: Configuration, known: Known) -> Any:
    """Above zero where a transition can be taken, and at most zero elsewhere."""
    age = now.ages[chart.states[transition.source].depth]
    values = {**known, **now.variables, ELAPSED: age}
    value: Any = 1.0
    if transition.value is not None:
        value = transition.value(values)
    if transition.after is not None:
        wait = transition.after(values)
        if np.ndim(wait):
            raise ValueError(f"after is one time, {transition.after_text} gives {np.shape(wait)}")
        left = age - wait + HAIR * np.abs(known["t"])
        value = left if transition.value is None else np.minimum(value, left)
    return bare(np.where(active(chart, now.leaf, transition.source), value, -1.0))


def first_of(masks: Sequence[Mask]) -> list[Mask]:
    """Masks of which only the first that holds is kept."""
    kept, before = [], False
    for mask in masks:
        kept.append(np.logical_and(mask, np.logical_not(before)))
        before = np.logical_or(before, mask)
    return kept


def moved(
    chart: Chart, now: Configuration, known: Known, taken: Sequence[Mask], starting: Mask = False
) -> Configuration:
    """After the transitions whose masks hold, of which there is one at most: states are left from
    the innermost, then come the actions of the transition, then states are entered from the
    outermost. starting: whether the chart is entered.
    """
    transitions = list(zip(chart.transitions, taken, strict=True))
    variables = now.variables
    for index in sorted(range(len(chart.states)), key=lambda i: -chart.states[i].depth):
        state = chart.states[index]
        if not state.exit:
            continue
        around = (None, *chart.path(index)[:-1])
        left = either(mask for transition, mask in transitions if transition.scope in around)
        left = np.logical_and(left, active(chart, now.leaf, index))
        variables = assigned(variables, state.exit, left, known, now.ages[state.depth])
    for transition, mask in transitions:
        age = now.ages[chart.states[transition.source].depth]
        variables = assigned(variables, transition.do, mask, known, age)
    return _entered(chart, replace(now, variables=variables), known, transitions, starting)


def _entered(
    chart: Chart,
    now: Configuration,
    known: Known,
    transitions: Sequence[tuple[Transition, Mask]],
    starting: Mask,
) -> Configuration:
    leaf, history, variables = now.leaf, dict(now.history), now.variables
    ages, entered = list(now.ages), list(now.entered)
    ends: dict[int, Mask] = {}  # where the way into a state goes on to its initial substate
    for index, state in enumerate(chart.states):
        inner = starting if index == chart.initial else False
        if state.parent is not None:
            inner = np.logical_and(ends[state.parent], _comes_first(chart, index, now))
        ends[index] = either([inner, *(m for tr, m in transitions if tr.target == index)])
        passed = [
            mask
            for transition, mask in transitions
            if index in _beyond(chart, transition) and transition.target != index
        ]
        enters = either([ends[index], *passed])
        ages[state.depth] = np.where(enters, 0.0, ages[state.depth])
        entered[state.depth] = np.logical_or(entered[state.depth], enters)
        variables = assigned(variables, state.entry, enters, known, 0.0)
        if state.parent in history:
            place = float(chart.states[state.parent].children.index(index))
            history[state.parent] = np.where(enters, place, history[state.parent])
        if state.is_leaf:
            leaf = np.where(ends[index], float(state.first), leaf)
    return Configuration(leaf, ages, history, variables, entered)


def _beyond(chart: Chart, transition: Transition) -> tuple[int, ...]:
    """The states on the way from the scope of a transition to its target."""
    return chart.path(transition.target)[len(chart.path(transition.scope)) :]


def _comes_first(chart: Chart, index: int, now: Configuration) -> Mask:
    """Whether a state is the one that is entered with the state around it."""
    parent = chart.states[index].parent
    assert parent is not None
    if parent not in now.history:
        return chart.states[parent].initial == index
    place = chart.states[parent].children.index(index)
    return np.abs(now.history[parent] - place) < 0.5


def ticked(chart: Chart, now: Configuration, known: Known, most: int) -> Configuration:
    """After a tick of a clock: states are visited from the outermost; the first transition that can
    be taken is, and otherwise the formulas under `during` act. most: the number of transitions.
    """
    starting = now.leaf < 0.5
    ended = starting
    taken: list[Mask] = [False] * len(chart.transitions)
    order = sorted(range(len(chart.states)), key=lambda i: chart.states[i].depth)
    for index in order:
        here = np.logical_and(active(chart, now.leaf, index), np.logical_not(ended))
        for k, transition in enumerate(chart.transitions):
            if transition.source == index:
                fits = np.logical_and(here, margin(chart, transition, now, known) > 0.0)
                taken[k] = np.logical_and(fits, np.logical_not(ended))
                ended = np.logical_or(ended, fits)
        state = chart.states[index]
        stays = np.logical_and(here, np.logical_not(ended))
        age = now.ages[state.depth]
        values = assigned(now.variables, state.during, stays, known, age)
        now = replace(now, variables=values)
    now = moved(chart, now, known, taken, starting)
    again = either(taken)
    for _ in range(most - 1):
        fits = [margin(chart, tr, now, known) > 0.0 for tr in chart.transitions]
        taken = first_of([np.logical_and(again, mask) for mask in fits])
        now, again = moved(chart, now, known, taken), either(taken)
    return now

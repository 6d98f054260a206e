"""The state of a chart as a vector: for each region the active leaf and a time for each level, then
the remembered substates and the variables.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from spart_blocks.base.spatial import Array
from spart_blocks.formulas.crossings import bare
from spart_blocks.state_machines.chart import Chart
from spart_blocks.state_machines.steps import Configuration, active

STATE = "state"
"""The name of the active leaf's number, where the chart itself is a region."""


@dataclass(frozen=True)
class StateLayout:
    """Entries of the vector. starts: whether the chart is entered by a step of its own, before
    which all leaves are 0. names: of the entries."""

    chart: Chart
    starts: bool
    names: tuple[str, ...]

    @staticmethod
    def of(chart: Chart, starts: bool) -> StateLayout:
        names: list[str] = []
        for number, region in zip(region_names(chart), chart.regions, strict=True):
            before = "since." if region.root is None else f"since.{number}."
            names += [number, *(f"{before}{level}" for level in range(region.levels))]
        names += [f"history.{chart.states[index].name}" for index in chart.remembering]
        for name, value in chart.variables.items():
            places = np.ndindex(np.shape(value))
            names += [name + (f"[{','.join(map(str, at))}]" if at else "") for at in places]
        return StateLayout(chart, starts, tuple(names))

    @property
    def size(self) -> int:
        return len(self.names)

    @cached_property
    def numbers(self) -> tuple[int, ...]:
        """The entries with the active leaves, one for each region."""
        return tuple(k + region.first_slot for k, region in enumerate(self.chart.regions))

    @cached_property
    def clocks(self) -> tuple[int, ...]:
        """The entries with the times, one for each level of each region."""
        return tuple(
            at + 1 + level
            for at, region in zip(self.numbers, self.chart.regions, strict=True)
            for level in range(region.levels)
        )

    def initial(self) -> Array:
        chart = self.chart
        history = {index: _initial_place(chart, index) for index in chart.remembering}
        leaves = [0.0 if self.starts else float(first) for first in chart.first_leaves]
        now = Configuration(leaves, (), history, chart.variables, ())
        start: Array = self.packed(now, [0.0] * chart.levels)
        return start

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random vector near x, whose leaves and remembered substates exist."""
        chart = self.chart
        near = x + rng.normal(scale=spread, size=len(x))
        for at, region in zip(self.numbers, chart.regions, strict=True):
            near[at] = rng.integers(0 if self.starts else 1, len(region.leaves) + 1)
        first = len(chart.regions) + chart.levels
        for k, index in enumerate(chart.remembering, start=first):
            near[k] = rng.integers(len(chart.states[index].children))
        whole: Array = self.consistent(near)
        return whole

    def consistent(self, x: Any) -> Any:
        """The vector with leaves that exist: one in each region that is active, 0 in others."""
        chart, entries = self.chart, list(x)
        leaves: list[Any] = []
        for number, (at, region) in enumerate(zip(self.numbers, chart.regions, strict=True)):
            least = 0.0 if self.starts and not number else 1.0
            leaf = np.clip(np.rint(x[at]), least, len(region.leaves))
            if region.holder is not None:
                leaf = np.where(active(chart, leaves, region.holder), leaf, 0.0)
            elif number:
                leaf = np.where(leaves[0] > 0.5, leaf, 0.0)
            leaves.append(leaf)
            entries[at] = leaf
        return np.array([bare(entry) for entry in entries])

    def packed(self, now: Configuration, times: Sequence[Any]) -> Any:
        """The vector. times: for each level of each region."""
        chart = self.chart
        entries: list[Any] = []
        for leaf, region in zip(now.leaves, chart.regions, strict=True):
            entries += [leaf, *times[region.first_slot : region.first_slot + region.levels]]
        entries += [now.history[index] for index in chart.remembering]
        entries += [entry for name in chart.variables for entry in np.ravel(now.variables[name])]
        return np.array([bare(entry) for entry in entries])

    def times(self, x: Any) -> list[Any]:
        """For each level of each region, the time of its active state in the vector."""
        return [x[at] for at in self.clocks]

    def unpacked(self, x: Any, ages: Sequence[Any]) -> Configuration:
        """The configuration. ages: for each level of each region, the time [s] since its state was
        entered."""
        chart = self.chart
        at = len(chart.regions) + chart.levels
        history = dict(zip(chart.remembering, x[at:], strict=False))
        at += len(history)
        variables = {}
        for name, value in chart.variables.items():
            size, shape = np.size(value), np.shape(value)
            variables[name] = x[at : at + size].reshape(shape) if shape else x[at]
            at += size
        leaves = [x[at] for at in self.numbers]
        return Configuration(leaves, ages, history, variables, [False] * chart.levels)


def region_names(chart: Chart) -> Iterator[str]:
    """The name of the number of each region's active leaf."""
    for region in chart.regions:
        yield STATE if region.root is None else chart.states[region.root].name


def _initial_place(chart: Chart, index: int) -> float:
    """The place of the initial substate among those of a state."""
    state = chart.states[index]
    return float(state.children.index(state.initial[0])) if state.initial else 0.0

"""The state of a chart as a vector: the active leaf, a time for each level, the remembered
substates and the variables.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from spart_blocks.charts.chart import Chart
from spart_blocks.charts.steps import Configuration
from spart_blocks.formulas.crossings import bare
from spart_blocks.spatial import Array


@dataclass(frozen=True)
class Layout:
    """Entries of the vector. starts: whether the chart is entered by a step of its own, before
    which the leaf is 0. names: of the entries."""

    chart: Chart
    starts: bool
    names: tuple[str, ...]

    @staticmethod
    def of(chart: Chart, starts: bool) -> Layout:
        names = ["state", *(f"since.{level}" for level in range(chart.depth))]
        names += [f"history.{chart.states[index].name}" for index in chart.remembering]
        for name, value in chart.variables.items():
            places = np.ndindex(np.shape(value))
            names += [name + (f"[{','.join(map(str, at))}]" if at else "") for at in places]
        return Layout(chart, starts, tuple(names))

    @property
    def size(self) -> int:
        return len(self.names)

    def initial(self) -> Array:
        chart = self.chart
        history = {index: _initial_place(chart, index) for index in chart.remembering}
        leaf = 0.0 if self.starts else float(chart.first_leaf)
        now = Configuration(leaf, (), history, chart.variables, ())
        start: Array = self.packed(now, [0.0] * chart.depth)
        return start

    def nearby(self, x: Array, spread: float, rng: np.random.Generator) -> Array:
        """A random vector near x, whose leaf and remembered substates exist."""
        chart = self.chart
        near = x + rng.normal(scale=spread, size=len(x))
        near[0] = rng.integers(0 if self.starts else 1, len(chart.leaves) + 1)
        for k, index in enumerate(chart.remembering, start=1 + chart.depth):
            near[k] = rng.integers(len(chart.states[index].children))
        return near

    def packed(self, now: Configuration, times: Sequence[Any]) -> Any:
        """The vector. times: for each level."""
        history = [now.history[index] for index in self.chart.remembering]
        values = (np.ravel(now.variables[name]) for name in self.chart.variables)
        entries = (now.leaf, *times, *history, *(entry for value in values for entry in value))
        return np.array([bare(entry) for entry in entries])

    def times(self, x: Any) -> list[Any]:
        """For each level, the time of its active state in the vector."""
        return list(x[1 : 1 + self.chart.depth])

    def unpacked(self, x: Any, ages: Sequence[Any]) -> Configuration:
        """The configuration. ages: for each level, the time [s] since its state was entered."""
        chart, at = self.chart, 1 + self.chart.depth
        history = dict(zip(chart.remembering, x[at:], strict=False))
        at += len(history)
        variables = {}
        for name, value in chart.variables.items():
            size, shape = np.size(value), np.shape(value)
            variables[name] = x[at : at + size].reshape(shape) if shape else x[at]
            at += size
        return Configuration(x[0], ages, history, variables, [False] * chart.depth)


def _initial_place(chart: Chart, index: int) -> float:
    """The place of the initial substate among those of a state."""
    initial = chart.states[index].initial
    return float(chart.states[index].children.index(initial)) if initial is not None else 0.0

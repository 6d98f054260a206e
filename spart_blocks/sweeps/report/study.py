"""The data of a sweep that pictures, reports and comparisons use, wherever it is stored."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import counted
from spart_blocks.sweeps.report.picture_data import Quantity, Traces, outcomes
from spart_blocks.sweeps.statistics.grouping import coded, succeeded, verdicts
from spart_blocks.sweeps.work import STATUSES

if TYPE_CHECKING:
    from spart_blocks.sweeps.statistics import SobolIndices

FACTORS = ("variant", "fault")
"""The columns whose values are compared with one another."""
MOST_COLUMNS = 4
"""Faults that are shown side by side, at most."""


@dataclass(frozen=True, eq=False)
class Study:
    """What pictures, tables and reports need of a sweep.

    name: of the diagram. columns: a value of each run by name, as `SweepResults` has them: run,
    draw, variant, fault, status, message, passed, varied values, metrics. varied, metrics: names of
    columns. units: by column or signal. grid: varied values that lie on a grid. seed, design: of
    the draws. together: number of consecutive draws that count as one. left_out: entries of
    `expect:` that no single run decides. plan: what was run, in words, by subject. planned: how
    many runs there are to be. traces: histories by signal. indices: Sobol indices by metric.
    versions: of the packages. folder: where the results are.
    """

    name: str
    columns: Mapping[str, NDArray[Any]]
    varied: tuple[str, ...] = ()
    metrics: tuple[str, ...] = ()
    units: Mapping[str, str] = field(default_factory=dict)
    grid: tuple[str, ...] = ()
    seed: int = 0
    design: str = "random"
    together: int = 1
    left_out: tuple[str, ...] = ()
    plan: tuple[tuple[str, str], ...] = ()
    planned: int | None = None
    traces: Mapping[str, Traces] = field(default_factory=dict)
    indices: Mapping[str, SobolIndices] = field(default_factory=dict)
    versions: Mapping[str, str] = field(default_factory=dict)
    folder: str | None = None
    confidence: float = 0.95

    def __len__(self) -> int:
        return len(self.columns["run"])

    def quantity(self, name: str, traces: Traces | None = None) -> Quantity:
        """A column with its unit. traces: histories to whose runs it is restricted."""
        return Quantity(name, self._of(traces, self.columns[name]), self.units.get(name, ""))

    def _of(self, traces: Traces | None, values: NDArray[Any]) -> NDArray[Any]:
        if traces is None:
            return values
        return values[np.searchsorted(self.columns["run"], traces.runs)]

    @property
    def judged(self) -> bool:
        """Whether runs had claims."""
        return bool((verdicts(self.columns) >= 0).any())

    @property
    def independent(self) -> bool:
        """Whether the draws are independent, as intervals of a single sweep take them to be."""
        return self.design == "random"

    @property
    def banded(self) -> bool:
        """Whether the runs of each variant and fault are independent, as a band about their
        distribution takes them to be."""
        return self.independent and int(np.asarray(self.columns["grid"]).max(initial=0)) == 0

    @property
    def outcomes(self) -> NDArray[np.object_]:
        """The outcome of each run."""
        return outcomes(self.columns["status"], self.columns["passed"])

    def verdicts(self) -> NDArray[np.bool_]:
        """Whether each run passed. A run that failed did not; without claims all others did."""
        return succeeded(self.columns)

    def names(self, factor: str) -> list[str]:
        """The variants, or the faults, in the order in which they first occur."""
        codes, known = coded(self.columns, factor)
        first = np.unique(codes, return_index=True)[1]
        return [str(known[codes[place]]) for place in np.sort(first)]

    def labels(self) -> NDArray[np.object_] | None:
        """The variant and fault of each run as a text; None where all are alike."""
        parts = [part for name in FACTORS if (part := self.factor(name)) is not None]
        if not parts:
            return None
        found: NDArray[np.object_] = parts[0] if len(parts) == 1 else parts[0] + ", " + parts[1]
        return found

    def factor(self, name: str) -> NDArray[np.object_] | None:
        """The variant (or fault) of each run as a text; None where all are alike."""
        if len(self.names(name)) < 2:
            return None
        return np.array([str(one) for one in self.columns[name]], dtype=object)

    def factors(self, traces: Traces | None = None) -> list[NDArray[np.object_] | None]:
        """The groups of runs that pictures show by colour, and by column: variants and faults; or
        both by colour, where the faults are many. traces: histories to whose runs they are
        restricted."""
        found = [self.labels(), None]
        if len(self.names("fault")) <= MOST_COLUMNS:
            found = [self.factor("variant"), self.factor("fault")]
        return [None if one is None else self._of(traces, one) for one in found]


def replay_command(study: Study, run: int) -> str:
    """The command that repeats a run alone."""
    from shlex import quote

    folder = quote(study.folder) if study.folder else "DIR"
    return f"spart run --from-sweep {folder} --run {run}"


def counts_in_words(study: Study) -> str:
    """The number of runs and how they ended, as text."""
    status = [str(one) for one in study.columns["status"]]
    ends = {one: status.count(one) for one in STATUSES}
    parts = [f"{count:,} {one}" for one, count in ends.items() if count]
    left = (study.planned or len(study)) - len(study)
    more = f"; {counted(left, 'run')} of the plan are missing" if left > 0 else ""
    return f"{counted(len(study), 'run')}: {', '.join(parts)}{more}" if parts else f"no runs{more}"

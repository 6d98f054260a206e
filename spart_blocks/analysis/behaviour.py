"""How two versions of a diagram behave: the signals of their runs that differ, by how much, and
from when on.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, RunError
from spart_blocks.results import Results
from spart_blocks.results.overlay import overlay
from spart_blocks.results.plots import write_figures
from spart_blocks.results.run_data import RATES, RunData
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.loop import Progress
from spart_blocks.run.simulate import begin, finish
from spart_blocks.versions.differences import DiffSide
from spart_blocks.versions.differences.signal_names import SignalNames

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-4
"""Difference of a signal, relative to its largest magnitude, up to which it counts as the same."""
FLOOR = 1e-3
"""The least magnitude of a signal that differences are relative to."""
SAMPLES = 2000
"""Intervals of the times at which signals are compared."""


@dataclass(frozen=True)
class MovedSignal:
    """A signal that differs. signal: its name in the new run; element: that of the element which
    differs most. largest: by how much, in its unit, at the time at [s]; relative: to the largest
    magnitude of the signal. first: when it first differs by more than the tolerance [s].
    """

    signal: str
    element: str
    unit: str
    largest: float
    relative: float
    at: float
    first: float

    def __str__(self) -> str:
        unit = f" {self.unit}" if self.unit else ""
        return (
            f"{self.element}: differs by {self.largest:.4g}{unit} ({self.relative:.2%}) at "
            f"{self.at:.4g} s, first at {self.first:.4g} s"
        )


@dataclass(frozen=True, eq=False)
class Behaviour:
    """The runs of both sides, and what differs. It is true where something does.

    until: the time up to which they are compared [s]. moved: the signals that differ, the earliest
    first. same: how many do not. only_old, only_new: signals that one side has alone. results: both
    runs, by their sides. names: the new names of the old run's signals.
    """

    until: float
    moved: tuple[MovedSignal, ...]
    same: int
    only_old: tuple[str, ...]
    only_new: tuple[str, ...]
    results: Mapping[str, Results]
    names: Mapping[str, str]
    tolerance: float = TOLERANCE

    def __bool__(self) -> bool:
        return bool(self.moved)

    def lines(self) -> Iterator[str]:
        """The signals that differ, and how many do not."""
        yield from (f"~ {one}" for one in self.moved)
        count = f"{self.same} signal{'s' * (self.same != 1)}"
        be = "is" if self.same == 1 else "are"
        yield f"{count} {be} the same to {self.tolerance:g} of their largest magnitude"
        for word, names in (("old", self.only_old), ("new", self.only_new)):
            if names:
                more = f" and {len(names) - 8} more" if len(names) > 8 else ""
                yield f"only in the {word} diagram: {', '.join(names[:8])}{more}"

    def __str__(self) -> str:
        return "\n".join([f"behaviour to t = {self.until:g} s", *(f"  {o}" for o in self.lines())])

    def as_data(self) -> dict[str, Any]:
        """It as plain values, as `--format json` writes them."""
        return {
            "until": self.until,
            "tolerance": self.tolerance,
            "moved": [dict(vars(one)) for one in self.moved],
            "same": self.same,
            "only_old": list(self.only_old),
            "only_new": list(self.only_new),
        }

    def plot(self) -> dict[str, Figure]:
        """A figure of each signal that differs, with the curves of both runs, by its name."""
        moved = {one.signal for one in self.moved}
        back = {new: old for old, new in self.names.items()}
        runs: dict[str, RunData] = {}
        for number, (label, run) in enumerate(self.results.items()):
            signals = {name: run[name if number else back[name]] for name in sorted(moved)}
            units = {name: run.unit(name if number else back[name]) for name in signals}
            runs[label] = replace(run, signals=signals, scopes=(), units=units, aliases={})
        return overlay(runs) if moved else {}

    def save_plots(self, folder: str | Path, fmt: str = "png") -> list[Path]:
        """Write the figures of `plot` into a folder, made if missing: png, svg or pdf."""
        return write_figures(list(self.plot().items()), folder, fmt)


def compare_behaviour(
    old: DiffSide,
    new: DiffSide,
    names: SignalNames,
    *,
    T: float | None = None,
    tolerance: float = TOLERANCE,
    blocks: tuple[str, ...] = (),
    progress: Progress | None = None,
) -> Behaviour:
    """Run both sides and compare every signal that both have, up to the end of the shorter run.

    names: the new names of signals. T: end time [s], in place of that of the files. tolerance:
    relative to a signal's largest magnitude. blocks: packages of the user's blocks. Raises
    InputError where a side cannot be loaded, RunError where its run fails.
    """
    runs: dict[str, Results] = {}
    for side in (old, new):
        runs[_label(side, runs)] = _run(side, T, blocks, progress)
    before, after = runs.values()
    pairs = {name: names.new(name) for name in _signals(before)}
    theirs = set(_signals(after))
    common = {a: b for a, b in pairs.items() if b in theirs}
    until = float(min(before.t[-1], after.t[-1]))
    times = np.linspace(0.0, until, SAMPLES + 1)
    first, second = before.at(times), after.at(times)
    found = [
        _difference(first, a, second, b, times, tolerance)
        for a, b in common.items()
        if np.shape(first[a]) == np.shape(second[b])
    ]
    moved = sorted((one for one in found if one is not None), key=lambda one: one.first)
    return Behaviour(
        until,
        tuple(moved),
        len(found) - len(moved),
        tuple(a for a in pairs if a not in common),
        tuple(sorted(theirs - set(common.values()))),
        runs,
        common,
        tolerance,
    )


def _label(side: DiffSide, taken: Mapping[str, Any]) -> str:
    return side.label if side.label not in taken else f"{side.label} (new)"


def _run(
    side: DiffSide, T: float | None, blocks: tuple[str, ...], progress: Progress | None
) -> Results:
    if side.path is None:
        raise InputError(Fault(f"{side.label} is no diagram, so it has no behaviour"))
    side.fetch_all()
    file = DiagramFile(side.path, root=side.root, blocks=blocks)
    options: Any = {} if T is None else {"T": T}
    try:
        results = finish(begin(file, progress=progress, **options))
    except RunError as error:
        raise RunError(f"the run of {side.label} failed: {error}") from error
    if results.stopped and "interrupted" in results.stopped:
        raise RunError(f"the comparison was {results.stopped}")
    return results


def _signals(results: Results) -> list[str]:
    """Every signal of a run, kept or computed afterwards, without those that the reader of the
    file adds, and without derivatives of states."""
    others = getattr(results.recompute, "names", ())
    every = dict.fromkeys((*results.signals, *others))
    added = ("=0", "[")
    return [
        name
        for name in every
        if not name.startswith(RATES) and not any(mark in name for mark in added)
    ]


def _difference(
    before: Results,
    a: str,
    after: Results,
    b: str,
    times: NDArray[np.float64],
    tolerance: float,
) -> MovedSignal | None:
    """The difference of a signal; None where it is within the tolerance."""
    x, y = (np.asarray(run[name], dtype=float) for run, name in ((before, a), (after, b)))
    x, y = x.reshape(len(times), -1), y.reshape(len(times), -1)
    if not x.size:
        return None
    apart = np.abs(y - x)
    apart[np.isnan(x) & np.isnan(y)] = 0.0
    apart = np.nan_to_num(apart, nan=np.inf)
    finite = [np.abs(values[np.isfinite(values)]).max(initial=0.0) for values in (x, y)]
    scale = max(*finite, FLOOR)
    beyond = np.flatnonzero((apart > tolerance * scale).any(axis=1))
    if not len(beyond):
        return None
    row, column = np.unravel_index(int(np.argmax(apart)), apart.shape)
    largest = float(apart[row, column])
    return MovedSignal(
        b,
        after.labels(b)[int(column)],
        after.unit(b),
        largest,
        largest / scale if math.isfinite(largest) else math.inf,
        float(times[row]),
        float(times[beyond[0]]),
    )

"""Compares the behaviour of two versions of a diagram: which signals of their runs differ, by how
much, and from which time on.
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
from spart_blocks.run.run import Progress
from spart_blocks.run.simulate import begin, finish
from spart_blocks.versions.differences import DiffSide
from spart_blocks.versions.differences.matched_versions import SignalNames

if TYPE_CHECKING:
    from matplotlib.figure import Figure

TOLERANCE = 1e-4
"""Largest difference of a signal, relative to its largest magnitude, that counts as equal."""
FLOOR = 1e-3
"""Smallest magnitude to which differences of a signal are relative."""
SAMPLES = 2000
"""Number of intervals between the times at which signals are compared."""


@dataclass(frozen=True)
class MovedSignal:
    """A signal that differs.

    signal: its name in the new run. element: name of the element that differs most. largest:
    largest difference, in its unit. at: time of this [s]. relative: the difference relative to the
    signal's largest magnitude. first: first time at which the tolerance is exceeded [s].
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
    """The comparison of two runs. It is true if something differs.

    until: time up to which they are compared [s]. moved: signals that differ, the earliest first.
    same: number of equal signals. only_old, only_new: signals that exist in one run only. results:
    the runs of both sides. names: new names of the old run's signals.
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
        """Lines of text: the signals that differ, and the number of equal ones."""
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
        """The comparison as plain values, for `--format json`."""
        return {
            "until": self.until,
            "tolerance": self.tolerance,
            "moved": [dict(vars(one)) for one in self.moved],
            "same": self.same,
            "only_old": list(self.only_old),
            "only_new": list(self.only_new),
        }

    def plot(self) -> dict[str, Figure]:
        """A figure for each signal that differs, by its name, with the curves of both runs."""
        moved = {one.signal for one in self.moved}
        back = {new: old for old, new in self.names.items()}
        runs: dict[str, RunData] = {}
        for number, (label, run) in enumerate(self.results.items()):
            signals = {name: run[name if number else back[name]] for name in sorted(moved)}
            units = {name: run.unit(name if number else back[name]) for name in signals}
            runs[label] = replace(run, signals=signals, scopes=(), units=units, aliases={})
        return overlay(runs) if moved else {}

    def save_plots(self, folder: str | Path, fmt: str = "png") -> list[Path]:
        """Write the figures of `plot` to a folder, which is made if missing: png, svg or pdf."""
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
    """Run both sides, and compare all signals that both have, up to the end of the shorter run.

    names: maps old names of signals to new ones. T: end time [s], which replaces that of the
    files. tolerance: relative to a signal's largest magnitude. blocks: packages of the user's
    blocks. Raises InputError if a side cannot be loaded, RunError if its run fails.
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
    """All signals of a run, recorded or recomputed, without derivatives of states and without
    signals of blocks that the loader adds.
    """
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
    """The difference of a signal between two runs; None if it is within the tolerance."""
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

"""The data of pictures of sweeps: quantities and signals of runs, and groups of runs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.base.paths import element_names
from spart_blocks.measures.work import FAILED
from spart_blocks.results.plots import COLOURS, DASHES, FAINT, new_figure, plain_text, quantity

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.lines import Line2D

Floats = NDArray[np.float64]

PASSED, COMPLETE, MISSED, NO_RESULT = "passed", "complete", "claims not met", "failed"
"""Outcomes of a run: with claims PASSED or MISSED, without claims COMPLETE; NO_RESULT where an
error ended it."""
_MOST_GROUPS = len(COLOURS) * len(DASHES)
_MOST_PANELS = 12
_MOST_COLUMNS = 6
_SPREAD = 100.0  # ratio of the quantiles of 95 and 5 %, beyond which an axis is logarithmic


@dataclass(frozen=True, eq=False)
class Quantity:
    """A quantity of each run. values (n,): numbers, texts, or True, False and None. NaN and None
    stand for a run that has none."""

    name: str
    values: NDArray[Any]
    unit: str = ""

    @property
    def label(self) -> str:
        """Name and unit, for an axis."""
        return quantity(plain_text(self.name), self.unit)

    @property
    def is_text(self) -> bool:
        """Whether the values are texts, such as names of variants."""
        kind = self.values.dtype.kind
        return kind == "U" or (kind == "O" and any(isinstance(one, str) for one in self.values))

    def coded(self) -> tuple[NDArray[np.intp], list[str]]:
        """The values as texts: a number for each run, and the texts in the order of these."""
        names = list(dict.fromkeys(map(str, self.values)))
        return np.array([names.index(str(one)) for one in self.values], dtype=np.intp), names

    @property
    def is_verdict(self) -> bool:
        """Whether the values are True, False or None."""
        known = [one for one in self.values if one is not None]
        return bool(known) and all(isinstance(one, bool | np.bool_) for one in known)

    def numbers(self) -> Floats:
        """The values as numbers, NaN where a run has none or an infinite one."""
        try:
            found = np.array([np.nan if v is None else v for v in self.values], dtype=float)
        except (TypeError, ValueError):
            raise InputError(f"{self.name} is not a number of each run") from None
        found[~np.isfinite(found)] = np.nan
        return found

    def known(self) -> Floats:
        """The values of the runs that have one. Raises InputError if there is none."""
        numbers = self.numbers()
        found: Floats = numbers[~np.isnan(numbers)]
        if not found.size:
            which = (
                f"none of the {len(numbers)} runs has one" if len(numbers) else "there is no run"
            )
            raise InputError(f"nothing to show of {self.name}: {which}")
        return found


@dataclass(frozen=True, eq=False)
class Traces:
    """A signal over time, of the runs whose histories were kept.

    times (k,) [s]. values (n, k), or (n, k, ...) of a vector or matrix; NaN after a run's end.
    runs (n,): the numbers of the runs.
    elements: the names of the elements, by default all of name[0], name[1], ...
    """

    name: str
    times: Floats
    values: NDArray[Any]
    runs: NDArray[np.int64]
    unit: str = ""
    elements: tuple[str, ...] = ()

    def panels(self) -> dict[str, Floats]:
        """The values (n, k) of each element, by its name."""
        n, k = self.values.shape[:2]
        names = self.elements or element_names(self.name, self.values.shape[2:])
        if not n or not np.isfinite(self.values.astype(float)).any():
            hint = "keep them: keep='all', 'failed' or a number of runs"
            raise InputError(Fault(f"no histories of {self.name} were kept", hint=hint))
        if len(names) > _MOST_PANELS:
            hint = f"choose some, as in {self.name}[0:3]"
            what = f"{self.name} has {len(names)} elements; at most {_MOST_PANELS} can be shown"
            raise InputError(Fault(what, hint=hint))
        flat = self.values.astype(float).reshape(n, k, -1)
        return {name: flat[:, :, j] for j, name in enumerate(names)}


@dataclass(frozen=True, eq=False)
class RunGroup:
    """Runs that are drawn in one style. name: empty if all runs are one group."""

    name: str
    rows: NDArray[np.intp]
    colour: str
    dashes: Any


def groups_of(labels: NDArray[Any] | None, runs: int) -> list[RunGroup]:
    """The groups of runs, in the order in which they first occur. labels (n,): e.g. variants."""
    if labels is None:
        return [RunGroup("", np.arange(runs), COLOURS[0], "-")]
    codes, names = Quantity("", labels).coded()
    if len(names) > _MOST_GROUPS:
        raise InputError(f"{len(names)} groups of runs; at most {_MOST_GROUPS} can be told apart")
    looks = [  # dashes let a curve be seen under another
        (COLOURS[k % len(COLOURS)], DASHES[(k + k // len(COLOURS)) % len(DASHES)])
        for k in range(len(names))
    ]
    return [
        RunGroup(name, np.flatnonzero(codes == k), *look)
        for k, (name, look) in enumerate(zip(names, looks, strict=True))
    ]


def columns_of(apart: NDArray[Any] | None, runs: int) -> list[RunGroup]:
    """Groups of runs that each have a column of panels."""
    columns = groups_of(apart, runs)
    if len(columns) > _MOST_COLUMNS:
        what = f"{len(columns)} groups beside each other; at most {_MOST_COLUMNS} can be shown"
        raise InputError(Fault(what, hint="choose some of the runs"))
    return columns


def outcomes(status: NDArray[Any], passed: NDArray[Any]) -> NDArray[np.object_]:
    """The outcome of each run. status (n,): complete, stopped or failed. passed (n,): True, False,
    or None for no claims."""
    return np.array(
        [_outcome(str(s), p) for s, p in zip(status, passed, strict=True)], dtype=object
    )


def _outcome(status: str, passed: Any) -> str:
    if status == FAILED:
        return NO_RESULT
    if passed is None or passed != passed:
        return COMPLETE
    return PASSED if passed else MISSED


def is_logarithmic(values: Floats) -> bool:
    """Whether positive values spread so much that only a logarithmic axis shows them."""
    if values.min() <= 0:
        return False
    low, high = np.quantile(values, (0.05, 0.95))
    return bool(high > _SPREAD * low)


def panels(title: str, height: float, rows: int, columns: int) -> tuple[Figure, NDArray[Any]]:
    """A figure with rows and columns of panels with common axes, and the panels (rows, columns)."""
    figure = new_figure(title, height)
    figure.set_figwidth(8.0 if columns == 1 else 2.0 + 3.0 * columns)
    return figure, figure.subplots(rows, columns, sharex=True, sharey="row", squeeze=False)


def note(axis: Axes, notes: Sequence[str]) -> None:
    """Small remarks below a panel."""
    if notes:
        axis.annotate(
            "; ".join(notes), (1, 0), xytext=(0, -36), ha="right", va="top", fontsize=8,
            xycoords="axes fraction", textcoords="offset points", color=FAINT,
        )  # fmt: skip


def group_lines(groups: Sequence[RunGroup], **style: Any) -> list[Line2D]:
    """A line for each group of runs, as a legend shows it."""
    from matplotlib.lines import Line2D

    return [
        Line2D([], [], label=plain_text(g.name), color=g.colour, linestyle=g.dashes, **style)
        for g in groups
    ]


def without_value(shown: Quantity) -> Iterator[str]:
    """A note on the runs that have no value, if there are any."""
    missing = int(np.isnan(shown.numbers()).sum())
    if missing:
        verb = "has" if missing == 1 else "have"
        yield f"{missing:,} of {counted(len(shown.values), 'run')} {verb} no value"

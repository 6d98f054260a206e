"""The plan of a sweep: which runs there are, and the values of each.

A run is numbered by its draw, grid point, variant and fault; the draw is the outermost index. A
sweep that ends early has thus run all grid points, variants and faults equally often, and the
first runs of a longer sweep are those of a shorter one. A draw has the same random values at all
grid points, variants and faults. The values of a run follow from its number alone.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief
from spart_blocks.diagram.sections.sweep_section import Design, Varied
from spart_blocks.sweeps.plan.designs import draws_of, uniform
from spart_blocks.sweeps.plan.distributions import Values, dimensions, table, values_of

if TYPE_CHECKING:
    from spart_blocks.run.engines.from_file import DiagramFile

Ints = NDArray[np.int64]

MOST_RUNS = 10**12
NO_FAULT = "none"
DEFAULT_VARIANT = "default"
"""Name of the variant of a sweep without variants."""


class Numbers(NamedTuple):
    """The draw, grid point, variant and fault of n runs, each an array (n,)."""

    draw: Ints
    grid: Ints
    variant: Ints
    fault: Ints


@dataclass(frozen=True)
class GridAxis:
    """One axis of the grid: paths that change together, with the list of values of each."""

    paths: tuple[str, ...]
    lists: tuple[tuple[Any, ...], ...]

    def __len__(self) -> int:
        return len(self.lists[0])

    @cached_property
    def tables(self) -> tuple[Values, ...]:
        """The lists as arrays."""
        return tuple(table(values) for values in self.lists)


@dataclass(frozen=True)
class Factor:
    """A random path. nominal: its value in the diagram, if the draw depends on it."""

    path: str
    varied: Varied
    nominal: Any = None

    @cached_property
    def size(self) -> int:
        """The number of uniform numbers that one draw needs."""
        return dimensions(self.varied, self.nominal)


@dataclass(frozen=True)
class PlannedFault:
    """A fault: values by path that apply from the time `at` [s] on."""

    name: str
    at: float
    set: Mapping[str, Any]


@dataclass(frozen=True, eq=False, repr=False)
class Plan:
    """The plan of a sweep.

    seed: of all random numbers. runs: requested number of draws. design: how the draws fill the
    space. paths: the varied paths, in the order written. axes: of the grid. factors: the random
    paths. variants: for each variant the choice for each slot. faults: the first is usually "no
    fault". file: the diagram file; None for a diagram in memory or a program. model: digest of the
    diagram's contents. section: that of the file in which it is written. searched: paths that have
    one value here, and others in a search.
    """

    seed: int
    runs: int
    design: Design
    paths: tuple[str, ...]
    axes: tuple[GridAxis, ...]
    factors: tuple[Factor, ...]
    variants: tuple[Mapping[str, str], ...] = ({},)
    faults: tuple[PlannedFault, ...] = (PlannedFault(NO_FAULT, 0.0, {}),)
    file: DiagramFile | None = None
    model: str = ""
    section: str = "sweep"
    searched: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self) > MOST_RUNS:
            text = f"the sweep would have {len(self):,} runs; the most is {MOST_RUNS:,}"
            raise InputError(Fault(text, hint="give shorter lists, or zip them"))

    def __repr__(self) -> str:
        parts = [f"{len(self):,} runs", f"{self.draws:,} draws"]
        names = ("grid points", "variants", "faults")
        parts += [
            f"{count:,} {name}" for count, name in zip(self.counts, names, strict=True) if count > 1
        ]
        return f"<plan: {', '.join(parts)}>"

    def keys(self, path: str) -> tuple[str, ...]:
        """Where a path is written in the file."""
        if path in self.searched:
            return (self.section, "parameters", path)
        for fault in self.faults:
            if path in fault.set and path not in self.paths:
                return (self.section, "faults", fault.name, "set", path)
        return (self.section, "over", path)

    # --- numbering ---------------------------------------------------------------------------

    def __len__(self) -> int:
        return self.draws * self.per_draw

    @cached_property
    def draws(self) -> int:
        """The number of draws."""
        return draws_of(self.design, self.runs, len(self.factors))

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of grid points, variants and faults."""
        return math.prod(map(len, self.axes)), len(self.variants), len(self.faults)

    @cached_property
    def per_draw(self) -> int:
        """The number of runs of each draw."""
        return math.prod(self.counts)

    def numbers(self, runs: Sequence[int] | Ints | int) -> Numbers:
        """The draw, grid point, variant and fault of runs. Raises InputError for a run number out
        of range.
        """
        given = self._checked(runs)
        _, variants, faults = self.counts
        rest, fault = np.divmod(given, faults)
        rest, variant = np.divmod(rest, variants)
        draw, grid = np.divmod(rest, self.counts[0])
        return Numbers(draw, grid, variant, fault)

    def _checked(self, runs: Sequence[int] | Ints | int) -> Ints:
        given = np.atleast_1d(np.asarray(runs))
        if given.dtype.kind not in "iu" and given.size:
            raise InputError(f"runs go by whole numbers, not {brief(runs)}")
        wrong = given[(given < 0) | (given >= len(self))]
        if wrong.size:
            raise InputError(f"there is no run {wrong[0]}; they are 0 to {len(self) - 1:,}")
        return given.astype(np.int64)

    # --- values --------------------------------------------------------------------------------

    def columns(self, runs: Sequence[int] | Ints | int) -> dict[str, Values]:
        """The values (n, ...) of each varied path in runs (n,)."""
        numbers = self.numbers(runs)
        found = {**self._of_grid(numbers.grid), **self._of_draws(numbers.draw)}
        return {path: found[path] for path in self.paths}

    def case(self, run: int) -> dict[str, Any]:
        """The values of one run by path: numbers, lists of numbers, or texts."""
        return {path: plain_value(column[0]) for path, column in self.columns(run).items()}

    def _of_grid(self, grid: Ints) -> dict[str, Values]:
        found: dict[str, Values] = {}
        rest = grid
        for axis in reversed(self.axes):
            rest, place = np.divmod(rest, len(axis))
            found |= {p: t[place] for p, t in zip(axis.paths, axis.tables, strict=True)}
        return found

    def _of_draws(self, draws: Ints) -> dict[str, Values]:
        if not self.factors:
            return {}
        places: Ints | None = None
        if self.per_draw > 1:
            draws, places = np.unique(draws, return_inverse=True)
        sizes = {factor.path: factor.size for factor in self.factors}
        u = uniform(self.design, self.seed, self.runs, sizes, draws)
        found = {f.path: values_of(f.varied, u[f.path], f.nominal) for f in self.factors}
        if places is None:
            return found
        return {path: column[places] for path, column in found.items()}

    # --- names -----------------------------------------------------------------------------------

    @cached_property
    def variant_names(self) -> tuple[str, ...]:
        """A name for each variant, made of its choices."""
        several = len(self.variants[0]) > 1
        return tuple(
            ", ".join(f"{s}={c}" if several else c for s, c in chosen.items()) or DEFAULT_VARIANT
            for chosen in self.variants
        )

    @property
    def fault_names(self) -> tuple[str, ...]:
        """The names of the faults, that of "no fault" included."""
        return tuple(fault.name for fault in self.faults)

    # --- as text ----------------------------------------------------------------------

    def identity(self) -> dict[str, Any]:
        """The entries that determine the values of the runs, as plain values. Those of plans that
        differ only in the number of runs are equal (except for latin_hypercube, whose points depend
        on how many there are): the first runs of the longer are those of the shorter.
        """
        return {
            "seed": self.seed,
            **({"runs": self.runs} if self.design == "latin_hypercube" else {}),
            "design": self.design,
            "paths": list(self.paths),
            "axes": [{"paths": axis.paths, "lists": plain_value(axis.lists)} for axis in self.axes],
            "factors": [
                {
                    "path": factor.path,
                    "varied": plain_value(factor.varied.model_dump(exclude_defaults=True)),
                    "nominal": plain_value(factor.nominal),
                }
                for factor in self.factors
            ],
            "variants": [dict(chosen) for chosen in self.variants],
            "faults": [
                {"name": fault.name, "at": fault.at, "set": plain_value(fault.set)}
                for fault in self.faults
            ],
            "model": self.model,
        }


def plain_value(value: Any) -> Any:
    """A value as JSON and YAML hold it: arrays and ranges as lists, paths as texts."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {str(key): plain_value(item) for key, item in value.items()}
    if isinstance(value, tuple | list | range):
        return [plain_value(item) for item in value]
    return str(value) if hasattr(value, "__fspath__") else value


def grid_axes(over: Mapping[str, Varied], zipped: Iterable[Sequence[str]]) -> tuple[GridAxis, ...]:
    """The grid axes of the lists in a section. Zipped paths form one axis, at the position of the
    first of them.
    """
    groups = {path: tuple(group) for group in zipped for path in group}
    axes: dict[tuple[str, ...], GridAxis] = {}
    for path, varied in over.items():
        if varied.values is not None:
            group = groups.get(path, (path,))
            axes[group] = GridAxis(group, tuple(over[one].values or () for one in group))
    return tuple(axes.values())


def check_apart(paths: Sequence[str], dotted: Mapping[str, str]) -> None:
    """Raise InputError if one path contains another, such as kp and kp[0]. dotted: each path in
    dot notation.
    """
    place = {path: k for k, path in enumerate(paths)}
    of: dict[str, list[str]] = {}
    for path in paths:
        of.setdefault(dotted[path], []).append(path)
    pairs = {
        (min(place[outer], place[inner]), max(place[outer], place[inner]))
        for inner in paths
        for within in _holders(dotted[inner])
        for outer in of.get(within, ())
        if outer != inner
    }
    hint = "vary the whole, or its elements one by one"
    faults = [Fault(f"{paths[k]} and {paths[n]} both vary", hint=hint) for k, n in sorted(pairs)]
    if faults:
        raise InputError(faults)


def _holders(dotted: str) -> Iterator[str]:
    """A path in dot notation and all paths that contain it: a.b.0, a.b, a."""
    while dotted:
        yield dotted
        dotted = dotted.rpartition(".")[0]

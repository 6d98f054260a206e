"""A structure of a sweep: a traced program, and how values are written into rows of its
parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError
from spart_blocks.base.random_numbers import NUMBERS, advanced, states_of
from spart_blocks.block_support.plants.state import PlantState
from spart_blocks.program import Program
from spart_blocks.robot.checks import inertia_faults
from spart_blocks.run.engines.from_file import DiagramFile
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.designs import philox_words
from spart_blocks.sweeps.plan.distributions import Values
from spart_blocks.sweeps.plan.source import (
    FRAMELESS,
    Found,
    MatterTarget,
    StartTarget,
    as_given,
    start_of,
    start_places,
)
from spart_blocks.sweeps.plan.validity import Accepted

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_UNIT = 1e-3
"""Largest deviation of a quaternion's norm from 1."""
_INSTEAD = {
    "quaternion": ("angles321",),
    "angles321": ("quaternion",),
    "u0": ("omega0", "v0"),
    "omega0": ("u0",),
    "v0": ("u0",),
}
"""For an entry of `initial`, the entries that it replaces."""


@dataclass(eq=False)
class ParameterRows:
    """Rows of parameters p (n, np), and the reason for each row that is invalid."""

    p: Floats
    wrong: dict[int, str] = field(default_factory=dict)

    def refuse(self, bad: NDArray[np.bool_], text: str) -> None:
        """Mark rows as invalid; a row keeps its first reason. bad (n,): which rows."""
        for k in np.flatnonzero(bad):
            self.wrong.setdefault(int(k), text)


@dataclass(frozen=True, eq=False)
class StartPlan:
    """How the initial state of a plant follows from varied entries of its `initial`.

    entries: the varied entries by path. given: the other entries. direct: for each path the
    indices of the state that are equal to the entry; None if the plant must compute the state of
    each run.
    """

    block: str
    plant: PlantState
    part: slice
    entries: Mapping[str, StartTarget]
    given: Mapping[str, Any]
    frame: Any
    direct: Mapping[str, NDArray[np.intp]] | None

    @staticmethod
    def of(
        engine: Native,
        block: str,
        entries: Mapping[str, StartTarget],
        given: Mapping[str, Any] | None,
        frame: str,
    ) -> StartPlan | None:
        """The plan for a plant; None if the program's state does not agree with the plant's
        `initial`.
        """
        program, plant = engine.program, engine.plant_state(block)
        slot = start_of(program, block)
        assert slot is not None
        x = program.p[slot.part]
        if given is None:
            given, frame = as_given(plant, x), "com"
        elif not np.array_equal(plant.initial(given, frame)[1], x[: len(plant.names)]):
            return None
        direct: dict[str, NDArray[np.intp]] | None = {}
        for path, entry in entries.items():
            places = start_places(engine, entry)
            if places is None or direct is None or not _plain_entry(plant, entry, frame):
                direct = None
            else:
                direct[path] = places
        return StartPlan(block, plant, slot.part, dict(entries), given, frame, direct)

    def put(self, rows: ParameterRows, values: Mapping[str, Values]) -> None:
        """Write the initial states into rows. values: by path, (n, ...)."""
        if self.direct is None:
            self._ask(rows, values)
            return
        state = rows.p[:, self.part]
        for path, places in self.direct.items():
            numbers = _numbers(values[path], rows, path)
            if numbers is None:
                continue
            if numbers.shape[1:] != places.shape:
                text = f"{path} takes {places.size or 1} numbers, not shape {numbers.shape[1:]}"
                rows.refuse(np.ones(len(rows.p), dtype=bool), text)
                continue
            if self.entries[path].entry == ("quaternion",):
                numbers = _unit(numbers, rows, path)
            state[:, places] = numbers

    def _ask(self, rows: ParameterRows, values: Mapping[str, Values]) -> None:
        for k in range(len(rows.p)):
            if k in rows.wrong:
                continue
            given = dict(self.given)
            for path, target in self.entries.items():
                _set(given, target.entry, values[path][k], self.plant)
            try:
                x = self.plant.initial(given, self.frame)[1]
                rows.p[k, self.part][: len(x)] = x
            except InputError as error:
                rows.wrong[k] = f"{self.block}: {str(error).partition(chr(10))[0]}"


def _plain_entry(plant: PlantState, target: StartTarget, frame: str) -> bool:
    """Whether an entry of `initial` is copied unchanged into the state."""
    key = target.entry[0]
    if type(plant) is not PlantState or (frame != "com" and key not in FRAMELESS):
        return False
    if key == "qm":
        return not plant.robot.balls
    if key == "um":
        return not plant.sticking
    return key != "quaternion" or len(target.entry) == 1


def _set(given: dict[str, Any], entry: tuple[Any, ...], value: Any, plant: PlantState) -> None:
    """Set an entry of `initial`, and remove those that it replaces."""
    key, *within = entry
    for other in _INSTEAD.get(str(key), ()):
        given.pop(other, None)
    if not within:
        given[key] = value
        return
    old = given.get(key)
    name = str(within[0])
    if isinstance(old, Mapping):
        given[key] = {**old, name: value}
        return
    names = [n.partition(".")[2] for n in plant.names if n.startswith(f"{key}.")]
    if not name.isdecimal() and name not in names:
        given[key] = {name: value}
        return
    vector = np.zeros(len(names)) if old is None else np.array(old, dtype=float)
    place = int(name) if name.isdecimal() else names.index(name)
    if place >= len(vector):
        raise InputError(f"initial {key} has {len(vector)} entries, none of number {place}")
    vector[place] = value
    given[key] = vector


def _numbers(values: Values, rows: ParameterRows, path: str) -> Floats | None:
    """Values as floats, with rows that are not finite marked as invalid; None if they are not
    numeric.
    """
    if values.dtype.kind not in "iuf":
        rows.refuse(np.ones(len(rows.p), dtype=bool), f"{path} takes numbers")
        return None
    finite = np.isfinite(values)
    if not finite.all():
        bad = np.asarray(~finite).reshape(len(values), -1).any(axis=1)
        rows.refuse(np.atleast_1d(bad), f"{path} holds a number that is not finite")
    return np.asarray(values, dtype=float)


def _unit(q: Floats, rows: ParameterRows, path: str) -> Floats:
    length = np.sqrt(q[:, 0] ** 2 + q[:, 1] ** 2 + q[:, 2] ** 2 + q[:, 3] ** 2)
    bad = ~(np.abs(length - 1) < _UNIT)
    rows.refuse(bad, f"{path}: the length of a quaternion (x, y, z, w) must be 1")
    return q / np.where(bad, 1.0, length)[:, None]


@dataclass(frozen=True, eq=False)
class Structure:
    """A program of a sweep, and where it has the values of the paths.

    file: the loaded file. found: location of each path. starts: of plants whose initial state
    varies. kept: random blocks whose seed or state the plan sets itself. accepted: the values that
    blocks accept, by path. at: index in p of the time at which a fault starts. after: by
    parameter, the entries of its value before and after the fault. lacking: paths that are
    parameters in other structures but not in this one.
    """

    engine: Native
    file: DiagramFile | None
    found: Mapping[str, Found]
    starts: tuple[StartPlan, ...] = ()
    kept: frozenset[str] = frozenset()
    accepted: Mapping[str, Accepted] = field(default_factory=dict)
    at: int | None = None
    after: Mapping[str, tuple[slice, slice]] = field(default_factory=dict)
    lacking: tuple[str, ...] = ()

    @property
    def program(self) -> Program:
        """The program that runs."""
        return self.engine.program

    @property
    def shift(self) -> NDArray[np.intp]:
        """For each entry of p that of its value after a fault; itself where there is none."""
        found = np.arange(self.program.p.size)
        for nominal, after in self.after.values():
            found[nominal] = np.arange(after.start, after.stop)
        return found

    def rows(
        self,
        values: Mapping[str, Values],
        seed: int,
        draws: Ints,
        switched: Mapping[str, Any],
        begin: float,
    ) -> ParameterRows:
        """The rows of p for n runs.

        values: by path, (n, ...). seed, draws (n,): select the random sequences. switched: values
        by path from the time `begin` [s] on.
        """
        rows = ParameterRows(np.tile(self.program.p, (len(draws), 1)))
        self._start_sequences(rows, seed, draws)
        for path, column in values.items():
            self._put(rows, path, column)
        for start in self.starts:
            start.put(rows, values)
        self._check_matter(rows, values)
        if self.at is not None:
            self._switch(rows, switched, begin)
        return rows

    def _start_sequences(self, rows: ParameterRows, seed: int, draws: Ints) -> None:
        for name, count in self.program.random.items():
            slot = start_of(self.program, name)
            if name not in self.kept and slot is not None:
                begin = slot.part.start
                rows.p[:, begin : begin + count] = sequence_states(seed, name, draws, count)

    def _put(self, rows: ParameterRows, path: str, column: Values) -> None:
        target = self.found[path].places
        if target is None:
            return
        numbers = _numbers(column, rows, path)
        if numbers is None:
            return
        if not target.takes(numbers.shape[1:]):
            shape = target.places[0].shape
            text = f"{path} has shape {shape}, not {numbers.shape[1:]}"
            rows.refuse(np.ones(len(rows.p), dtype=bool), text)
            return
        target.put(rows.p, numbers)
        if path in self.accepted:
            for k, text in self.accepted[path].wrong(numbers).items():
                rows.wrong.setdefault(k, text)

    def _check_matter(self, rows: ParameterRows, values: Mapping[str, Values]) -> None:
        seen: dict[str, MatterTarget] = {}
        for path in values:
            matter = self.found[path].matter
            if matter is not None:
                seen[f"{matter.robot}.{matter.quantity}"] = matter
        for name, matter in seen.items():
            refuse_matter(rows, name, matter)

    def _switch(self, rows: ParameterRows, switched: Mapping[str, Any], begin: float) -> None:
        assert self.at is not None
        for nominal, after in self.after.values():
            rows.p[:, after] = rows.p[:, nominal]
        rows.p[:, self.at] = begin if switched else np.inf
        shift = self.shift
        for path, value in switched.items():
            target = self.found[path].places
            if path in self.accepted:
                wrong = self.accepted[path].wrong(np.asarray(value, dtype=float)[None])
                rows.refuse(np.full(len(rows.p), bool(wrong)), "".join(wrong.values()))
            if target is not None:
                values = np.broadcast_to(np.asarray(value), (len(rows.p), *np.shape(value)))
                target.put(rows.p, values, shift)
        for path in switched:
            matter = self.found[path].matter
            if matter is not None:
                refuse_matter(rows, f"{matter.robot}.{matter.quantity}", matter, shift)


def refuse_matter(
    rows: ParameterRows, name: str, matter: MatterTarget, shift: NDArray[np.intp] | None = None
) -> None:
    """Mark rows as invalid if their masses or inertias are impossible. shift: other indices of the
    entries in p, such as those after a fault.
    """
    places = matter.whole if shift is None else shift[matter.whole]
    numbers = rows.p[:, places.ravel()].reshape(len(rows.p), *places.shape)
    if matter.quantity == "mass":
        least = numbers.min(axis=1)
        for k in np.flatnonzero(least < 0):
            text = f"{name}: a mass is {least[k]:g} kg; it cannot be negative"
            rows.wrong.setdefault(int(k), text)
    if matter.quantity != "inertia":
        return
    sizes = np.abs(numbers).max(axis=(2, 3), keepdims=True)
    scaled = numbers / np.where(sizes > 0, sizes, 1.0)
    with np.errstate(invalid="ignore"):
        odd = ~(np.abs(scaled - scaled.swapaxes(2, 3)).max(axis=(1, 2, 3)) == 0)
    finite = np.isfinite(scaled).all(axis=(1, 2, 3))
    for body in range(numbers.shape[1]):
        moments = np.linalg.eigvalsh(np.where(np.isfinite(scaled[:, body]), scaled[:, body], 0.0))
        odd |= moments[:, 0] < 0
    for k in np.flatnonzero(odd & finite):
        for inertia in numbers[k]:
            faults = inertia_faults(0.0, inertia)
            if faults:
                rows.wrong.setdefault(int(k), f"{name}: {faults[0]}")


def sequence_states(seed: int, block: str, draws: Ints, size: int) -> Floats:
    """Initial states (n, size) of a random block, which depend on seed, block and draw only. They
    are advanced by one number, as those of seeded blocks are.
    """
    words = philox_words(seed, f"block {block}", draws, size) >> np.uint64(32)
    states = states_of(words.astype(float).reshape(-1, NUMBERS))
    return np.asarray(advanced(states)).reshape(len(draws), size)

"""Histories: signals and states over time of runs of a sweep, and the files that keep them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError, optional, told
from spart_blocks.measures.work import Done, FileWork, Floats, Ints, Work
from spart_blocks.results.files import write_whole
from spart_blocks.results.signal_names import STATES
from spart_blocks.sweeps.storage.columns import EXTRA, from_npz, readable, to_npz

if TYPE_CHECKING:
    from spart_blocks.program import Program

MOST_AT_ONCE = 4_000_000
"""Numbers that are evaluated at once, which bounds the memory in use."""
_LATE = 1e-12


@dataclass(frozen=True, eq=False)
class Histories:
    """Signals of n runs at k times. runs (n,): numbers of the runs. times (k,) [s]. values: arrays
    (n, k, ...) by name, NaN after the end of a run. A name is that of a signal, or `states.` with
    the name of a block."""

    runs: Ints
    times: Floats
    values: Mapping[str, Floats]
    units: Mapping[str, str] = field(default_factory=dict)

    def part(self, which: NDArray[Any]) -> Histories:
        """The histories of some runs, chosen by their positions."""
        values = {name: array[which] for name, array in self.values.items()}
        return Histories(self.runs[which], self.times, values, self.units)


def histories_of(work: Work | FileWork, done: Done, which: NDArray[np.intp]) -> Histories | None:
    """The histories of some of the runs that have ended, chosen by their positions among these;
    None if no rows were recorded."""
    if done.times is None or done.rows is None:
        return None
    place = {int(run): k for k, run in enumerate(work.runs)}
    own = np.array([place[int(run)] for run in done.runs[which]], dtype=np.intp)
    rows = done.rows[which].copy()
    rows[done.times[None, :] > done.t[which, None] * (1 + _LATE)] = np.nan
    if isinstance(work, FileWork):
        return joined(
            _by_blocks(work, int(k), done.times, row) for k, row in zip(own, rows, strict=True)
        )
    program, p = work.program, work.p[own]
    rows = _projected(program, done.times, rows, p)
    names = program.display.kept(program.run.log, [slot.name for slot in program.signals])
    signals = signals_of(program, names, done.times, rows, p)
    values = program.display.by_shown_name(program.run.log, signals) | states_of(program, rows)
    units = program.display.units_of(values)
    return Histories(done.runs[which], done.times, values, units)


def _by_blocks(work: FileWork, k: int, times: Floats, row: Floats) -> Histories:
    """The histories of run k of a job without a program, from its states (k, nx + nd): blocks
    compute the signals."""
    engine = work.file_of(k).reference()
    nx = len(engine.initial()[0])
    known = ~np.isnan(row).any(axis=1)
    x, xd = row[known, :nx], row[known, nx:]
    names = engine.display.kept(engine.run.log, engine.signals())
    signals = dict(zip(names, engine.over(names, times[known], x, xd), strict=True))
    found = engine.display.by_shown_name(engine.run.log, signals)
    found |= {STATES + name: x[:, part] for name, part in engine.continuous.items()}
    found |= {STATES + name: xd[:, part] for name, part in engine.sampled.items()}
    values = {}
    for name, array in found.items():
        values[name] = np.full((1, len(times), *array.shape[1:]), np.nan)
        values[name][0, known] = array
    units = engine.display.units_of(values)
    return Histories(work.runs[[k]], times, values, units)


def states_of(program: Program, rows: Floats) -> dict[str, Floats]:
    """The states of each block, from rows (n, k, nx + nd)."""
    nx = len(program.x0)
    found = {STATES + slot.name: rows[:, :, slot.part] for slot in program.states}
    for slot in program.discrete:
        part = slice(nx + slot.part.start, nx + slot.part.stop)
        found[STATES + slot.name] = rows[:, :, part]
    return found


def signals_of(
    program: Program, names: Sequence[str], times: Floats, rows: Floats, p: Floats
) -> dict[str, Floats]:
    """The named signals (n, k, ...) in states (n, k, nx + nd), with parameters p (n, np)."""
    if not names:
        return {}
    function = program.selected(names)
    nx = len(program.x0)

    def column(t: Floats, flat: Floats, p: Floats) -> Floats:
        return np.array(function(t[None], flat[:, :nx].T, flat[:, nx:].T, p.T)).T

    whole = _over_runs(column, times, rows, p)
    slots = {slot.name: slot for slot in program.signals}
    found, at = {}, 0
    for name in names:
        shape = slots[name].shape
        size = math.prod(shape)
        found[name] = whole[:, :, at : at + size].reshape(*rows.shape[:2], *shape)
        at += size
    return found


def _projected(program: Program, times: Floats, rows: Floats, p: Floats) -> Floats:
    """A copy of the rows, with the states projected onto their constraints if outputs need that."""
    rows = rows.copy()
    if not program.drifting or program.project is None:
        return rows
    nx = len(program.x0)

    def column(t: Floats, flat: Floats, p: Floats) -> Floats:
        return np.array(program.project(t[None], flat[:, :nx].T, flat[:, nx:].T, p.T)).T

    rows[:, :, :nx] = _over_runs(column, times, rows, p)
    return rows


def _over_runs(column: Any, times: Floats, rows: Floats, p: Floats) -> Floats:
    """A function of (t, states, p), at every row of every run: (n, k, width), NaN where the states
    are."""
    n, k, width = rows.shape
    step = max(1, MOST_AT_ONCE // max(1, k * max(width, p.shape[1], 1)))
    parts = []
    for start in range(0, n, step):
        some = rows[start : start + step]
        flat = some.reshape(-1, width)
        values = column(np.tile(times, len(some)), flat, np.repeat(p[start : start + step], k, 0))
        values[np.isnan(flat).any(axis=1)] = np.nan
        parts.append(values.reshape(len(some), k, -1))
    return np.concatenate(parts) if parts else np.zeros((0, k, 0))


def joined(parts: Iterable[Histories]) -> Histories | None:
    """Histories of several parts as one, in the order of their runs; None if there are none. Runs
    that end early have fewer times, and a signal that some runs lack is NaN there. A signal that
    has different shapes in different structures is left out."""
    parts = [part for part in parts if len(part.runs)]
    if not parts:
        return None
    times = max((part.times for part in parts), key=len)
    runs = np.concatenate([part.runs for part in parts])
    order = np.argsort(runs, kind="stable")
    values: dict[str, Floats] = {}
    for name, shape in common_shapes(parts).items():
        whole = np.full((len(runs), len(times), *shape), np.nan)
        at = 0
        for part in parts:
            if name in part.values:
                whole[at : at + len(part.runs), : len(part.times)] = part.values[name]
            at += len(part.runs)
        values[name] = whole[order]
    units = {name: unit for part in parts for name, unit in part.units.items()}
    return Histories(runs[order], times, values, units)


def common_shapes(parts: Sequence[Histories]) -> dict[str, tuple[int, ...]]:
    """The shape of a sample of each signal that has one shape in all parts that have it."""
    shapes: dict[str, set[tuple[int, ...]]] = {}
    for part in parts:
        for name, array in part.values.items():
            shapes.setdefault(name, set()).add(array.shape[2:])
    return {name: next(iter(found)) for name, found in shapes.items() if len(found) == 1}


# --- files of histories ---------------------------------------------------------------------------
# Files of histories in the folder of a sweep: an NPZ file for each part, or one Zarr store of
# shards.
#
# The histories of a part are written before its table, and only a part with a table is read. Those
# that a killed process has left without a table are ignored, and their number is not used again.


Form = Literal["npz", "zarr"]
LARGE = 256 << 20
"""The size of all histories [bytes] from which they are stored in Zarr."""
SHARD = 4096
"""Runs in a shard of the Zarr store; only those written take space."""
_CHUNK = 1 << 20  # bytes, about, of what is read at once
_UNITS, _VALUE = "units", "value."


def form_for(size: float) -> Form:
    """The file format for histories of this size [bytes]."""
    return "zarr" if size > LARGE and find_spec("zarr") is not None else "npz"


def _readable(path: Path) -> AbstractContextManager[None]:
    """A context for reading histories: what cannot be read is told with the file's name."""
    hint = "remove it; the table is whole without it, and a replay gives a run's histories"
    return readable(path, "histories", hint)


def history_files(form: Form, folder: Path) -> NpzHistories | ZarrHistories:
    """The histories in the folder of a sweep."""
    return NpzHistories(folder / "histories") if form == "npz" else ZarrHistories(folder)


class NpzHistories:
    """Histories as an NPZ file for each part."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def write(self, part: int, histories: Histories) -> None:
        """Store the histories of a part."""
        arrays: dict[str, Any] = {"run": histories.runs, "time": histories.times}
        arrays[_UNITS] = np.array([f"{n}\0{u}" for n, u in histories.units.items()], dtype=str)
        arrays |= {_VALUE + name: array for name, array in histories.values.items()}
        write_whole(self._file(part), to_npz(arrays))

    def read(self, parts: Iterable[int]) -> Iterator[Histories]:
        """The histories of these parts, of those that have any."""
        for part in parts:
            path = self._file(part)
            if path.exists():
                with _readable(path):
                    found = _from_arrays(path, from_npz(path))
                yield found

    def last(self) -> int:
        """The highest number of a part that was written; -1 if there is none."""
        names = (path.stem for path in self.folder.glob("*.npz"))
        return max((int(name) for name in names if name.isdecimal()), default=-1)

    def _file(self, part: int) -> Path:
        return self.folder / f"{part:06d}.npz"


def _from_arrays(path: Path, arrays: Mapping[str, Any]) -> Histories:
    try:
        values = {n.removeprefix(_VALUE): a for n, a in arrays.items() if n.startswith(_VALUE)}
        units = dict(str(pair).split("\0") for pair in arrays[_UNITS])
        return Histories(arrays["run"], arrays["time"], values, units)
    except (LookupError, ValueError) as error:
        raise InputError(f"{path}: holds no histories ({told(error)})") from error


class ZarrHistories:
    """Histories as one Zarr store (format 3) with an array (run, time, ...) for each signal. Part n
    has its rows in shard n of each array. Rows that it does not fill have run -1 and take no space,
    so that no shard is written twice."""

    def __init__(self, folder: Path) -> None:
        self.path = folder / "histories.zarr"

    def write(self, part: int, histories: Histories) -> None:
        n = len(histories.runs)
        if n > SHARD:
            raise ValueError(f"a part has {n} runs, a shard has room for {SHARD}")
        runs = np.full(SHARD, -1)
        runs[:n] = histories.runs
        try:
            group = self._group("a")
            for name, values in (*histories.values.items(), ("run", runs)):
                self._array(group, name, values, histories.units.get(name, ""))
            times = self._times(group, histories.times)
            for name, array in group.arrays():
                if name != "time":
                    written = runs if name == "run" else histories.values.get(name)
                    _write_rows(array, part, written, n, times)
        except OSError as error:
            raise InputError(f"cannot write {self.path}: {error.strerror or error}") from error

    def read(self, parts: Iterable[int]) -> Iterator[Histories]:
        if not self.path.exists():
            return
        with _readable(self.path):
            yield from self._read(parts)

    def last(self) -> int:
        if not self.path.exists():
            return -1
        with _readable(self.path):
            group = self._group("r")
            return int(group["run"].shape[0]) // SHARD - 1 if "run" in group else -1

    def _read(self, parts: Iterable[int]) -> Iterator[Histories]:
        group = self._group("r")
        times = group["time"][:]
        arrays = {name: array for name, array in group.arrays() if name not in ("run", "time")}
        for part in parts:
            rows = slice(part * SHARD, (part + 1) * SHARD)
            runs = group["run"][rows]
            n = int(np.count_nonzero(runs >= 0))
            if n:
                rows = slice(rows.start, rows.start + n)
                values = {name: array[rows] for name, array in arrays.items()}
                units = {name: array.attrs.get("units", "") for name, array in arrays.items()}
                yield Histories(runs[:n], times, values, {n: u for n, u in units.items() if u})

    def dataset(self, parts: Ints) -> Any:
        """The rows of these parts as an xarray Dataset that reads values when they are needed."""
        xarray = optional("xarray", "xarray", EXTRA, "histories of a sweep")
        with _readable(self.path):
            whole = xarray.open_zarr(self.path, chunks=None, consolidated=False)
            runs = whole["run"].values
        rows = np.flatnonzero((runs >= 0) & np.isin(np.arange(len(runs)) // SHARD, parts))
        return whole.isel(run=rows[np.argsort(runs[rows], kind="stable")])

    def _group(self, mode: Literal["a", "r"]) -> Any:
        zarr = optional("zarr", "zarr", EXTRA, "histories of a large sweep")
        return zarr.open_group(self.path, mode=mode, zarr_format=3)

    @staticmethod
    def _array(group: Any, name: str, values: NDArray[Any], unit: str) -> None:
        """Make the array of a signal, unless there is one."""
        if name in group:
            return
        of_row = values.shape[1:]
        row = max(1, math.prod(of_row) * 8)
        at_once = 2 ** int(np.clip(np.log2(_CHUNK / row), 0, np.log2(SHARD)))
        own = [f"{name}.{axis}" for axis in range(len(of_row) - 1)]
        group.create_array(
            name,
            shape=(SHARD, *of_row),
            shards=(SHARD, *of_row),
            chunks=(at_once, *of_row),
            dtype=values.dtype,
            fill_value=-1 if name == "run" else np.nan,
            dimension_names=["run", "time", *own][: values.ndim],
            attributes={"units": unit} if unit else {},
        )

    @staticmethod
    def _times(group: Any, times: Floats) -> int:
        """Store the times if there are more than before; returns their number."""
        known: int = group["time"].shape[0] if "time" in group else 0
        if known >= len(times):
            return known
        about = {"dimension_names": ["time"], "attributes": {"units": "s"}}
        group.create_array("time", data=times, overwrite=True, **about)
        return len(times)


def _write_rows(array: Any, part: int, values: NDArray[Any] | None, n: int, times: int) -> None:
    """Write the rows of a part into its shard of an array. values: None, or of another shape, if
    its runs lack the signal."""
    start = part * SHARD
    shape = (start + SHARD, times, *array.shape[2:])
    array.resize(shape[: array.ndim])
    if values is None or values.shape[2:] != array.shape[2:]:
        array[start : start + n] = np.nan
    elif values.ndim == 1:
        array[start : start + SHARD] = values
    else:
        array[start : start + n, : values.shape[1]] = values
        array[start : start + n, values.shape[1] :] = np.nan

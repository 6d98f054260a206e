"""Writes every row of a run into files while it goes: a Zarr store or a folder of Parquet parts.

Rows are gathered until a part is full, and a part is written as a whole, so that memory does not
grow and a process that is killed leaves readable files with the rows of all parts before. Events
are written with the rows, beside them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, RunError, optional, told
from spart_blocks.base.interrupts import deferred
from spart_blocks.base.paths import element_names
from spart_blocks.results.columns import state_columns
from spart_blocks.results.files import write_whole
from spart_blocks.results.run_data import Event
from spart_blocks.results.signal_names import EVENTS, STATES
from spart_blocks.run.engines.engine import Engine

Array = NDArray[Any]
Rows = Mapping[str, Array]
"""Times `t` (N,), signals by name and states by `states.` and their block's name, each (N, ...)."""

EXTRA, PURPOSE = "sweep", "rows that are written while a run goes"
PART_NUMBERS = 2_000_000
"""About the count of numbers in a part."""
LARGEST_PART, SMALLEST_PART = 65_536, 16
"""Bounds of the rows of a part."""


class Stream(ABC):
    """Files of one run. path: of the store or folder, which is created with the first part."""

    def __init__(self, path: Path, engine: Engine) -> None:
        self.path, self.engine = path, engine
        self._waiting: list[Rows] = []
        self._count = 0
        self._events: list[Event] = []

    def write(
        self, names: Sequence[str], t: Array, signals: Sequence[Array], x: Array, xd: Array
    ) -> None:
        """Write rows: t (N,) [s], the named signals (N, ...), states x (N, nx) and xd (N, nd). The
        last ones stay in memory until their part is full. Raises RunError.
        """
        rows = {"t": t, **dict(zip(names, signals, strict=True))}
        rows |= {STATES + name: x[:, part] for name, part in self.engine.continuous.items()}
        rows |= {STATES + name: xd[:, part] for name, part in self.engine.sampled.items()}
        with deferred():  # an interrupt would leave half a part
            self._waiting.append(rows)
            self._count += len(rows["t"])
            size = _part_size(rows)
            while self._count >= size:
                self._write_first(size)

    def add_event(self, event: Event) -> None:
        """Write an event, with the next part."""
        self._events.append(event)
        if len(self._events) >= LARGEST_PART:
            self._write_waiting_events()

    def close(self, complete: bool) -> None:
        """Write the rows and events that are left. complete: whether the run reached its end."""
        if self._count:
            self._write_first(self._count)
        self._write_waiting_events()
        self._guarded(lambda: self._finish(complete))

    def _write_first(self, count: int) -> None:
        """Write the first rows of those that wait."""
        whole = {
            name: np.concatenate([rows[name] for rows in self._waiting])
            for name in self._waiting[0]
        }
        part = {name: array[:count] for name, array in whole.items()}
        self._waiting = [{name: array[count:] for name, array in whole.items()}]
        self._count -= count
        self._guarded(lambda: self._write_part(part))
        self._write_waiting_events()

    def _write_waiting_events(self) -> None:
        with deferred():
            if self._events:
                events, self._events = self._events, []
                self._guarded(lambda: self._write_events(events))

    def _guarded(self, act: Any) -> None:
        try:
            act()
        except OSError as error:
            hint = "free space there, or name another place; the rows up to here are there"
            raise RunError(
                f"cannot write {self.path}: {error.strerror or told(error)}", hint=hint
            ) from None

    @abstractmethod
    def _write_part(self, part: Rows) -> None:
        """Write a part behind those before."""

    @abstractmethod
    def _write_events(self, events: Sequence[Event]) -> None:
        """Write events behind those before."""

    def _finish(self, complete: bool) -> None:  # noqa: B027
        """Note that no rows follow."""


class ZarrStream(Stream):
    """A Zarr store with an array (N, ...) for each signal, over the times `t`."""

    def __init__(self, path: Path, engine: Engine) -> None:
        super().__init__(path, engine)
        self._zarr = optional("zarr", "zarr", EXTRA, PURPOSE)
        self._group: Any = None
        self._told: Any = None
        self._kinds: dict[tuple[str, str], int] = {}

    def _write_part(self, part: Rows) -> None:
        if self._group is None or "t" not in self._group:
            self._open()
            for name, values in part.items():
                self._create(name, values)
        for name in reversed(list(part)):  # the times last: they tell how many rows there are
            self._group[name].append(part[name])

    def _write_events(self, events: Sequence[Event]) -> None:
        if self._told is None:
            self._open()
            self._told = self._group.create_group(_beside(EVENTS, self.engine.signals()))
            for name, kind in (("t", "f8"), ("kind", "i4")):
                self._told.create_array(
                    name, shape=(0,), chunks=(LARGEST_PART,), dtype=kind, dimension_names=["event"]
                )
        kinds = self._kinds
        at = [kinds.setdefault((one.block, one.what), len(kinds)) for one in events]
        self._told.attrs.update({"kinds": [list(kind) for kind in kinds]})
        self._told["kind"].append(np.array(at, "i4"))
        self._told["t"].append(np.array([one.t for one in events]))

    def _open(self) -> None:
        if self._group is None:
            self._group = self._zarr.open_group(self.path, mode="w-", zarr_format=3)
            self._group.attrs.update({"diagram": self.engine.title, "complete": 0})

    def _create(self, name: str, values: Array) -> None:
        unit = "s" if name == "t" else self.engine.display.units.get(name, "")
        own = [f"{name}.{axis}" for axis in range(values.ndim - 1)]
        self._group.create_array(
            name,
            shape=(0, *values.shape[1:]),
            chunks=(max(len(values), 1), *(max(n, 1) for n in values.shape[1:])),
            dtype="f8",
            dimension_names=["t", *own],
            attributes={"units": unit} if unit else {},
        )

    def _finish(self, complete: bool) -> None:
        if self._group is not None:
            self._group.attrs.update({"complete": int(complete)})


class ParquetStream(Stream):
    """A folder of Parquet files with the columns of `Results.table`. Their names are in order."""

    def __init__(self, path: Path, engine: Engine) -> None:
        super().__init__(path, engine)
        self._arrow = optional("pyarrow", "pyarrow", EXTRA, PURPOSE)
        self._parquet = optional("pyarrow.parquet", "pyarrow", EXTRA, PURPOSE)
        self._parts = self._event_parts = 0

    def _write_part(self, part: Rows) -> None:
        self.path.mkdir(exist_ok=True)
        columns: dict[str, Array] = {}
        for name, values in part.items():
            flat = values.reshape(len(values), math.prod(values.shape[1:])).T
            columns |= zip(self._labels(name, part), map(np.ascontiguousarray, flat), strict=True)
        self._write(columns, self.path / f"part-{self._parts:06d}.parquet")
        self._parts += 1

    def _write_events(self, events: Sequence[Event]) -> None:
        columns = {"t": np.array([event.t for event in events])}
        texts = {name: [getattr(event, name) for event in events] for name in ("block", "what")}
        # Readers of the folder pass over names that begin so.
        part = f"part-{self._event_parts:06d}.parquet"
        self._write({**columns, **texts}, self.path / f"_{EVENTS}" / part)
        self._event_parts += 1

    def _write(self, columns: Mapping[str, Any], path: Path) -> None:
        sink = BytesIO()
        self._parquet.write_table(self._arrow.table(columns), sink, compression="zstd")
        write_whole(path, sink.getvalue())

    def _labels(self, name: str, part: Rows) -> list[str]:
        block = name.removeprefix(STATES)
        if name.startswith(STATES):
            return state_columns(block, {block: part[name]}, self.engine.display.states)
        return element_names(name, part[name].shape[1:])


def _beside(name: str, names: Any) -> str:
    """The name, with underscores before it until it is none of these names."""
    while name in names:
        name = f"_{name}"
    return name


def _part_size(rows: Rows) -> int:
    """The rows of a part."""
    width = sum(math.prod(values.shape[1:]) for values in rows.values())
    return min(max(PART_NUMBERS // max(width, 1), SMALLEST_PART), LARGEST_PART)


STREAMS: Mapping[str, type[Stream]] = {".zarr": ZarrStream, ".parquet": ParquetStream}
"""The kinds of files by the suffix of their path."""


def checked_stream(path: str | Path, option: str = "stream") -> Path:
    """The path of a stream. Raises InputError if no stream can be written there. option: how the
    caller names it.
    """
    target = as_path(path, option).expanduser()
    if target.suffix.lower() not in STREAMS:
        kinds = " or ".join(STREAMS)
        hint = f"end it in {kinds}"
        raise InputError(Fault(f"{option} {target}: the kind of files is not known", hint=hint))
    if target.exists() or target.is_symlink():
        hint = "name another one, or remove it"
        raise InputError(Fault(f"{option} {target}: there is one already", hint=hint))
    if not target.parent.is_dir():
        text = f"{option} {target}: there is no folder {target.parent}"
        raise InputError(Fault(text, hint=f"make it: mkdir -p {target.parent}"))
    return target


def stream_of(path: Path, engine: Engine) -> Stream:
    """The stream of a run into a path that was checked. Raises InputError if the run keeps samples,
    or a package is missing.
    """
    if engine.run.every is not None:
        text = f"a stream has all rows, and run.every = {engine.run.every:g} s keeps samples only"
        raise InputError(Fault(text, hint="set run.every=null, or save the samples: --out FILE"))
    return STREAMS[path.suffix.lower()](path, engine)

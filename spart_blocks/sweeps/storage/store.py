"""Stores of the runs of a sweep: in memory, or in a folder from which the sweep can be resumed.

A folder holds `sweep.json` (the description of the sweep), `table/` (a file for each part of the
table) and, if they are kept, histories. Every file is written under another name and then renamed,
and a part's table is written last, so that a killed process loses at most the part in progress.
"""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, RunError, brief, told
from spart_blocks.base.file_locks import lock
from spart_blocks.measures.work import Ints
from spart_blocks.results.files import make_folder, write_bytes, write_whole
from spart_blocks.sweeps.storage.columns import (
    Array,
    Column,
    Format,
    as_bytes,
    best_format,
    read_part,
)
from spart_blocks.sweeps.storage.histories import (
    SHARD,
    Form,
    Histories,
    ZarrHistories,
    history_files,
    joined,
)

FORMAT = "spart_blocks sweep 1"
DESCRIPTION = "sweep.json"
LEAST_WAIT, SHARE = 2.0, 0.01
"""A part is written after this time [s], or after this fraction of the sweep's time so far if that
is longer."""
MOST_BUFFERED = 64 << 20
"""The size of columns and histories [bytes] at which a part is written at once."""
_MOST_TEXT = 32 << 20


@dataclass(frozen=True)
class Description:
    """The description of a sweep in `sweep.json`. name: of the diagram. identity: everything that
    the results depend on, as JSON; a sweep continues another one if these are equal. files: of the
    diagram, with hashes of their contents. runs: number of all runs. schema: the columns. facts:
    other entries, for readers."""

    name: str
    identity: Mapping[str, Any]
    files: Mapping[str, str]
    runs: int
    schema: tuple[Column, ...]
    facts: Mapping[str, Any] = field(default_factory=dict)
    table: Format = "npz"
    histories: Form = "npz"

    def plain(self) -> dict[str, Any]:
        """The description as plain values for JSON."""
        plain = {"format": FORMAT, **vars(self), "columns": [vars(c) for c in self.schema]}
        del plain["schema"]
        return plain

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Description:
        """The description that `plain` has written. Raises ValueError, LookupError, TypeError."""
        if plain.get("format") != FORMAT:
            raise ValueError(f"format is {brief(plain.get('format'))}, not {FORMAT!r}")
        if plain["table"] not in ("parquet", "npz") or plain["histories"] not in ("npz", "zarr"):
            raise ValueError("its parts are in no known format")
        return Description(
            name=str(plain["name"]),
            identity=dict(plain["identity"]),
            files={str(path): str(digest) for path, digest in dict(plain["files"]).items()},
            runs=int(plain["runs"]),
            schema=tuple(Column.from_plain(column) for column in plain["columns"]),
            facts=dict(plain["facts"]),
            table=plain["table"],
            histories=plain["histories"],
        )


class Store:
    """The runs that have ended, in memory."""

    folder: Path | None = None

    def __init__(self, description: Description) -> None:
        self.description = description
        self._columns: list[Mapping[str, Array]] = []
        self._histories: list[Histories] = []
        self.count = 0

    @property
    def schema(self) -> tuple[Column, ...]:
        """The columns of the table."""
        return self.description.schema

    def add(self, columns: Mapping[str, Array], histories: Histories | None = None) -> None:
        """Add runs. columns: stored values by name."""
        rows = {column.name: column.stored(columns[column.name]) for column in self.schema}
        self._columns.append(rows)
        if histories is not None and len(histories.runs):
            self._histories.append(histories)
        self.count += len(rows["run"])
        self.__dict__.pop("_order", None)

    def flush(self) -> None:
        """Write all runs that are not written yet."""

    def close(self) -> None:
        """Write all runs that are not written yet, and release the lock."""

    def release(self) -> None:
        """Release the lock. Runs that are not written yet stay in memory."""

    @cached_property
    def _order(self) -> Array:
        return np.argsort(self._whole("run"), kind="stable")

    def read(self, name: str) -> Array:
        """The stored values of a column, in the order of the runs' numbers."""
        found: Array = self._whole(name)[self._order]
        return found

    def runs(self) -> Ints:
        """The numbers of the stored runs, in order."""
        return self.read("run")

    def _whole(self, name: str) -> Array:
        parts = [columns[name] for columns in self._columns]
        return np.concatenate([self._column(name).stored([]), *parts])

    def _column(self, name: str) -> Column:
        return next(one for one in self.schema if one.name == name)

    def histories(self) -> Histories | None:
        """The stored histories, or None."""
        return joined(self._histories)

    def dataset(self) -> Any:
        """An xarray Dataset that reads histories when they are needed; None if it has to be made
        from `histories`."""
        return None


class Folder(Store):
    """The runs in a folder, those that other processes have written included."""

    def __init__(self, folder: Path, description: Description, lock: IO[bytes] | None) -> None:
        super().__init__(description)
        self.folder, self._lock = folder, lock
        self.files = history_files(description.histories, folder)
        self._parts = _parts_in(folder, description.table)
        self.begun = self._written = time.monotonic()
        self.count = len(self._whole("run"))

    @staticmethod
    def made(folder: Path, description: Description) -> Folder:
        """Make the folder of a new sweep. Raises InputError if it holds anything."""
        make_folder(folder)
        if any(not path.name.startswith(".") for path in folder.iterdir()):
            raise InputError(_taken(folder, description))
        lock = _locked(folder)
        description = replace(description, table=best_format())
        _describe(folder, description)
        return Folder(folder, description, lock)

    @staticmethod
    def opened(folder: Path) -> Folder:
        """Open the folder of a sweep for reading."""
        return Folder(folder, described(folder), None)

    @staticmethod
    def resumed(folder: Path, description: Description) -> Folder:
        """Open the folder of a sweep to continue it. Raises InputError for another sweep."""
        found = described(folder)
        if other := _other_sweep(folder, found, description):
            raise InputError(other)
        lock = _locked(folder)
        if description.runs > found.runs:
            found = replace(found, runs=description.runs)
            _describe(folder, found)
        return Folder(folder, found, lock)

    def add(self, columns: Mapping[str, Array], histories: Histories | None = None) -> None:
        waiting = sum(len(kept.runs) for kept in self._histories)
        if histories is not None and waiting + len(histories.runs) > SHARD:
            self.flush()
        super().add(columns, histories)
        now = time.monotonic()
        wait = max(LEAST_WAIT, SHARE * (now - self.begun))
        if now - self._written > wait or self._buffered() > MOST_BUFFERED:
            self.flush()

    def _buffered(self) -> int:
        kept = [array.nbytes for h in self._histories for array in h.values.values()]
        return sum(kept) + sum(a.nbytes for columns in self._columns for a in columns.values())

    def flush(self) -> None:
        if not self._columns:
            return
        rows = {
            column.name: np.concatenate([part[column.name] for part in self._columns])
            for column in self.schema
        }
        histories = joined(self._histories)
        number = self._next
        try:
            if histories is not None:
                self.files.write(number, histories)
            data = as_bytes(self.description.table, self.schema, rows)
            write_whole(_part(self._path, number, self.description.table), data)
        except (InputError, OSError, MemoryError) as error:
            kept = self.count - len(rows["run"])
            hint = (
                f"{kept:,} runs are kept in {self.folder}; make room there, and the same "
                "command with --resume (resume=True) continues"
            )
            raise RunError(message_of(error), hint=hint) from error
        self._columns.clear()
        self._histories.clear()
        self._parts.append(number)
        self._written = time.monotonic()

    def close(self) -> None:
        try:
            self.flush()
        finally:
            self.release()

    def release(self) -> None:
        """Release the lock; runs that are not written yet stay in memory."""
        if self._lock is not None:
            self._lock.close()
            self._lock = None

    @property
    def _next(self) -> int:
        """The number of the next part, higher than any that was ever used."""
        return max([*self._parts, self.files.last()], default=-1) + 1

    @property
    def _path(self) -> Path:
        assert self.folder is not None
        return self.folder

    def _whole(self, name: str) -> Array:
        kind, column = self.description.table, self._column(name)
        written = [read_part(kind, _part(self._path, k, kind), column) for k in self._parts]
        return np.concatenate([*written, super()._whole(name)])

    def histories(self) -> Histories | None:
        return joined([*self.files.read(self._parts), *self._histories])

    def dataset(self) -> Any:
        if not isinstance(self.files, ZarrHistories) or not self.files.path.exists():
            return None
        self.flush()
        return self.files.dataset(np.array(self._parts, dtype=np.int64))


def message_of(error: BaseException) -> str:
    """The message of an error of writing, in one line."""
    return str(error).split("\n")[0] if isinstance(error, InputError) else told(error)


def described(folder: Path) -> Description:
    """The description of the sweep in a folder. Raises InputError."""
    path = folder / DESCRIPTION
    if not path.is_file():
        what = "holds no sweep" if folder.is_dir() else "there is no such folder"
        hint = f"a sweep keeps its results in a folder with a file {DESCRIPTION}"
        raise InputError(Fault(f"{folder}: {what}", hint=hint))
    try:
        if path.stat().st_size > _MOST_TEXT:
            raise ValueError("it is too large to be one")
        return Description.from_plain(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError, LookupError, TypeError, AttributeError) as error:
        text = f"{path}: not the description of a sweep ({told(error)})"
        hint = "without it the folder cannot be read; the sweep's files in table/ are whole"
        raise InputError(Fault(text, hint=hint)) from error


def holds_sweep(path: Path) -> bool:
    """Whether a path is the folder of a sweep."""
    return (path / DESCRIPTION).is_file()


def differences(old: Description, new: Description) -> Iterator[str]:
    """The differences of two sweeps, in lines; empty if the new one continues the old one."""
    yield from _differing("", dict(old.identity), dict(new.identity))
    for path in sorted({*old.files, *new.files}):
        if path not in new.files or path not in old.files:
            yield f"{path} belongs to one of them alone"
        elif old.files[path] != new.files[path]:
            yield f"{path} has changed since"
    if [c.name for c in old.schema] != [c.name for c in new.schema]:
        names = {c.name for c in old.schema} ^ {c.name for c in new.schema}
        yield f"columns of one of them alone: {', '.join(sorted(names)) or 'in another order'}"


def _differing(where: str, old: Any, new: Any) -> Iterator[str]:
    if isinstance(old, Mapping) and isinstance(new, Mapping):
        for key in dict.fromkeys([*old, *new]):
            below = f"{where}.{key}" if where else str(key)
            yield from _differing(below, old.get(key), new.get(key))
    elif old != new:
        yield f"{where}: {_quoted(old)} there, {_quoted(new)} here"


def _quoted(value: Any) -> str:
    return "nothing" if value is None else brief(value)


def _other_sweep(folder: Path, found: Description, description: Description) -> Fault | None:
    """The fault that a folder holds another sweep; None if it holds this one."""
    lines = list(differences(found, description))
    hint = "\n  ".join([*lines, "name another folder, or remove this one"])
    return Fault(f"{folder} holds the results of another sweep", hint=hint) if lines else None


def _taken(folder: Path, description: Description) -> Fault:
    """The reason why a folder cannot be used for a new sweep."""
    if not holds_sweep(folder):
        return Fault(f"{folder} is not empty", hint="name another folder for the sweep's results")
    with suppress(InputError):
        if other := _other_sweep(folder, described(folder), description):
            return other
    hint = "--resume (resume=True) continues it; or name another folder, or remove this one"
    return Fault(f"{folder} holds this sweep already", hint=hint)


def _describe(folder: Path, description: Description) -> None:
    text = json.dumps(description.plain(), indent=1, ensure_ascii=False)
    write_bytes(folder / DESCRIPTION, text.encode())


def _part(folder: Path, number: int, kind: Format) -> Path:
    return folder / "table" / f"{number:06d}.{kind}"


def _parts_in(folder: Path, kind: Format) -> list[int]:
    """The numbers of the parts of the table in a folder, in order."""
    found = (re.fullmatch(rf"(\d{{6,9}})\.{kind}", path.name) for path in folder.glob("table/*"))
    numbers = {int(name[1]) for name in found if name}
    return sorted(k for k in numbers if _part(folder, k, kind).is_file())


def _locked(folder: Path) -> IO[bytes]:
    """Lock a folder until the returned file is closed. Raises InputError if another process has
    locked it."""
    try:
        file = open(folder / ".lock", "ab")  # noqa: SIM115
    except OSError as error:
        raise InputError(f"cannot write into {folder}: {error.strerror}") from None
    try:
        ours = lock(file)
    except OSError:  # a file system without locks
        ours = False
    if not ours:
        file.close()
        raise InputError(f"{folder}: another process writes there now")
    return file

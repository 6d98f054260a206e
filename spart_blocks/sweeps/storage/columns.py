"""Columns of a sweep's table: stored as numbers, shown and written as texts, and kept in files."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, SpartError, did_you_mean, optional, told
from spart_blocks.measures.work import FAILED, STATUSES, Done
from spart_blocks.results.archives import opened, read_array

Array = NDArray[Any]
Kind = Literal["int", "float", "truth", "name", "text"]

DTYPES: Mapping[Kind, type] = {
    "int": np.int64,
    "float": np.float64,
    "truth": np.int8,
    "name": np.int32,
    "text": object,
}
UNKNOWN, FALSE, TRUE = -1, 0, 1
"""The stored values of a column of kind "truth"."""
NO_GRADIENT = "no_gradient"
"""The column, where derivatives are asked for, that says why a run lacks some of them."""
SEPARATOR = "; "
"""The separator of claims in the column `missed`, which lists those that a run does not fulfil."""


@dataclass(frozen=True)
class Column:
    """A column of the table. kind: "truth" for true, false or unknown; "name" for one of `names`,
    stored as its number; "text" for any text; else numbers."""

    name: str
    kind: Kind
    names: tuple[str, ...] = ()

    def stored(self, values: Any) -> Array:
        """Values in their stored form."""
        stored: Array = np.asarray(values, dtype=DTYPES[self.kind])
        return stored

    def shown(self, values: Array) -> Array:
        """Stored values in the form that users read: names for numbers, None for unknown."""
        if self.kind == "name":
            names: Array = np.array(self.names, dtype=object)
            return np.take(names, values)
        if self.kind == "truth":
            told: Array = np.array([None, False, True], dtype=object)
            return np.take(told, values + 1)
        return values

    @staticmethod
    def from_plain(plain: Mapping[str, Any]) -> Column:
        """The column with these fields, as JSON has them. Raises ValueError."""
        if plain["kind"] not in DTYPES:
            raise ValueError(f"a column is of kind {plain['kind']!r:.40}")
        return Column(str(plain["name"]), plain["kind"], tuple(map(str, plain["names"])))


class Columns(Mapping[str, Array]):
    """The columns of a table by name, in the form that users read; each is made when it is asked
    for. read: gives the stored values of a column."""

    def __init__(self, schema: Sequence[Column], read: Callable[[str], Array]) -> None:
        self._columns = {column.name: column for column in schema}
        self._read = read

    def __getitem__(self, name: str) -> Array:
        return self._known(name).shown(self.kept(name))

    def kept(self, name: str) -> Array:
        """The stored values of a column; `names` gives the names that numbers stand for."""
        return self._read(self._known(name).name)

    def shown(self, name: str, values: Array) -> Array:
        """Stored values of a column in the form that users read."""
        return self._known(name).shown(values)

    def names(self, name: str) -> tuple[str, ...]:
        """The names that the numbers of a column stand for."""
        return self._known(name).names

    def _known(self, name: str) -> Column:
        column = self._columns.get(name)
        if column is None:
            hint = did_you_mean(name, self._columns)
            raise InputError(Fault(f"the sweep has no column {name!r}", hint=hint))
        return column

    def __contains__(self, name: object) -> bool:
        return name in self._columns

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def schema(self) -> tuple[Column, ...]:
        """The definitions of the columns."""
        return tuple(self._columns.values())


def metric_names(schema: Sequence[Column]) -> tuple[str, ...]:
    """The names of the columns of metrics."""
    names = [column.name for column in schema]
    end = names.index(NO_GRADIENT) if NO_GRADIENT in names else None
    return tuple(names[names.index("steps") + 1 : end])


def derivative_names(schema: Sequence[Column]) -> tuple[str, ...]:
    """The names of the columns of derivatives, which come last."""
    names = [column.name for column in schema]
    return tuple(names[names.index(NO_GRADIENT) + 1 :]) if NO_GRADIENT in names else ()


def succeeded(status: Array, passed: Array) -> NDArray[np.bool_]:
    """Whether each run is a success: it met its claims, or, without claims, no error ended it.
    status, passed: stored values."""
    without_error = status != STATUSES.index(FAILED)
    return np.asarray(without_error & (passed != FALSE))


def schema_of(
    varied: Sequence[Column],
    metrics: Sequence[str],
    variants: Sequence[str],
    faults: Sequence[str],
    claimed: bool = False,
    derivatives: Sequence[str] = (),
) -> tuple[Column, ...]:
    """The columns of a sweep's table. claimed: whether there are claims about each run.
    derivatives: the names of those that are asked for.
    """
    return (
        *(Column(name, "int") for name in ("run", "draw", "grid")),
        Column("variant", "name", tuple(variants)),
        Column("fault", "name", tuple(faults)),
        *varied,
        Column("status", "name", STATUSES),
        Column("message", "text"),
        Column("passed", "truth"),
        *([Column("missed", "text")] if claimed else []),
        Column("t_end", "float"),
        Column("steps", "int"),
        *(Column(name, "float") for name in metrics),
        *([Column(NO_GRADIENT, "text")] if derivatives else []),
        *(Column(name, "float") for name in derivatives),
    )


def columns_of(
    schema: Any, numbers: Any, varied: Mapping[str, Array], done: Done, passed: Array,
    metrics: Mapping[str, Array], missed: Any = None,
) -> dict[str, Array]:  # fmt: skip
    """All table columns of finished runs, by name. Derivatives that runs lack are NaN.

    numbers: draw, grid point, variant and fault of the runs. varied: columns of the varied values.
    missed: for each run the names of the claims that it does not fulfil.
    """
    found: dict[str, Any] = {
        "run": done.runs,
        "draw": numbers.draw,
        "grid": numbers.grid,
        "variant": numbers.variant,
        "fault": numbers.fault,
        **varied,
        "status": done.status,
        "message": [done.messages.get(int(run), "") for run in done.runs],
        "passed": passed,
        "missed": missed,
        "t_end": done.t,
        "steps": done.steps,
        **metrics,
        NO_GRADIENT: [done.underived.get(int(run), "") for run in done.runs],
        **dict.fromkeys(derivative_names(schema), np.full(len(done.runs), np.nan)),
        **done.derivatives,
    }
    return {column.name: column.stored(found[column.name]) for column in schema}


# --- parts of a table as bytes of files: Parquet, or NPZ where pyarrow is not installed -----------


Format = Literal["parquet", "npz"]
EXTRA = "sweep"


@cache
def best_format() -> Format:
    """Parquet, if pyarrow is installed."""
    return "parquet" if find_spec("pyarrow") is not None else "npz"


def as_bytes(kind: Format, schema: Sequence[Column], columns: Mapping[str, Array]) -> bytes:
    """A part of the table as the contents of a file. columns: stored values by name."""
    return _to_parquet(schema, columns) if kind == "parquet" else to_npz(columns)


def read_part(kind: Format, path: Path, column: Column) -> Array:
    """The stored values of a column of a part. Raises InputError if the file does not hold them."""
    hint = "remove it, and the sweep's command with --resume does its runs again"
    with readable(path, "a part", hint):
        if kind == "parquet":
            return _from_parquet(path, column)
        return column.stored(from_npz(path, [column.name])[column.name])


@contextmanager
def readable(path: Path, what: str, hint: str) -> Iterator[None]:
    """A context that turns what a library cannot read into one error that names the file."""
    try:
        yield
    except SpartError:
        raise
    except Exception as error:
        text = f"{path}: cannot be read as {what} of a sweep ({told(error)})"
        raise InputError(Fault(text, hint=hint)) from error


def _to_parquet(schema: Sequence[Column], columns: Mapping[str, Array]) -> bytes:
    arrow, parquet = _pyarrow()
    arrays = {column.name: _arrow(arrow, column, columns[column.name]) for column in schema}
    sink = arrow.BufferOutputStream()
    parquet.write_table(arrow.table(arrays), sink, compression="zstd")
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _arrow(arrow: Any, column: Column, values: Array) -> Any:
    if column.kind == "name":
        names = arrow.array(column.names, arrow.string())
        return arrow.DictionaryArray.from_arrays(arrow.array(values, arrow.int32()), names)
    if column.kind == "truth":
        return arrow.array(values != 0, mask=values == UNKNOWN)
    if column.kind == "text":
        return arrow.array(values.tolist(), arrow.string())
    return arrow.array(values)


def _from_parquet(path: Path, column: Column) -> Array:
    arrow, parquet = _pyarrow()
    with path.open("rb") as file, parquet.ParquetFile(file, pre_buffer=False) as part:
        # Threads of pyarrow that are alive at exit can abort the process.
        values = part.read([column.name], use_threads=False)[column.name]
    if column.kind == "name":
        numbers = {name: k for k, name in enumerate(column.names)}
        coded = values.cast(arrow.string()).combine_chunks().dictionary_encode()
        own = np.array([numbers[name] for name in coded.dictionary.to_pylist()], dtype=np.int32)
        found: Array = own[coded.indices.to_numpy(zero_copy_only=False)]
        return found
    if column.kind == "truth":
        return column.stored(values.cast(arrow.int8()).fill_null(UNKNOWN).to_numpy())
    return column.stored(values.to_numpy())


def _pyarrow() -> tuple[Any, Any]:
    names = ("pyarrow", "pyarrow.parquet")
    purpose = "a sweep's table in Parquet files"
    arrow, parquet = (optional(name, "pyarrow", EXTRA, purpose) for name in names)
    return arrow, parquet


def to_npz(arrays: Mapping[str, Array]) -> bytes:
    """Arrays of numbers and texts as an NPZ file."""
    file = BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            plain = array.astype(str) if array.dtype == object else array
            with archive.open(f"{name}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, plain, allow_pickle=False)
    return file.getvalue()


def from_npz(path: Path, names: Sequence[str] | None = None) -> dict[str, Array]:
    """The named arrays of an NPZ file, or all."""
    with opened(path) as archive:
        entries = [info.filename.removesuffix(".npy") for info in archive.infolist()]
        found = {}
        for name in entries if names is None else names:
            info = archive.getinfo(f"{name}.npy")
            with archive.open(info) as member:
                found[name] = read_array(member, info.file_size, "biufU", name)
    return found

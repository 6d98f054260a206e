"""Parts of a sweep's table as bytes of files: Parquet, or NPZ where pyarrow is not installed."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec
from io import BytesIO
from pathlib import Path
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError, optional, told
from spart_blocks.results.archives import opened, read_array
from spart_blocks.sweeps.storage.columns import UNKNOWN, Array, Column

Format = Literal["parquet", "npz"]
EXTRA = "sweep"


@cache
def best_format() -> Format:
    """Parquet, if pyarrow is installed."""
    return "parquet" if find_spec("pyarrow") is not None else "npz"


def as_bytes(kind: Format, schema: Sequence[Column], columns: Mapping[str, Array]) -> bytes:
    """A part of the table as the contents of a file. columns: stored values by name."""
    return _to_parquet(schema, columns) if kind == "parquet" else to_npz(columns)


def read_part(
    kind: Format, path: Path, schema: Sequence[Column], names: Sequence[str]
) -> dict[str, Array]:
    """Some columns of a part. Raises InputError if the file does not hold them."""
    wanted = [column for column in schema if column.name in names]
    try:
        if kind == "parquet":
            return _from_parquet(path, wanted)
        found = from_npz(path, [column.name for column in wanted])
        return {column.name: column.stored(found[column.name]) for column in wanted}
    except InputError:
        raise
    except Exception as error:
        hint = "remove it, and the sweep's command with --resume does its runs again"
        text = f"{path}: cannot be read as a part of a sweep ({told(error)})"
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


def _from_parquet(path: Path, schema: Sequence[Column]) -> dict[str, Array]:
    arrow, parquet = _pyarrow()
    with path.open("rb") as file, parquet.ParquetFile(file, pre_buffer=False) as part:
        # Threads of pyarrow that are alive at exit can abort the process.
        table = part.read([column.name for column in schema], use_threads=False)
    found = {}
    for column in schema:
        values = table[column.name]
        if column.kind == "name":
            numbers = {name: k for k, name in enumerate(column.names)}
            coded = values.cast(arrow.string()).combine_chunks().dictionary_encode()
            own = np.array([numbers[name] for name in coded.dictionary.to_pylist()], dtype=np.int32)
            found[column.name] = own[coded.indices.to_numpy(zero_copy_only=False)]
        elif column.kind == "truth":
            numeric = values.cast(arrow.int8()).fill_null(UNKNOWN)
            found[column.name] = column.stored(numeric.to_numpy())
        else:
            found[column.name] = column.stored(values.to_numpy())
    return found


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

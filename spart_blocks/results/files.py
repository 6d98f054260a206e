"""Results in files: .npz stores everything and can be loaded, .csv and .mat are for other programs.

Files are written atomically. Files that are read are not trusted: no pickles, plain numeric arrays
only, sizes checked before memory is allocated.
"""

from __future__ import annotations

import csv
import glob
import keyword
import os
import re
import secrets
import shutil
import time
import zipfile
import zlib
from collections.abc import Callable, Container, Iterable, Mapping
from contextlib import suppress
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, told
from spart_blocks.base.file_locks import lock
from spart_blocks.results.archives import ArrayReader, opened, write_arrays
from spart_blocks.results.logs.files import MCAP
from spart_blocks.results.logs.runs import load_run
from spart_blocks.results.packed import AnyData, pack, unpack, unused
from spart_blocks.results.run_data import RunData
from spart_blocks.results.signal_names import STATES, THINNED

MAX_BYTES = 4 << 30
LOADABLE = (".npz", MCAP)
"""The suffixes of files that hold everything of a run."""
_ABANDONED = 60.0  # s, after which a part that nobody writes is left over
_MATLAB_WORDS = frozenset(keyword.kwlist) | frozenset(
    ["end", "function", "switch", "case", "otherwise", "persistent", "parfor", "spmd", "catch"]
)


def save(results: RunData, path: str | Path) -> Path:
    """Write results to path by its suffix; see Results.save. Returns the path."""
    target = as_path(path, "the file of results")
    writers: dict[str, Callable[[RunData, IO[bytes]], None]] = {
        ".npz": _write_npz,
        ".csv": _write_csv,
        ".mat": _write_mat,
    }
    writer = writers.get(target.suffix.lower())
    if writer is None:
        found = f"suffix {target.suffix!r}" if target.suffix else "no suffix"
        hint = "name the file with one of " + ", ".join(writers)
        raise InputError(Fault(f"cannot save results to {target}: {found}", hint=hint))
    write_atomically(target, lambda file: writer(results, file))
    return target


def write_atomically(path: Path, write: Callable[[IO[bytes]], object]) -> None:
    """Write a file atomically: a temporary file in its folder is written, then renamed."""
    path = path.resolve()
    if not path.parent.is_dir():
        raise InputError(Fault(f"cannot write {path}", hint=f"the folder {path.parent} is missing"))
    if path.is_dir():
        raise InputError(Fault(f"cannot write {path}", hint="it is a folder; name a file"))
    if path.exists() and not path.is_file():  # moving a file onto it would take it away
        raise InputError(
            Fault(f"cannot write {path}", hint="it is a device or a pipe; name a file")
        )
    before = f".{path.name[:100]}."
    part = path.with_name(f"{before}{secrets.token_hex(4)}.part")
    try:
        _remove_abandoned(path.parent, before)
        with open(part, "xb") as file:
            _is_ours(file)
            write(file)
            file.flush()
            os.fsync(file.fileno())
        with suppress(OSError):
            shutil.copymode(path, part)  # who may read the file that it replaces
        os.replace(part, path)
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}") from error
    finally:
        part.unlink(missing_ok=True)


def _remove_abandoned(folder: Path, before: str) -> None:
    """Remove temporary files of this file that killed processes have left."""
    for part in folder.glob(f"{glob.escape(before)}*.part"):
        if re.fullmatch("[0-9a-f]{8}", part.name[len(before) : -len(".part")]):
            with suppress(OSError), open(part, "rb") as file:
                old = time.time() - os.fstat(file.fileno()).st_mtime > _ABANDONED
                if old and _is_ours(file):
                    part.unlink()


def _is_ours(file: IO[bytes]) -> bool:
    """Lock an open temporary file; returns False if another process has locked it."""
    try:
        return lock(file)
    except OSError:  # a file system without locks
        return False


def write_bytes(path: Path, data: bytes) -> None:
    """Write these bytes as a file, atomically."""
    write_atomically(path, lambda file: file.write(data))


def write_whole(path: Path, data: bytes) -> None:
    """Write these bytes as a file, atomically; its folder is created if missing."""
    make_folder(path.parent)
    write_bytes(path, data)


def make_folder(folder: Path) -> None:
    """Create a folder and its parents, if they are missing."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot make the folder {folder}: {error.strerror}") from error


# .npz


def _write_npz(results: RunData, file: IO[bytes]) -> None:
    write_arrays(pack(results), file)


def load(kind: type[AnyData], path: str | Path, max_bytes: int = MAX_BYTES) -> AnyData:
    """Load results of class `kind` from an .npz file, or an .mcap file that a run has recorded.
    Raises InputError for files that unpack to more than max_bytes."""
    source = as_path(path, "the file of results")
    if not source.is_file():
        raise InputError(f"no results file {source}")
    if source.suffix.lower() == MCAP:
        return load_run(kind, source, max_bytes)
    if source.suffix.lower() not in LOADABLE:
        known = " and ".join(LOADABLE)
        hint = f"only {known} files hold everything; .csv and .mat are for other programs"
        raise InputError(Fault(f"cannot load results from {source}", hint=hint))
    return _from_archive(source, max_bytes, partial(unpack, kind))


def load_arrays(
    path: str | Path, wanted: Container[str], max_bytes: int = MAX_BYTES
) -> Mapping[str, NDArray[Any] | None]:
    """The arrays of an .npz file by name: for results by signal, for files of other programs by
    entry. Only wanted arrays are read, the others are None. Raises InputError for files that unpack
    to more than max_bytes."""

    def arrays(read: ArrayReader) -> Mapping[str, NDArray[Any] | None]:
        entries = read.entries()
        if "meta" not in entries:
            return {entry: read(entry) if entry in wanted else None for entry in entries}
        found = unpack(RunData, read)
        return {"t": found.t, **found.signals, **{STATES + k: v for k, v in found.states.items()}}

    return _from_archive(Path(path), max_bytes, arrays)


_Unpacked = TypeVar("_Unpacked")


def _from_archive(
    source: Path, max_bytes: int, unpack: Callable[[ArrayReader], _Unpacked]
) -> _Unpacked:
    """The result of `unpack` for an .npz file. Raises InputError for a damaged file."""
    try:
        with opened(source) as archive:
            return unpack(ArrayReader(archive, max_bytes))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{source}: damaged, or not an .npz file ({error})") from error
    except (OSError, MemoryError) as error:
        raise InputError(f"{source}: cannot be read ({error})") from error
    except Exception as error:  # what a description of any other kind leads to
        raise InputError(Fault(f"{source}: not a results file", hint=told(error))) from error


# .csv and .mat


def save_table(columns: Mapping[str, NDArray[Any]], path: str | Path) -> Path:
    """Write columns (n,) to a .csv file atomically; NaN becomes an empty entry."""
    target = as_path(path, "the file of a table")
    if target.suffix.lower() != ".csv":
        raise InputError(Fault(f"cannot save a table to {target}", hint="end it in .csv"))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in zip(*(column.tolist() for column in columns.values()), strict=True):
        writer.writerow(["" if value != value else value for value in row])
    write_bytes(target, text.getvalue().encode())
    return target


def _write_csv(results: RunData, file: IO[bytes]) -> None:
    columns = results.table()
    if THINNED in results.info:  # a column, since few readers pass over lines of comments
        columns[THINNED] = np.full(len(results.t), float(results.info[THINNED]))
    text = StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    data = [column.tolist() for column in columns.values()]
    for start in range(0, len(results.t), 4096):
        writer.writerows(zip(*(column[start : start + 4096] for column in data), strict=True))
        file.write(text.getvalue().encode())
        text.seek(0)
        text.truncate()
    file.write(text.getvalue().encode())


def _write_mat(results: RunData, file: IO[bytes]) -> None:
    from scipy.io import savemat

    signals = {**results.signals, **{STATES + b: array for b, array in results.states.items()}}
    names = matlab_names(signals, taken=("t", "names", "info"))
    pairs = np.empty((len(names), 2), dtype=object)
    for row, (name, identifier) in enumerate(names.items()):
        pairs[row] = identifier, name
    data: dict[str, Any] = {names[name]: array for name, array in signals.items()}
    info = {**results.info, "diagram": results.diagram_name, "complete": results.complete}
    fields = matlab_names(info, taken=())
    data |= {"t": results.t, "names": pairs, "info": {fields[k]: v for k, v in info.items()}}
    savemat(file, data, oned_as="column", do_compression=True, long_field_names=True)


def matlab_names(names: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """A valid MATLAB identifier for each name, unique and not in `taken`."""
    used = set(taken)
    result = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", name)
        if not plain[:1].isalpha() or plain in _MATLAB_WORDS:
            plain = f"x{plain}"
        result[name] = unused(plain[:56], used, "_")
        used.add(result[name])
    return result

"""Results in files: .npz stores everything and can be loaded, .csv and .mat are for other programs.

Files are written atomically. Files that are read are not trusted: no pickles, plain numeric arrays
only, sizes checked before memory is allocated.
"""

from __future__ import annotations

import csv
import glob
import json
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
from dataclasses import asdict
from functools import partial
from io import StringIO
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, brief, told
from spart_blocks.base.file_locks import lock
from spart_blocks.results.archives import opened, read_array
from spart_blocks.results.run_data import Event, FinalState, RunData, ScopeSpec
from spart_blocks.results.signal_names import STATES, THINNED

FORMAT = "spart_blocks results 1"
MAX_BYTES = 4 << 30
_MAX_META = 32 << 20
_SMALL, _TRIED, _WELL = 2**20, 4096, 0.1
"""Arrays of up to so many bytes are deflated; of larger ones this many rows are tried, and the
array is deflated if they shrink to less than this fraction.
"""
_ABANDONED = 60.0  # s, after which a part that nobody writes is left over
_MATLAB_WORDS = frozenset(keyword.kwlist) | frozenset(
    ["end", "function", "switch", "case", "otherwise", "persistent", "parfor", "spmd", "catch"]
)


AnyData = TypeVar("AnyData", bound=RunData)


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
    arrays, meta = _pack(results)
    meta["format"] = FORMAT
    arrays["meta"] = np.array(json.dumps(meta, default=_plain))
    with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
        for entry, array in arrays.items():
            archive.compression = _method(array)
            with archive.open(f"{entry}.npy", "w", force_zip64=True) as member:
                np.lib.format.write_array(member, np.asarray(array), allow_pickle=False)


def _method(array: NDArray[Any]) -> int:
    """How an array is packed. A large one is stored as it is, unless a part of it shrinks well:
    deflating the numbers of a long run would take most of the time of ending it.
    """
    if array.nbytes <= _SMALL or not array.ndim:
        return zipfile.ZIP_DEFLATED
    middle = array[len(array) // 2 :][:_TRIED].tobytes()
    shrinks = len(zlib.compress(middle, 1)) < _WELL * len(middle)
    return zipfile.ZIP_DEFLATED if shrinks else zipfile.ZIP_STORED


def _pack(results: RunData) -> tuple[dict[str, NDArray[Any]], dict[str, Any]]:
    """The arrays by entry name, and the rest as data for JSON, which also gives the entry of each
    signal."""
    arrays: dict[str, NDArray[Any]] = {"t": results.t}

    def keep(prefix: str, group: Mapping[str, NDArray[Any]]) -> dict[str, str]:
        entries = {}
        for name, array in group.items():
            safe = "".join(c if c.isprintable() and c != "\\" else "_" for c in prefix + name)
            entry = _unused("meta#" if safe == "meta" else safe, arrays)
            arrays[entry] = array
            entries[name] = entry
        return entries

    final = results.final_state
    meta: dict[str, Any] = {
        "signals": keep("", results.signals),
        "states": keep(STATES, results.states),
        "final_state": {
            "t": final.t,
            "continuous": keep("final.continuous.", final.continuous),
            "discrete": keep("final.discrete.", final.discrete),
            "ticks": dict(final.ticks),
        },
        "scopes": [_scope_meta(scope) for scope in results.scopes],
        "events": [asdict(event) for event in results.events],
    }
    for part in ("info", "aliases", "units", "state_names", "levels", "entries"):
        meta[part] = dict(getattr(results, part))
    for part in ("complete", "stopped", "diagram_name"):
        meta[part] = getattr(results, part)
    return arrays, meta


def _scope_meta(scope: ScopeSpec) -> dict[str, Any]:
    """A scope as data for JSON; styles that JSON cannot represent are dropped, so that saving does
    not fail."""
    meta = asdict(scope)
    try:
        json.dumps(meta, default=_plain)
    except (TypeError, ValueError):
        meta["styles"] = None
    return meta


def _plain(value: Any) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} has no place in a results file")


def load(kind: type[AnyData], path: str | Path, max_bytes: int = MAX_BYTES) -> AnyData:
    """Load results of class `kind` from an .npz file. Raises InputError for files that unpack to
    more than max_bytes."""
    source = as_path(path, "the file of results")
    if not source.is_file():
        raise InputError(f"no results file {source}")
    if source.suffix.lower() != ".npz":
        hint = "only .npz files hold everything; .csv and .mat are for other programs"
        raise InputError(Fault(f"cannot load results from {source}", hint=hint))
    return _from_archive(source, max_bytes, partial(_unpack, kind))


def load_arrays(
    path: str | Path, wanted: Container[str], max_bytes: int = MAX_BYTES
) -> Mapping[str, NDArray[Any] | None]:
    """The arrays of an .npz file by name: for results by signal, for files of other programs by
    entry. Only wanted arrays are read, the others are None. Raises InputError for files that unpack
    to more than max_bytes."""

    def arrays(read: _Reader) -> Mapping[str, NDArray[Any] | None]:
        entries = [name.removesuffix(".npy") for name in read.archive.namelist()]
        if "meta" not in entries:
            return {entry: read(entry) if entry in wanted else None for entry in entries}
        found = _unpack(RunData, read)
        return {"t": found.t, **found.signals, **{STATES + k: v for k, v in found.states.items()}}

    return _from_archive(Path(path), max_bytes, arrays)


_Unpacked = TypeVar("_Unpacked")


def _from_archive(
    source: Path, max_bytes: int, unpack: Callable[[_Reader], _Unpacked]
) -> _Unpacked:
    """The result of `unpack` for an .npz file. Raises InputError for a damaged file."""
    try:
        with opened(source) as archive:
            return unpack(_Reader(archive, max_bytes))
    except InputError as error:
        raise InputError(f"{source}: {error}") from None
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise InputError(f"{source}: damaged, or not an .npz file ({error})") from error
    except (OSError, MemoryError) as error:
        raise InputError(f"{source}: cannot be read ({error})") from error
    except Exception as error:  # what a description of any other kind leads to
        raise InputError(Fault(f"{source}: not a results file", hint=told(error))) from error


class _Reader:
    """Reads arrays of an archive by entry; their headers are checked first."""

    def __init__(self, archive: zipfile.ZipFile, max_bytes: int) -> None:
        self.archive = archive
        size = sum(info.file_size for info in archive.infolist())
        if size > max_bytes:
            raise InputError(f"it unpacks to {size:,} bytes, more than the {max_bytes:,} allowed")

    def __call__(self, entry: str, kinds: str = "biufc") -> NDArray[Any]:
        info = self.archive.getinfo(f"{entry}.npy")
        with self.archive.open(info) as member:
            return read_array(member, info.file_size, kinds, entry)

    def group(self, entries: Any) -> dict[str, NDArray[Any]]:
        return {name: self(str(entry)) for name, entry in _mapping(entries).items()}


def _mapping(value: Any) -> dict[str, Any]:
    """The value if it is a mapping, whose keys are always text in JSON. Raises TypeError
    otherwise."""
    if not isinstance(value, dict):
        raise TypeError(f"its description has {brief(value)} where a mapping is")
    return value


def _facts(info: Any) -> dict[str, Any]:
    """The entry `info` of a file: numbers and texts by name; other values become text."""
    plain = (str, int, float, type(None))
    return {k: v if isinstance(v, plain) else brief(v) for k, v in _mapping(info).items()}


def _unpack(kind: type[AnyData], read: _Reader) -> AnyData:
    if read.archive.getinfo("meta.npy").file_size > _MAX_META:
        raise InputError("its description is too large to be one")
    meta = _mapping(json.loads(str(read("meta", kinds="U"))))
    if meta.get("format") != FORMAT:
        raise InputError(f"format is {meta.get('format')!r}, this version reads {FORMAT!r}")
    final = meta["final_state"]
    return kind(
        t=read("t"),
        signals=read.group(meta["signals"]),
        states=read.group(meta["states"]),
        final_state=FinalState(
            t=float(final["t"]),
            continuous=read.group(final["continuous"]),
            discrete=read.group(final["discrete"]),
            ticks={clock: int(ticks) for clock, ticks in _mapping(final["ticks"]).items()},
        ),
        scopes=tuple(ScopeSpec.from_plain(scope) for scope in meta["scopes"]),
        events=tuple(Event(float(e["t"]), str(e["block"]), str(e["what"])) for e in meta["events"]),
        complete=bool(meta["complete"]),
        stopped=None if meta["stopped"] is None else str(meta["stopped"]),
        diagram_name=str(meta["diagram_name"]),
        info=_facts(meta["info"]),
        aliases={k: str(v) for k, v in _mapping(meta["aliases"]).items()},
        units={k: str(v) for k, v in _mapping(meta["units"]).items()},
        # Files of before these were kept have none.
        state_names=_names_by(meta.get("state_names", {})),
        levels=_names_by(meta.get("levels", {})),
        entries=_names_by(meta.get("entries", {})),
    )


def _names_by(given: Any) -> dict[str, tuple[str, ...]]:
    return {key: tuple(map(str, names)) for key, names in _mapping(given).items()}


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
        result[name] = _unused(plain[:56], used, "_")
        used.add(result[name])
    return result


def _unused(name: str, used: Container[str], separator: str = "#") -> str:
    candidate, number = name, 2
    while candidate in used:
        candidate, number = f"{name}{separator}{number}", number + 1
    return candidate

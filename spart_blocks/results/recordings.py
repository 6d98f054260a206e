"""Reads recorded signals from files: those written by `save`, and similar files of other programs.

.csv: a header line and numbers; a vector q has the columns q[0], q[1], ... .npz and .mat: arrays
whose first axis is time. Files of messages: each signal has times of its own. Files are not
trusted: no pickles, sizes checked first.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.csv_columns import check_rising, no_signal, read_csv
from spart_blocks.results.files import load_arrays
from spart_blocks.results.logs.files import KINDS, is_log, read_messages
from spart_blocks.results.mat_files import DamagedError, entries
from spart_blocks.results.samples import Floats, Samples

MOST_UNPACKED = 256_000_000
"""Largest size [bytes] of an .npz or .mat file, unpacked."""


def read_recording(path: str | Path, names: Sequence[str], time: str = "t") -> dict[str, Samples]:
    """The samples of the named signals of a file. Those of one table share their times.

    time: the name of the times, which must increase. Raises InputError with the line and column of
    a .csv file, or the name of the array.
    """
    source = Path(path)
    readers: dict[str, Callable[[Path, Sequence[str], str], dict[str, Samples]]] = {
        ".csv": partial(_of_table, _from_csv),
        ".npz": partial(_of_table, _from_npz),
        ".mat": partial(_of_table, _from_mat),
    }
    reader = read_messages if is_log(source) else readers.get(source.suffix.lower())
    if reader is None:
        hint = "give a file of the kinds " + ", ".join([*readers, *KINDS])
        raise InputError(Fault(f"no signals can be read from {source}", hint=hint))
    found = reader(source, names, time)
    for name, (times, array) in found.items():
        if not np.isfinite(array).all():
            k = int(np.flatnonzero(~np.isfinite(array.reshape(len(times), -1)).all(axis=1))[0])
            raise InputError(f"{source}: sample {k} of {name}, at {times[k]:g} s, is not finite")
    return found


_Table = Callable[[Path, Sequence[str]], dict[str, Floats]]


def _of_table(read: _Table, source: Path, names: Sequence[str], time: str) -> dict[str, Samples]:
    """The signals of a file of arrays or columns, of which `time` has the times of all."""
    found = read(source, [time, *names])
    times = found[time].ravel()
    check_rising(source, time, times)
    for name in names:
        count = len(found[name])
        if not len(times) or count != len(times):
            raise InputError(f"{source}: {name} has {count} samples, {time} has {len(times)}")
    return {name: Samples(times, found[name]) for name in names}


# --- .csv --------------------------------------------------------------------------------


def _from_csv(source: Path, names: Sequence[str]) -> dict[str, Floats]:
    file = read_csv(source)
    signals = {name: file.signal(name) for name in names}
    table = file.numbers([column for columns, _ in signals.values() for column in columns])
    found, start = {}, 0
    for name, (columns, shape) in signals.items():
        part = table[:, start : start + len(columns)]
        found[name], start = part.reshape(len(table), *shape), start + len(columns)
    file.check_rising(names[0], found[names[0]].ravel())
    return found


# --- .npz and .mat -----------------------------------------------------------------------


def _from_npz(source: Path, names: Sequence[str]) -> dict[str, Floats]:
    if not source.is_file():
        raise InputError(f"cannot read {source}: there is no such file")
    return _picked(source, load_arrays(source, names, MOST_UNPACKED), names)


def _picked(source: Path, arrays: Mapping[str, Any], names: Sequence[str]) -> dict[str, Floats]:
    found = {}
    for name in names:
        if name not in arrays:
            raise no_signal(source, name, list(arrays))
        array = np.asarray(arrays[name])
        if array.dtype.kind not in "biuf" or array.ndim < 1:
            raise InputError(f"{source}: {name} holds {array.dtype}, not real numbers by time")
        found[name] = array.astype(float)
    return found


def _from_mat(source: Path, names: Sequence[str]) -> dict[str, Floats]:
    try:
        aliases = _own_names(_variables(source, {"names"}).get("names"))
        held = _variables(source, {aliases.get(name, name) for name in names})
    except NotImplementedError:
        hint = "save it in MATLAB with -v7"
        raise InputError(Fault(f"{source} is an HDF5 file (-v7.3)", hint=hint)) from None
    except DamagedError as error:
        raise InputError(f"{source}: damaged, or not a .mat file ({error})") from None
    known = {alias: name for alias, name in aliases.items() if name in held}
    known |= {name: name for name in held if name not in known}
    arrays = {}
    for name in names:
        if name not in known:
            raise no_signal(source, name, list(known))
        array = held[known[name]]
        if not isinstance(array, np.ndarray):
            raise InputError(f"{source}: {name} holds no real numbers by time")
        arrays[name] = _by_time(array)
    return _picked(source, arrays, names)


def _variables(source: Path, wanted: Container[str] = ()) -> dict[str, Any]:
    """The variables of a .mat file by name; None for those that are not wanted or not numeric."""
    try:
        if source.stat().st_size > MOST_UNPACKED:
            raise InputError(f"{source} has more than {MOST_UNPACKED:,} bytes")
        data = source.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {source}: {error.strerror}") from None
    return {entry.name: entry.value for entry in entries(data, wanted, MOST_UNPACKED)}


def _own_names(pairs: Any) -> dict[str, str]:
    """The MATLAB identifier of each signal, from the cell array that `save` writes: two columns
    with identifiers and names."""
    if not isinstance(pairs, list) or len(pairs) % 2:
        return {}
    half = len(pairs) // 2
    return {name: own for own, name in zip(pairs[:half], pairs[half:], strict=True) if own and name}


def _by_time(array: Any) -> Any:
    """An array with time as first axis. MATLAB has no one-dimensional arrays: a row or a column is
    a scalar over time."""
    array = np.asarray(array)
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array

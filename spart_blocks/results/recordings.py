"""Signals by time out of files: what `save` writes, and what other programs write like it.

.csv: a header row and numbers; a vector q has the columns q[0], q[1], ... .npz and .mat:
arrays whose first axis is time. Nothing read is trusted: no pickles, sizes checked first.
"""

from __future__ import annotations

import struct
import warnings
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.errors import Fault, InputError, brief
from spart_blocks.results.csv_columns import check_rising, no_signal, read_csv
from spart_blocks.results.files import load_arrays

Floats = NDArray[np.float64]

MOST_UNPACKED = 256_000_000
"""Bytes of an .npz or .mat file, unpacked."""


def read_recording(
    path: str | Path, names: Sequence[str], time: str = "t"
) -> tuple[Floats, dict[str, Floats]]:
    """The times (k,) [s] of a file, and the named signals, each (k, ...).

    time: the name of the times, which rise. InputError says what is wrong, and where: the
    line and column of a .csv file, or the array.
    """
    source = Path(path)
    readers: dict[str, Callable[[Path, Sequence[str]], dict[str, Floats]]] = {
        ".csv": _from_csv,
        ".npz": _from_npz,
        ".mat": _from_mat,
    }
    reader = readers.get(source.suffix.lower())
    if reader is None:
        hint = "give a file of the kinds " + ", ".join(readers)
        raise InputError(Fault(f"no signals can be read from {source}", hint=hint))
    found = reader(source, [time, *names])
    times = found[time].ravel()
    check_rising(source, time, times)
    for name in names:
        array = found[name]
        if not len(times) or len(array) != len(times):
            text = f"{name} has {len(array)} samples, {time} has {len(times)}"
            raise InputError(f"{source}: {text}")
        if not np.isfinite(array).all():
            k = int(np.flatnonzero(~np.isfinite(array.reshape(len(times), -1)).all(axis=1))[0])
            raise InputError(f"{source}: sample {k} of {name}, at {times[k]:g} s, is not finite")
    return times, {name: found[name] for name in names}


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
    from scipy.io import loadmat, whosmat

    try:
        _refuse_large(source)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            held = {name: (shape, kind) for name, shape, kind in whosmat(str(source))}
            aliases = _own_names(source) if held.get("names", ("", ""))[1] == "cell" else {}
            known = {alias: name for alias, name in aliases.items() if name in held}
            known |= {name: name for name in held if name not in known}
            missing = [name for name in names if name not in known]
            if missing:
                raise no_signal(source, missing[0], list(known))
            shapes = [held[known[name]][0] for name in names]
            if sum(int(np.prod(shape, dtype=object)) for shape in shapes) * 8 > MOST_UNPACKED:
                raise InputError(f"{source} unpacks to more than {MOST_UNPACKED:,} bytes")
            read = loadmat(str(source), variable_names=[known[name] for name in names])
    except InputError:
        raise
    except NotImplementedError:
        hint = "save it in MATLAB with -v7"
        raise InputError(Fault(f"{source} is an HDF5 file (-v7.3)", hint=hint)) from None
    except OSError as error:
        raise InputError(f"cannot read {source}: {error}") from None
    except Exception as error:  # SciPy's reader fails in many ways on damaged files
        raise InputError(f"{source}: damaged, or not a .mat file ({brief(error)})") from None
    return _picked(source, {name: _by_time(read[known[name]]) for name in names}, names)


def _own_names(source: Path) -> dict[str, str]:
    """The identifiers of signals by their names, in a file that `save` wrote."""
    from scipy.io import loadmat

    pairs = loadmat(str(source), variable_names=["names"])["names"]
    plain = np.asarray(pairs, dtype=object).reshape(-1, 2)
    return {str(np.ravel(name)[0]): str(np.ravel(identifier)[0]) for identifier, name in plain}


def _by_time(array: Any) -> Any:
    """MATLAB knows no vectors: a row or a column is a scalar by time."""
    array = np.asarray(array)
    return array.ravel() if array.ndim == 2 and 1 in array.shape else array


def _refuse_large(source: Path) -> None:
    """InputError where the compressed elements of a .mat file of version 5 unpack to more
    than MOST_UNPACKED bytes; SciPy would take their headers' word."""
    data = source.read_bytes() if source.stat().st_size <= MOST_UNPACKED else b""
    total, place = source.stat().st_size, 128
    order = "<" if data[126:128] == b"IM" else ">"
    while place + 8 <= len(data) and total <= MOST_UNPACKED:
        kind, size = struct.unpack(f"{order}II", data[place : place + 8])
        if kind == 15:  # miCOMPRESSED
            unpacker = zlib.decompressobj()
            total += len(unpacker.decompress(data[place + 8 : place + 8 + size], MOST_UNPACKED))
            total += MOST_UNPACKED * bool(unpacker.unconsumed_tail)
        place += 8 + size
    if total > MOST_UNPACKED:
        raise InputError(f"{source} unpacks to more than {MOST_UNPACKED:,} bytes")

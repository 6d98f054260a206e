"""Results of a run out of the MCAP file that has recorded it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from io import BytesIO
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.results.archives import ArrayReader
from spart_blocks.results.archives import opened as opened_archive
from spart_blocks.results.logs.files import opened_mcap
from spart_blocks.results.logs.mcap_log import McapLog
from spart_blocks.results.logs.rows import read_rows
from spart_blocks.results.logs.signals import RecordedSignals
from spart_blocks.results.packed import (
    FINAL_STATE,
    MOST_META,
    RECORDED,
    RECORDING,
    AnyData,
    unpack_beside,
)
from spart_blocks.results.run_data import FinalState
from spart_blocks.results.signal_names import STATES


def load_run(kind: type[AnyData], path: Path, max_bytes: int) -> AnyData:
    """Results of class `kind` out of an MCAP file that a run has written. Raises InputError for
    files of others, and for arrays of more than max_bytes."""
    with opened_mcap(path) as log:
        known = RecordedSignals(log.channels)
        about = log.metadata(RECORDED)
        if not known.channels and about is None:
            hint = "its topics can be read by a block DATA"
            raise InputError(Fault("no run of spart_blocks has written it", hint=hint))
        return _run(kind, log, known, about, max_bytes)


def _run(
    kind: type[AnyData],
    log: McapLog,
    known: RecordedSignals,
    about: dict[str, str] | None,
    max_bytes: int,
) -> AnyData:
    t, arrays = _arrays(log, known, max_bytes)
    signals = {name: array for name, array in arrays.items() if not name.startswith(STATES)}
    states = {
        name.removeprefix(STATES): array
        for name, array in arrays.items()
        if name.startswith(STATES)
    }
    if about is None:  # the program died before it wrote it
        end = FinalState(float(t[-1]) if len(t) else 0.0)
        units = {name: one.metadata.get("unit", "") for name, one in known.channels.items()}
        return kind(t=t, signals=signals, states=states, final_state=end, complete=False,
                    units={name: unit for name, unit in units.items() if unit})  # fmt: skip
    if about.get("format") != RECORDING:
        raise InputError(f"format is {about.get('format')!r}, this version reads {RECORDING!r}")
    text, archive = about.get("meta", ""), log.attachment(FINAL_STATE)
    if archive is None or len(text) > MOST_META:
        raise InputError("the description of its run is none")
    with opened_archive(BytesIO(archive)) as beside:
        read = ArrayReader(beside, max_bytes)
        return unpack_beside(kind, text, read, t, signals, states)


def _arrays(
    log: McapLog, known: RecordedSignals, max_bytes: int
) -> tuple[NDArray[Any], dict[str, NDArray[Any]]]:
    """The times of a run, and its signals and states by name."""
    shapes = {channel: known.shape(name) for name, channel in known.channels.items()}
    rows = read_rows(log, shapes, max_bytes)
    t = _common([times for times, _ in rows.values()], log.whole)
    return t, {
        name: _of_numbers(name, known, rows[channel][1], len(rows[channel][0]))[: len(t)]
        for name, channel in known.channels.items()
    }


def _common(times: Sequence[NDArray[Any]], whole: bool) -> NDArray[Any]:
    """The times of the rows, which all signals have: of a file without its end, up to where each
    is there. Raises InputError where they differ."""
    count = min(map(len, times), default=0)
    t = times[0][:count] if times else np.zeros(0)
    uneven = whole and any(len(one) != count for one in times)
    if uneven or any(not np.array_equal(t, one[:count], equal_nan=True) for one in times):
        raise InputError("its signals are not there at the same times")
    return t


def _of_numbers(
    name: str, known: RecordedSignals, numbers: NDArray[Any], count: int
) -> NDArray[Any]:
    """A signal's samples in their shape and type."""
    written = known.channels[name].metadata.get("dtype", "float64")
    kind = np.dtype(written).kind if re.fullmatch("[a-z]+[0-9]*", written) else "O"
    if kind not in "biufc":
        raise InputError(f"{name} is of the type {written[:40]!r}, not of numbers")
    shape = known.shape(name)
    if len(numbers) != count * prod(shape):
        raise InputError(f"{name} has {len(numbers)} numbers in {count} samples of shape {shape}")
    samples = numbers.reshape(count, *shape)
    if kind == "c":  # two numbers each, along the last axis
        return np.ascontiguousarray(samples).view(complex)[..., 0].astype(written)
    return samples.astype(written)

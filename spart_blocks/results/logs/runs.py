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
from spart_blocks.results.logs.decoding import decoder
from spart_blocks.results.logs.files import opened_mcap
from spart_blocks.results.logs.log import Channel
from spart_blocks.results.logs.mcap_log import McapLog, bodies
from spart_blocks.results.logs.rows import Floats, alike
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
    names = {channel: name for name, channel in known.channels.items()}
    decoders = {channel: decoder(channel) for channel in names}
    found: dict[Channel, list[tuple[Floats, Floats]]] = {channel: [] for channel in names}
    left = max_bytes
    for channel, data, places in log.parts(names.keys()):
        part = alike(data, places, known.shape(names[channel]))
        if part is None:
            messages = [decoders[channel](body) for body in bodies(data, places)]
            values = [np.array(one.value, float).ravel() for one in messages]
            part = np.array([one.t for one in messages], float), _joined(values)
        found[channel].append(part)
        left -= part[0].nbytes + part[1].nbytes
        if left < 0:
            raise InputError(f"its signals have more than {max_bytes:,} bytes")
    times = {channel: _joined([t for t, _ in parts]) for channel, parts in found.items()}
    t = _common(list(times.values()), log.whole)
    return t, {
        name: _of_numbers(
            name, known, _joined([numbers for _, numbers in found[channel]]), len(times[channel])
        )[: len(t)]
        for channel, name in names.items()
    }


def _joined(parts: Sequence[Floats]) -> Floats:
    return np.concatenate(parts) if parts else np.zeros(0)


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

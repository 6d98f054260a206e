"""Concatenates the outcomes (`Done`) of parts of a work."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.sweeps.work import Done, Floats


def joined(parts: Sequence[Done]) -> Done:
    """The outcomes of all runs of some parts of one work, in order. Values that a part lacks,
    because none of its runs started, are NaN.
    """
    if len(parts) == 1:
        return parts[0]
    readings: dict[Any, dict[str, Floats]] = {}
    for gauge in dict.fromkeys(gauge for part in parts for gauge in part.readings):
        names = next(part.readings[gauge] for part in parts if gauge in part.readings)
        readings[gauge] = {
            name: stacked(
                [p.readings[gauge][name] if gauge in p.readings else _none(p) for p in parts]
            )
            for name in names
        }
    rows = [part.rows for part in parts if part.rows is not None]
    times = [part.times for part in parts if part.times is not None]
    return Done(
        runs=np.concatenate([part.runs for part in parts]),
        status=np.concatenate([part.status for part in parts]),
        t=np.concatenate([part.t for part in parts]),
        steps=np.concatenate([part.steps for part in parts]),
        x=stacked([part.x for part in parts]),
        xd=stacked([part.xd for part in parts]),
        readings=readings,
        events={
            block: np.concatenate([part.events[block] for part in parts])
            for block in parts[0].events
        },
        messages={number: text for part in parts for number, text in part.messages.items()},
        times=max(times, key=len) if times else None,
        rows=stacked(rows) if rows else None,
    )


def _none(part: Done) -> Floats:
    return np.zeros((len(part.runs), 0))


def stacked(arrays: Sequence[NDArray[Any]]) -> Floats:
    """Arrays (n, ...) concatenated along the first axis; smaller ones are padded with NaN in the
    other axes.
    """
    shape = [max(sizes) for sizes in zip(*(a.shape[1:] for a in arrays), strict=True)]
    if all(list(a.shape[1:]) == shape for a in arrays):
        return np.concatenate(arrays)
    out = np.full((sum(map(len, arrays)), *shape), np.nan)
    first = 0
    for array in arrays:
        place = (slice(first, first + len(array)), *map(slice, array.shape[1:]))
        out[place] = array
        first += len(array)
    return out

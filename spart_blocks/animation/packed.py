"""Arrays as text in the recording: little-endian numbers in base64.

Bytes are stored in planes, column by column: first the low bytes of all numbers, then the next
ones. This makes a page a third smaller, since the high bytes of small steps are equal.
"""

from __future__ import annotations

from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

Packed = dict[str, Any]
Floats = NDArray[np.float64]
_NAMES = {"f4": "f32", "f8": "f64", "i2": "i16", "i4": "i32", "u1": "u8", "u2": "u16", "u4": "u32"}


def plain(array: NDArray[Any]) -> Packed:
    """An array packed in its own type."""
    kind = array.dtype.newbyteorder("<")
    columns = np.ascontiguousarray(np.asarray(array, kind).T)
    planes = columns.reshape(-1, 1).view(np.uint8).T
    data = b64encode(planes.tobytes()).decode("ascii")
    return {"type": _NAMES[kind.str[1:]], "shape": list(array.shape), "data": data, "planes": True}


def steps(values: Floats, step: float) -> Packed:
    """Values (k, ...) packed as multiples of a step, each row as the difference from the previous
    one: slow motion gives small numbers, which compress well.

    Raises OverflowError if a difference has more than 2^31 steps.
    """
    table = np.asarray(values, dtype=float).reshape(len(values), -1)
    offset = table[0] if len(table) else np.zeros(table.shape[1])
    whole = np.rint((table - offset) / step)
    moved = np.diff(whole, axis=0, prepend=0.0 * whole[:1])
    most = np.abs(moved).max(initial=0.0)
    if not most < 2**31:
        raise OverflowError("a value moves too far from one row to the next")
    small = np.asarray(moved, dtype="<i2" if most < 2**15 else "<i4").reshape(values.shape)
    return {**plain(small), "scale": step, "offset": offset.tolist(), "delta": True}


def rounded(values: Floats, bits: int = 16) -> Packed:
    """Values (n, c) packed as 16-bit unsigned integers, in steps that are equal for all columns,
    from the minimum of each column."""
    least = values.min(axis=0)
    step = float((values.max(axis=0) - least).max()) / (2**bits - 1) or 1.0
    whole = np.asarray(np.rint((values - least) / step), dtype=np.uint16)
    return {**plain(whole), "scale": step, "offset": least.tolist()}

"""Names of signals and of their elements: 'plant.qm', 'plant.qm[0]', 'plant.qm[0:2]'."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import InputError

STATES = "states."
RATES = "rates."
"""Before a block's name: the rates of its states."""

_INDEXED = re.compile(r"(?P<base>.+)\[(?P<index>[^\[\]]*)\]", re.DOTALL)
_PART = re.compile(r"\s*([+-]?\d{0,9})\s*(?:(:)\s*([+-]?\d{0,9})\s*(?:(:)\s*([+-]?\d{0,9})\s*)?)?")


def split_index(name: str) -> tuple[str, str | None]:
    """'plant.qm[0:2]' as ('plant.qm', '0:2'); a name without brackets has index None."""
    match = _INDEXED.fullmatch(name)
    return (match["base"], match["index"]) if match else (name, None)


def select(name: str, array: NDArray[Any], index: str) -> NDArray[Any]:
    """The elements `index` of each sample of array (N, ...); name is for the error."""
    shape = array.shape[1:]
    parts = index.split(",")
    if len(parts) > len(shape):
        what = f"each sample has shape {shape}" if shape else "the signal is a scalar"
        raise InputError(f"{name!r}: too many indices, {what}")
    chosen = [_part(name, part, size) for part, size in zip(parts, shape, strict=False)]
    return array[(slice(None), *chosen)]


def _part(name: str, text: str, size: int) -> int | slice:
    match = _PART.fullmatch(text)
    if match is None or (not match[1] and not match[2]):
        raise InputError(f"{name!r}: {text!r} is not an index; write [0], [0:2], [:] or [0,1]")
    start, stop, step = (int(match[i]) if match[i] else None for i in (1, 3, 5))
    if not match[2]:
        assert start is not None
        if not -size <= start < size:
            raise InputError(f"{name!r}: index {start} is out of range, the size is {size}")
        return start
    if step == 0:
        raise InputError(f"{name!r}: a slice cannot have step 0")
    for bound in (start, stop):
        if bound is not None and not -size <= bound <= size:
            raise InputError(f"{name!r}: bound {bound} is out of range, the size is {size}")
    chosen = slice(start, stop, step)
    if size and not range(size)[chosen]:
        raise InputError(f"{name!r}: the slice is empty, the size is {size}")
    return chosen


def element_names(base: str, shape: Sequence[int], index: str | None = None) -> list[str]:
    """A name for each element of a sample: 'a.b', 'a.b[0]' or 'a.b[0,1]'.

    With an index, only the elements that it selects, counted in the whole signal.
    """
    if not shape:
        return [base]
    names = [f"{base}[{','.join(map(str, at))}]" for at in product(*map(range, shape))]
    labels = np.array(names, dtype=object).reshape(1, *shape)
    chosen = labels if index is None else select(f"{base}[{index}]", labels, index)
    return [str(label) for label in np.ravel(chosen)]


def file_name(text: str, otherwise: str) -> str:
    """A name as a safe name of a file or folder; `otherwise` if nothing remains of it."""
    return re.sub(r"[^\w.-]+", "_", text).strip("._")[:80] or otherwise

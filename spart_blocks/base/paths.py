"""Paths of values and names of signals as people write them, with the indices in their brackets.

`params.kp`, `ctrl.kp[1]`, `ctrl.kp.1` are paths of a file: keys with dots between them, where an
entry of a list has its number. `plant.qm[0:2]`, `R[:,0]` name elements of an array, as NumPy does:
a number or a slice for each dimension.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, did_you_mean

if TYPE_CHECKING:
    from spart_blocks.base.document import Keys

_INDEXED = re.compile(r"(?P<base>.+)\[(?P<index>[^\[\]]*)\]", re.DOTALL)
_BRACKETS = re.compile(r"(?P<name>[^\[\]]*)(?P<indices>(?:\[[^\[\]]*\])*)", re.DOTALL)
_NUMBER = r"\s*([+-]?\d{1,9})?\s*"
_DIMENSION = re.compile(rf"{_NUMBER}(?:(:){_NUMBER}(?::{_NUMBER})?)?")
_ENTRY = re.compile(r"\s*(\d{1,9})\s*")


# --- paths of a file -----------------------------------------------------------------------


def keys_of(path: str) -> Keys:
    """The keys of a path, those in brackets as numbers: ('final', 1, 'within') of
    `final[1].within`. Raises InputError for a text that is no path."""
    keys: list[str | int] = []
    for part in path.split("."):
        found = _BRACKETS.fullmatch(part)
        if found is None:
            hint = "write [0] behind the name of a list"
            raise InputError(Fault(f"cannot read the path {path[:60]!r}", hint=hint))
        if not found["name"]:
            raise InputError(Fault(f"the path {path[:60]!r} has an empty name"))
        keys.append(found["name"])
        inside = found["indices"][1:-1].replace("][", ",")
        keys += [_entry(path, text) for text in inside.split(",") if found["indices"]]
    return tuple(keys)


def _entry(path: str, text: str) -> int:
    found = _ENTRY.fullmatch(text)
    if found is None:
        hint = "write the number of one entry, as [0], or of one in each dimension, [0,1]"
        raise InputError(Fault(f"{path[:60]!r}: [{text}] is no entry of a list", hint=hint))
    return int(found[1])


def written_path(keys: Keys) -> str:
    """A path in the form that `set` and `unset` take: "expect.final[1].within"."""
    first, *others = keys
    return str(first) + "".join(f"[{k}]" if isinstance(k, int) else f".{k}" for k in others)


def dotted(keys: Keys) -> str:
    """A path with dots alone: `plant.initial.qm.0`."""
    return ".".join(map(str, keys))


# --- names of arrays, and of their elements --------------------------------------------------


def split_index(name: str) -> tuple[str, str | None]:
    """'plant.qm[0:2]' as ('plant.qm', '0:2'); a name without brackets has index None."""
    match = _INDEXED.fullmatch(name)
    return (match["base"], match["index"]) if match else (name, None)


def named(
    name: str, known: Container[str], aliases: Mapping[str, str] = {}
) -> tuple[str, str | None]:
    """The known name that a name begins with, and the index of elements behind it; one that ends in
    brackets itself comes first. aliases: other names of theirs. An unknown name comes back as it
    is, without its index."""
    for base, index in ((name, None), split_index(name)):
        full = base if base in known else aliases.get(base, base)
        if full in known:
            return full, index
    return split_index(name)


def look_up(
    name: str,
    wrong: str,
    known: Collection[str],
    aliases: Mapping[str, str] = {},
    others: Iterable[str] = (),
) -> tuple[str, str | None]:
    """As `named`, for a name that must be known. wrong: the error's message, with {} for the name.
    others: further names that exist. Raises InputError with the names that are near."""
    full, index = named(name, known, aliases)
    if full not in known:
        hint = did_you_mean(full, {*known, *aliases, *others})
        raise InputError(Fault(wrong.format(repr(full)), hint=hint))
    return full, index


def several_signals(name: str, signals: Iterable[str]) -> Fault | None:
    """The fault of a name that is a block with several signals; None if it is not."""
    ports = [one for one in dict.fromkeys(signals) if one.startswith(f"{name}.") and "=" not in one]
    hint = "it has " + ", ".join(ports)
    return Fault(f"{name} is a block with several signals", hint=hint) if ports else None


def index_of(text: str) -> int | slice | None:
    """One dimension of an index, '2' or '0:6:2'; None if it is none."""
    match = _DIMENSION.fullmatch(text)
    if match is None or not (match[1] or match[2]):
        return None
    start, stop, step = (int(match[k]) if match[k] else None for k in (1, 3, 4))
    return slice(start, stop, step) if match[2] else start


def select(name: str, array: NDArray[Any], index: str | None) -> NDArray[Any]:
    """The elements `index` of each sample of array (N, ...), or all. name: for the error."""
    if index is None:
        return array
    shape = array.shape[1:]
    parts = index.split(",")
    if len(parts) > len(shape):
        what = f"each sample has shape {shape}" if shape else "the signal is a scalar"
        raise InputError(f"{name!r}: too many indices, {what}")
    chosen = [_within(name, part, size) for part, size in zip(parts, shape, strict=False)]
    return array[(slice(None), *chosen)]


def _within(name: str, text: str, size: int) -> int | slice:
    """One dimension of an index, which must lie within a size."""
    chosen = index_of(text)
    if chosen is None:
        raise InputError(f"{name!r}: {text!r} is not an index; write [0], [0:2], [:] or [0,1]")
    if isinstance(chosen, int):
        if not -size <= chosen < size:
            raise InputError(f"{name!r}: index {chosen} is out of range, the size is {size}")
        return chosen
    if chosen.step == 0:
        raise InputError(f"{name!r}: a slice cannot have step 0")
    for bound in (chosen.start, chosen.stop):
        if bound is not None and not -size <= bound <= size:
            raise InputError(f"{name!r}: bound {bound} is out of range, the size is {size}")
    if size and not range(size)[chosen]:
        raise InputError(f"{name!r}: the slice is empty, the size is {size}")
    return chosen


def places(name: str, start: int, shape: Sequence[int], index: str | None) -> NDArray[np.intp]:
    """The places of the elements of an array within a flat vector in which it begins at `start`,
    in the shape that the index selects; name is for the error."""
    size = int(np.prod(shape, dtype=int))
    whole = np.arange(start, start + size, dtype=np.intp).reshape(1, *shape)
    return np.asarray(select(name, whole, index)[0])


def element_names(base: str, shape: Sequence[int], index: str | None = None) -> list[str]:
    """A name for each element of a sample: 'a.b', 'a.b[0]' or 'a.b[0,1]'.

    With an index, only the elements that it selects, counted in the whole signal.
    """
    if not shape:
        return [base]
    names = [f"{base}[{','.join(map(str, at))}]" for at in product(*map(range, shape))]
    labels = np.array(names, dtype=object).reshape(1, *shape)
    return [str(label) for label in np.ravel(select(f"{base}[{index}]", labels, index))]

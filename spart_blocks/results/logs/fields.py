"""Numbers of messages by the paths of their fields: `position[2]`, `joints[elbow].velocity`."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import MISSING, dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.paths import index_of

_FIELD = re.compile(r"([^.\[\]]+)((?:\[[^\[\]]*\])*)")
_INDEX = re.compile(r"\[([^\[\]]*)\]")
_OWN_NAMES, _NAMES = ("name", "child_frame_id"), ("name", "names")
"""Fields of the entries of an array that name each, and fields beside an array that name them all.
"""
_DEEPEST = 8
_MOST_TOLD = 500


class AbsentError(Exception):
    """A message lacks an entry of this name, which others may have."""


@dataclass(frozen=True)
class FieldPath:
    """A field, or entries of it, by keys and indices: ((position, (2,)), ...)."""

    text: str
    parts: tuple[tuple[str, tuple[str, ...]], ...]

    @staticmethod
    def of(text: str) -> FieldPath:
        """The path of a text. Raises InputError if it is none."""
        parts: list[tuple[str, tuple[str, ...]]] = []
        at = 0
        while at < len(text) or not parts:
            found = _FIELD.match(text, at)
            if found is None or text[found.end() : found.end() + 1] not in ("", "."):
                raise InputError(f"{text[:60]!r} is no field; write header.stamp or position[2]")
            parts.append((found[1], tuple(_INDEX.findall(found[2]))))
            at = found.end() + 1
        if text.endswith("."):
            raise InputError(f"{text[:60]!r} ends in a dot")
        return FieldPath(text, tuple(parts))

    def pick(self, message: Any) -> Any:
        """What a message has there. Raises InputError if it has no such field, AbsentError if it
        lacks only an entry of that name."""
        value = message
        for field, indices in self.parts:
            beside, value = value, child(value, field)
            if value is _NOTHING:
                hint = did_you_mean(self.text, number_paths(message))
                raise InputError(Fault(f"it has no field {self.text!r}", hint=hint))
            for index in indices:
                value = _entry(value, beside, index.strip())
        return value

    def numbers(self, message: Any) -> NDArray[np.float64]:
        """The numbers there; those of a message, such as a vector with x, y, z, in the order of its
        fields. Raises as `pick` does, and where it has no numbers."""
        value = self.pick(message)
        try:
            return _numbers(value)
        except (TypeError, ValueError, OverflowError):
            hint = did_you_mean(self.text, number_paths(message))
            text = f"{self.text} holds {brief(value, 40)}, not real numbers"
            raise InputError(Fault(text, hint=hint)) from None


# --- messages ----------------------------------------------------------------------------

_NOTHING = object()


def child(value: Any, field: str) -> Any:
    """A field of a message, or _NOTHING."""
    if isinstance(value, Mapping):
        return value.get(field, _NOTHING)
    if field in _names(value):
        return getattr(value, field)
    own = f"{field}_"  # a keyword of Python
    return getattr(value, own) if own in _names(value) else _NOTHING


def _names(value: Any) -> Collection[str]:
    """The names of the fields of a message, none of other values."""
    kind: Any = type(value)
    return _names_of_kind(kind)


@lru_cache(64)
def _names_of_kind(kind: Any) -> Collection[str]:
    described = getattr(kind, "DESCRIPTOR", None)
    if described is not None:
        return dict.fromkeys(described.fields_by_name)
    if not is_dataclass(kind):
        return ()
    # What rosbags gives a value for all messages is a constant, and no field.
    return dict.fromkeys(one.name for one in fields(kind) if one.default is MISSING)


def children(value: Any) -> dict[str, Any]:
    """The fields of a message by name; {} of other values."""
    if isinstance(value, Mapping):
        return {key: item for key, item in value.items() if isinstance(key, str)}
    return {name: getattr(value, name) for name in _names(value)}


def number_paths(message: Any) -> list[str]:
    """The paths of the numbers of a message, for hints."""
    found = []
    for path in _paths(message, "", 0):
        found.append(path)
        if len(found) == _MOST_TOLD:
            break
    return found


def _paths(value: Any, before: str, depth: int) -> Iterator[str]:
    if depth > _DEEPEST:
        return
    for name, item in children(value).items():
        path = f"{before}{name}"
        if isinstance(item, str | bytes):
            continue
        if children(item):
            yield from _paths(item, f"{path}.", depth + 1)
        elif _is_list(item) and len(item) and children(item[0]):
            yield from _paths(item[0], f"{path}[0].", depth + 1)
        else:
            yield path


def _is_list(value: Any) -> bool:
    return hasattr(value, "__len__") and hasattr(value, "__getitem__")


# --- entries -----------------------------------------------------------------------------


def _entry(value: Any, beside: Any, index: str) -> Any:
    """An entry of an array, or some. beside: the message in which the array is."""
    if isinstance(value, str | bytes | Mapping) or not _is_list(value):
        raise InputError(f"[{index[:40]}] is no entry of it: it holds {brief(value, 40)}")
    chosen = index_of(index)
    if chosen is not None:
        try:
            return value[chosen]
        except IndexError:
            raise InputError(f"[{index[:40]}] is beyond its {len(value)} entries") from None
    names = _names_of(value, beside)
    if index in names:
        return value[names.index(index)]
    raise AbsentError(did_you_mean(index, names) if names else None)


def _names_of(value: Any, beside: Any) -> list[str]:
    """The names of the entries of an array: each has its own, or the message has them beside it."""
    own = ([child(item, key) for item in value] for key in _OWN_NAMES)
    found = (_texts(names, len(value)) for names in (*own, *(child(beside, k) for k in _NAMES)))
    return next(filter(None, found), [])


def _texts(found: Any, length: int) -> list[str]:
    """Names, if they are as many texts; [] otherwise."""
    if isinstance(found, str | bytes) or not _is_list(found) or len(found) != length:
        return []
    names = list(found)
    return names if all(isinstance(name, str) for name in names) else []


def _numbers(value: Any) -> NDArray[np.float64]:
    if isinstance(value, bool | int | float):
        return np.array(value, float)
    if isinstance(value, str | bytes):
        raise TypeError
    inner = children(value)
    if inner:
        return np.array([_numbers(item) for item in inner.values()], float)
    if isinstance(value, Mapping):
        raise TypeError
    if isinstance(value, np.ndarray):
        array = value
    elif len(value) and (children(value[0]) or isinstance(value[0], list)):
        array = np.array([_numbers(item) for item in value])
    else:
        array = np.array(list(value))
    if array.dtype.kind not in "biuf" and len(array):
        raise TypeError
    return array.astype(float)

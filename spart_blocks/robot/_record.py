"""The base of the robot's dataclasses: compared by value, with read-only arrays."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]


def _frozen_array(value: ArrayLike) -> Floats:
    """Floats, or the symbolic scalars of a robot with symbolic masses."""
    symbolic = isinstance(value, np.ndarray) and value.dtype.hasobject
    array = np.array(value, dtype=None if symbolic else float, subok=symbolic)
    array.setflags(write=False)
    return array


def _same(a: Any, b: Any) -> bool:
    """Whether two values are equal; symbolic ones only if they are the same object."""
    if any(isinstance(one, np.ndarray) and one.dtype.hasobject for one in (a, b)):
        return a is b
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b)
    return a is b or (isinstance(a, _PLAIN) and isinstance(b, _PLAIN) and a == b)


class FrozenArrays:
    """Base of the model's dataclasses: arrays are read-only, also after a pickle."""

    def __post_init__(self) -> None:
        for item in fields(self):  # type: ignore[arg-type]
            value = getattr(self, item.name)
            if isinstance(value, np.ndarray) or item.metadata.get("array"):
                object.__setattr__(self, item.name, _frozen_array(value))

    def _values(self) -> tuple[Any, ...]:
        return tuple(getattr(self, item.name) for item in fields(self))  # type: ignore[arg-type]

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # NumPy forgets the read-only flag in a pickle, so the record is made anew.
        return type(self), self._values()

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        known = other.__dict__.setdefault("_value", object())
        if self.__dict__.get("_value") is known:
            return True
        equal = all(
            _same(mine, theirs)
            for mine, theirs in zip(self._values(), other._values(), strict=True)
        )
        if equal:
            # Records are immutable, so that two which are equal once stay so. They share a mark:
            # the robot of a file that was loaded twice is a key of caches in inner loops.
            self.__dict__["_value"] = known
        return equal

    def __hash__(self) -> int:
        # Equal records have equal hashes; arrays, long tuples and symbols are left out, so
        # that a robot can be the key of a cache in an inner loop.
        plain = (v for v in self._values() if isinstance(v, _PLAIN) and type(v) is not tuple)
        return hash((type(self), *plain))


_PLAIN = (int, float, str, tuple, type(None), FrozenArrays)
ARRAY = {"array": True}  # metadata of a field whose value becomes a read-only array

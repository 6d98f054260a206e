"""Checks of arguments of the Python API: texts, paths, numbers."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from spart_blocks.base.errors import InputError, brief

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def as_text(value: Any, what: str) -> str:
    """A text. what: its description in errors, with an article: 'the name of a signal'."""
    if isinstance(value, str):
        return value
    raise InputError(f"{what} is a text, not {brief(value)}")


def as_texts(value: Any, what: str) -> tuple[str, ...]:
    """A list of texts, from one text or an iterable of texts."""
    if isinstance(value, str):
        return (value,)
    if isinstance(value, Iterable) and not isinstance(value, bytes | Mapping):
        texts = tuple(value)
        if all(isinstance(text, str) for text in texts):
            return texts
    raise InputError(f"{what} is a text or a list of texts, not {brief(value)}")


def as_path(value: Any, what: str) -> Path:
    """The path of a file or a folder, ~ expanded."""
    if isinstance(value, str | os.PathLike):
        path = os.fspath(value)
        if isinstance(path, str):
            return Path(path).expanduser()
    raise InputError(f"{what} is a path, not {brief(value)}")


def as_numbers(value: Any, what: str) -> NDArray[np.float64]:
    """A list of numbers, or one, as an array (N,)."""
    import numpy as np

    try:
        array = np.atleast_1d(np.asarray(value, dtype=float))
    except (TypeError, ValueError):
        raise InputError(f"{what} are numbers, not {brief(value)}") from None
    if array.ndim != 1:
        raise InputError(f"{what} are a list of numbers, not an array of shape {array.shape}")
    return array


def as_number(value: Any, what: str) -> float:
    """One finite number."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise InputError(f"{what} is a finite number, not {brief(value)}")
    return number

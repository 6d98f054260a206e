"""Checks for parameters of blocks: finite numbers, and words of a choice."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any, TypeVar

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.base.spatial import Array
from spart_blocks.block_support.ports import Shape

MOST_CHANNELS = 10_000
"""Largest length of the signals of a block that works on each entry."""

Numbers = TypeVar("Numbers", float, Array)


def numbers(value: Any, name: str, shape: Shape | None = None) -> Array:
    """Finite numbers as a new array of floats, of any or of the given shape; a ValueError
    otherwise.
    """
    try:
        out = np.array(value, dtype=float)
    except (TypeError, ValueError):
        out = None
    if out is None or isinstance(value, (bool, str)):
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    if not np.isfinite(out).all():
        raise ValueError(f"{name} must be finite, not {brief(value)}")
    if shape is not None and out.shape != shape:
        raise ValueError(f"{name} has shape {out.shape}, it takes {shape}")
    return out


def number(value: Any, name: str) -> float:
    """One finite number."""
    if type(value) is float and isfinite(value):
        return value
    return float(numbers(value, name, ()))


def whole(value: Any, name: str, least: int = 0, most: float | None = None) -> int:
    """A whole number from the least to the most; an InputError otherwise."""
    number = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not number or value < least or (most is not None and value > most):
        end = "on" if most is None else f"to {most:g}"
        raise InputError(f"{name} must be a whole number from {least} {end}, not {brief(value)}")
    return int(value)


def counted(value: Any, name: str, most: int = 1000) -> int:
    """A whole number from 1 to the most; an InputError otherwise."""
    return whole(value, name, 1, most)


def scalar_or_vector(value: Any, name: str) -> Any:
    """A float () or a vector (n,) of floats; ValueError unless all are finite numbers."""
    if type(value) is float and isfinite(value):
        return value
    out = numbers(value, name)
    if out.ndim > 1 or not out.size:
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    return out if out.ndim else float(out)


def above_zero(found: Numbers, name: str, unit: str = "") -> Numbers:
    """The given number or vector; a ValueError if an entry is not positive."""
    if found <= 0 if isinstance(found, float) else np.any(np.asarray(found) <= 0):
        raise ValueError(f"{name} must be above zero, not {shown(found)}{unit and ' ' + unit}")
    return found


def positive_number(value: Any, name: str, unit: str = "") -> float:
    """One positive number."""
    return above_zero(number(value, name), name, unit)


def shown(value: Any) -> str:
    """A number or a vector as text."""
    return f"[{', '.join(f'{x:.6g}' for x in value)}]" if np.ndim(value) else f"{value:.6g}"


def true_or_false(value: Any, name: str) -> bool:
    """True or False; an InputError for anything else."""
    if not isinstance(value, bool):
        raise InputError(f"{name} must be true or false, not {brief(value)}")
    return value


def chosen(value: Any, name: str, choices: Sequence[str]) -> str:
    """One of the given words; otherwise an InputError that suggests the nearest."""
    if not isinstance(value, str) or value not in choices:
        text = f"{name} must be one of {', '.join(choices)}, not {brief(value)}"
        raise InputError(Fault(text, hint=did_you_mean(str(value), choices)))
    return value


def common_shape(**values: Any) -> tuple[int, ...]:
    """The common shape of scalars and vectors; InputError where lengths differ."""
    lengths = {name: len(v) for name, v in values.items() if np.ndim(v)}
    if len(set(lengths.values())) > 1:
        told = " and ".join(f"{name} has {n} entries" for name, n in lengths.items())
        raise InputError(Fault(told, hint="give vectors of one length, or numbers"))
    return (next(iter(lengths.values())),) if lengths else ()


def channels(width: Any, **values: Any) -> tuple[int, ...]:
    """The shape of the signal, () or (n,), from vectors among the parameters or from width."""
    if width is not None:
        whole = not isinstance(width, bool) and isinstance(width, int)
        if not whole or not 0 < width <= MOST_CHANNELS:
            text = f"width must be a whole number from 1 to {MOST_CHANNELS}, not {brief(width)}"
            raise InputError(text)
        values["width"] = np.zeros(width)
    return common_shape(**values)


def in_order(low: Any, high: Any, names: tuple[str, str]) -> None:
    """InputError where a lower limit exceeds its upper limit; None means no limit."""
    if low is not None and high is not None and np.any(np.asarray(low) > np.asarray(high)):
        raise InputError(f"{names[0]} is {brief(low)}, above {names[1]}, {brief(high)}")

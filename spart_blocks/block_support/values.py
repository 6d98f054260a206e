"""Checks for parameters of blocks: finite numbers, words of a choice, directions, gains, limits."""

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


def names_of(value: Any, what: str) -> tuple[str, ...]:
    """A name or a list of names. what: what takes them, for errors."""
    names = (value,) if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise InputError(f"{what} takes names, not {brief(value)}")
    return tuple(names)


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


MOST = 200
"""Actuators of a block at most."""


def rows_of_three(value: Any, name: str) -> Array:
    """Vectors (n,3) as a new array, one in each row; a ValueError otherwise."""
    found = numbers(value, name)
    if found.ndim != 2 or found.shape[1] != 3 or not 0 < len(found) <= MOST:
        raise ValueError(f"{name} must be 1 to {MOST} rows of three numbers, not {found.shape}")
    return found


def directions_of(value: Any, name: str) -> Array:
    """Unit vectors (n,3) along the given ones; an InputError for one of length zero."""
    found = rows_of_three(value, name)
    lengths = np.linalg.norm(found, axis=1)
    if not lengths.all():
        row = int(np.argmin(lengths))
        raise InputError(f"{name}: row {row} is zero, it has no direction")
    unit: Array = found / lengths[:, None]
    return unit


def direction_of(value: Any, name: str) -> Array:
    """A unit vector (3,)."""
    found: Array = directions_of([numbers(value, name, (3,))], name)[0]
    return found


def gain(
    value: Any, name: str, length: int | None = None, of: str = "the robot has {} active joints"
) -> Array:
    """A gain as a float scalar () or vector (n,), not negative; otherwise a ValueError. of: a text
    that says how many entries it must have.
    """
    out = numbers(value, name)
    if out.ndim > 1:
        raise ValueError(f"{name} must be a number or a list of numbers, not {brief(value)}")
    if out.ndim == 1 and length is not None and len(out) != length:
        raise ValueError(f"{name} has {len(out)} entries, {of.format(length)}")
    if (out < 0).any():
        raise ValueError(f"{name} must not be negative, it is {shown(out)}")
    return out


def one_gain(value: Any, name: str) -> Array:
    """As `gain`, and a single number ()."""
    out = gain(value, name)
    if out.ndim:
        raise ValueError(f"{name} must be a number, not {brief(value)}")
    return out


def one_length(gains: dict[str, Array], without: int | None = None) -> Any:
    """The common length of the gains that are vectors, `without` if there is none; a ValueError
    names two that differ.
    """
    vectors = [(name, len(k)) for name, k in gains.items() if k.ndim]
    for name, length in vectors[1:]:
        if length != vectors[0][1]:
            raise ValueError(f"{vectors[0][0]} has {vectors[0][1]} entries and {name} has {length}")
    return vectors[0][1] if vectors else without

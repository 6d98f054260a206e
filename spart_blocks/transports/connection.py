"""Connection of a block with the outside: its endpoint, its frame, and its safe values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from spart_blocks.base.errors import Fault, InputError, brief, did_you_mean
from spart_blocks.transports.endpoints import Endpoint
from spart_blocks.transports.frames import Field, Frame

TIMEOUT = 0.1
"""Default time for which a received value is valid without a new frame [s]."""
LONGEST_TIMEOUT = 3600.0


@dataclass(frozen=True)
class LinkConnection:
    """Connection of a block when its diagram runs in real time. way: a block 'in' delivers frames
    to the subdiagram that it feeds, 'out' sends those of the subdiagram that feeds it. endpoint: a
    value of the transport. timeout [s]: of the receiver. safe: (numbers,) values sent instead of
    the outputs when these must not be sent; None: nothing.
    """

    way: Literal["in", "out"]
    endpoint: Endpoint
    frame: Frame
    timeout: float
    safe: tuple[float, ...] | None


def read_timeout(value: Any) -> float:
    """A timeout [s]; ValueError if it is invalid."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not 0 < value <= LONGEST_TIMEOUT:
        raise ValueError(f"timeout must be above 0 and at most {LONGEST_TIMEOUT:g} s, not {value}")
    return float(value)


def read_safe(given: Any, frame: Frame) -> tuple[float, ...] | None:
    """The safe values of the numbers of a frame: one for all, or a value for each field, which a
    scalar fills. None if none are given. InputError lists all faults.
    """
    if given is None:
        return None
    fields = {field.name: field for field in frame.fields}
    number = isinstance(given, int | float) and not isinstance(given, bool)
    values = dict.fromkeys(fields, given) if number else given
    if not isinstance(values, Mapping):
        hint = f"write safe: 0, or safe: {{{frame.fields[0].name}: 0}}"
        raise InputError(Fault(f"safe gives values by field, not {brief(given)}", hint=hint))
    faults = []
    for name in (*fields, *(name for name in values if name not in fields)):
        if name not in fields:
            near = did_you_mean(str(name), fields)
            faults.append(Fault(f"safe.{name}: there is no field {brief(name)}", hint=near))
        elif name not in values:
            faults.append(Fault(f"safe gives no value for {name}"))
        elif (problem := _unsafe(values[name], fields[name])) is not None:
            faults.append(Fault(f"safe{'' if number else f'.{name}'} {problem}"))
    if faults:
        raise InputError(faults)
    return tuple(frame.flat(values).tolist())


def _unsafe(value: Any, field: Field) -> str | None:
    """The reason why a field cannot have this safe value."""
    try:
        numbers = np.asarray(value, dtype=float)
    except (TypeError, ValueError):
        return f"takes numbers, not {brief(value)}"
    if numbers.shape not in ((), field.shape):
        return f"takes a number, or {field.numbers} of them, not {numbers.size}"
    return None if np.isfinite(numbers).all() else "takes finite numbers"

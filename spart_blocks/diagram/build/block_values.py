"""Checks the numbers that blocks of bdsim got in Python, with the same rules for shapes as in
files. bdsim's constructors accept anything, so that a text would cause an error only during the
run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from spart_blocks.base.document import Key, Keys
from spart_blocks.base.errors import DiagramError, Fault, brief

# --- Lists of numbers -----------------------------------------------------------------------------
# Checks that lists in a value are lists of numbers. Parameters of all blocks are checked so
# before any library gets them.


_ROWS = "all rows need the same length, all entries must be numbers"


class Stray(NamedTuple):
    """An entry that is not a number among numbers: a message, its place within the value, and a
    hint.
    """

    message: str
    keys: Keys
    hint: str | None


def stray(value: Any, even: bool = True) -> Stray | None:
    """The first entry of a value that is not a number although its neighbours are, or the first
    rows of different lengths; None if there is no fault. even: whether the rows of the value
    itself must have one length.
    """
    if isinstance(value, dict):
        return _first_within(value.items())
    if not isinstance(value, list):
        return None
    kinds = [_kind(item) for item in value]
    if "number" in kinds:
        wrong = next((k for k, kind in enumerate(kinds) if kind not in ("number", "text")), None)
        if wrong is not None:
            message = f"has {brief(value[wrong])} among its numbers"
            hint = _ROWS if isinstance(value[wrong], list) else "a list of numbers has nothing else"
            return Stray(message, (wrong,), hint)
    return _first_within(enumerate(value)) or (_uneven(value) if even else None)


def nan_in(value: Any) -> Stray | None:
    """The first NaN in a value; None if it has none."""
    if isinstance(value, float) and value != value:
        return Stray("must be finite, not .nan", (), None)
    if not isinstance(value, dict | list):
        return None
    for key, item in value.items() if isinstance(value, dict) else enumerate(value):
        if (found := nan_in(item)) is not None:
            return found._replace(keys=(key, *found.keys))
    return None


def _first_within(items: Iterable[tuple[Key, Any]]) -> Stray | None:
    for key, item in items:
        found = stray(item)
        if found is not None:
            return found._replace(keys=(key, *found.keys))
    return None


def _kind(item: Any) -> str:
    if isinstance(item, int | float) and not isinstance(item, bool):
        return "number"
    return "text" if isinstance(item, str) else "other"


def _uneven(rows: Sequence[Any]) -> Stray | None:
    """The fault of lists of numbers with different lengths; None if they are equally long or not
    all lists.
    """
    if not rows or not all(isinstance(row, list) and _numeric(row) for row in rows):
        return None
    lengths = [len(row) for row in rows]
    odd = next((k for k, length in enumerate(lengths) if length != lengths[0]), None)
    if odd is None:
        return None
    message = f"has rows of {lengths[0]} and of {lengths[odd]} numbers"
    return Stray(message, (odd,), _ROWS)


def _numeric(row: Sequence[Any]) -> bool:
    return bool(row) and all(_kind(item) == "number" for item in row)


# Parameters of one shape: where one of them is a vector, the numbers are repeated. STEP
# and RAMP need their defaults repeated as well, or the signal would change its shape.
ONE_SHAPE = {
    "STEP": ("off", "on"),
    "RAMP": ("off", "slope"),
    "INTEGRATOR": ("x0", "min", "max"),
    "INTEGRATOR_S": ("x0", "min", "max"),
}
# What is a number or an array of numbers; the rest their constructors check.
_NUMBERS = {
    "GAIN": ("K",),
    "POW": ("p",),
    "STEP": ("T", "off", "on"),
    "RAMP": ("T", "off", "slope"),
    "WAVEFORM": ("freq", "phase", "duty", "amplitude", "offset"),
    "INTEGRATOR": ("gain",),
    "INTEGRATOR_S": ("gain",),
    "DERIV_S": ("gain",),
    "CLIP": ("min", "max"),
    "CONSTANT": ("value",),
}
SINGLE = {
    "STEP": ("T",),
    "RAMP": ("T",),
    "WAVEFORM": ("freq", "phase", "duty"),
}
"""Parameters that must be a single number, because the block switches at a time computed from
them.
"""
_LEVELED = ("STEP", "RAMP")
"""Blocks that store their values as given; the other blocks convert them to arrays."""


class UnlikeShapesError(ValueError):
    """Values that cannot be broadcast to one shape."""


def of_one_shape(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers and arrays as arrays of one shape. Raises UnlikeShapesError."""
    try:
        shape = np.broadcast_shapes(*(np.shape(value) for value in values.values()))
    except ValueError:
        sizes = ", ".join(f"{name} {np.shape(value)}" for name, value in values.items())
        raise UnlikeShapesError(f"the shapes of {sizes} differ") from None
    return {
        name: np.broadcast_to(np.asarray(value, dtype=float), shape).copy()
        for name, value in values.items()
    }


def settle_values(bd: Any) -> None:
    """Check that the blocks of a bdsim BlockDiagram have numbers where required, and broadcast
    scalars of a STEP or a RAMP beside a vector, as in files. Raises DiagramError with every wrong
    value.
    """
    faults = [fault for block, name in _plain_blocks(bd) for fault in _settled(block, name)]
    if faults:
        raise DiagramError(faults)


def _plain_blocks(bd: Any, prefix: str = "") -> Iterator[tuple[Any, str]]:
    """The blocks of bdsim in a diagram and its subsystems, with their full names."""
    for block in bd.blocklist:
        name = f"{prefix}{block.name}"
        if block.blockclass == "subsystem":
            yield from _plain_blocks(block.subsystem, f"{name}/")
        elif type(block).__module__.startswith("bdsim.blocks."):
            yield block, name


def _settled(block: Any, name: str) -> Iterator[Fault]:
    kind = str(block.type).upper()
    wrong = False
    for key in _NUMBERS.get(kind, ()):
        problem, single = _problem(kind, key, getattr(block, key)), key in SINGLE.get(kind, ())
        if problem:
            wrong = True
            takes = "one number" if single else "numbers"
            yield Fault(f"{key} of {name} ({kind}) takes {takes}, not {problem}")
    names = ONE_SHAPE[kind] if kind in _LEVELED else ()
    values = {key: getattr(block, key) for key in names}
    if wrong or not any(np.ndim(value) for value in values.values()):
        return
    try:
        for key, value in of_one_shape(values).items():
            setattr(block, key, value)
    except UnlikeShapesError as error:
        yield Fault(f"{name} ({kind}): {error}", hint="give them one length, or numbers")


def _problem(kind: str, key: str, value: Any) -> str | None:
    """A description of a value that a parameter of a block does not accept; None if it does."""
    if kind == "CLIP" and value is None:  # no limit
        return None
    if kind == "CONSTANT":  # a truth is a signal, and so may be a pose
        return _no_numbers(value) if value is None or isinstance(value, str) else None
    if key == "x0" and value is not None and not np.size(value):  # of a signal without numbers
        return None
    if key in SINGLE.get(kind, ()) and np.size(value) != 1:
        return brief(value)
    return _no_numbers(value)


def _no_numbers(value: Any) -> str | None:
    """A description of a value that is neither a number nor an array of numbers; None if it is
    one.
    """
    if value is None or isinstance(value, (bool, np.bool_)):
        return str(value)
    if isinstance(value, (int, float)):
        return None
    try:
        array = np.asarray(value)
    except ValueError:  # rows of different lengths
        return brief(value)
    if not array.size:
        return f"an empty {'array' if isinstance(value, np.ndarray) else type(value).__name__}"
    if array.dtype.kind in "OUSb" and not (array.dtype.kind == "O" and _are_symbols(array)):
        return brief(value)
    return None


def _are_symbols(array: Any) -> bool:
    """Whether an array of objects can be an array of symbols; blocks use symbols like numbers."""
    return all(hasattr(item, "__mul__") and not isinstance(item, str) for item in array.flat)

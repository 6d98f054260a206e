"""Suggests claims that hold for a signal of a run, which the user can start from.

The limits leave a margin: a test also checks values within steps, and rounding differs between
machines.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from spart_blocks.analysis.claims import Floats, elements
from spart_blocks.base.errors import InputError
from spart_blocks.results import Results
from spart_blocks.versions.edits.values import flow_text

FINAL, SETTLED, ROOM = 0.01, 0.02, 0.05
"""Fractions of the signal's range: tolerance of final values, tolerance of settled values, and the
margin of limits."""
MOST_VALUES = 36
"""Largest number of elements of a signal for which a value is suggested for each."""
_LEAST = 1e-6


def suggested(results: Results, signal: str) -> dict[str, dict[str, str]]:
    """For each kind of claim about a signal, its suggested entries as YAML. Raises InputError for
    an unknown signal, or one that is not finite."""
    x, shape = elements(results, signal), np.shape(results[signal])[1:]
    if not x.size or not np.isfinite(x).all():
        raise InputError(f"{signal} is not finite all the time: no claim can be made of its values")
    t = np.asarray(results.t, dtype=float)
    extent = float((x.max(axis=0) - x.min(axis=0)).max())
    largest = float(np.abs(x).max())
    scale = max(extent, ROOM * largest, _LEAST)
    within, settled = (rounded_up(share * scale, share * scale) for share in (FINAL, SETTLED))
    room = ROOM * scale
    found: dict[str, dict[str, Any]] = {
        "settles": {"within": settled},
        "stays_within": {
            "low": -rounded_up(room - float(x.min()), room),
            "high": rounded_up(float(x.max()) + room, room),
        },
        "never_exceeds": {"limit": rounded_up(largest + room, room)},
        "conserved": {"within": rounded_up(1.5 * extent + 1e-3 * FINAL * scale)},
        "monotone": _monotone(x),
        "final": {"within": within},
    }
    if x.shape[1] <= MOST_VALUES:
        found["final"]["value"] = _last(x, shape, within)
        found["settles"]["to"] = _last(x, shape, settled)
        found["settles"]["by"] = _settling_time(t, x, settled)
    return {
        kind: {name: _text(value) for name, value in values.items()}
        for kind, values in found.items()
    }


def rounded_up(value: float, step: float | None = None) -> float:
    """The value rounded up to few digits. step: the largest rounding step, by default a tenth of
    the value."""
    if value == 0.0:
        return 0.0
    power = 10.0 ** math.floor(math.log10(abs(value) / 10 if step is None else step))
    return math.ceil(value / power - 1e-9) * power


def _last(x: Floats, shape: tuple[int, ...], within: float) -> Any:
    """The last value of a signal, rounded to much less than the tolerance `within`; a single number
    if all elements are equal."""
    last = np.round(x[-1], 1 - math.floor(math.log10(within))) + 0.0
    return float(last[0]) if (last == last[0]).all() else last.reshape(shape).tolist()


def _settling_time(t: Floats, x: Floats, within: float) -> float:
    """A time [s] from which the signal stays within a tolerance of its last value."""
    out = np.flatnonzero((np.abs(x - x[-1]) > 0.9 * within).any(axis=1))
    settled = float(t[out[-1] + 1]) if out.size else float(t[0])
    return min(rounded_up(settled, (t[-1] - t[0]) / 50 or None), float(t[-1]))


def _monotone(x: Floats) -> dict[str, Any]:
    """The direction of the overall change, and a bound of the motion against it."""
    rises = float((x[-1] - x[0]).sum()) >= 0
    y = x if rises else -x
    back = float((np.maximum.accumulate(y, axis=0) - y).max())
    small = back <= 1e-12 * float(np.abs(x).max())
    found: dict[str, Any] = {"direction": "rising" if rises else "falling"}
    return found if small else {**found, "within": rounded_up(1.5 * back)}


def _text(value: Any) -> str:
    return flow_text(_short(value)).replace("\n", " ")


def _short(value: Any) -> Any:
    """Numbers rounded to 10 digits, so that rounding errors of the arithmetic disappear."""
    if isinstance(value, list):
        return [_short(item) for item in value]
    if not isinstance(value, float):
        return value
    short = float(f"{value:.10g}")
    return int(short) if short.is_integer() and abs(short) < 1e9 else short

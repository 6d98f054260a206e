"""The text summary of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.results.signal_names import EVENTS, THINNED

if TYPE_CHECKING:
    from spart_blocks.results.run_data import RunData

_SHOWN_EVENTS = 12
_PACKAGES = ("spart_blocks", "bdsim", "casadi", "numpy", "scipy")


UNITS = {"wall_time": "s", "T": "s", THINNED: "s"}
"""Units of the numbers in `info`."""


def summary(results: RunData, versions: bool = False) -> str:
    """See Results.summary."""
    blocks = [
        _heading(results),
        _facts(results),
        _signals(results),
        _events(results),
        notes(results),
        _versions(results) if versions else [],
    ]
    return "\n".join(line for block in blocks for line in block)


def _heading(results: RunData) -> list[str]:
    state = "complete" if results.complete else f"stopped early: {results.stopped or 'unknown'}"
    return [f"{results.diagram_name or 'diagram'}: {state}"]


def _facts(results: RunData) -> list[str]:
    t = results.t
    span = f"{t[0]:g} to {t[-1]:g} s" if len(t) else "none"
    rows = [("time", span), ("samples", f"{len(t)}")]
    facts = [(k, v) for k, v in results.info.items() if not _is_version(k, v)]
    rows += [(k.replace("_", " "), _fact(k, v)) for k, v in facts if k not in ("notes", EVENTS)]
    if (factor := real_time_factor(results)) is not None:
        rows.append(("real-time factor", f"{factor:.3g}"))
    width = max(len(label) for label, _ in rows)
    return [f"  {label:<{width}}  {value}" for label, value in rows]


def _fact(key: str, value: str | float | int) -> str:
    text = f"{value:.6g}" if isinstance(value, float) else str(value)
    return f"{text} {UNITS[key]}" if key in UNITS else text


def _is_version(key: str, value: str | float | int) -> bool:
    return key in _PACKAGES and isinstance(value, str)


def _versions(results: RunData) -> list[str]:
    found = {key: value for key, value in results.info.items() if _is_version(key, value)}
    return ["made with " + ", ".join(f"{key} {value}" for key, value in found.items())] * bool(
        found
    )


def _signals(results: RunData) -> list[str]:
    if not results.signals:
        return ["signals kept: none"]
    width = max(len(name) for name in results.signals)
    lines = ["signals kept, with their final values:"]
    for name, array in results.signals.items():
        final = _value(array[-1]) if len(array) else "no samples"
        unit = f" {results.unit(name)}" if results.unit(name) else ""
        lines.append(f"  {name:<{width}}  {final}{unit}{_level(results, name)}")
    return lines


def _level(results: RunData, name: str) -> str:
    """The name of the state that a signal has at the end, in brackets; '' if it does not number
    states."""
    levels = results.levels_of(name)
    if not levels or not len(results.t):
        return ""
    number = int(np.rint(results[name].item(-1)))
    return f" ({levels[number - 1]})" if 1 <= number <= len(levels) else ""


def _value(sample: NDArray[Any]) -> str:
    if sample.size > 12:
        shape = " x ".join(map(str, sample.shape))
        return f"({shape}), largest magnitude {np.max(np.abs(sample)):.6g}"
    text = np.array2string(np.asarray(sample), precision=6, separator=", ", max_line_width=10_000)
    return text.replace("\n", "")


def _events(results: RunData) -> list[str]:
    if not results.events:
        return []
    shown = [f"  {e.t:<12.6g} {e.block}: {e.what}" for e in results.events[:_SHOWN_EVENTS]]
    total = int(results.info.get(EVENTS, len(results.events)))
    more = total - len(shown)
    return [f"events: {total}", *shown, *([f"  ... and {more} more"] if more else [])]


def notes(results: RunData) -> list[str]:
    """The notes of a run, a line each."""
    return [f"note: {note}" for note in str(results.info.get("notes", "")).splitlines()]


def real_time_factor(results: RunData) -> float | None:
    """The simulated seconds in a second; None where the time it took is unknown, or too short to be
    measured.
    """
    wall = next((results.info[k] for k in ("wall_time", "wall time") if k in results.info), None)
    if not isinstance(wall, int | float) or wall <= 0 or not len(results.t):
        return None
    return float(results.t[-1] - results.t[0]) / wall

"""Checks whether a run stayed within the limits of its joints and IK reached its poses."""

from __future__ import annotations

from itertools import groupby
from typing import NamedTuple

import numpy as np

from spart_blocks.base.errors import warn
from spart_blocks.diagram.check.bounds import Bound
from spart_blocks.results import Results
from spart_blocks.run.engines.engine import Engine, Floats
from spart_blocks.run.states import vectors_of

MARGIN = 1e-6
"""Fraction of a limit by which rounding and the tolerance of a run may exceed it."""
MOST_ROWS = 100_000
"""A signal that was not kept is computed at no more than this many evenly spaced samples."""
MOST_NAMED = 6


class _Crossed(NamedTuple):
    """A violated bound: time of the first violation, value in the next row, and worst value."""

    bound: Bound
    time: float
    first: float
    worst: float


def warn_of_bounds(results: Results, engine: Engine) -> None:
    """Emit one warning for violated joint limits and one for each IK block that did not reach its
    pose, from the samples of a run."""
    bounds = [b for b in engine.display.bounds if np.isfinite(b.lower) or np.isfinite(b.upper)]
    if not bounds or not len(results.t):
        return
    crossed: list[_Crossed] = []
    for signal, group in groupby(sorted(bounds, key=_signal), key=_signal):
        found: tuple[Floats, Floats] | None = None
        for bound in group:
            column = _state(results, bound)
            if column is not None:
                t = results.t
            else:
                found = found or _values(results, engine, signal)
                t, column = found[0], found[1][:, bound.entry]
            crossed += [c for c in [_crossed(bound, t, column)] if c]
    joints = [c for c in crossed if c.bound.kind != "pose"]
    if joints:
        warn(_text_of_joints(joints))
    for block, errors in groupby((c for c in crossed if c.bound.kind == "pose"), key=_block):
        warn(_text_of_pose(block, list(errors)))


def _state(results: Results, bound: Bound) -> Floats | None:
    """The bounded quantity, (N,), if it is a state of the plant."""
    part = {"position": "qm", "velocity": "um"}.get(bound.kind)
    names = results.state_names.get(bound.block, ())
    name = f"{part}.{bound.label}"
    if part is None or name not in names:
        return None
    column: Floats = results.states[bound.block][:, names.index(name)]
    return column


def _values(results: Results, engine: Engine, signal: str) -> tuple[Floats, Floats]:
    """The times (N,) and a signal there, flat (N, entries)."""
    t = results.t
    if signal in results.signals:
        return t, results.signals[signal].reshape(len(t), -1)
    rows = np.unique(np.linspace(0, len(t) - 1, min(len(t), MOST_ROWS)).astype(int))
    kept = {name: results.states[name][rows] for name in (*engine.continuous, *engine.sampled)}
    with np.errstate(all="ignore"):
        values = engine.over([signal], t[rows], *vectors_of(engine, kept, len(rows)))[0]
    return t[rows], values.reshape(len(rows), -1)


def _signal(bound: Bound) -> str:
    return bound.signal


def _crossed(bound: Bound, t: Floats, values: Floats) -> _Crossed | None:
    off = np.maximum(values - bound.upper, bound.lower - values)
    size = max(abs(x) for x in (bound.lower, bound.upper) if np.isfinite(x))
    beyond = off > MARGIN * max(size, 1e-3)
    if not beyond.any():
        return None
    k, worst = int(np.argmax(beyond)), int(np.argmax(np.nan_to_num(off, nan=-np.inf)))
    time = float(t[k])
    if k and off[k - 1] < 0:  # straight lines hold between rows
        time -= float((t[k] - t[k - 1]) * off[k] / (off[k] - off[k - 1]))
    return _Crossed(bound, time, float(values[k]), float(values[worst]))


def _block(crossed: _Crossed) -> str:
    return crossed.bound.block


def _text_of_joints(crossed: list[_Crossed]) -> str:
    crossed = sorted(crossed, key=lambda c: c.time)
    lines = [_line(c) for c in crossed[:MOST_NAMED]]
    if len(crossed) > MOST_NAMED:
        lines.append(f"and {len(crossed) - MOST_NAMED} more limits")
    text = "joints do not keep their limits: " + "; ".join(lines)
    held = sorted({c.bound.effects for c in crossed if c.bound.kind != "velocity"})
    if not held:
        return f"{text}\n  no effect limits rates: give slower commands, or other limits"
    which = " or ".join(f"effects: [{effects}]" for effects in held)
    return f"{text}\n  give the robot {which} to let them act, or other commands or limits"


def _line(c: _Crossed) -> str:
    b = c.bound
    limit = b.upper if c.first > b.upper else b.lower
    return (
        f"{b.label} of {b.block} passes its {b.kind} limit of {limit:.4g} {b.unit} at "
        f"t = {c.time:.6g} s, and goes to {c.worst:.4g}"
    )


def _text_of_pose(block: str, crossed: list[_Crossed]) -> str:
    crossed = sorted(crossed, key=lambda c: c.time)
    listed = ", ".join(f"{c.first:.3g} {c.bound.unit}" for c in crossed)
    worst = ", ".join(f"{c.worst:.3g} {c.bound.unit}" for c in crossed)
    return (
        f"{block} (IK) does not reach its pose: from t = {crossed[0].time:.6g} s it is off by "
        f"{listed}, at most by {worst}\n"
        "  the pose may be out of reach, or far from q0: check with sb.ik; "
        "more iterations follow faster"
    )


# --- Checks of signals ----------------------------------------------------------------------------


def warn_of_checks(results: Results, engine: Engine) -> None:
    """Emit a warning for each block of a check that has failed, with the time."""
    states = {**results.final_state.continuous, **results.final_state.discrete}
    for block, text in engine.display.checks.items():
        since = float(states[block][0])
        if since >= 0:
            warn(f"block {block}: {text}, at t = {since:.6g} s")

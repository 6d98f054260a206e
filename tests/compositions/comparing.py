"""Whether two outcomes of one diagram agree.

Runs of continuous states have rtol 1e-9: what they reach differs by that times the number of
steps and what the diagram makes of it, less than TOLERANCE here, as loops contract. What is
sampled alone is arithmetic of a few operations; a row at a crossing, which is located to 1e-10 s,
differs by that times a slope: EXACT.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np

from compositions.outcomes import Outcome

TOLERANCE = 2e-6
EXACT = 1e-8
LOCATED = 1e-6  # s
BESIDE = 1e-9  # s; the two rows of an instant are closer than this
LOOSE = 4e-3
"""Between instants a record is straight lines, true to a thousandth of a signal's range."""


SIDEWAYS = 1e-3
"""And of times, relative to the run."""


def differences(one: Outcome, other: Outcome, exact: bool) -> list[str]:
    """What differs, a line each; empty if they agree."""
    if one.error or other.error:
        return [] if ended_alike(one, other) else [f"error: {one.error!r} | {other.error!r}"]
    tolerance = EXACT if exact else TOLERANCE
    found = list(in_events(one, other))
    if len(one.t) and len(other.t):
        found += in_rows(one, other, tolerance)
    found += in_readings(one, other, tolerance)
    found += in_final(one, other, tolerance)
    return found


def ended_alike(one: Outcome, other: Outcome) -> bool:
    """Whether both failed, with the same first words."""
    return bool(one.error and other.error)


def in_events(one: Outcome, other: Outcome) -> Iterator[str]:
    if not (len(one.t) and len(other.t)):
        return
    mine, theirs = (sorted(o.events, key=lambda e: (e[1], e[0], e[2])) for o in (one, other))
    kinds = [Counter((e[1], e[2]) for e in events) for events in (mine, theirs)]
    if kinds[0] != kinds[1]:
        more, less = kinds[0] - kinds[1], kinds[1] - kinds[0]
        yield f"events: more {dict(more)}, less {dict(less)}"
        return
    for a, b in zip(mine, theirs, strict=True):
        if abs(a[0] - b[0]) > LOCATED:
            yield f"event {a[1]} {a[2]}: at {a[0]!r} | {b[0]!r}"
            return


def instants(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the first and the last row of each instant: rows closer than BESIDE are one's."""
    near = np.concatenate([[False], np.diff(t) < BESIDE, [False]])
    return np.flatnonzero(~near[:-1] & near[1:]), np.flatnonzero(near[:-1] & ~near[1:])


def in_rows(one: Outcome, other: Outcome, tolerance: float) -> Iterator[str]:
    """Both sides of common instants closely; of an instant of one alone there must be no jump; all
    else as straight lines."""
    if abs(one.t[-1] - other.t[-1]) > LOCATED:
        yield f"end: {one.t[-1]!r} | {other.t[-1]!r}"
        return
    gridded = len(one.t) == len(other.t) and not len(instants(one.t)[0])
    for name in one.signals:
        a, b = one.signals[name], other.signals[name]
        size = max(1.0, np.abs(b).max(initial=0.0))
        if gridded:
            distance = np.abs(a - b).max(axis=1)
            if distance.max() > tolerance * size:
                i = int(np.argmax(distance > tolerance * size))
                yield f"signal {name} at {float(one.t[i])!r}: {a[i].tolist()} | {b[i].tolist()}"
            continue
        for when, left, right in both_sides(one.t, a, other.t, b):
            if left > tolerance * size or right > tolerance * size:
                yield f"signal {name} at {when!r}: differs by {left:.3g} before, {right:.3g} after"
                break
        else:
            loose = between(one.t, a, other.t, b)
            if loose[1] > LOOSE * size:
                yield f"signal {name} at {loose[0]!r}: differs by {loose[1]:.3g} between rows"


def both_sides(
    ta: np.ndarray, a: np.ndarray, tb: np.ndarray, b: np.ndarray
) -> Iterator[tuple[float, float, float]]:
    """Of instants in both records: when, and the distances before and after; also those of the
    start and the end. Where one record has an instant and the other none, the jump of it."""
    (firsts, lasts), (theirs, ends) = instants(ta), instants(tb)
    yield float(ta[0]), *[float(np.abs(a[0] - b[0]).max())] * 2
    yield float(ta[-1]), *[float(np.abs(a[-1] - b[-1]).max())] * 2
    at = np.searchsorted(tb[theirs], ta[firsts] - LOCATED)
    for i, last, k in zip(firsts, lasts, at, strict=True):
        if k < len(theirs) and abs(tb[theirs[k]] - ta[i]) <= LOCATED:
            before, after = a[i] - b[theirs[k]], a[last] - b[ends[k]]
            yield float(ta[last]), float(np.abs(before).max()), float(np.abs(after).max())


def between(ta: np.ndarray, a: np.ndarray, tb: np.ndarray, b: np.ndarray) -> tuple[float, float]:
    """The largest distance of rows that are not near an instant from the other's straight lines,
    and when."""
    worst = (0.0, 0.0)
    edges = np.sort(np.concatenate([ta[instants(ta)[0]], tb[instants(tb)[0]], [-1.0]]))
    place = np.searchsorted(edges, ta)
    near = np.minimum(
        np.abs(edges[np.minimum(place, len(edges) - 1)] - ta),
        np.abs(edges[np.maximum(place - 1, 0)] - ta),
    )
    # A jump of what has no state may be drawn as a steep line: so the value may be one nearby.
    wide = SIDEWAYS * (ta[-1] - ta[0])
    for k in range(a.shape[1]):
        nearby = np.array([np.interp(ta + s * wide, tb, b[:, k]) for s in (-1, -0.5, 0, 0.5, 1)])
        beyond = np.maximum(a[:, k] - nearby.max(axis=0), nearby.min(axis=0) - a[:, k])
        distance = beyond * (near > 10 * LOCATED)
        i = int(np.argmax(distance))
        if distance[i] > worst[1]:
            worst = (float(ta[i]), float(distance[i]))
    return worst


def in_readings(one: Outcome, other: Outcome, tolerance: float) -> Iterator[str]:
    for name in one.readings.keys() & other.readings.keys():
        a, b = one.readings[name], other.readings[name]
        # Within steps they are those of polynomials through five points, on which a jump of what
        # has no state is found to about 1e-5 s.
        allowed = max(tolerance, 1e-4) * max(1.0, abs(b))
        if not abs(a - b) <= allowed and not (np.isnan(a) and np.isnan(b)):
            yield f"metric {name}: {a!r} | {b!r}"


def in_final(one: Outcome, other: Outcome, tolerance: float) -> Iterator[str]:
    for name in one.final.keys() & other.final.keys():
        a, b = np.ravel(one.final[name]), np.ravel(other.final[name])
        if a.shape != b.shape:
            yield f"final {name}: shape {a.shape} | {b.shape}"
        elif len(a) and not np.abs(a - b).max() <= tolerance * max(1.0, np.abs(b).max()):
            yield f"final {name}: {a.tolist()} | {b.tolist()}"


def from_reference(rows: list[Any], outcome: Outcome) -> list[str]:
    """What differs from the reference's rows: the first of each signal, in order of time."""
    if outcome.error:
        return [f"error: {outcome.error!r}"]
    found = []
    for name, values in outcome.signals.items():
        block = name.partition(".")[0].partition("/")[0]
        if block in rows[0][1]:
            wrong = next(wrong_of(block, rows, outcome.t, values[:, 0]), None)
            if wrong is not None:
                when, side, value, want = wrong
                text = f"signal {name} {side} {float(when)!r}: {value!r}, not {want!r}"
                found.append((when, text))
    return [text for _, text in sorted(found)]


def wrong_of(
    block: str, rows: list[Any], t: np.ndarray, values: np.ndarray
) -> Iterator[tuple[Any, str, float, float]]:
    """Where a signal differs from the reference's rows: when, on which side, what it is, and what
    it would be. Between instants it is compared where the reference has it constant."""
    last, held = -1, None
    for when, between, left, right in rows:
        i = int(np.searchsorted(t, float(when) - BESIDE))
        k = int(np.searchsorted(t, float(when) + BESIDE, "right")) - 1
        for j in range(last + 1, i) if held == between[block] == left[block] else ():
            if abs(values[j] - float(held)) > 1e-9:
                yield when, f"at {float(t[j])!r}, before", float(values[j]), float(held)
        if k > i and when > 0 and abs(values[i] - float(left[block])) > 1e-9:
            yield when, "before", float(values[i]), float(left[block])
        if k >= i and abs(values[k] - float(right[block])) > 1e-9:
            yield when, "at", float(values[k]), float(right[block])
        last, held = k, right[block]

"""Notes for the user on what the record of a run leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from spart_blocks.diagram.network.clocks import Clock, exact
from spart_blocks.run.record.record import STEP_ROWS
from spart_blocks.run.run import Run

_NAMED = 3
"""Number of blocks that a note names."""


def record_notes(run: Run) -> Iterator[str]:
    """Notes on a record with fewer rows than lines need, and on samples between which
    events lie.
    """
    if run.crowded_at is not None:
        yield (
            f"the record is not accurate everywhere: from t = {run.crowded_at:.6g} s on "
            f"signals need more than {STEP_ROWS:,} rows in a step, as noise does; give max_step, "
            "or keep samples"
        )
    every = float(run.samples.every)
    record = run.recorder
    if record.stretch is not None:
        yield (
            f"the record was full and is thinned: of each {record.stretch:.4g} s it has the rows "
            "with the least and the greatest value of each signal; a signal that was not kept is "
            "computed at these rows; metrics and claims are measured in all steps"
            + (f"; every row is in {record.stream.path}" if record.stream else "")
        )
    events, kept = run.events, len(run.events.kept)
    if events.total > kept:
        most = ", ".join(f"{name} {n:,}" for name, n in events.counts.most_common(_NAMED))
        yield (
            f"of {events.total:,} events the {kept:,} first and last of each block are kept; most "
            f"are those of {most}" + (f"; all are in {record.stream.path}" if record.stream else "")
        )
    if run.options.every is None:
        return
    start, end, interval = run.start, run.t, run.samples.every
    missed = [(_missed(clock, interval, start, end), clock) for clock in run.clocks]
    passed = [
        f"{_counted(count, 'tick')} of the clock of {float(clock.period):g} s"
        for count, clock in missed
        if count
    ]
    known = sum(
        _off_samples(first + k * period, period, min(end, first + (k + count) * period), interval)
        for first, period, k, count in run.known.series
    )
    times = {exact(event.t) for event in events.kept}
    crossed = _off_grid(times, interval, start, end)
    passed += [_counted(known, "switch")] if known else []
    some = "at least " if events.total > kept else ""
    passed += [some + _counted(crossed, "crossing")] if crossed else []
    if passed:
        yield (
            f"samples every {every:g} s pass over {', '.join(passed)}; "
            "without run.every both sides of each are kept"
        )


def _counted(count: int, what: str) -> str:
    plural = "es" if what.endswith("ch") else "s"
    return f"{count:,} {what}{'' if count == 1 else plural}"


def _off_grid(times: Iterable[Fraction], every: Fraction, start: Fraction, end: Fraction) -> int:
    """Number of these times that lie between samples."""
    return sum(start < t < end and t % every != 0 for t in times)


def _missed(clock: Clock, every: Fraction, start: Fraction, end: Fraction) -> int:
    """Number of ticks of a clock that lie between samples."""
    first = clock.time(clock.first_tick_from(start))
    return _off_samples(first, clock.period, end, every)


def _off_samples(first: Fraction, period: Fraction, end: Fraction, every: Fraction) -> int:
    """Number of the times first, first + period, ... before the end that are no multiples of
    `every`.
    """
    count = max(math.ceil((end - first) / period), 0)
    unit = math.lcm(first.denominator, period.denominator, every.denominator)
    a, b, m = (int(time * unit) for time in (first, period, every))
    common = math.gcd(b, m)
    if a % common:
        return count
    # a + k b = 0 modulo m: one k in each cycle.
    cycle = m // common
    k = -(a // common) * pow(b // common, -1, cycle) % cycle
    return count - (1 + (count - 1 - k) // cycle if k < count else 0)

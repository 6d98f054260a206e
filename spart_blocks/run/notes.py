"""Notes for the user on what the record of a run leaves out."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from fractions import Fraction

from spart_blocks.diagram.network.clocks import Clock, exact
from spart_blocks.run.record.record import STEP_ROWS
from spart_blocks.run.run import Run


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
            "with the least and the greatest value of each signal; metrics and claims are measured "
            "in all steps" + (f"; every row is in {record.stream.path}" if record.stream else "")
        )
    if run.options.every is None:
        return
    start, end = run.start, run.t
    missed = [(_missed(clock, run.samples.every, start, end), clock) for clock in run.clocks]
    passed = [
        f"{_counted(count, 'tick')} of the clock of {float(clock.period):g} s"
        for count, clock in missed
        if count
    ]
    known = _off_grid(run.known, run.samples.every, start, end)
    crossed = _off_grid({exact(event.t) for event in run.events}, run.samples.every, start, end)
    passed += [_counted(known, "switch")] if known else []
    passed += [_counted(crossed, "crossing")] if crossed else []
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
    first = clock.first_tick_from(start)
    count = max(math.ceil((end - clock.time(first)) / clock.period), 0)
    # Ticks fall on samples in a pattern that repeats.
    cycle = (clock.period / every).denominator
    met = [k for k in range(min(cycle, count)) if clock.time(first + k) % every == 0]
    on_samples = sum(1 + (count - 1 - k) // cycle for k in met)
    return count - on_samples

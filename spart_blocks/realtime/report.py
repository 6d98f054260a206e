"""The report of a real-time run: its deadlines and its processor load."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from spart_blocks.base import html
from spart_blocks.base.errors import Fault, InputError
from spart_blocks.realtime.loop import Loop
from spart_blocks.realtime.report_drawing import figure
from spart_blocks.realtime.structs import (
    CAUSES,
    NANO,
    Durations,
    Ended,
    end_text,
)
from spart_blocks.results.files import write_whole
from spart_blocks.results.plots import render

SUFFIXES = (".json", ".png")
PERCENTILES = (50.0, 99.0, 99.9)
_CAUSES = {
    "step": "by the step itself, which took longer than a period",
    "links": "by receiving and sending, or what the system did meanwhile",
    "wake-up": "because the machine woke the loop too late",
    "interrupt": "because the machine preempted the loop during the step",
}


Counts = Mapping[str, Mapping[str, int | str]]


@dataclass(frozen=True, repr=False)
class Report:
    """The report of a real-time run.

    name: of the subdiagram. rate [Hz], method, policy, T [s]: options of the run. ended:
    reason of the end. seconds: duration of the run. steps: number of steps computed. skipped:
    number of steps skipped. stale: number of steps with inputs older than their timeout. missed:
    number of missed deadlines by cause: 'step' (it used the processor for longer than a period),
    'links' (only with receiving and sending did it), 'wake-up' and 'interrupt' (the machine woke
    the loop too late, or preempted it). latency: from a deadline to the wake-up. shorter,
    longer: deviation of a period from its nominal length. step: duration of output and update.
    response: from a deadline until the outputs are sent. cpu_share: fraction of one processor used
    by the loop. system: what the system granted. fault: the block that reported one, and what is
    wrong. links: counters of each link, by its name.
    dropped: number of rows of signals that were dropped.
    """

    name: str
    rate: float
    method: str
    policy: str
    T: float | None
    ended: Ended
    seconds: float
    steps: int
    skipped: int
    stale: int
    missed: Mapping[str, int]
    latency: Durations
    shorter: Durations
    longer: Durations
    step: Durations
    response: Durations
    cpu_share: float
    system: tuple[str, ...] = ()
    fault: str = ""
    links: Counts = field(default_factory=dict)
    dropped: int = 0

    def __repr__(self) -> str:
        missed = sum(self.missed.values())
        return (
            f"<report of {self.name}: {self.steps} steps at {self.rate:g} Hz, "
            f"{missed} deadlines missed; {self.why}>"
        )

    def _repr_html_(self) -> str:
        """HTML for notebooks: the percentiles as a table, the rest as text."""
        shown = [*_heading(self), *_missed(self), *_links(self)]
        return html.preformatted("\n".join(shown)) + html.table(*_table(self))

    @property
    def complete(self) -> bool:
        """Whether the run reached its end, was interrupted if it has no end, or was ended by a STOP
        block.
        """
        endless = self.T is None and self.ended is Ended.ASKED
        return endless or self.ended in (Ended.DONE, Ended.MODEL_STOPPED)

    @property
    def why(self) -> str:
        """The reason why it ended."""
        return end_text(self.ended, self.fault)

    @property
    def jitter(self) -> Durations:
        """Deviations of periods from their nominal length, in both directions."""
        return self.shorter.together(self.longer)

    def summary(self) -> str:
        """A page of text."""
        return "\n".join([*_heading(self), *_missed(self), *_percentiles(self), *_links(self),
                          *_bars(self)])  # fmt: skip

    def save(self, path: str | Path) -> Path:
        """Write the report: .json (all data) or .png (a figure). Returns the path.

        Raises InputError for another suffix, and if the file cannot be written.
        """
        target = Path(path).expanduser()
        suffix = target.suffix.lower()
        if suffix == ".json":
            write_whole(target, (json.dumps(self.plain(), indent=1) + "\n").encode())
        elif suffix == ".png":
            write_whole(target, render(self.plot(), "png"))
        else:
            hint = f"end it in {' or '.join(SUFFIXES)}"
            raise InputError(Fault(f"cannot write a report as {target.name!r}", hint=hint))
        return target

    def plot(self) -> Any:
        """The figure that `save` writes, as a Matplotlib figure."""
        missed, own = sum(self.missed.values()), self.missed["step"]
        title = f"{self.name}: {self.steps} steps at {self.rate:g} Hz"
        return figure(
            f"{self.name} in real time",
            f"{title}, {missed} deadlines missed, {own} by the step itself",
            self.rate,
            (self.shorter, self.longer),
            {"step": self.step, "wake-up": self.latency, "outputs sent": self.response},
        )

    def plain(self) -> dict[str, Any]:
        """The whole report as plain data. Times are in seconds."""
        kinds = ("latency", "jitter", "shorter", "longer", "step", "response")
        plain: dict[str, Any] = {
            key: getattr(self, key)
            for key in ("name", "rate", "method", "policy", "T", "seconds", "steps", "skipped")
        }
        return plain | {
            "ended": self.ended.name.lower(),
            "why": self.why,
            "complete": self.complete,
            "stale": self.stale,
            "missed": dict(self.missed),
            "cpu_share": self.cpu_share,
            "dropped": self.dropped,
            "system": list(self.system),
            "links": {name: dict(counts) for name, counts in self.links.items()},
            "durations": {kind: _plain(getattr(self, kind)) for kind in kinds},
        }


def report_of(loop: Loop, links: Counts | None = None, more: Sequence[str] = ()) -> Report:
    """The report of a loop that has ended. links: their counters. more: lines about the system."""
    struct, schedule = loop.struct, loop.code.schedule
    elapsed = max(struct.ended_ns - struct.begun_ns, 1)
    kinds = ("latency", "shorter", "longer", "step", "response")
    return Report(
        name=loop.code.part.program.name,
        rate=float(schedule.rate),
        method=schedule.method,
        policy=loop.options.policy,
        T=loop.options.T,
        ended=loop.ended,
        fault=loop.fault,
        seconds=elapsed * NANO,
        steps=struct.steps,
        skipped=struct.skipped,
        stale=struct.stale,
        missed=dict(zip(CAUSES, struct.missed, strict=True)),
        cpu_share=struct.cpu_ns / elapsed,
        system=(*loop.granted, *more),
        links=links or {},
        dropped=loop.signals.dropped + loop.recorded.dropped,
        **{kind: Durations.of(getattr(struct, kind)) for kind in kinds},
    )


def _plain(durations: Durations) -> dict[str, Any]:
    percentiles = {f"p{q:g}": durations.percentile(q) for q in PERCENTILES}
    numbers = percentiles | {"max": durations.longest, "count": durations.count}
    plain = {key: None if math.isnan(value) else value for key, value in numbers.items()}
    return {**plain, "bins": durations.rows()}


# --- text --------------------------------------------------------------------------------


def _heading(report: Report) -> list[str]:
    left = f", {report.skipped} skipped" if report.skipped else ""
    stale = f", {report.stale} with stale inputs" if report.stale else ""
    lines = [
        f"{report.name}: {report.why} after {report.seconds:.6g} s",
        f"  steps            {report.steps} at {report.rate:g} Hz{left}{stale}",
        f"  processor        {100 * report.cpu_share:.3g} % of one",
    ]
    return lines + [f"  system           {line}" for line in report.system]


def _missed(report: Report) -> list[str]:
    total = sum(report.missed.values())
    lines = [f"  deadlines missed {total}"]
    return lines + [f"    {report.missed[cause]:<6} {_CAUSES[cause]}" for cause in CAUSES] * bool(
        total
    )


_ROWS = {
    "step": "the step (output and update)",
    "latency": "wake-up after the deadline",
    "response": "outputs sent after the deadline",
    "jitter": "period jitter",
}


def _percentiles(report: Report) -> list[str]:
    heads, rows = _table(report)
    return [
        f"  {title:<34}" + "".join(f"{cell:>10}" for cell in cells)
        for title, *cells in (heads, *rows)
    ]


def _table(report: Report) -> tuple[list[str], list[list[str]]]:
    """The heads and rows of the percentiles, as texts."""
    rows = []
    for kind, title in _ROWS.items():
        durations: Durations = getattr(report, kind)
        values = [*map(durations.percentile, PERCENTILES), durations.longest]
        rows.append([title, *map(duration, values)])
    return ["", *(f"p{q:g}" for q in PERCENTILES), "max"], rows


def duration(seconds: float) -> str:
    """A duration as text, in a suitable unit."""
    if math.isnan(seconds):
        return "-"
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds * 1e9:.0f} ns"


def _links(report: Report) -> list[str]:
    lines = ["links"] if report.links else []
    for name, counts in report.links.items():
        numbers = {what: n for what, n in counts.items() if isinstance(n, int) and n}
        told = ", ".join(f"{n} {what}" for what, n in numbers.items())
        lines.append(f"  {name} ({counts.get('at', '')}): {told or 'no frames'}")
    if report.dropped:
        lines.append(f"  {report.dropped} rows of signals were not read in time and are lost")
    return lines


_STEPS = (1e-6, 3e-6, 1e-5, 3e-5, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2, 3e-2, 0.1, 0.3, 1.0, math.inf)
_BAR = 40


def _bars(report: Report) -> list[str]:
    """The period jitter as a histogram with logarithmic bars."""
    bounds = (0.0, *_STEPS)
    pairs = list(pairwise(bounds))
    rows = [(f"shorter by {_range(a, b)}", report.shorter.between(a, b)) for a, b in pairs[:0:-1]]
    near = report.shorter.between(*pairs[0]) + report.longer.between(*pairs[0])
    rows.append((f"within {duration(_STEPS[0])}", near))
    rows += [(f"longer by {_range(a, b)}", report.longer.between(a, b)) for a, b in pairs[1:]]
    filled = [number for number, (_, count) in enumerate(rows) if count]
    if not filled:
        return []
    rows = rows[filled[0] : filled[-1] + 1]
    most = math.log1p(max(count for _, count in rows))
    lines = ["period jitter: number of periods (bars are logarithmic)"]
    for title, count in rows:
        bar = "#" * math.ceil(_BAR * math.log1p(count) / most)
        lines.append(f"  {title:<28}{count:>9}  {bar}".rstrip())
    return lines


def _range(low: float, high: float) -> str:
    return (
        f"{duration(low)} or more" if math.isinf(high) else f"{duration(low)} to {duration(high)}"
    )

"""Response of a signal to the last step of its reference, measured while a run proceeds."""

from __future__ import annotations

import math

import numpy as np

from spart_blocks.run.measure.gauges import (
    BAND,
    LEAST_STEP,
    NODES,
    RISE,
    Floats,
    Meter,
    Panels,
    Readings,
)

_SAME = 1e-9
"""A change of a reference below this fraction of its largest magnitude counts as none."""


class StepAnswer(Meter):
    """The responses of m signals to their references: values (P, 5, 2 m), the signals first.

    The step is where the reference jumps from one constant value to its last, or the start
    where the reference is constant and the signal starts elsewhere. A reference that still
    moves at the end, or that glides to its last value, has no step.
    Source: Astrom and Murray, Feedback Systems (2nd ed.), section 6.3 (step response, with
    10 to 90 % and 2 %); MATLAB's stepinfo.
    """

    def __init__(self, width: int) -> None:
        self.answers = [_Answer() for _ in range(width)]

    def take(self, panels: Panels) -> None:
        lasting = panels.end > panels.start  # a step at the end of a run has no answer in it
        panels = Panels(panels.start[lasting], panels.end[lasting], panels.y[lasting])
        if not len(panels.start):
            return
        width = len(self.answers)
        for k, answer in enumerate(self.answers):
            answer.take(panels.column(slice(k, k + 1)), panels.y[:, :, width + k])

    def read(self) -> Readings:
        rows = np.array([answer.read() for answer in self.answers]).reshape(-1, 3)
        return dict(zip(("rise_time", "settling_time", "overshoot_percent"), rows.T, strict=True))

    def instants(self) -> Readings:
        """When the step was (`begin`), its answer reached the first and second fraction of it
        (`low`, `high`), was last outside the band (`left`), and was largest (`when_most`).
        """
        rows = np.array([answer.instants() for answer in self.answers]).reshape(-1, 5)
        return dict(zip(("begin", "low", "high", "left", "when_most"), rows.T, strict=True))


class _Answer:
    """The response of one signal."""

    def __init__(self) -> None:
        self.size = 0.0  # of the reference
        self.before: float | None = None  # the reference's last value
        self.flat = True  # whether the reference was constant in the last panel
        self.begin(None)

    def begin(self, step: tuple[float, float, float] | None) -> None:
        """Set the step, (time, value before, value after), or None."""
        self.step = step
        self.reached: list[float | None] = [None for _ in RISE]
        self.left = math.nan  # when it was outside the band last
        self.outside = False  # whether it is now
        self.most = -math.inf  # as a fraction of the step
        self.when_most = math.nan
        self.largest_error = 0.0

    def take(self, panels: Panels, reference: Floats) -> None:
        self.size = max(self.size, float(np.abs(reference).max()))
        near = _SAME * self.size
        flat = np.ptp(reference, axis=1) <= near
        starts, ends = reference[:, 0], reference[:, -1]
        first = self.before is None
        before = np.concatenate([[starts[0] if self.before is None else self.before], ends[:-1]])
        was_flat = np.concatenate([[self.flat], flat[:-1]])
        jumps = np.abs(starts - before) > near
        self.before, self.flat = float(ends[-1]), bool(flat[-1])
        breaks = np.flatnonzero(jumps | ~flat)
        begin = 0
        if first and not (len(breaks) and breaks[-1] > 0):
            self.begin((panels.start[0], float(panels.y[0, 0, 0]), float(ends[0])))
        if len(breaks):
            begin = int(breaks[-1])
            if not flat[begin] or not was_flat[begin]:
                self.begin(None)
                return
            self.begin((panels.start[begin], float(panels.y[begin, 0, 0]), float(starts[begin])))
        if self.step is not None:
            rest = slice(begin, None)
            self._measure(Panels(panels.start[rest], panels.end[rest], panels.y[rest]))

    def _measure(self, panels: Panels) -> None:
        assert self.step is not None
        begin, start, final = self.step
        self.largest_error = max(self.largest_error, float(np.abs(panels.y - final).max()))
        if final == start:
            return
        part = Panels(panels.start, panels.end, (panels.y - start) / (final - start))
        times, values = (a[:, :, 0] for a in part.fine())
        top = int(values.argmax())
        if values.flat[top] > self.most:
            self.most, self.when_most = float(values.flat[top]), float(times.flat[top])
        for k, level in enumerate(RISE):
            above = np.flatnonzero((values >= level).any(axis=1))
            if self.reached[k] is None and len(above):
                p = int(above[0])
                j = int(np.flatnonzero(values[p] >= level)[0])
                at = _meets(part, p, times[p], j, level) if j else float(times[p, 0])
                self.reached[k] = at - begin
        out = np.abs(values - 1.0) > BAND
        far = np.flatnonzero(out.any(axis=1))
        if len(far):
            p = int(far[-1])
            j = int(np.flatnonzero(out[p])[-1])
            level = 1.0 + math.copysign(BAND, values[p, j] - 1.0)
            ends = j == out.shape[1] - 1
            self.left = float(part.end[p]) if ends else _meets(part, p, times[p], j + 1, level)
        self.outside = bool(out[-1, -1])

    def read(self) -> tuple[float, float, float]:
        none = (math.nan, math.nan, math.nan)
        if self.step is None:
            return none
        begin, start, final = self.step
        if abs(final - start) <= LEAST_STEP * self.largest_error or final == start:
            return none
        low, high = (math.nan if t is None else t for t in self.reached)
        settled = 0.0 if math.isnan(self.left) else self.left - begin
        over = 100.0 * max(self.most - 1.0, 0.0)
        return high - low, math.nan if self.outside else settled, over

    def instants(self) -> tuple[float, float, float, float, float]:
        begin = math.nan if self.step is None else self.step[0]
        low, high = (math.nan if t is None else begin + t for t in self.reached)
        return begin, low, high, self.left, self.when_most


def _meets(panels: Panels, p: int, times: Floats, j: int, level: float) -> float:
    """The time at which the polynomial of panel p reaches a level between its fine times j - 1 and
    j.
    """
    low, high = float(times[j - 1]), float(times[j])
    start, length = float(panels.start[p]), float(panels.end[p] - panels.start[p])
    powers = np.polynomial.Polynomial.fit(NODES, panels.y[p, :, 0], 4, domain=[0, 1], window=[0, 1])

    def above(t: float) -> bool:
        return bool(powers((t - start) / length) > level)

    side = above(low)
    for _ in range(60):
        middle = 0.5 * (low + high)
        if above(middle) == side:
            low = middle
        else:
            high = middle
    return high

"""Derivatives of what is read of the answer y to a step of a reference r from y0 to r1.

A level y0 + f (r1 - y0) moves along a direction by dL = (1 - f) dy0 + f dr1. The time at which y
passes it moves by (dL - dy) / y', or with an instant of the run at which y jumps past it. The
settling time is the last such time, with f = 1.02 or 0.98; overshoot is an extreme value.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np

from spart_blocks.diagram.sections.run_options import RunOptions
from spart_blocks.gradients.forward import Look
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.signal_tangents import SignalTangents
from spart_blocks.gradients.tangents import Floats
from spart_blocks.run.measure.gauges import BAND, RISE, Readings

Takes = Iterator[tuple[float, Callable[[list[Look]], None]]]
"""Times [s] at which to look at a run, each with what to do there."""

SAME = 1e-8
"""A difference below this fraction of a step counts as none."""
ROUNDING = 1e-12
"""An answer that exceeds the end of its step by less than this fraction approaches it."""
APART = 1e-6
"""Largest relative difference between two derivatives on both sides of an instant."""


@dataclass
class StepChanges:
    """The changes of the readings of one element of a step's answer.

    answer, reference: the signals; k, r: the element in each. end [s]: the end of the measurement.
    options: of the run. changes: of each reading (m,). refused: the error
    for each reading that has no derivative.
    """

    answer: SignalTangents
    reference: SignalTangents
    k: int
    r: int
    end: float
    options: RunOptions
    changes: dict[str, Floats] = field(default_factory=dict)
    refused: dict[str, NoGradientError] = field(default_factory=dict)
    _times: dict[str, Floats] = field(default_factory=dict)

    def takes(self, read: Readings, instants: Readings) -> Takes:
        """The times to look at. read, instants: of the gauge, by element."""
        when = {name: float(values[self.k]) for name, values in instants.items()}
        over = float(read["overshoot_percent"][self.k])
        if math.isnan(over):
            text = f"{self._name} answers no step of {self.reference.signal}"
            error = NoGradientError(text, time=self.end)
            self.refused = dict.fromkeys(("rise_time", "settling_time", "overshoot_percent"), error)
            return
        yield when["begin"], self._begin
        yield from self._rise(when)
        if math.isnan(read["settling_time"][self.k]):
            text = f"{self._name} is outside its band of {100 * BAND:g} % at the end"
            self.refused["settling_time"] = NoGradientError(text, time=self.end)
        else:
            yield when["left"], self._settled
        yield when["when_most"], self._most
        yield self.end, self._ended

    def _rise(self, when: dict[str, float]) -> Takes:
        for name, fraction in zip(("low", "high"), RISE, strict=True):
            if math.isnan(when[name]):
                text = f"{self._name} does not reach {100 * fraction:g} % of the step"
                self.refused.setdefault("rise_time", NoGradientError(text, time=self.end))
                return
            yield when[name], self._passes("rise_time", name, fraction)

    @property
    def _name(self) -> str:
        return self.answer.signal

    # --- looks -----------------------------------------------------------------------------

    def _begin(self, looks: list[Look]) -> None:
        look = looks[-1]
        self._begun = look.dt
        self._start, self._final = (
            self.answer.value(look)[self.k],
            self.reference.value(look)[self.r],
        )
        self._dstart = self.answer.moving(look)[self.k]
        self._dfinal = self.reference.change(look)[self.r]

    def _passes(self, reading: str, name: str, fraction: float) -> Callable[[list[Look]], None]:
        def take(looks: list[Look]) -> None:
            try:
                self._times[name] = self._passed(looks, fraction)
            except NoGradientError as error:
                self.refused.setdefault(reading, error)

        return take

    def _settled(self, looks: list[Look]) -> None:
        share = (self.answer.value(looks[0])[self.k] - self._start) / self._step
        level = 1.0 + math.copysign(BAND, share - 1.0)
        self._passes("settling_time", "left", level)(looks)

    def _most(self, looks: list[Look]) -> None:
        values = [self.answer.value(look)[self.k] for look in looks]
        which = len(looks) - 1 - int(np.argmax(np.array(values[::-1]) / self._step))
        share = (values[which] - self._start) / self._step
        change = self.answer.of_extreme(looks[which], self.k) - self._level_change(share)
        over = change / self._step if share > 1.0 + ROUNDING else np.zeros_like(change)
        self.changes["overshoot_percent"] = 100.0 * over

    def _ended(self, looks: list[Look]) -> None:
        """The end, where all times are known."""
        last = self.reference.change(looks[-1])[self.r]
        if np.abs(last - self._dfinal).max(initial=0.0) > APART * (
            1 + np.abs(last).max(initial=0.0)
        ):
            text = f"{self.reference.signal} is constant here, and moves with other parameters"
            error = NoGradientError(text, time=self.end)
            for name in ("rise_time", "settling_time", "overshoot_percent"):
                self.refused.setdefault(name, error)
        none = np.zeros_like(self._begun)
        times = {name: self._times.get(name, none) for name in ("low", "high", "left")}
        self.changes["rise_time"] = times["high"] - times["low"]
        self.changes["settling_time"] = times["left"] - self._begun

    # --- levels ----------------------------------------------------------------------------

    @property
    def _step(self) -> float:
        return float(self._final - self._start)

    def _level_change(self, fraction: float) -> Floats:
        return np.asarray((1.0 - fraction) * self._dstart + fraction * self._dfinal)

    def _passed(self, looks: Sequence[Look], fraction: float) -> Floats:
        """How the time moves at which the answer passes a fraction of the step (m,)."""
        level = self._start + fraction * self._step
        sides = [self.answer.value(look)[self.k] - level for look in (looks[0], looks[-1])]
        if abs(sides[1] - sides[0]) > SAME * abs(self._step) and sides[0] * sides[1] <= 0:
            return looks[-1].dt  # it jumps past the level
        moves = [self._crossing(look, level, self._level_change(fraction)) for look in looks]
        off = np.abs(moves[-1] - moves[0]).max(initial=0.0)
        if off > APART * np.abs(moves).max():
            text = f"{self._name} bends where it passes {100 * fraction:g} % of its step"
            raise NoGradientError(text, time=looks[-1].at.t)
        return moves[-1]

    def _crossing(self, look: Look, level: float, change: Floats) -> Floats:
        """The same on one side of an instant, by the implicit function theorem at the crossing
        itself, a little beside the look. level, change: its value and its changes.
        """
        slope, bend = self.answer.slope(look)[self.k], self.answer.bend(look)[self.k]
        moves = change - self.answer.change(look)[self.k]
        slack = self.options.atol + self.options.rtol * abs(level)
        if 0.5 * slope**2 <= slack * abs(bend) or slope == 0.0:
            if not moves.any():
                return np.asarray(moves)
            text = f"{self._name} grazes the level {level:.6g} at which it is timed"
            raise NoGradientError(text, time=look.at.t)
        beside = (level - self.answer.value(look)[self.k]) / slope
        moves = moves - beside * self.answer.change_of_slope(look)[self.k]
        return np.asarray(moves / (slope + beside * bend))

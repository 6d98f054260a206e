"""The least-squares problem of a fit: what is estimated, and the errors of the runs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from spart_blocks.diagram.sections.robot_section import QUANTITIES
from spart_blocks.fits.free import Free, Kind, Placement, Space
from spart_blocks.fits.measurements import Measured
from spart_blocks.gradients.signals import signal_changes
from spart_blocks.gradients.tangents import Floats
from spart_blocks.run.engines.native import Native
from spart_blocks.sweeps.plan.source import dotted, matter_of, slots_of

START = 0.0
"""Where runs start [s]."""


@dataclass(frozen=True)
class Trial:
    """One run of a fit. columns: of each measured signal among all that are followed. placement: of
    what is estimated.
    """

    name: str
    engine: Native
    signals: tuple[str, ...]
    measured: tuple[Measured, ...]
    columns: tuple[slice, ...]
    placement: Placement
    sensors: Mapping[tuple[int, Kind], Free]
    hold_out: bool


@dataclass(frozen=True)
class Modelled:
    """Of one signal in one run: the samples as the run has them (n, w), and their derivatives
    (n, w, k) by the estimated entries.
    """

    modelled: Floats
    slopes: Floats


@dataclass(frozen=True)
class Problem:
    """A fit. sds: the standard deviations (w,) of the noise of each measured signal's elements by
    name, as given, or as supposed until they are known better.
    """

    free: tuple[Free, ...]
    trials: tuple[Trial, ...]
    sds: Mapping[str, Floats]

    @cached_property
    def space(self) -> Space:
        """The space of what is estimated."""
        return Space(self.free)

    @property
    def size(self) -> int:
        """The number of estimated entries."""
        return self.space.size

    @property
    def used(self) -> list[Trial]:
        """The runs that are fitted."""
        return [trial for trial in self.trials if not trial.hold_out]

    def parameters(self, trial: Trial, values: Floats) -> Floats:
        """The parameters of the program of a run with these values of all that is estimated."""
        return trial.placement.parameters(trial.engine.program.p, values)

    def of(self, trial: Trial, values: Floats) -> list[Modelled]:
        """The signals of a run with these values of all that is estimated. Raises RunError."""
        p = self.parameters(trial, values)
        entries, moves = trial.placement.directions(len(p))
        engine = trial.engine.with_parameters(p)
        asked = [m.times - self._delay(trial, k, values) for k, m in enumerate(trial.measured)]
        times = np.unique(np.maximum(np.concatenate(asked), START))
        run = signal_changes(engine, trial.signals, moves, times)
        found = []
        for k, part in enumerate(trial.columns):
            rows = np.searchsorted(times, np.maximum(asked[k], START))
            modelled = run.values[rows, part]
            slopes = np.zeros((*modelled.shape, self.size))
            slopes[:, :, entries] = run.changes[rows, part]
            bias, delay = (trial.sensors.get((k, kind)) for kind in ("bias", "delay"))
            if bias is not None:
                modelled = modelled + values[bias.part]
                for j in range(modelled.shape[1]):
                    slopes[:, j, bias.part.start + (j if bias.shape else 0)] += 1.0
            if delay is not None:
                late = np.where(asked[k] >= START, 1.0, 0.0)[:, None]
                slopes[:, :, delay.part.start] -= late * run.rates[rows, part]
            found.append(Modelled(modelled, slopes))
        return found

    def weight(self, one: Measured) -> Floats:
        """By what the errors of a signal's elements (w,) are multiplied."""
        return np.asarray(np.sqrt(one.weight) / self.sds[one.signal])

    def residuals(self, values: Floats) -> tuple[Floats, Floats]:
        """The weighted errors (n,) of the fitted runs, modelled minus measured, and their
        derivatives (n, k)."""
        errors, slopes = [], []
        for trial in self.used:
            for one, found in zip(trial.measured, self.of(trial, values), strict=True):
                weight = self.weight(one)
                errors.append((weight * (found.modelled - one.values)).ravel())
                slopes.append((weight[:, None] * found.slopes).reshape(-1, self.size))
        return np.concatenate(errors), np.concatenate(slopes)

    def parted(self, residuals: Floats) -> Iterator[tuple[Trial, Measured, Floats]]:
        """Each fitted signal with its errors (n, w) among the weighted ones of all."""
        at = 0
        for trial in self.used:
            for one in trial.measured:
                part = residuals[at : at + one.values.size].reshape(one.values.shape)
                at += one.values.size
                yield trial, one, part / self.weight(one)

    @staticmethod
    def _delay(trial: Trial, k: int, values: Floats) -> float:
        free = trial.sensors.get((k, "delay"))
        return 0.0 if free is None else float(values[free.part][0])


def of_robot(one: Free, problem: Problem) -> bool:
    """Whether a quantity is a mass, a centre of mass or an inertia, which stands in no diagram."""
    slots = slots_of(problem.trials[0].engine.program)
    robots = {name.rpartition(".")[0] for name in slots if name.endswith(QUANTITIES)}
    matter = matter_of(dotted(one.name), [*robots])
    return one.body is not None or (matter is not None and ".".join(matter[:2]) in slots)

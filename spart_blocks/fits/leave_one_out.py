"""Cross validation: each experiment is predicted by the estimates of the others.

Source: M. Stone, "Cross-Validatory Choice and Assessment of Statistical Predictions", J. Royal
Statistical Society B 36 (1974).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from spart_blocks.base.errors import Fault, InputError
from spart_blocks.diagram.sections.fit_section import FitSection
from spart_blocks.fits.fitted_signal import FittedSignal
from spart_blocks.fits.problem import Problem
from spart_blocks.fits.search import Found, without
from spart_blocks.fits.statistics import Statistics
from spart_blocks.gradients.tangents import Floats
from spart_blocks.sweeps.statistics.tables import Tables, TextTable, percent

FAR = 3.0
"""Standard errors by which an estimate moves that is told."""
MOST_NOTES = 5

Begun = Callable[[str], None]
"""Called with the name of each experiment that is left out."""


@dataclass(frozen=True)
class LeaveOneOut(Tables):
    """Cross validation of a fit. Printed, it is a table.

    labels (k,) of the estimates, together (k,) those of all experiments with their standard errors
    (k,), and by the experiment that is left out their values (k,) from the others. signals: of each
    experiment as the others predict it. fitted: the same signals as all fit them. What an
    experiment alone estimates (initial states, biases, delays) is as all have it.
    """

    labels: tuple[str, ...]
    together: Floats
    errors: Floats
    values: dict[str, Floats]
    signals: tuple[FittedSignal, ...]
    fitted: tuple[FittedSignal, ...]

    def tables(self) -> list[TextTable]:
        rows = []
        fitted = {(one.experiment, one.signal): one for one in self.fitted}
        for one in self.signals:
            with_it = fitted[one.experiment, one.signal]
            rows.append((one.experiment, one.signal, f"{with_it.rms:.4g}", f"{one.rms:.4g}",
                         percent(with_it.explained), percent(one.explained)))  # fmt: skip
        head = ("left out", "signal", "rms error fitted", "predicted", "explained fitted",
                "predicted")  # fmt: skip
        return [TextTable(head, rows)]

    def notes(self) -> list[str]:
        moved = []
        for name, values in self.values.items():
            with np.errstate(invalid="ignore", divide="ignore"):
                off = abs(values - self.together) / self.errors
            moved += [(float(off[k]), name, self.labels[k]) for k in np.flatnonzero(off > FAR)]
        return [f"without {name}, {label} moves by {off:.1f} standard errors: the experiments "
                "differ in what the model lacks" for off, name, label
                in sorted(moved, reverse=True)[:MOST_NOTES]]  # fmt: skip


def check_several(problem: Problem) -> None:
    """Refuse cross validation with a single experiment."""
    if len(problem.used) < 2:
        text = "cross validation leaves out one experiment of two or more, and there is one"
        raise InputError(Fault(text, hint="give the parts of a long one apart, by since and until"))


def leave_one_out(
    found: Found,
    statistics: Statistics,
    section: FitSection,
    fitted: tuple[FittedSignal, ...],
    begun: Begun | None = None,
) -> LeaveOneOut:
    """Cross validation of the end of a search. Raises InputError with a single experiment, RunError
    for a run that fails, KeyboardInterrupt.
    """
    problem = found.problem
    check_several(problem)
    values: dict[str, Floats] = {}
    signals: list[FittedSignal] = []
    for trial in problem.used:
        if begun is not None:
            begun(trial.name)
        own = [k for one in problem.free if one.experiment == trial.name
               for k in range(one.part.start, one.part.stop)]  # fmt: skip
        trials = tuple(replace(one, hold_out=True) if one is trial else one
                       for one in problem.trials)  # fmt: skip
        others = without(replace(found, problem=replace(problem, trials=trials)), section, own)
        values[trial.name] = others.values
        signals += _predicted(others, trial.name)
    labels = tuple(problem.space.labels)
    return LeaveOneOut(labels, found.values, statistics.errors, values, tuple(signals), fitted)


def _predicted(found: Found, name: str) -> Iterator[FittedSignal]:
    trial = next(one for one in found.problem.trials if one.name == name)
    for one, there in zip(trial.measured, found.problem.of(trial, found.values), strict=True):
        yield FittedSignal(name, one.signal, one.times, one.values, there.modelled, True)

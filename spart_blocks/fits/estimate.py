"""The result of a fit: estimates with their intervals, and the errors that are left."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, counted, warn
from spart_blocks.diagram.sections.fit_section import FitSection
from spart_blocks.fits.fitted_signal import FittedSignal
from spart_blocks.fits.leave_one_out import Begun, LeaveOneOut, leave_one_out
from spart_blocks.fits.pictures import pictures
from spart_blocks.fits.problem import Problem, of_robot
from spart_blocks.fits.profile import Profile, check_profiles, profile_of
from spart_blocks.fits.search import INTERRUPTED, Found
from spart_blocks.fits.starts import plain, starting_at, values_of_file
from spart_blocks.fits.statistics import Statistics, statistics_of
from spart_blocks.program import Program
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.sweeps.statistics.tables import Tables, TextTable, percent

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DOUBTFUL = 0.5
"""Standard error relative to its value above which an estimate is doubtful."""
CORRELATED = 0.95
SUSPICIOUS = 0.01
_FORMAT = "spart_blocks fit 1"


@dataclass(frozen=True)
class Fit(Tables):
    """Estimates of parameters from measurements. Printed, it is a table.

    values: by name a number or an array; a parameter of one experiment is 'plant.x0 (step)', a
    sensor's 'bias of motor.w (step)'. statistics: standard errors, intervals, correlations and what
    cannot be told apart, by entry. signals: each measured signal with the model's. found: the end
    of the search.
    """

    title: str
    section: FitSection
    found: Found
    statistics: Statistics
    signals: tuple[FittedSignal, ...]

    @staticmethod
    def of(found: Found, section: FitSection, title: str) -> Fit:
        """The result of a search."""
        statistics = statistics_of(found, section.confidence)
        signals = [
            FittedSignal(trial.name, one.signal, one.times, one.values, one.values + errors, False)
            for trial, one, errors in found.problem.parted(found.residuals)
        ]
        for trial in (trial for trial in found.problem.trials if trial.hold_out):
            predicted = found.problem.of(trial, found.values)
            signals += [
                FittedSignal(trial.name, one.signal, one.times, one.values, there.modelled, True)
                for one, there in zip(trial.measured, predicted, strict=True)
            ]
        order = [trial.name for trial in found.problem.trials]
        signals.sort(key=lambda one: order.index(one.experiment))
        made = Fit(title, section, found, statistics, tuple(signals))
        if not found.ended and found.why != INTERRUPTED:
            warn(f"the fit has not ended: {found.why}; --iterations allows more")
        return made

    @property
    def ended(self) -> bool:
        """Whether the search found an end by itself."""
        return self.found.ended

    @property
    def why(self) -> str:
        """Why it ended."""
        return self.found.why

    @property
    def squares(self) -> float:
        """The sum of the weighted squared errors, as the loss counts them."""
        return 2 * self.found.cost

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The estimates by name, numbers or arrays in the shape of the parameter."""
        values = self.statistics.values
        return {name: value for one in self.found.problem.free
                for name, value in one.named(values).items()}  # fmt: skip

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def overrides(self) -> dict[str, Any]:
        """The estimates that hold in all experiments, as `simulate(overrides=)` takes them; without
        those of robots, which stand in their files: `program` has them all."""
        problem = self.found.problem
        shared = (one for one in problem.free
                  if one.experiment is None and not of_robot(one, problem))  # fmt: skip
        return {one.name: np.asarray(self.values[one.label]).tolist() for one in shared}

    @property
    def program(self) -> Program:
        """The program of the first experiment with the estimates, to be simulated."""
        problem = self.found.problem
        trial = problem.trials[0]
        return trial.engine.with_parameters(problem.parameters(trial, self.found.values)).program

    # --- as text --------------------------------------------------------------------------

    @property
    def above(self) -> str:  # type: ignore[override]
        end = self.why if self.ended else f"not at its end: {self.why}"
        used = sum(one.measured.size for one in self.signals if not one.hold_out)
        return f"{self.title}: {counted(used, 'number')} measured, " \
               f"{counted(self.found.steps, 'step')}, {end}"  # fmt: skip

    def tables(self) -> list[TextTable]:
        base = [self.base_table()] if self._lost else []
        return [self.estimates_table(), *base, self.signals_table()]

    @property
    def _lost(self) -> int:
        """How many inertial parameters of links are not told apart."""
        return 10 * len(self.found.problem.space.bodies) - len(self.statistics.base)

    def base_table(self) -> TextTable:
        """What the measurements tell of links: their base parameters."""
        rows = []
        for one in self.statistics.base:
            known = np.isfinite(one.error)
            error = f"{one.error:.2g}" if known else ""
            about = "" if known else "not identifiable"
            if known and one.error > DOUBTFUL * abs(one.value):
                about = "not told from zero" if one.error > abs(one.value) / 2 else about
            rows.append((one.name, f"{one.value:.7g}", error, about, str(one)))
        return TextTable(("base parameter", "estimate", "standard error", "", "sum"), rows)

    def estimates_table(self) -> TextTable:
        """Each estimate with its standard error and interval."""
        s, share = self.statistics, f"{100 * self.section.confidence:g} %"
        rows = []
        for k, label in enumerate(s.labels):
            known = np.isfinite(s.errors[k]) and not s.held[k]
            about = "at its bound" if s.held[k] else "" if known else "not identifiable"
            if known and s.errors[k] > DOUBTFUL * abs(s.values[k]):
                about = "doubtful"
            interval = f"{s.low[k]:.5g} to {s.high[k]:.5g}" if known else ""
            error = f"{s.errors[k]:.2g}" if known else ""
            rows.append((label, f"{s.values[k]:.7g}", error, interval, about))
        return TextTable(("parameter", "estimate", "standard error", share, ""), rows)

    def signals_table(self) -> TextTable:
        """Each signal with what the model does not explain."""
        rows = []
        for one in self.signals:
            white = one.whiteness
            p = "" if white is None else "< 0.001" if white.p < 0.001 else f"{white.p:.3f}"
            kind = "held out" if one.hold_out else "fitted"
            share = percent(one.explained)
            rows.append((one.experiment, one.signal, kind, f"{one.rms:.4g}", share, p))
        head = ("experiment", "signal", "", "rms error", "explained", "p of white errors")
        return TextTable(head, rows)

    def notes(self) -> list[str]:
        notes = [f"not identifiable: {one}" for one in self.statistics.combinations]
        lost, base = self._lost, len(self.statistics.base)
        if lost:
            notes.append(f"of the {lost + base} inertial parameters the measurements tell {base} "
                         f"sums, the base parameters; {lost} others are as near to the start as "
                         "these allow")  # fmt: skip
        r, labels = self.statistics.correlation, self.statistics.labels
        pairs = [(abs(r[i, j]), i, j) for i in range(len(labels)) for j in range(i)]
        for size, i, j in sorted((one for one in pairs if one[0] > CORRELATED), reverse=True)[:5]:
            notes.append(f"{labels[j]} and {labels[i]} are correlated by {r[i, j]:+.4f}: "
                         f"their intervals hide what they share ({size:.2f} of 1)")  # fmt: skip
        coloured = [one for one in self.signals if not one.hold_out and one.whiteness is not None
                    and one.whiteness.p < SUSPICIOUS]  # fmt: skip
        if coloured:
            names = ", ".join(dict.fromkeys(one.signal for one in coloured))
            notes.append(f"the errors of {names} are no white noise: the model lacks something, "
                         "or the noise is coloured; the intervals are too narrow then")  # fmt: skip
        return notes

    def leave_one_out(self, begun: Begun | None = None) -> LeaveOneOut:
        """Cross validation: each fitted experiment as the others predict it, and how the estimates
        move without it. A search for each. begun: called with the name of each experiment. Raises
        InputError with a single experiment.
        """
        fitted = tuple(one for one in self.signals if not one.hold_out)
        return leave_one_out(self.found, self.statistics, self.section, fitted, begun)

    def profile(self, name: str) -> Profile:
        """How the errors grow as one estimate is moved and all others follow, with the interval
        that this gives: right where that of the standard error is not. Its name is as in the table.
        It takes a search for each of its points. Raises InputError for an unknown name.
        """
        check_profiles(self.found.problem.space, [name])
        k = self.statistics.labels.index(name)
        return profile_of(self.found, self.statistics, self.section, k)

    # --- files ----------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the estimates with their statistics as JSON. Raises InputError."""
        target = as_path(path, "the file of a fit")
        if target.suffix.lower() != ".json":
            raise InputError(Fault(f"cannot write a fit to {target}", hint="end it in .json"))
        s = self.statistics
        content = {
            "format": _FORMAT,
            "diagram": self.title,
            "ended": self.why,
            "parameters": [
                {"name": label, "value": plain(s.values[k]), "error": plain(s.errors[k]),
                 "low": plain(s.low[k]), "high": plain(s.high[k])}
                for k, label in enumerate(s.labels)
            ],
            "base_parameters": [
                {"name": one.name, "sum": dict(one.parts), "value": plain(one.value),
                 "error": plain(one.error)}
                for one in s.base
            ],
            "not_identifiable": [dict(one.parts) for one in s.combinations],
            "signals": [
                {"experiment": one.experiment, "signal": one.signal, "held_out": one.hold_out,
                 "rms": plain(one.rms), "explained": plain(one.explained)}
                for one in self.signals
            ],
        }  # fmt: skip
        make_folder(target.parent)
        write_whole(target, (json.dumps(content, indent=2) + "\n").encode())
        return target

    def report(self, path: str | Path) -> Path:
        """Write a page with the estimates and pictures of the errors: .html."""
        from spart_blocks.fits.report import write_report

        return write_report(
            path, Path(self.title).name, (self.ended, self.above), self.tables(), self.notes(),
            self.statistics, self.signals,
        )  # fmt: skip

    def write(self, path: str | Path) -> None:
        """Write the estimates that hold in all experiments into a diagram's file, each with its
        interval as a comment; the rest of its text stays. Raises InputError.
        """
        from spart_blocks.fits.written import write_estimates

        write_estimates(Path(path), self.found.problem, self.statistics, self.section.confidence)

    def plot(self) -> list[Figure]:
        """Pictures: each signal with the model's and the errors, and the correlations."""
        return pictures(self.signals, self.statistics)


def started(problem: Problem, given: Fit | str | Path) -> Problem:
    """A problem that starts at the estimates of another fit, or of its file. Those that it lacks
    start as they did. Raises InputError for a file that holds none."""
    return replace(problem, free=starting_at(problem.free, _values_of(given)))


def _values_of(given: Fit | str | Path) -> Mapping[str, float]:
    if isinstance(given, Fit):
        s = given.statistics
        return dict(zip(s.labels, s.values.tolist(), strict=True))
    return values_of_file(given, "a fit", _FORMAT, "spart fit --out FILE.json")

"""The result of a search for a design: its parameters, and what became of all that was asked."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from spart_blocks.base.argument_checks import as_path
from spart_blocks.base.errors import Fault, InputError, counted
from spart_blocks.diagram.sections.tune_section import Quantile
from spart_blocks.fits.starts import plain, starting_at, values_of_file
from spart_blocks.gradients.tangents import Floats
from spart_blocks.results.files import make_folder, write_whole
from spart_blocks.sweeps.statistics.tables import Tables, TextTable
from spart_blocks.tunes.demands import Demand
from spart_blocks.tunes.optimality import ACTIVE, Optimality, held, optimality
from spart_blocks.tunes.pictures import pictures
from spart_blocks.tunes.problem import Problem
from spart_blocks.tunes.report import write_report
from spart_blocks.tunes.search import INTERRUPTED, STATIONARY, Found
from spart_blocks.tunes.written import write_design

if TYPE_CHECKING:
    from matplotlib.figure import Figure

MOST_CASES = 20
"""Largest number of cases in a table."""
_UNBALANCED = "the slopes of the objective and of the active constraints do not balance"
_FORMAT = "spart_blocks tune 1"


@dataclass(frozen=True)
class Judged:
    """One demand of a design, before the search and after it.

    before, after: the metric, as aggregated over the cases. slack: the distance from the bound,
    negative if it is beyond. case: the one that decides, "" for a mean. price: how much the
    objective changes with a unit of the bound, None if unknown.
    """

    name: str
    asked: str
    before: float
    after: float
    slack: float
    active: bool
    case: str
    price: float | None


@dataclass(frozen=True)
class Tuned(Tables):
    """A design. Printed, it is a table.

    found: the end of the search. optimality: what holds the design there, None if unknown.
    """

    title: str
    found: Found
    optimality: Optimality | None

    @staticmethod
    def of(found: Found, title: str) -> Tuned:
        """The result of a search."""
        held_by = optimality(found.problem, found.demands, found.best) if found.feasible else None
        return Tuned(title, found, held_by)

    @property
    def problem(self) -> Problem:
        """What was asked."""
        return self.found.problem

    @property
    def ended(self) -> bool:
        """Whether the search found an end by itself."""
        return self.found.ended

    @property
    def feasible(self) -> bool:
        """Whether all constraints hold."""
        return self.found.feasible

    @property
    def good(self) -> bool:
        """Whether the search has ended, and all constraints hold."""
        return self.ended and self.feasible

    @cached_property
    def values(self) -> Mapping[str, Any]:
        """The parameters by name, numbers or arrays in their shapes."""
        best = self.found.best.values
        return {one.name: one.shaped(best) for one in self.problem.space.free}

    @cached_property
    def before(self) -> Mapping[str, Any]:
        """Those that the search started from."""
        return {one.name: one.shaped(one.start) for one in self.problem.space.free}

    def __getitem__(self, name: str) -> Any:
        return self.values[name]

    @property
    def overrides(self) -> dict[str, Any]:
        """The parameters as `simulate(overrides=)` takes them."""
        return {name: np.asarray(value).tolist() for name, value in self.values.items()}

    @property
    def objective(self) -> float | None:
        """What is to be small or large, over the cases; None if there is no such thing."""
        return self._objective(self.found.best.numbers)

    @property
    def objective_before(self) -> float | None:
        """That of the start."""
        return self._objective(self.found.first)

    def _objective(self, numbers: Floats) -> float | None:
        if not self.problem.weights:
            return None
        return self._sign * float(self.found.demands.objective(numbers))

    @property
    def _sign(self) -> float:
        return -1.0 if self.problem.large else 1.0

    @cached_property
    def judged(self) -> tuple[Judged, ...]:
        """All demands, each before the search and after it."""
        return tuple(self._judged(k, one) for k, one in enumerate(self.found.demands.demands))

    def _judged(self, k: int, one: Demand) -> Judged:
        numbers = self.found.best.numbers
        excess = float(one.over_cases(numbers))
        price = None if self.optimality is None else self.optimality.prices.get(k, 0.0)
        return Judged(
            self.problem.label(one),
            f"{_WORDS[one.sign]} {one.bound:.6g}{_aggregate(one)}",
            one.aggregated(self.found.first),
            one.aggregated(numbers),
            0.0 - excess * one.scale,
            abs(excess) < ACTIVE,
            self.problem.cases[one.deciding(numbers)].name if one.aggregate != "mean" else "",
            None if price is None else price * self._sign,
        )

    # --- as text --------------------------------------------------------------------------

    @property
    def above(self) -> str:  # type: ignore[override]
        return f"{self.title}: {self.end}"

    @property
    def end(self) -> str:
        """How the search ended."""
        found = self.found
        runs = counted(found.evaluations, "design") + " tried"
        if len(self.problem.cases) > 1:
            runs += f" in {len(self.problem.cases)} cases"
        if not found.feasible:
            return f"{runs}, and none fulfils all constraints" + (
                "" if found.ended else f"; not at its end: {found.why}"
            )
        return f"{runs}, {found.why if found.ended else f'not at its end: {found.why}'}"

    def tables(self) -> list[TextTable]:
        found = [self.parameters_table(), self.demands_table()]
        return found if len(self.problem.cases) == 1 else [*found, self.cases_table()]

    def parameters_table(self) -> TextTable:
        """Each parameter before and after."""
        space, best = self.problem.space, self.found.best.values
        sides = held(self.problem, best)
        notes = {0.0: "", 1.0: "at its upper bound", -1.0: "at its lower bound"}
        rows = [
            (label, f"{space.start[k]:.6g}", f"{best[k]:.7g}", notes[float(sides[k])])
            for k, label in enumerate(space.labels)
        ]
        return TextTable(("parameter", "before", "after", ""), rows)

    def demands_table(self) -> TextTable:
        """The objective and the constraints, before and after."""
        rows = list(self._objective_rows()) if self.problem.weights else []
        for one in self.judged:
            note = "violated" if one.slack < 0 else "active" if one.active else ""
            case = one.case if len(self.problem.cases) > 1 else ""
            rows.append((one.name, one.asked, _number(one.before), _number(one.after),
                         f"{one.slack:.3g} {note}".rstrip(), case))  # fmt: skip
        return TextTable(("", "asked", "before", "after", "slack", "decided by"), rows)

    def _objective_rows(self) -> Iterator[tuple[str, ...]]:
        """The objective, and its parts in the case that decides if there are several."""
        problem, numbers, first = self.problem, self.found.best.numbers, self.found.first
        worst = int(np.argmax(self.found.demands.of_cases(numbers)))
        several = len(problem.cases) > 1 and problem.section.aggregate == "worst"
        words = "to be large" if problem.large else "to be small"
        yield ("objective", words, _number(self.objective_before), _number(self.objective), "",
               problem.cases[worst].name if several else "")  # fmt: skip
        if len(problem.weights) == 1 or not (several or len(problem.cases) == 1):
            return
        for name, weight in problem.weights.items():
            (k,) = (
                k for k, row in enumerate(problem.rows) if (row.name, row.case) == (name, worst)
            )
            words = "to be large" if weight < 0 else "to be small"
            words += "" if abs(weight) == 1 else f", times {abs(weight):g}"
            yield f"- {name}", words, _number(first[k]), _number(numbers[k]), "", ""

    def cases_table(self) -> TextTable:
        """The cases, those with the largest objective or excess first."""
        demands, numbers = self.found.demands, self.found.best.numbers
        of_cases = self._sign * demands.of_cases(numbers) if self.problem.weights else None
        before = self._sign * demands.of_cases(self.found.first) if self.problem.weights else None
        names = dict.fromkeys(one.name for one in demands.demands)
        excess = np.max([one.excess(numbers) for one in demands.demands], axis=0) \
            if demands.demands else np.zeros(len(self.problem.cases))  # fmt: skip
        key = excess if of_cases is None else self._sign * of_cases
        rows = []
        for k in np.argsort(-key, kind="stable")[:MOST_CASES]:
            row = [self.problem.cases[k].name]
            if of_cases is not None and before is not None:
                row += [_number(before[k]), _number(of_cases[k])]
            for name in names:
                some = [one for one in demands.demands if one.name == name]
                worst = max(some, key=lambda one: one.excess(numbers)[k])
                row.append(_number(numbers[worst.rows[k]]))
            rows.append(tuple(row))
        head = ("objective before", "after") if of_cases is not None else ()
        return TextTable(("case", *head, *names), rows)

    def notes(self) -> list[str]:
        return list(self._notes())

    def _notes(self) -> Iterator[str]:
        found = self.found
        if not found.feasible:
            yield from (f"not fulfilled: {one}" for one in self._lacking())
            yield "this is the design with the least violation that was found; loosen a bound"
        if self.optimality is not None:
            if self.optimality.residual > STATIONARY and found.why != INTERRUPTED:
                yield f"{_UNBALANCED} ({self.optimality.residual:.2g}): a design nearby may be " \
                      "better, or a metric has a kink here"  # fmt: skip
            for one in self.judged:
                if one.active and one.price:
                    yield f"{one.name}: a bound larger by 1 changes the objective by " \
                          f"{one.price:+.4g}"  # fmt: skip
        for name in found.idle:
            yield f"nothing that is asked depends on {name} in the designs that were tried"
        if found.refused[0]:
            yield f"{counted(found.refused[0], 'design')} had no numbers; the first: " \
                  f"{found.refused[1]}"  # fmt: skip
        if len(self.problem.cases) > MOST_CASES:
            yield f"{MOST_CASES} of {len(self.problem.cases)} cases are shown, the worst first"

    @property
    def lacking(self) -> str:
        """The constraint that is violated most, with how much it lacks; "" if all hold."""
        return next(self._lacking(), "")

    def _lacking(self) -> Iterator[str]:
        pairs = zip(self.judged, self.found.demands.demands, strict=True)
        for one, _ in sorted(pairs, key=lambda pair: pair[0].slack / pair[1].scale):
            if one.slack < 0:
                where = f" in {one.case}" if one.case and len(self.problem.cases) > 1 else ""
                yield f"{one.name} is {one.after:.6g}{where}, asked is {one.asked}: " \
                      f"off by {-one.slack:.3g}"  # fmt: skip

    # --- files ----------------------------------------------------------------------------

    def save(self, path: str | Path) -> Path:
        """Write the design with all that was asked as JSON. Raises InputError."""
        target = as_path(path, "the file of a design")
        if target.suffix.lower() != ".json":
            raise InputError(Fault(f"cannot write a design to {target}", hint="end it in .json"))
        demands, best = self.found.demands, self.found.best.numbers
        content = {
            "format": _FORMAT,
            "diagram": self.title,
            "ended": self.ended,
            "why": self.found.why,
            "feasible": self.feasible,
            "parameters": [
                {"name": label, "before": float(self.problem.space.start[k]),
                 "value": float(self.found.best.values[k])}
                for k, label in enumerate(self.problem.space.labels)
            ],
            "objective": {"before": plain(self.objective_before), "after": plain(self.objective)},
            "constraints": [
                {"name": one.name, "asked": one.asked, "before": plain(one.before),
                 "after": plain(one.after), "slack": plain(one.slack), "active": one.active,
                 "case": one.case, "price": plain(one.price)}
                for one in self.judged
            ],
            "cases": [
                {"name": case.name,
                 "objective": plain(self._sign * float(demands.of_cases(best)[k]))
                 if self.problem.weights else None,
                 "metrics": {
                     f"{row.name}[{row.element}]" if row.element else row.name: plain(number)
                     for row, number in zip(self.problem.rows, best, strict=True)
                     if row.case == case.number
                 }}
                for k, case in enumerate(self.problem.cases)
            ],
        }  # fmt: skip
        make_folder(target.parent)
        write_whole(target, (json.dumps(content, indent=2) + "\n").encode())
        return target

    def report(self, path: str | Path) -> Path:
        """Write a page with the design and pictures of its runs, before and after: .html."""
        word = "fulfilled" if self.good else "not ended" if self.feasible else "not fulfilled"
        name = Path(self.title).name
        return write_report(path, name, (self.good, word, self.end), self.tables(), self.notes(),
                            self.found)  # fmt: skip

    def plot(self) -> list[Figure]:
        """Pictures: the signals that the design is judged by in the cases that decide, before and
        after, and the objective in all cases."""
        return [figure for _, figure in pictures(self.found)]

    def write(self, path: str | Path) -> None:
        """Write the parameters into a diagram's file; the rest of its text stays. Raises
        InputError."""
        write_design(Path(path), self.problem.space, self.found.best.values)


_WORDS = {1: "at most", -1: "at least", 0: "equal to"}


def _aggregate(one: Demand) -> str:
    if one.aggregate == "worst":
        return ""
    if isinstance(one.aggregate, Quantile):
        return f" in {100 * one.aggregate.quantile:g} %"
    return " on average"


def _number(value: float | None) -> str:
    return "" if value is None or not np.isfinite(value) else f"{value:.6g}"


def started(problem: Problem, given: Tuned | str | Path) -> Problem:
    """A problem that starts at another design, or at that of its file. Parameters that it lacks
    start as they did. Raises InputError for a file that holds none."""
    return problem.starting(starting_at(problem.space.free, _values_of(given)))


def _values_of(given: Tuned | str | Path) -> Mapping[str, float]:
    if isinstance(given, Tuned):
        best = given.found.best.values.tolist()
        return dict(zip(given.problem.space.labels, best, strict=True))
    return values_of_file(given, "a design", _FORMAT, "spart tune DIAGRAM --out FILE.json")

"""Signals of a design in some of its cases, before the search and after it."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from spart_blocks.base.errors import RunError, SpartError, SpartWarning
from spart_blocks.formulas.values import names_in
from spart_blocks.measures.signal_formulas import kind_of
from spart_blocks.program import Program
from spart_blocks.run.simulate import simulate
from spart_blocks.sweeps.plan.assignments import Placed
from spart_blocks.tunes.cases import Case
from spart_blocks.tunes.search import Found

MOST_SIGNALS = 8
"""Largest number of signals of a case that are shown."""


@dataclass(frozen=True, eq=False)
class Histories:
    """Runs of one case. before, after: results, None where the run fails. signals: their names."""

    case: str
    signals: tuple[str, ...]
    before: Any
    after: Any


def histories(found: Found, most: int) -> Iterator[Histories]:
    """Those of the cases that decide, at most so many. Diagrams that cannot be traced have none."""
    problem = found.problem
    for number in deciding(found)[:most]:
        case = problem.cases[number]
        if not isinstance(case.placed, Placed):
            return
        signals = _signals(found, case.program)
        if signals:
            runs = [_run(case, values, signals) for values in
                    (problem.space.start, found.best.values)]  # fmt: skip
            yield Histories(case.name, signals, *runs)


def deciding(found: Found) -> list[int]:
    """The cases that decide the objective and the constraints, each once."""
    numbers, demands = found.best.numbers, found.demands
    cases: list[int] = []
    if found.problem.weights:
        cases.append(int(demands.of_cases(numbers).argmax()))
    order = sorted(demands.demands, key=lambda one: -float(one.over_cases(numbers)))
    cases += [one.deciding(numbers) for one in order]
    return list(dict.fromkeys(cases or [0]))


def _signals(found: Found, program: Program) -> tuple[str, ...]:
    """The signals that the metrics are of."""
    section = found.problem.section
    formulas = [one.metric for one in found.problem.constraints.values()]
    texts = [one.metric for one in (*section.minimize.values(), *section.maximize.values())]
    names = (name for text in (*texts, *formulas) for name in names_in(text))
    signals = (name for name in names if kind_of(program, name) == "signal")
    return tuple(dict.fromkeys(signals))[:MOST_SIGNALS]


def _run(case: Case, values: Any, signals: tuple[str, ...]) -> Any:
    p = case.placement.parameters(case.p, values)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SpartWarning)
            return simulate(replace(case.program, p=p), log=list(signals))
    except RunError as error:
        return error.results
    except SpartError:
        return None

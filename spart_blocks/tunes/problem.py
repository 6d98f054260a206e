"""The problem of a design: its parameters, the terms that depend on them, and what is asked."""

from __future__ import annotations

import ast
from collections.abc import Collection, Container, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, RunError
from spart_blocks.diagram.sections.tune_section import Constraint, TuneSection
from spart_blocks.fits.free import Free, Space
from spart_blocks.gradients.tangents import Floats
from spart_blocks.measures.formulas import MEASURES
from spart_blocks.measures.work import FileWork
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource
from spart_blocks.sweeps.plan.sweep_job import expectations
from spart_blocks.sweeps.run.executors import Runner
from spart_blocks.tunes.cases import Case, Cases
from spart_blocks.tunes.claims import claimed
from spart_blocks.tunes.demands import Demand, Demands, Sign, rows_of
from spart_blocks.tunes.frequency import (
    Frequencies,
    asked_of,
    constraints_of,
    places_of,
    weights_of,
)
from spart_blocks.tunes.runs import Runs
from spart_blocks.tunes.terms import Row, Term

LEAST_SCALE = 1e-12


@dataclass(frozen=True, eq=False)
class Point:
    """A design. values (k,). numbers (r,): of all terms. slopes (r, k): their derivatives, None
    where the search asks for none. whole: whether they are those of all cases."""

    values: Floats
    numbers: Floats
    slopes: Floats | None = None
    whole: bool = True


@dataclass(frozen=True, eq=False)
class Problem:
    """A design to be found. cases: their names. weights: of the metrics of the objective, negative
    for what is to be large. constraints: by name.
    """

    space: Space
    cases: tuple[Case, ...]
    terms: tuple[Term, ...]
    section: TuneSection
    weights: Mapping[str, float]
    constraints: Mapping[str, Constraint]

    @staticmethod
    def of(
        source: FileSource | MemorySource,
        section: TuneSection,
        runner: Runner,
        given: Collection[str] = (),
    ) -> Problem:
        """The problem of a section. given: its entries that are not those of the file. Raises
        InputError with what is wrong in it.
        """
        cases = Cases.of(source, section, given)
        place = None if "claims" in given else source.place("tune", "claims")
        expected = expectations(source)
        claims = claimed(expected.section if expected else None, section.claims, place)
        weights = {name: one.weight for name, one in section.minimize.items()}
        weights |= {name: -one.weight for name, one in section.maximize.items()}
        asked = asked_of(section)
        weights |= weights_of(asked)
        constraints = {**section.constraints, **claims, **constraints_of(asked)}
        if not weights and not constraints:
            text = "a design needs minimize, maximize, constraints, claims or frequency"
            raise InputError(Fault(text, hint="tune: {minimize: rms(error)}"))
        formulas = section.metrics() | {name: one.metric for name, one in claims.items()}
        formulas |= {name: smooth(one) for name, one in section.constraints.items()}
        keys = {name: section.keys(name) for name in section.metrics()}
        places = {name: None if one[0] in given else source.place("tune", *one)
                  for name, one in keys.items()}  # fmt: skip
        places |= dict.fromkeys(claims, place)
        known = {name: one for name, one in places.items() if one is not None}
        exact = section.search == "gradient"
        terms: tuple[Term, ...] = _runs(cases, formulas, known, runner, exact) if formulas else ()
        if asked:
            terms += (Frequencies(cases.space, cases.cases, source, section, asked),)
            places |= places_of(asked, source)
        problem = Problem(cases.space, cases.cases, terms, section, weights, constraints)
        problem._check_shapes(places)
        return problem

    def starting(self, free: tuple[Free, ...]) -> Problem:
        """The same with other starts of the parameters."""
        return replace(self, space=Space(free))

    @property
    def large(self) -> bool:
        """Whether the objective is to be large, and is shown with its own sign."""
        return bool(self.weights) and all(weight < 0 for weight in self.weights.values())

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """What the numbers of all terms are."""
        return tuple(row for term in self.terms for row in term.rows)

    def at(self, values: Floats, cases: Container[int] | None = None) -> Point:
        """A design with derivatives. cases: those of which they are asked for, None for all. Raises
        RunError where there are none.
        """
        found = [term.values(values, cases) for term in self.terms]
        numbers, slopes = (np.concatenate(part) for part in zip(*found, strict=True))
        wrong = np.flatnonzero(~(np.isfinite(numbers) & np.isfinite(slopes).all(axis=1)))
        if len(wrong):
            row = self.rows[wrong[0]]
            raise RunError(f"{row.name} is not finite in case {self.cases[row.case].name}")
        return Point(values.copy(), numbers, slopes, cases is None)

    def numbers(self, points: Floats) -> Floats:
        """The numbers (n, r) of designs (n, k); NaN where there are none."""
        found = np.concatenate([term.numbers(points) for term in self.terms], axis=1)
        return np.where(np.isfinite(found), found, np.nan)

    def demands(self, numbers: Floats) -> Demands:
        """What is asked. numbers (r,): of a typical design, for scales."""
        weights = np.zeros((len(self.cases), len(self.rows)))
        for k, row in enumerate(self.rows):
            weights[row.case, k] = self.weights.get(row.name, 0.0)
        asked = weights if self.weights else weights[:0]
        known = np.nan_to_num(numbers)
        size = float(abs(asked @ known).max(initial=0.0)) or 1.0
        found: list[Demand] = []
        for name, one in self.constraints.items():
            by_element = rows_of(self.rows, name)
            for sign, bound in _bounds(one):
                bounds = np.broadcast_to(np.ravel(bound), len(by_element))
                for element, rows in by_element.items():
                    found.append(
                        Demand(name, element, rows, sign, float(bounds[element]),
                               _scale(bounds[element], known[rows]), one.aggregate)
                    )  # fmt: skip
        return Demands(asked, self.section.aggregate, tuple(found), size)

    def label(self, demand: Demand) -> str:
        """The name of a demand, with its element where there are several."""
        several = len(rows_of(self.rows, demand.name)) > 1
        return f"{demand.name}[{demand.element}]" if several else demand.name

    def _check_shapes(self, places: Mapping[str, Place | None]) -> None:
        faults = []
        for name in self.weights:
            width = len(rows_of(self.rows, name))
            if width > 1:
                text = f"{name} is to be one number, and has {width} elements"
                faults.append(Fault(text, places[name], "take one, or norm(...) or max(...)"))
        for name, one in self.constraints.items():
            width = len(rows_of(self.rows, name))
            for _, bound in _bounds(one):
                if np.size(bound) not in (1, width):
                    text = f"{name} has {width} elements, its bound has {np.size(bound)}"
                    faults.append(Fault(text, places.get(name)))
        if faults:
            raise InputError(faults)


def smooth(one: Constraint) -> str:
    """The metric of a constraint, without a largest or smallest element around it that its bound
    makes needless: all elements of peak(tau) are at most 2 where max(peak(tau)) is, and these have
    derivatives where two of them are equal.
    """
    try:
        tree = ast.parse(one.metric.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return one.metric
    whole = {"max": one.min, "min": one.max}
    if isinstance(tree, ast.Call) and len(tree.args) == 1 and one.equal is None:
        outer, inner = (_called(node) for node in (tree, tree.args[0]))
        if outer in whole and whole[outer] is None and inner in MEASURES:
            return ast.unparse(tree.args[0]) if one.aggregate == "worst" else one.metric
    return one.metric


def _called(node: ast.expr) -> str:
    """The name of the function that a formula calls; "" if it calls none."""
    function = node.func if isinstance(node, ast.Call) else None
    return function.id if isinstance(function, ast.Name) else ""


def _bounds(one: Constraint) -> Sequence[tuple[Sign, Any]]:
    found: list[tuple[Sign, Any]] = [(0, one.equal), (-1, one.min), (1, one.max)]
    return [(sign, bound) for sign, bound in found if bound is not None]


def _scale(bound: float, numbers: Floats) -> float:
    """What counts as a unit of a constraint: its bound, or what the metric is at first."""
    if bound:
        return abs(float(bound))
    typical = float(abs(numbers).max(initial=0.0))
    return typical if typical > LEAST_SCALE else 1.0


def _runs(
    cases: Cases,
    formulas: Mapping[str, str],
    places: Mapping[str, Place],
    runner: Runner,
    exact: bool,
) -> tuple[Term, ...]:
    """The terms of the runs: one for each program."""
    groups: dict[int, list[Case]] = {}
    for case in cases.cases:
        key = -1 - case.number if isinstance(case.placed, FileWork) else id(case.program)
        groups.setdefault(key, []).append(case)
    terms = tuple(Runs(cases.space, tuple(some), formulas, places, runner, exact)
                  for some in groups.values())  # fmt: skip
    if len({_elements(term) for term in terms}) > 1:
        text = "a metric has different numbers of elements in different cases"
        raise InputError(Fault(text, hint="take elements that all cases have, as plant.qm[0]"))
    return terms


def _elements(term: Runs) -> tuple[tuple[str, int], ...]:
    """The metrics of each of its cases, and their elements."""
    first = term.rows[: len(term.rows) // len(term.cases)]
    return tuple((row.name, row.element) for row in first)

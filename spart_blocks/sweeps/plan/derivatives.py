"""The derivatives of metrics that a sweep asks for: by which parameters, and along which directions
of each of its programs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from spart_blocks.base.errors import Fault, InputError, Place, did_you_mean
from spart_blocks.diagram.sections.sweep_section import SweepSection
from spart_blocks.gradients.gradient import differentiable, directions_of
from spart_blocks.gradients.instants import NoGradientError
from spart_blocks.gradients.readings import Refusing
from spart_blocks.measures.metrics import aliases, derivative_labels
from spart_blocks.measures.signal_formulas import is_parameter
from spart_blocks.measures.work import Derivatives
from spart_blocks.program import Program
from spart_blocks.run.simulate import options_with
from spart_blocks.sweeps.plan.assignments import Placed
from spart_blocks.sweeps.plan.path_kinds import PathKinds

UNTRACED = "the diagram cannot be traced"
_MOST_KNOWN = 64

Shapes = Mapping[str, tuple[int, ...]]
PlaceOf = Callable[..., Place | None]
"""Gives the place in the file of an entry of the section `gradients`, by its keys."""


@dataclass(frozen=True, eq=False)
class AskedDerivatives:
    """The derivatives that a sweep asks for.

    formulas: of the metrics, by name. by: for each metric that is differentiated its parameters.
    shapes: of the parameters. varied: the paths that vary.
    """

    formulas: Mapping[str, str]
    by: Mapping[str, tuple[str, ...]]
    shapes: Shapes
    varied: tuple[str, ...]
    _known: dict[Any, tuple[Placed, Derivatives]] = field(default_factory=dict)

    @staticmethod
    def of(
        section: SweepSection,
        functions: Sequence[str],
        varied: Mapping[str, Any],
        kinds: Sequence[PathKinds],
        place: PlaceOf,
    ) -> AskedDerivatives:
        """Those of a section.

        functions: names of the metrics in Python. varied: the values of a run, by path. kinds: of
        the paths in each variant. Raises InputError with what is wrong in `gradients`.
        """
        by = _by_metric(section, functions, place)
        bases = [one.base.program for one in kinds if one.base is not None]
        if not bases:
            text = f"gradients: {UNTRACED}, so that its runs have no exact derivatives"
            raise InputError(Fault(text, place(), kinds[0].why or None))
        names = dict.fromkeys(name for some in by.values() for name in some)
        shapes = _shapes(tuple(names), bases, place)
        first = next(one for one in kinds if one.base is not None)
        _check_metrics(section.metrics, bases[0], first, varied, place)
        return AskedDerivatives(section.metrics, by, shapes, tuple(varied))

    def labels(self, widths: Mapping[str, int]) -> tuple[str, ...]:
        """The names of the columns. widths: of the metrics."""
        return tuple(
            label
            for metric, names in self.by.items()
            for name in names
            for label in derivative_labels(metric, widths[metric], name, self.shapes[name])
        )

    def plain(self, widths: Mapping[str, int]) -> dict[str, dict[str, dict[str, Any]]]:
        """The width of each metric and the shape of each of its parameters, for JSON."""
        return {
            metric: {
                name: {"width": widths[metric], "shape": list(self.shapes[name])} for name in names
            }
            for metric, names in self.by.items()
        }

    # --- of the runs of one program -------------------------------------------------------------

    def of_runs(self, placed: Placed) -> Derivatives:
        """Those of some runs; the same object for runs of one program and fault."""
        key = (id(placed.program), placed.fault.name)
        if key not in self._known:
            while len(self._known) >= _MOST_KNOWN:
                del self._known[next(iter(self._known))]
            # Kept with its program, so that the id stays that of this one.
            self._known[key] = (placed, self._made(placed))
        return self._known[key][1]

    def _made(self, placed: Placed) -> Derivatives:
        program = placed.program
        refused = {name: why for name in self.shapes if (why := self._lacking(program, name))}
        shapes = {name: shape for name, shape in self.shapes.items() if name not in refused}
        by = {m: tuple(n for n in names if n in shapes) for m, names in self.by.items()}
        by = {metric: names for metric, names in by.items() if names}
        constants = _constants(program, self.varied, placed.fixed, tuple(placed.fault.set))
        reasons = [*refused.values()]
        try:
            differentiable(self.formulas, program, constants=constants)
        except InputError as error:
            by, reasons = {}, [error.faults[0].message]
        changes = np.zeros((len(program.p), 0))
        if by:
            changes = _followed(directions_of(program, tuple(shapes))[1], placed)
        refusal = "; ".join(reasons)
        return Derivatives(self.formulas, by, shapes, changes, constants, refusal)

    def _lacking(self, program: Program, name: str) -> str | None:
        """Why a program has no such parameter; None if it has it."""
        try:
            shape = program.parameter_places(name)[0].shape
        except InputError as error:
            return error.faults[0].message
        if shape != self.shapes[name]:
            return f"{name} has shape {shape} here, not {self.shapes[name]}"
        return None


def _followed(changes: Any, placed: Placed) -> Any:
    """Directions (np, m) in which the value after a fault changes as that before it does, where the
    fault sets something else of the same parameter.
    """
    shift, set_by_fault = placed.structure.shift, placed.changed
    for entry in np.flatnonzero(changes.any(axis=1)).tolist():
        if shift[entry] != entry and entry not in set_by_fault:
            changes[shift[entry]] = changes[entry]
    return changes


def _constants(
    program: Program, varied: Sequence[str], fixed: Mapping[str, Any], instead: Sequence[str] = ()
) -> Refusing:
    """The varied values that metrics cannot read as parameters of a program, by path. fixed: those
    that are no parameters, which have derivatives of zero. instead: those that a fault sets, so
    that the parameter has another value than the one that varies: they are refused, as others are.
    """
    refused: dict[str, NoGradientError] = {}
    for path in (path for path in varied if path not in fixed):
        if path in instead:
            refused[path] = NoGradientError(f"{path} varies, and a fault sets it")
        elif not any(is_parameter(program, name) for name in aliases(path)):
            refused[path] = NoGradientError(f"it uses {path}, which is no parameter of that name")
    return Refusing({**fixed, **dict.fromkeys(refused, np.nan)}, refused)


# --- what is asked -------------------------------------------------------------------------------


def _by_metric(
    section: SweepSection, functions: Sequence[str], place: PlaceOf
) -> dict[str, tuple[str, ...]]:
    """For each metric that is differentiated its parameters. Raises InputError with all faults."""
    given, known = section.gradients, {*section.metrics, *functions}
    if not known:
        hint = "metrics: {miss: abs(final(x))} (--metric 'miss=abs(final(x))')"
        raise InputError(Fault("gradients are those of metrics, and there are none", place(), hint))
    alike = not isinstance(given, Mapping)
    by = dict.fromkeys([*section.metrics, *functions], given) if alike else dict(given)
    return (
        by if not (faults := list(_wrong(by, known, functions, alike, place))) else _raise(faults)
    )


def _raise(faults: Sequence[Fault]) -> Any:
    raise InputError(faults)


def _wrong(
    by: Mapping[str, Any], known: set[str], functions: Sequence[str], alike: bool, place: PlaceOf
) -> Iterator[Fault]:
    for metric in by:
        where = place() if alike else place(metric)
        if metric not in known:
            text = f"gradients: there is no metric {metric!r}"
            yield Fault(text, where, did_you_mean(metric, known))
        elif metric in functions:
            text = f"gradients: {metric} is a metric in Python, which has no exact derivative"
            others = "write it as a formula, or name the other metrics: gradients: {miss: [kp]}"
            yield Fault(text, where, others)


def _shapes(names: Sequence[str], programs: Sequence[Program], place: PlaceOf) -> Shapes:
    """The shapes of parameters, which each program has that has them. Raises InputError."""
    shapes: dict[str, tuple[int, ...]] = {}
    faults: list[Fault] = []
    for name in names:
        found, errors = set[tuple[int, ...]](), list[InputError]()
        for program in programs:
            try:
                found.add(program.parameter_places(name)[0].shape)
            except InputError as error:
                errors.append(error)
        if not found:
            fault = errors[0].faults[0]
            hint = fault.hint or _HINT
            faults.append(Fault(f"gradients: {fault.message}", place(name=name), hint))
        elif len(found) > 1:
            listed = " and ".join(map(str, sorted(found)))
            text = f"gradients: {name} has the shapes {listed} in different variants"
            faults.append(Fault(text, place(name=name), "take elements that all variants have"))
        else:
            shapes[name] = found.pop()
    if faults:
        raise InputError(faults)
    return shapes


_HINT = (
    "parameters are kp of params:, ctrl.kp, an element kp[0], an initial state plant.x0, and a "
    "mass sc.mass if tunable: names it"
)


def _check_metrics(
    formulas: Mapping[str, str],
    program: Program,
    kinds: PathKinds,
    varied: Mapping[str, Any],
    place: PlaceOf,
) -> None:
    """Raise InputError if metrics of a program have no derivatives, whatever the run."""
    fixed = {p: varied[p] for p in (*kinds.structural, *kinds.options) if p in varied}
    if "solver" in kinds.options.values():  # each run is told
        program = replace(program, run=options_with(program.run, {"solver": "auto"}))
    try:
        differentiable(formulas, program, constants=_constants(program, tuple(varied), fixed))
    except InputError as error:
        raise InputError(
            replace(fault, message=f"gradients: {fault.message}", place=place())
            for fault in error.faults
        ) from None

"""An optimal control problem: what is chosen, what is made least, and what must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from spart_blocks.base.errors import Fault, InputError, Place, brief
from spart_blocks.diagram.sections.bounds import Bounds, Limits
from spart_blocks.diagram.sections.optimize_section import OptimizeSection, Phase, Span
from spart_blocks.fits.free import Free, Placement, entries_of, value_at
from spart_blocks.fits.link_paths import LinkPaths
from spart_blocks.measures.metrics import Metrics
from spart_blocks.optimal.information import METRIC, Wanted, wanted
from spart_blocks.optimal.recorded import Recorded, with_constants
from spart_blocks.program import Program
from spart_blocks.program.added_signals import entries
from spart_blocks.program.slots import Places
from spart_blocks.results.columns import state_columns
from spart_blocks.run.engines.native import Native
from spart_blocks.run.measure.gauges import Gauge, Readings
from spart_blocks.sweeps.plan.memory_source import FileSource, MemorySource

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]

OBJECTIVE = "objective"


@dataclass(frozen=True)
class Limited:
    """Values that are limited. label: their formula. rows: their entries among all signals. low,
    high (n,).
    """

    label: str
    rows: Rows
    low: Floats
    high: Floats


@dataclass(frozen=True)
class PhaseProblem:
    """A phase. p (np,): the parameters in it, where they are not chosen. low, high (nu,): bounds of
    controls. T: its duration [s]. run: that of a run, or of its part.
    """

    name: str
    p: Floats
    low: Floats
    high: Floats
    T: Span
    run: float
    path: tuple[Limited, ...]
    end: tuple[Limited, ...]

    @property
    def start(self) -> float:
        """The duration at which the search starts [s]."""
        T = self.T
        if T.start is not None:
            return float(T.start)
        low = 0.0 if T.min is None else float(T.min)
        return min(max(low, self.run), np.inf if T.max is None else float(T.max))


@dataclass(frozen=True)
class MetricLimits:
    """A metric of the whole motion that is limited. low, high (n,)."""

    name: str
    label: str
    low: Floats
    high: Floats


@dataclass(frozen=True)
class Problem:
    """An optimal control problem. engine: with all signals that formulas need. sign: 1 to minimize,
    -1 to maximize. recorded: what DATA blocks gave in place of controls, if there are some. wanted:
    what measurements are to tell, if that is asked for.
    """

    engine: Native
    section: OptimizeSection
    metrics: Metrics
    sign: float
    control_places: Placement
    parameter_places: Placement
    phases: tuple[PhaseProblem, ...]
    constraints: tuple[MetricLimits, ...]
    recorded: Recorded | None = None
    wanted: Wanted | None = None

    @property
    def program(self) -> Program:
        """The program."""
        return self.engine.program

    @property
    def controls(self) -> tuple[Free, ...]:
        """What becomes functions of time."""
        return tuple(one for one, _ in self.control_places.placed)

    @property
    def parameters(self) -> tuple[Free, ...]:
        """What is chosen once."""
        return tuple(one for one, _ in self.parameter_places.placed)

    @cached_property
    def counts(self) -> tuple[int, int, int]:
        """The numbers of states, of controls and of what is chosen once."""
        nu, nq = (sum(len(one.start) for one in some) for some in (self.controls, self.parameters))
        return len(self.program.x0), nu, nq

    @cached_property
    def state_labels(self) -> tuple[str, ...]:
        """The name of each state, as results have it: 'states.plant.qm.elbow'."""
        program = self.program
        like = {slot.name: np.zeros((1, *slot.shape)) for slot in program.states}
        names = program.display.states
        return tuple(label for block in like for label in state_columns(block, like, names))

    @property
    def objective(self) -> str:
        """The text of the objective."""
        return str(self.section.minimize or self.section.maximize)


def whole(parts: Sequence[Floats]) -> Floats:
    """One vector."""
    return np.concatenate([np.zeros(0), *parts])


def problem_of(source: FileSource | MemorySource, section: OptimizeSection) -> Problem:
    """The problem of a section. Raises InputError with what is wrong in it; TraceError for a
    diagram that cannot be traced.
    """
    return _Making(source, section).problem()


class _Making:
    def __init__(self, source: FileSource | MemorySource, section: OptimizeSection) -> None:
        self.section = section
        self.source, self.recorded = with_constants(source, list(section.controls))
        source = self.source
        told = [] if section.information is None else section.information.parameters
        self.links = LinkPaths(source, told)
        paths = [*section.controls, *section.parameters, *told, *self.links.quantities]
        self.names = {keys: f"limit_{k}" for k, keys in enumerate(self._limited())}
        """The names of the metrics that are the final values of limited formulas, by their keys."""
        self.overrides = source.matter_overrides(paths, {})
        self.engine = source.engine({}, self.overrides)

    def _place(self, *keys: str) -> Place | None:
        return self.source.place("optimize", *keys)

    def problem(self) -> Problem:
        section, program = self.section, self.engine.program
        text = section.minimize or section.maximize
        if text is None:
            hint = "optimize: {minimize: duration, controls: {force: [-1, 1]}}"
            raise InputError(Fault("it has nothing to minimize or maximize", self._place(), hint))
        if not section.controls and not section.parameters:
            hint = "controls: {force.value: [-1, 1]}"
            raise InputError(Fault("it has no controls and no parameters", self._place(), hint))
        _refuse_sudden(program)
        controls = self._chosen(section.controls, "controls")
        parameters = self._chosen(section.parameters, "parameters")
        metrics = self._metrics(text)
        engine = self.engine.of(metrics.program)
        told = section.information
        of_information = None
        if told is not None:
            of_information = wanted(self.source, told, self.links, engine, self._places)
        estimated = () if of_information is None else of_information.placement.placed
        Placement((*controls.placed, *parameters.placed, *estimated)).check_apart()
        phases = self.phases([one for one, _ in controls.placed], metrics)
        constraints = []
        for k, (label, limits) in enumerate(section.constraints.items()):
            name = f"constraint_{k}"
            place = self._place("constraints", label)
            constraints.append(MetricLimits(name, label, *_wide(limits, metrics.widths[name],
                                                                label, place)))  # fmt: skip
        sign = 1.0 if section.minimize else -1.0
        if metrics.widths[OBJECTIVE] != 1:
            hint = "take one of them, or norm(...) or sum(...)"
            fault = Fault(f"{text} has {metrics.widths[OBJECTIVE]} values", self._place(), hint)
            raise InputError(fault)
        return Problem(engine, section, metrics, sign, controls, parameters, phases,
                       tuple(constraints), self.recorded, of_information)  # fmt: skip

    # --- formulas -------------------------------------------------------------------------

    def _metrics(self, objective: str) -> Metrics:
        """The objective and the constraints as metrics; limits of signals as their final values."""
        section = self.section
        given = {OBJECTIVE: objective}
        kind = "minimize" if section.minimize else "maximize"
        places = {OBJECTIVE: self._place(kind)}
        for k, text in enumerate(section.constraints):
            given[f"constraint_{k}"] = text
            places[f"constraint_{k}"] = self._place("constraints", text)
        for name, keys in zip(self.names.values(), self.names, strict=True):
            given[name] = f"final({keys[-1]})"
            places[name] = self._place(*keys)
        known = {name: place for name, place in places.items() if place is not None}
        try:
            varied = {METRIC: 0.0} if section.information else {}
            metrics = Metrics.of(given, self.engine.program, varied, places=known)
        except InputError as error:
            raise InputError(_in_own_words(f, given) for f in error.faults) from None
        return metrics

    def _limited(self) -> Iterator[tuple[str, ...]]:
        """Where the formulas of signals that are limited stand; they are the last of these keys."""
        section = self.section
        for kind in ("path", "end"):
            for text in getattr(section, kind):
                yield kind, text
            for phase, one in section.phases.items():
                for text in getattr(one, kind):
                    yield "phases", phase, kind, text

    # --- what is chosen -------------------------------------------------------------------

    def _chosen(self, given: Mapping[str, Bounds], kind: str) -> Placement:
        """Controls or parameters, with their entries in p. A control starts within its bounds."""
        found: list[tuple[Free, tuple[Places, ...]]] = []
        size = 0
        for name, bounds in given.items():
            place = self._place(kind, name)
            places = self._places(name, place)
            now = value_at(self.engine, places, None)
            if kind == "controls":
                with suppress(ValueError):
                    low = -np.inf if bounds.min is None else np.asarray(bounds.min, float)
                    high = np.inf if bounds.max is None else np.asarray(bounds.max, float)
                    now = np.clip(now, low, high)
            found.append((Free.of(name, now, bounds, size, place), places))
            size += len(found[-1][0].start)
        return Placement(tuple(found))

    def _places(self, name: str, place: Place | None) -> tuple[Places, ...]:
        """The entries of p of a parameter; of a block's `value`, if a block alone is named."""
        names = [name]
        if any(slot.name == f"{name}.value" for slot in self.engine.program.parameters):
            names = [f"{name}.value"]
        try:
            found = self.source.find(names[0], self.engine, {}, self.overrides)
        except InputError as error:
            raise InputError(replace(f, place=f.place or place) for f in error.faults) from None
        places = () if found is None else tuple(entries_of(found, self.engine))
        if not places:
            hint = "a CONSTANT's value, another number of a block or of params:, an initial state"
            raise InputError(Fault(f"{name} is no parameter of the program", place, hint))
        return places

    # --- phases ---------------------------------------------------------------------------

    def phases(self, controls: Sequence[Free], metrics: Metrics) -> tuple[PhaseProblem, ...]:
        """The phases, of which there is one where none are given."""
        section, program = self.section, metrics.program
        T = section.T or Span.model_validate({"min": program.run.T, "max": program.run.T})
        given = section.phases or {"": Phase(T=T)}
        low = whole([one.low for one in controls])
        high = whole([one.high for one in controls])
        found = []
        for k, (name, phase) in enumerate(given.items()):
            keys = ("phases", name) if name else ()
            p = program.p.copy()
            for path, value in phase.set.items():
                place = self._place(*keys, "set", path)
                for entry in self._places(path, place):
                    try:
                        p[entry] = np.asarray(value, float)
                    except (ValueError, TypeError):
                        text = f"{path} takes numbers of shape {np.shape(entry)}"
                        fault = Fault(f"{text}, not {brief(value)}", place)
                        raise InputError(fault) from None
            lower, upper = low.copy(), high.copy()
            for path, bounds in phase.controls.items():
                place = self._place(*keys, "controls", path)
                one = next((c for c in controls if c.name == path), None)
                if one is None:
                    raise InputError(Fault(f"{path} is no control", place, "name it in controls:"))
                own = Free.of(path, one.start.reshape(one.shape), bounds, 0, place)
                lower[one.part], upper[one.part] = own.low, own.high
            limits: dict[str, list[Limited]] = {"path": [], "end": []}
            for kind, kept in limits.items():
                if kind == "path" or k + 1 == len(given):
                    kept += self._limits(metrics, getattr(section, kind), (kind,))
                if name:
                    kept += self._limits(metrics, getattr(phase, kind), (*keys, kind))
            run = float(program.run.T) / len(given)
            found.append(PhaseProblem(name, p, lower, upper, phase.T, run, tuple(limits["path"]),
                                      tuple(limits["end"])))  # fmt: skip
        return tuple(found)

    def _limits(
        self, metrics: Metrics, given: Mapping[str, Limits], keys: tuple[str, ...]
    ) -> list[Limited]:
        found = []
        for text, limits in given.items():
            signal = _signal_of(metrics, self.names[*keys, text])
            rows = entries(metrics.program, signal).ravel()
            low, high = _wide(limits, len(rows), text, self._place(*keys, text))
            found.append(Limited(text, rows, low, high))
        return found


def _in_own_words(fault: Fault, given: Mapping[str, str]) -> Fault:
    """A fault of a metric of this module, with the text that was given."""
    message = fault.message
    for name, text in given.items():
        message = message.replace(f"metric {name}: ", f"{text}: ")
    if f"there is no value {METRIC!r}" in message:
        hint = "say of what: information: {parameters: [motor.R], signals: {motor.i: 0.05}}"
        return replace(fault, message=message, hint=hint)
    return replace(fault, message=message)


def _signal_of(metrics: Metrics, name: str) -> str:
    """The signal of which a metric is the final value."""
    asked: list[Gauge] = []

    class Probe:
        def reading(self, gauge: Gauge, read: Callable[[Readings], Any]) -> Any:
            asked.append(gauge)
            return np.ones((1, metrics.width_of(gauge)))

        def ever(self, gauge: Gauge) -> Any:
            return np.zeros((1, 1), dtype=bool)

    metrics.values[name](Probe())
    return asked[0].signal


def _wide(limits: Limits, width: int, label: str, place: Place | None) -> tuple[Floats, Floats]:
    """The least and the greatest values (width,)."""

    def one(value: Any, otherwise: float) -> Floats:
        given = np.asarray(otherwise if value is None else value, float).ravel()
        if given.size not in (1, width):
            text = f"{label} has {width} values, and its limit has {given.size}"
            raise InputError(Fault(text, place))
        return np.broadcast_to(given, width).astype(float)

    if limits.equal is not None:
        same = one(limits.equal, 0.0)
        return same, same.copy()
    return one(limits.min, -np.inf), one(limits.max, np.inf)


def _refuse_sudden(program: Program) -> None:
    """Raise InputError for a diagram whose motion is not smooth, with the block."""
    hint = "optimal control takes continuous diagrams; sb.tune takes all"
    if program.clocks:
        name = program.clocks[0].blocks[0]
        raise InputError(Fault(f"{name} ticks, which collocation cannot follow", hint=hint))
    sudden = [c for c in program.crossings if c.kind in ("event", "mode", "stop")]
    if sudden:
        text = f"{sudden[0].block} jumps or switches, which collocation cannot follow"
        raise InputError(Fault(text, hint=hint))
    if program.random:
        text = f"{min(program.random)} is random, and an optimum has no noise"
        raise InputError(Fault(text, hint=hint))
